"""The switches of what is checked, one at a time: the draft has none, and each one changes its own call only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from tests.support import CURRENT
from webnn import ML, InvalidStateError, MLContext, MLGraphBuilder, WebNNTypeError
from webnn.validation.checks import DRAFT_CHECKS, Checks
from webnn.validation.descriptor import BigInt
from webnn.validation.drafts import find_revision

FLAT: Any = {"dataType": "float32", "shape": [2]}
BOTH: Any = {**FLAT, "readable": True, "writable": True}
Program = Callable[[MLContext, MLGraphBuilder], object]


def destroyed(context: MLContext, builder: MLGraphBuilder) -> object:
    """Read a destroyed tensor into a buffer that is too small."""
    tensor = context.createTensorSync(**BOTH)
    tensor.destroy()
    return context.readTensorSync(tensor, np.zeros(1, np.float32))


def dispatched(context: MLContext, builder: MLGraphBuilder, *, ends: bool) -> object:
    """Dispatch with one tensor as both inputs, which is destroyed or not."""
    a, b = (builder.input(name, FLAT) for name in "ab")
    graph = builder.buildSync({"y": builder.add(a, b)})
    one, two, y = (context.createTensorSync(**BOTH) for _ in range(3))
    if ends:
        two.destroy()
    return context.dispatch(graph, {"a": one, "b": two if ends else one}, {"y": y})


def foreign_tensor(context: MLContext, builder: MLGraphBuilder) -> object:
    """Make a constant of a tensor that is not constant, with a builder that has built."""
    builder.buildSync({"y": builder.relu(builder.input("x", FLAT))})
    return builder.constant(context.createTensorSync(**BOTH))


def twice(context: MLContext, builder: MLGraphBuilder) -> object:
    y = builder.relu(builder.input("x", FLAT))
    return builder.buildSync({"y": y, "z": y})


#: For each switch a program, and its error in the draft and with the switch; `None` for none.
CASES: dict[str, tuple[Program, type[Exception] | None, type[Exception] | None]] = {
    "bigints": (lambda _, builder: builder.constant("int32", BigInt(3)), None, WebNNTypeError),
    "builder_first": (foreign_tensor, WebNNTypeError, InvalidStateError),
    "data_last": (destroyed, WebNNTypeError, InvalidStateError),
    "lost_first": (lambda *given: dispatched(*given, ends=True), WebNNTypeError, InvalidStateError),
    "names_in_build": (lambda _, builder: [builder.input("x", FLAT) for _ in range(2)], WebNNTypeError, None),
    "outputs_later": (twice, None, InvalidStateError),
    "shared_inputs": (lambda *given: dispatched(*given, ends=False), WebNNTypeError, None),
    "sizes_alone": (
        lambda _, builder: builder.resample2d(
            builder.input("x", dataType="float32", shape=[1, 1, 2, 2]), {"sizes": [3, 3], "scales": [0, 1]}
        ),
        WebNNTypeError,
        None,
    ),
}


def test_every_switch_has_a_case() -> None:
    assert [each.name for each in fields(Checks)] == [*CASES]
    assert not any(getattr(DRAFT_CHECKS, name) for name in CASES)
    assert find_revision(CURRENT).checks == DRAFT_CHECKS


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("which", ["none", "own", "others"])
def test_a_switch(name: str, which: str) -> None:
    program, draft, own = CASES[name]
    chosen = {each: (each == name) == (which == "own") for each in CASES}
    checks = DRAFT_CHECKS if which == "none" else Checks(**chosen)
    context = ML(revision=replace(find_revision(CURRENT), name=f"{CURRENT}+{which}-{name}", checks=checks)).createContextSync()
    error = own if which == "own" else draft
    builder = MLGraphBuilder(context)
    if error is None:
        program(context, builder)
        return
    with pytest.raises(error) as caught:
        program(context, builder)
    assert type(caught.value) is error
