from __future__ import annotations

import numpy as np
import pytest

from webnn.importing.driver import make_builder
from webnn.importing.steps import Inputs, Operands
from webnn.importing.values import Refused, Value


@pytest.fixture
def inputs() -> Inputs:
    operands = Operands(make_builder(has_small_integers=False), float64=True, advice="")
    x = Value("x", np.dtype(np.float32), (2,), operand=operands.input("x", np.dtype(np.float32), (2,)), roots=frozenset({"x"}))
    return Inputs(operands, [x, None, Value.known(np.array([2, -1])), Value.known(np.array([0.5]))])


def test_inputs(inputs: Inputs) -> None:
    assert [inputs.given(index) for index in range(5)] == [True, False, True, True, False]
    assert inputs.operand(0).descriptor.dimensions == (2,)
    assert inputs.known_integers(2, "n") == [2, -1]
    found = inputs.known_indices(2, 3)
    assert found is not None
    assert found.tolist() == [2, 2]
    assert inputs.known_indices(0, 3) is None


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda each: each.value(1), "the input 1 must be given"),
        (lambda each: each.known(0, "n"), "n must be known at import, got the value 'x'"),
        (lambda each: each.known_integers(3, "n"), "n must be integers, got float64"),
        (lambda each: each.known_indices(2, 2), "the indices must be from -2 to 1, got some from -1 to 2"),
    ],
)
def test_refusals(call: object, reason: str, inputs: Inputs) -> None:
    with pytest.raises(Refused) as caught:
        call(inputs)  # type: ignore[operator]
    assert caught.value.reason == reason


def test_advice(inputs: Inputs) -> None:
    with pytest.raises(Refused) as caught:
        inputs.known(0, "n")
    assert caught.value.advice == "give it as a constant: constants={'x': ...}"
