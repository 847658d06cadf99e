"""The operands of random calls: their types, shapes that broadcast, and constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.support import NEWEST
from webnn.calls.dice import Dice, Scalar
from webnn.calls.maker import CallMaker, DrawnValue, Limits, places
from webnn.context.limits import op_support_limits
from webnn.validation.descriptor import DataType


class Recorder(CallMaker):
    """Notes which operands are constants."""

    def __init__(self, seed: str, limits: Limits | None = None, *, chained: bool = False) -> None:
        super().__init__(Dice(seed), NEWEST, op_support_limits(NEWEST) if limits is None else limits, chained=chained)
        self.constants: list[bool] = []

    def make(self, dataType: DataType, shape: Sequence[int], elements: Sequence[Scalar], *, isConstant: bool) -> DrawnValue:
        """Make an operand."""
        assert len(elements) == np.prod(shape, dtype=int)
        self.constants.append(isConstant)
        return DrawnValue({"number": len(self.constants)}, dataType, tuple(shape))


def test_operands_of_one_type_have_a_type_that_all_of_them_take() -> None:
    limits = op_support_limits(NEWEST)
    limits["conv2d"]["bias"]["dataTypes"] = ["float16"]
    assert Recorder("1", limits).types("conv2d", "input") == ("float16",)
    # Indices have a type of their own.
    assert Recorder("1", limits).types("gather", "indices") == ("int32", "uint32", "int64")
    # No type suits all of them: one that the operand itself has.
    limits["conv2d"]["bias"]["dataTypes"] = ["int8"]
    assert Recorder("1", limits).types("conv2d", "input") == ("float32", "float16")
    # Inputs and constants must have the type, too.
    limits["input"]["dataTypes"] = ["float32", "int8"]
    assert Recorder("1", limits).types("conv2d", "input") == ("float32",)


def test_either_of_two_shapes_is_stretched() -> None:
    stretched = set()
    for seed in range(200):
        m = Recorder(f"{seed}")
        shape = m.dice.shape(0, 3)
        other = m.beside(shape, 4)
        both = np.broadcast_shapes(tuple(shape), tuple(other))
        assert len(both) <= 4
        stretched.add((both != tuple(shape), both != tuple(other)))
        assert np.broadcast_shapes(tuple(shape), tuple(m.stretched(shape))) == tuple(shape)
    assert stretched == {(False, False), (True, False), (False, True), (True, True)}


def test_constants_come_in_four_patterns() -> None:
    patterns = set()
    for seed in range(100):
        m = Recorder(f"{seed}")
        for _ in range(3):
            m.operand("float32", [2])
        patterns.add(tuple(m.constants))
    assert {(False, False, False), (True, True, True), (False, True, True), (True, False, True)} <= patterns


def test_chained_calls_take_values_that_are_there() -> None:
    m = Recorder("1", chained=True)
    made = m.operand("float32", [2, 3])
    taken = [m.first("softmax", ranks=(2, 2)) for _ in range(20)]
    assert made in taken
    assert len(m.constants) < 10
    # An operand of another rank, or with more elements, is a new one.
    assert {m.first("softmax", ranks=(3, 3)).rank, m.first("softmax", ranks=(2, 2), most=1).rank} == {3, 2}
    assert made not in [m.first("softmax", ranks=(1, 2), most=5) for _ in range(20)]


def test_operands_are_one_place() -> None:
    arguments: list[Any] = [{"$": ["float32", [2], False]}, [1, 2], {"axes": [0]}]
    found = [within[key] for within, key in places(arguments)]
    assert found == [arguments[0], [1, 2], 1, 2, {"axes": [0]}, [0], 0]
