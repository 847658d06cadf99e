from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from webnn.builder.operand import MLOperand
from webnn.importing.driver import make_builder
from webnn.importing.steps import Operands, value_of
from webnn.importing.values import Refused, Value
from webnn.onnx.borrowing import run_rule


@pytest.fixture
def operands() -> Operands:
    builder = make_builder(has_small_integers=False)
    builder.label = ""
    return Operands(builder, float64=True, advice="")


def _input(operands: Operands) -> Value:
    return value_of(operands.input("x", np.dtype(np.float32), (2, 3)))


def test_a_rule(operands: Operands) -> None:
    (found,) = run_rule(operands, "Transpose", [_input(operands)], ["y"], {"perm": [1, 0]})
    assert isinstance(found, MLOperand)
    assert found.descriptor.dimensions == (3, 2)


def test_an_element_type(operands: Operands) -> None:
    (found,) = run_rule(operands, "Cast", [_input(operands)], ["y"], {"to": np.dtype(np.int32)})
    assert found.dtype == np.int32


def test_an_empty_list(operands: Operands) -> None:
    scalar = value_of(operands.input("s", np.dtype(np.float32), ()))
    assert run_rule(operands, "Transpose", [scalar], ["y"], {"perm": []}) == [scalar]


def test_several_outputs(operands: Operands) -> None:
    assert len(run_rule(operands, "Split", [_input(operands), Value.known(np.array([1, 2]))], ["a", "b"], {"axis": 1})) == 2


def test_bodies(operands: Operands) -> None:
    x = _input(operands)

    def body(arguments: Any, *, tentative: bool) -> list[Value]:
        assert not arguments
        return [x]

    found = run_rule(operands, "If", [Value.known(np.array([True]))], ["y"], {}, {"then_branch": body, "else_branch": body})
    assert found == [x]


def test_a_refusal(operands: Operands) -> None:
    with pytest.raises(Refused, match="perm must have each number"):
        run_rule(operands, "Transpose", [_input(operands)], ["y"], {"perm": [1, 1]})
