"""Members that a dictionary does not have: ignored, as Web IDL says, with one warning for each place in the program."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support import CURRENT, make_context
from webnn import ML, MLGraphBuilder, WebNNWarning

FORMER = "2024-06"
ONE: Any = {"dataType": "float32"}


class Objects:
    """A context of a draft, a builder and an operand [1, 1, 4, 4]."""

    def __init__(self, revision: str) -> None:
        # A type checker would find what a type checker finds.
        self.ml: Any = ML(revision=revision)
        self.context: Any = self.ml.createContextSync()
        self.builder: Any = MLGraphBuilder(self.context)
        self.x = self.builder.input("x", {"dataType": "float32", self.builder._revision.shape: [1, 1, 4, 4]})


#: A draft, a call, and what the warning says.
IGNORED: list[tuple[str, Callable[[Objects], object], str]] = [
    # Misspelt, or another library's word: the nearest member is named.
    (FORMER, lambda o: o.builder.conv2d(o.x, o.x, padd=[0] * 4), "conv2d: options.padd {no}; did you mean 'padding'?"),
    (FORMER, lambda o: o.builder.conv2d(o.x, o.x, {"stride": [1, 1]}), "conv2d: options.stride {no}; did you mean 'strides'?"),
    (CURRENT, lambda o: o.builder.reduceSum(o.x, keepdims=True), "reduceSum: options.keepdims {no}; did you mean 'keepDimensions'?"),
    (FORMER, lambda o: o.builder.reduceSum(o.x, axis=1), "reduceSum: options.axis {no}; did you mean 'axes'?"),
    (FORMER, lambda o: o.builder.input("y", dataType="int8", dims=[2]), "input: descriptor.dims {no}; did you mean 'dimensions'?"),
    (
        CURRENT,
        lambda o: o.context.createTensorSync({**ONE, "shape": [], "writeable": True}),
        "createTensor: descriptor.writeable {no}; did you mean 'writable'?",
    ),
    (CURRENT, lambda o: o.ml.createContextSync(accelerate=False), "createContext: options.accelerate {no}; did you mean 'accelerated'?"),
    (FORMER, lambda o: o.ml.createContextSync({"device": "cpu"}), "createContext: options.device {no}; did you mean 'deviceType'?"),
    # Nothing is near: all members are named.
    (FORMER, lambda o: o.builder.elu(o.x, zzz=1), "elu: options.zzz {no}; the members are ['alpha', 'label']"),
    (FORMER, lambda o: o.builder.elu({"zzz": 1}), "elu: options.zzz {no}; the members are ['alpha', 'label']"),
    (FORMER, lambda o: o.builder.add(o.x, o.x, axis=1, label="sum"), "[sum] add: options.axis {no}; the members are ['label']"),
    (FORMER, lambda o: o.builder.elu(o.x, {"a b": 1}), "elu: options['a b'] {no}; the members are"),
    # A member of another draft.
    (
        FORMER,
        lambda o: o.builder.input("y", {**ONE, "shape": [4, 4]}),
        "input: descriptor.shape is ignored: 'shape' is a member since 2026-06; here 'dimensions'",
    ),
    (
        FORMER,
        lambda o: o.builder.constant({**ONE, "shape": []}, np.ones(1, np.float32)),
        "constant: descriptor.shape is ignored: 'shape' is a member since 2026-06",
    ),
]


@pytest.mark.parametrize(
    ("revision", "call", "message"), IGNORED, ids=[message.split(" ")[0] + message.split(" ")[1] for *_, message in IGNORED]
)
def test_an_ignored_member(revision: str, call: Callable[[Objects], object], message: str) -> None:
    each = Objects(revision)
    with pytest.warns(WebNNWarning) as caught:
        call(each)
    (warning,) = caught
    assert str(warning.message).startswith(message.replace("{no}", "is ignored: it is not a member"))
    # The program's own line: here that of the table.
    assert (warning.filename, warning.lineno) == (__file__, call.__code__.co_firstlineno)


#: Calls that give what a dictionary has, or what a program for both drafts gives.
SILENT: list[tuple[str, Callable[[Objects], object]]] = [
    (FORMER, lambda o: o.builder.conv2d(o.x, o.x, padding=[0] * 4, label="a")),
    (FORMER, lambda o: o.builder.conv2d(o.x, o.x, padd=None)),
    (FORMER, lambda o: o.builder.input("y", {**ONE, "shape": [4], "dimensions": [4]})),
    (CURRENT, lambda o: o.builder.input("y", {**ONE, "shape": [4], "dimensions": [4]})),
    (CURRENT, lambda o: o.context.createTensorSync({**ONE, "shape": [4], "dimensions": [4]})),
    (FORMER, lambda o: o.builder.maxPool2d(o.x, roundingType="ceil", outputShapeRounding="ceil")),
    (CURRENT, lambda o: o.ml.createContextSync(deviceType="cpu", accelerated=False)),
    (FORMER, lambda o: o.ml.createContextSync(deviceType="cpu")),
]


@pytest.mark.parametrize(("revision", "call"), SILENT)
def test_what_a_dictionary_has(revision: str, call: Callable[[Objects], object]) -> None:
    call(Objects(revision))  # a warning would be an error


def test_a_member_is_ignored_all_the_same() -> None:
    builder = MLGraphBuilder(make_context())
    with pytest.warns(WebNNWarning, match="here 'dimensions'"):
        scalar = builder.input("x", {**ONE, "shape": [4, 4]})
    assert scalar.shape() == []


def test_a_place_is_warned_once() -> None:
    each = Objects(FORMER)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            each.builder.elu(each.x, alfa=1)
        each.builder.elu(each.x, alfa=1)
    assert len(caught) == 2
    assert {str(warning.message) for warning in caught} == {"elu: options.alfa is ignored: it is not a member; did you mean 'alpha'?"}


async def test_the_line_of_a_coroutine() -> None:
    ml: Any = ML(revision=CURRENT)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        context = await ml.createContext(accelerate=False)
        await context.createTensor(**ONE, shape=[], writeable=True)
    assert [warning.filename for warning in caught] == [__file__] * 2
    first, second = (warning.lineno for warning in caught)
    assert second == first + 1


async def test_a_warning_that_is_an_error_rejects_the_promise() -> None:
    # As pytest's filter makes one of it.
    ml: Any = ML(revision="2024-06")
    future = ml.createContext(device="cpu")
    with pytest.raises(WebNNWarning):
        await future
    each = Objects(FORMER)
    with pytest.raises(WebNNWarning):
        each.builder.elu(each.x, alfa=1)


@pytest.mark.processes
def test_a_program_s_line(tmp_path: Path) -> None:
    """Python shows the line of the program, through every layer of this package."""
    program = tmp_path / "program.py"
    program.write_text(
        "import webnn\nbuilder = webnn.MLGraphBuilder(webnn.ML(revision='2024-06').createContextSync())\n"
        "x = builder.input('x', dataType='float32', dimensions=[2])\n"
        "for _ in range(2):\n    builder.linear(x, betta=2)\n",
        encoding="utf-8",
    )
    ran = subprocess.run([sys.executable, program], capture_output=True, check=True, text=True)
    text = "WebNNWarning: linear: options.betta is ignored: it is not a member; did you mean 'beta'?"
    assert ran.stderr.splitlines() == [f"{program}:5: {text}", "  builder.linear(x, betta=2)"]
