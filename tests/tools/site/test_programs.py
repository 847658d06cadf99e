"""The programs on the pages of operations are whole, and do what the examples do."""

from __future__ import annotations

import contextlib
import io
import re
import time

import numpy as np
import pytest

from tests.support import PATIENCE, each_row
from tests.webnn.javascript.engines import make_realm, needs_quickjs
from tools.site.examples import examples, run
from tools.site.programs import javascript_program, python_program, remarks

#: Numbers are compared as they are printed: 32 bits as a double, by JavaScript.
_TOLERANCE = 1e-6


@each_row("operation", sorted(examples()))
def test_python_prints_what_the_example_prints(operation: str) -> None:
    program = python_program(operation)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(program, operation, "exec"), {"__name__": "program"})
    assert printed.getvalue() == examples()[operation].prints
    assert f"builder.{operation}(" in program


@needs_quickjs
def test_javascript_computes_the_same() -> None:
    """In one realm, because a realm starts slowly."""
    told: list[str] = []
    realm = make_realm(lambda _, text: told.append(text), "2026-06")
    wrong = []
    for operation in examples():
        told.clear()
        program = javascript_program(operation)
        realm.evaluate(f"(async () => {{{program}}})().catch(error => console.log(String(error)))")
        realm.run(lambda: False, time.monotonic() + PATIENCE)
        expected = {name: array.reshape(-1) for name, array in run(operation).graph.run(dict(run(operation).values)).items()}
        found = {line.partition(" ")[0]: line.split()[1:] for line in told}
        if found.keys() != expected.keys() or not all(
            np.allclose([float(each) for each in found[name]], array, rtol=_TOLERANCE, atol=_TOLERANCE, equal_nan=True)
            for name, array in expected.items()
        ):
            wrong.append((operation, told[:]))
    assert wrong == []


def test_remarks() -> None:
    assert remarks("x = 1  # three steps\n# Half is lost.\n") == "Three steps. Half is lost."
    assert remarks("x = 1\n") == ""


@pytest.mark.parametrize("operation", ["equal", "gru", "cast"])
def test_lines_are_short(operation: str) -> None:
    for program in (python_program(operation), javascript_program(operation)):
        assert max(map(len, program.splitlines())) <= 120
        assert not re.search(r"\bshow\(|\btensor\(", program)
