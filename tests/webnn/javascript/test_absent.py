"""Errors of programs for another draft: they name the option that chooses it."""

from __future__ import annotations

from pathlib import Path

import pytest

import webnn
from tests.support import CURRENT, each_row, make_context
from tests.webnn.javascript.node_support import run
from webnn.javascript.absent import explain_failure, write_switches
from webnn.validation.drafts import DEFAULT, find_revision
from webnn.validation.switch import explain_switch

#: The draft of a program, the error, and parts of the explanation; none if the error has another reason.
FAILURES = [
    (
        CURRENT,
        "context.compute is not a function",
        ["MLContext.compute", "createTensor()", f"{DEFAULT} or --revision 2024-06 "],
    ),
    (CURRENT, "(intermediate value).compute is not a function", ["MLContext.compute", "--revision 2024-06 "]),
    (CURRENT, "operand.shape is not a function", ["MLOperand.shape", "--revision 2024-06 "]),
    (CURRENT, "relu needs 1 argument, got 0", ["relu() with no", "--revision 2024-06 "]),
    (CURRENT, "argMin: axis must be a finite number, got an object (of another type)", ["argMin() without axis", "--revision 2024-06 "]),
    (
        CURRENT,
        "input: descriptor must have the member shape (MLOperandDescriptor)",
        ["MLOperandDescriptor without shape", DEFAULT],
    ),
    ("2024-06", "context.createTensor is not a function", ["MLContext.createTensor", "compute(graph", "--revision 2026-06 "]),
    ("2024-06", "builder.tile is not a function", ["MLGraphBuilder.tile", "--revision 2026-06 "]),
    (DEFAULT, "relu needs 1 argument, got 0", ["--revision 2024-06 "]),
    (CURRENT, "context.nothing is not a function", []),
    (CURRENT, "builder.relu is not a function", []),
    (CURRENT, "add needs 2 arguments, got 0", []),
    (CURRENT, "softmax: axis must be a finite number, got an object (of another type)", []),
    (CURRENT, "input: descriptor must have the member dataType (MLOperandDescriptor)", []),
    ("2024-06", "argMin: axis must be a finite number, got an object (of another type)", []),
]


@each_row(("revision", "error", "parts"), FAILURES)
def test_what_an_error_is_explained_with(revision: str, error: str, parts: list[str]) -> None:
    report = f"https://app.test/a.mjs:3\ncontext.go()\n\nTypeError: {error}\n    at https://app.test/a.mjs:3:9\n"
    found = explain_failure(find_revision(revision), report)
    assert bool(found) == bool(parts)
    assert all(part in f"{found} " for part in parts), found


def test_an_error_of_another_kind() -> None:
    assert explain_failure(find_revision(CURRENT), "Error: the context.compute is not a function of time\n") == ""


def test_messages_of_the_package_name_options() -> None:
    switch = explain_switch(lambda revision: revision.activations)
    assert write_switches(f"it must; {switch}") == "it must; --revision 2024-06 has it"
    with pytest.raises(webnn.WebNNTypeError) as caught:
        make_context(CURRENT).compute  # noqa: B018 (the access raises)
    assert write_switches(str(caught.value)).endswith(f"--revision {DEFAULT} or --revision 2024-06 has it")


PROGRAM = """
const context = await navigator.ml.createContext();
const builder = new MLGraphBuilder(context);
const x = builder.input('x', {dataType: 'float32', dimensions: [2], shape: [2]});
const graph = await builder.build({y: builder.relu(x)});
const {outputs} = await context.compute(graph, {x: new Float32Array([1, -2])}, {y: new Float32Array(2)});
console.log(outputs.y.join(' '));
"""


@pytest.mark.processes
def test_a_program_with_compute(tmp_path: Path) -> None:
    """The newest draft is the default, and has no such method; the error says which draft has it."""
    outcome = run(tmp_path, PROGRAM)
    assert outcome.code == 1
    assert "TypeError: context.compute is not a function" in outcome.stderr
    assert outcome.stderr.splitlines()[-1].startswith(f"webnn: the draft {CURRENT} has no method MLContext.compute: ")
    assert "--revision 2024-06" in outcome.stderr.splitlines()[-1]


@pytest.mark.processes
@pytest.mark.parametrize("revision", ["2024-06", DEFAULT])
def test_with_the_draft_that_the_error_names(tmp_path: Path, revision: str) -> None:
    outcome = run(tmp_path, PROGRAM, revision=revision)
    assert (outcome.code, outcome.stdout) == (0, "1 0\n")


@pytest.mark.processes
def test_a_program_for_either_name_of_the_shape(tmp_path: Path) -> None:
    program = """
        const builder = new MLGraphBuilder(await navigator.ml.createContext({deviceType: 'cpu'}));
        const x = builder.input('x', {dataType: 'float32', dimensions: [2, 3]});
        console.log(x.shape.join(' '));
        try { builder.input('y', {dataType: 'float32'}); } catch (error) { console.log(error.message); }
        """
    outcome = run(tmp_path, program, revision=DEFAULT)
    lines = outcome.stdout.splitlines()
    assert (outcome.code, lines[0], outcome.stderr) == (0, "2 3", "")
    assert "descriptor.shape" in lines[1]
