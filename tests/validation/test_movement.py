"""Operations that move elements: inferred types and shapes, and every step that can fail."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support import Shape, each_row, infer, make_context
from webnn import MLGraphBuilder

F, H, I8 = "float32", "float16", "int8"
LARGEST = 2**32 - 1


def f(*dimensions: int, type: str = F) -> Shape:
    return Shape(type, dimensions)


def u8(*dimensions: int) -> Shape:
    return Shape("uint8", dimensions)


Case = tuple[str, tuple[Any, ...], dict[str, Any], list[tuple[str, list[int]]]]

VALID: list[Case] = [
    ("cast", (f(), "int64"), {}, [("int64", [])]),
    ("cast", (f(2, 3, type="int8"), "float16"), {}, [(H, [2, 3])]),
    ("cast", (f(2, 3), F), {}, [(F, [2, 3])]),
    ("concat", ([f(4, 4, 3)], 2), {}, [(F, [4, 4, 3])]),
    ("concat", ([f(3, 1, 5), f(3, 2, 5)], 1), {}, [(F, [3, 3, 5])]),
    ("concat", ([f(3, 5, 1), f(3, 5, 2), f(3, 5, 3)], 2), {}, [(F, [3, 5, 6])]),
    ("concat", ([f(1, type="uint64"), f(1, type="uint64")], 0), {}, [("uint64", [2])]),
    ("concat", ([f(1, 2)] * 100, 0.9), {}, [(F, [100, 2])]),
    ("expand", (f(), [3, 4, 5]), {}, [(F, [3, 4, 5])]),
    ("expand", (f(), []), {}, [(F, [])]),
    ("expand", (f(4), [4]), {}, [(F, [4])]),
    ("expand", (f(3, 1, 5, type="int32"), (3, 4, 5)), {}, [("int32", [3, 4, 5])]),
    ("expand", (f(2, 5, type="int32"), [3, 2, 5]), {}, [("int32", [3, 2, 5])]),
    ("expand", (f(1), [1] * 8), {}, [(F, [1] * 8)]),
    ("pad", (f(2, 3), [1, 2], [1, 2]), {"mode": "constant", "value": 0}, [(F, [4, 7])]),
    ("pad", (f(2, 3), [1, 2], [0, 0]), {}, [(F, [3, 5])]),
    ("pad", (f(1), [9], [8]), {"mode": "reflection"}, [(F, [18])]),
    ("pad", (f(2, type=I8), [0], [3]), {"mode": "symmetric", "value": 1e30}, [(I8, [5])]),
    ("reshape", (f(2, 3, 4), [3, 8]), {}, [(F, [3, 8])]),
    ("reshape", (f(2, 3, 4), [24]), {}, [(F, [24])]),
    ("reshape", (f(1), [1]), {}, [(F, [1])]),
    ("reshape", (f(1), []), {}, [(F, [])]),
    ("reshape", (f(), [1]), {}, [(F, [1])]),
    ("reshape", (f(), []), {}, [(F, [])]),
    ("slice", (f(3, 4, 5), [0, 1, 2], [1, 2, 3]), {}, [(F, [1, 2, 3])]),
    ("slice", (f(3), [2], [1]), {}, [(F, [1])]),
    ("slice", (f(), [], []), {}, [(F, [])]),
    ("split", (f(2, 6), [2]), {}, [(F, [2, 6])]),
    ("split", (f(2, 6), [1, 2, 3]), {"axis": 1}, [(F, [2, 1]), (F, [2, 2]), (F, [2, 3])]),
    ("split", (f(2, 6), 3), {"axis": 1}, [(F, [2, 2])] * 3),
    ("split", (f(2, 6), 1), {}, [(F, [2, 6])]),
    ("split", (f(2), np.int64(2)), {}, [(F, [1])] * 2),
    ("split", (f(2), "2"), {}, [(F, [1])] * 2),
    ("split", (f(3), range(1, 3)), {}, [(F, [1]), (F, [2])]),
    ("transpose", (f(1, 2, 3, 4),), {}, [(F, [4, 3, 2, 1])]),
    ("transpose", (f(1, 2, 3, 4),), {"permutation": [0, 2, 3, 1]}, [(F, [1, 3, 4, 2])]),
    ("transpose", (f(1, 2, 3, 4),), {"permutation": None}, [(F, [4, 3, 2, 1])]),
    ("transpose", (f(),), {}, [(F, [])]),
    ("transpose", (f(),), {"permutation": []}, [(F, [])]),
    ("triangular", (f(2, 3),), {}, [(F, [2, 3])]),
    ("triangular", (f(1, 1, 1, 1, 1, 1, 2, 3, type="uint64"),), {"upper": 0, "diagonal": -(2**31)}, [("uint64", [1, 1, 1, 1, 1, 1, 2, 3])]),
    ("where", (u8(2, 1), f(2, 4), f(2, 4)), {}, [(F, [2, 4])]),
    ("where", (u8(1, 4), f(3, 4), f(2, 3, 4)), {}, [(F, [2, 3, 4])]),
    ("where", (u8(2, 1, 4), f(2, 3, 4), f(1, 4)), {}, [(F, [2, 3, 4])]),
    ("where", (u8(2, 3, 4, 5), f(3, 4, 5), f(4, 5)), {}, [(F, [2, 3, 4, 5])]),
    ("where", (u8(2, 3), f(), f()), {}, [(F, [2, 3])]),
    ("where", (u8(), u8(), u8()), {}, [("uint8", [])]),
]

INVALID: list[tuple[str, tuple[Any, ...], dict[str, Any], str, str]] = [
    ("cast", (f(2), "float64"), {}, "type", "must be one of"),
    ("cast", (f(2**29, type=I8), "int64"), {}, "output", "must have at most"),
    ("concat", ([], 0), {}, "inputs", "must have at least 1 element"),
    ("concat", (f(2), 0), {}, "inputs", "must be a sequence"),
    ("concat", ([f(2), 1], 0), {}, "inputs[1]", "must be an MLOperand"),
    ("concat", ([f(2)], None), {}, "axis", "must be a finite number"),
    ("concat", ([f(1, 1), f(1, 1)], 2), {}, "axis", "must be less than the rank of inputs[0], 2, got 2"),
    ("concat", ([f(), f()], 0), {}, "axis", "must be less than the rank of inputs[0], 0, got 0"),
    ("concat", ([f(1, 1), f(1, 1, type="int32")], 0), {}, "inputs[1]", "must have the data type of inputs[0], float32, got int32"),
    ("concat", ([f(1, 1), f(1, 1), f(1, 1, 1)], 0), {}, "inputs[2]", "must have the rank of inputs[0], 2"),
    ("concat", ([f(1, 1, 1), f(1, 2, 3)], 1), {}, "inputs[1]", "must have the shape of inputs[0] but for axis 1, [1, any, 1]"),
    ("concat", ([f(2, 1), f(3, 1)], 1), {}, "inputs[1]", "must have the shape of inputs[0]"),
    ("concat", ([f(2**30, type=I8)] * 4, 0), {}, "output", "must have dimensions from 1 to 4294967295"),
    ("expand", (f(3, 6, 2), [4, 3, 5]), {}, "newShape", "must be a shape to which [3, 6, 2] broadcasts"),
    ("expand", (f(5, 4), [5]), {}, "newShape", "must be a shape to which [5, 4] broadcasts"),
    ("expand", (f(1), []), {}, "newShape", "must be a shape to which [1] broadcasts"),
    ("expand", (f(1, 2, 1, 1), [1, 2, LARGEST, LARGEST]), {}, "output", "must have at most"),
    ("expand", (f(), [0]), {}, "output", "must have dimensions from 1"),
    ("expand", (f(), [1] * 9), {}, "output", "must have at most 8 dimensions"),
    ("expand", (f(), [-1]), {}, "newShape[0]", "must be from 0 to"),
    ("pad", (f(), [], []), {}, "input", "must have at least 1 dimensions"),
    ("pad", (f(2, 3), [1], [1, 2]), {"mode": "edge", "value": 0}, "beginningPadding", "must have 2 elements"),
    ("pad", (f(2, 3), [1, 0], [1, 2, 0]), {"mode": "reflection"}, "endingPadding", "must have 2 elements"),
    ("pad", (f(2, 3), [2294967295, 0], [3294967295, 2]), {"mode": "reflection"}, "output", "must have dimensions from 1"),
    ("pad", (f(2, 3), [-1, 0], [0, 0]), {}, "beginningPadding[0]", "must be from 0"),
    ("pad", (f(2), [0], [0]), {"mode": "wrap"}, "options.mode", "must be one of"),
    ("pad", (f(2), [0], [0]), {"value": float("nan")}, "options.value", "must be a finite number"),
    ("reshape", (f(2, 4), [2, 4, 0]), {}, "newShape", "must be greater than 0"),
    ("reshape", (f(2, 3, 4), []), {}, "newShape", "must have 24 elements"),
    ("reshape", (f(2, 3, 4), [3, 9]), {}, "newShape", "must have 24 elements, as [2, 3, 4] has, got [3, 9]"),
    ("reshape", (f(2, 3), [-1]), {}, "newShape[0]", "must be from 0"),
    ("reshape", (f(1), [1] * 9), {}, "output", "must have at most 8 dimensions"),
    ("slice", (f(), [0], [1]), {}, "starts", "must have 0 elements"),
    ("slice", (f(3, 4, 5), [1, 2, 3], [1, 1]), {}, "sizes", "must have 3 elements"),
    ("slice", (f(3, 4, 5), [1, 2, 1, 3], [1, 1, 1]), {}, "starts", "must have 3 elements"),
    ("slice", (f(3, 4, 5), [0, 4, 4], [1, 1, 1]), {}, "starts[1]", "must be less than the size of axis 1, 4, got 4"),
    ("slice", (f(3, 4, 5), [1, 2, 3], [1, 0, 1]), {}, "sizes", "must be greater than 0"),
    ("slice", (f(3, 4, 5), [0, 1, 2], [3, 4, 1]), {}, "sizes[1]", "must be at most 3 behind the start 1 of axis 1, got 4"),
    ("slice", (f(3), [2], [LARGEST]), {}, "sizes[0]", "must be at most 1"),
    ("split", (f(), [2]), {}, "options.axis", "must be less than the rank of input, 0"),
    ("split", (f(2, 6), [2]), {"axis": 2}, "options.axis", "must be less than the rank of input, 2"),
    ("split", (f(2, 6), [0, 2]), {}, "splits", "must be greater than 0"),
    ("split", (f(2, 6), []), {}, "splits", "must add up to the size of axis 0, 2"),
    ("split", (f(2, 5), [2]), {"axis": 1}, "splits", "must add up to the size of axis 1, 5"),
    ("split", (f(2, 6), [2, 2, 3]), {"axis": 1}, "splits", "must add up to"),
    ("split", (f(2, 6), 0), {}, "splits", "must divide the size of axis 0, 2, evenly, got 0"),
    ("split", (f(2, 5), 2), {"axis": 1}, "splits", "must divide the size of axis 1, 5, evenly, got 2"),
    ("split", (f(2), None), {}, "splits", "must be a finite number"),
    ("split", (f(2), [None]), {}, "splits[0]", "must be a finite number"),
    ("transpose", (f(1, 2, 4),), {"permutation": [0, 2, 3, 1]}, "options.permutation", "must have 3 elements"),
    ("transpose", (f(1, 2, 3, 4),), {"permutation": [0, 2, 3, 2]}, "options.permutation", "must not have an axis twice"),
    ("transpose", (f(1, 2, 3, 4),), {"permutation": [0, 1, 2, 4]}, "options.permutation", "must be less than the rank of input, 4"),
    ("transpose", (f(1, 2, 3, 4),), {"permutation": [0, -1, 2, 3]}, "options.permutation[1]", "must be from 0"),
    ("triangular", (f(),), {}, "input", "must have at least 2 dimensions"),
    ("triangular", (f(2),), {}, "input", "must have at least 2 dimensions"),
    ("triangular", (f(2, 2),), {"diagonal": 2**31}, "options.diagonal", "must be from -2147483648 to 2147483647"),
    ("where", (f(2, 4), f(2, 4), f(2, 4)), {}, "condition", "must have a data type of ['uint8'], got float32"),
    ("where", (u8(2, 4), f(2, 4, type=H), f(2, 4)), {}, "other", "must have the data type of input, float16, got float32"),
    ("where", (u8(2, 4), f(2, 4), f(2, 3)), {}, "other", "must broadcast with the shape of input, [2, 4], got [2, 3]"),
    ("where", (u8(2, 4), f(2, 3), f(2, 1)), {}, "condition", "must broadcast with the shape of input and other, [2, 3], got [2, 4]"),
]


@each_row(("name", "arguments", "options", "outputs"), VALID)
def test_valid(name: str, arguments: tuple[Any, ...], options: dict[str, Any], outputs: list[tuple[str, list[int]]]) -> None:
    assert infer(name, *arguments, **options) == outputs


@each_row(("name", "arguments", "options", "argument", "message"), INVALID)
def test_invalid(name: str, arguments: tuple[Any, ...], options: dict[str, Any], argument: str, message: str) -> None:
    with pytest.raises(TypeError) as caught:
        infer(name, *arguments, **options)
    assert message in str(caught.value)
    assert (caught.value.operation, caught.value.argument) == (name, argument)  # type: ignore[attr-defined]


def test_sequences() -> None:
    """Any iterable is a sequence, an operand may occur in it several times, and a 0-D array is a number."""
    builder = MLGraphBuilder(make_context())
    x = builder.input("x", {"dataType": "float32", "dimensions": [2, 1]})
    assert builder.concat((x, x, x), 0).shape() == [6, 1]
    assert builder.concat(iter([x, x]), 1).shape() == [2, 2]  # type: ignore[arg-type]
    assert builder.expand(x, np.array([2, 5])).shape() == [2, 5]
    assert builder.slice(x, range(1, -1, -1), [1, 1]).shape() == [1, 1]
    assert [part.shape() for part in builder.split(x, np.array(2))] == [[1, 1], [1, 1]]
    assert [part.shape() for part in builder.split(x, np.array([1, 1]))] == [[1, 1], [1, 1]]
