"""Operations that move elements: inferred types and shapes, and every step that can fail."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.support import Shape, each_row, infer, make_context, refused
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
    ("cast", (f(2), "float64"), {}, "type", "conversion"),
    ("cast", (f(2**29, type=I8), "int64"), {}, "output", "limit"),
    ("concat", ([], 0), {}, "inputs", "length"),
    ("concat", (f(2), 0), {}, "inputs", "conversion"),
    ("concat", ([f(2), 1], 0), {}, "inputs[1]", "conversion"),
    ("concat", ([f(2)], None), {}, "axis", "conversion"),
    ("concat", ([f(1, 1), f(1, 1)], 2), {}, "axis", "axis"),
    ("concat", ([f(), f()], 0), {}, "axis", "axis"),
    ("concat", ([f(1, 1), f(1, 1, type="int32")], 0), {}, "inputs[1]", "type"),
    ("concat", ([f(1, 1), f(1, 1), f(1, 1, 1)], 0), {}, "inputs[2]", "rank"),
    ("concat", ([f(1, 1, 1), f(1, 2, 3)], 1), {}, "inputs[1]", "shape"),
    ("concat", ([f(2, 1), f(3, 1)], 1), {}, "inputs[1]", "shape"),
    ("concat", ([f(2**30, type=I8)] * 4, 0), {}, "output", "limit"),
    ("expand", (f(3, 6, 2), [4, 3, 5]), {}, "newShape", "broadcast"),
    ("expand", (f(5, 4), [5]), {}, "newShape", "broadcast"),
    ("expand", (f(1), []), {}, "newShape", "broadcast"),
    ("expand", (f(1, 2, 1, 1), [1, 2, LARGEST, LARGEST]), {}, "output", "limit"),
    ("expand", (f(), [0]), {}, "output", "limit"),
    ("expand", (f(), [1] * 9), {}, "output", "limit"),
    ("expand", (f(), [-1]), {}, "newShape[0]", "conversion"),
    ("pad", (f(), [], []), {}, "input", "rank"),
    ("pad", (f(2, 3), [1], [1, 2]), {"mode": "edge", "value": 0}, "beginningPadding", "length"),
    ("pad", (f(2, 3), [1, 0], [1, 2, 0]), {"mode": "reflection"}, "endingPadding", "length"),
    ("pad", (f(2, 3), [2294967295, 0], [3294967295, 2]), {"mode": "reflection"}, "output", "limit"),
    ("pad", (f(2, 3), [-1, 0], [0, 0]), {}, "beginningPadding[0]", "conversion"),
    ("pad", (f(2), [0], [0]), {"mode": "wrap"}, "options.mode", "conversion"),
    ("pad", (f(2), [0], [0]), {"value": float("nan")}, "options.value", "conversion"),
    ("reshape", (f(2, 4), [2, 4, 0]), {}, "newShape", "range"),
    ("reshape", (f(2, 3, 4), []), {}, "newShape", "shape"),
    ("reshape", (f(2, 3, 4), [3, 9]), {}, "newShape", "shape"),
    ("reshape", (f(2, 3), [-1]), {}, "newShape[0]", "conversion"),
    ("reshape", (f(1), [1] * 9), {}, "output", "limit"),
    ("slice", (f(), [0], [1]), {}, "starts", "length"),
    ("slice", (f(3, 4, 5), [1, 2, 3], [1, 1]), {}, "sizes", "length"),
    ("slice", (f(3, 4, 5), [1, 2, 1, 3], [1, 1, 1]), {}, "starts", "length"),
    ("slice", (f(3, 4, 5), [0, 4, 4], [1, 1, 1]), {}, "starts[1]", "range"),
    ("slice", (f(3, 4, 5), [1, 2, 3], [1, 0, 1]), {}, "sizes", "range"),
    ("slice", (f(3, 4, 5), [0, 1, 2], [3, 4, 1]), {}, "sizes[1]", "range"),
    ("slice", (f(3), [2], [LARGEST]), {}, "sizes[0]", "range"),
    ("split", (f(), [2]), {}, "options.axis", "axis"),
    ("split", (f(2, 6), [2]), {"axis": 2}, "options.axis", "axis"),
    ("split", (f(2, 6), [0, 2]), {}, "splits", "range"),
    ("split", (f(2, 6), []), {}, "splits", "shape"),
    ("split", (f(2, 5), [2]), {"axis": 1}, "splits", "shape"),
    ("split", (f(2, 6), [2, 2, 3]), {"axis": 1}, "splits", "shape"),
    ("split", (f(2, 6), 0), {}, "splits", "divisible"),
    ("split", (f(2, 5), 2), {"axis": 1}, "splits", "divisible"),
    ("split", (f(2), None), {}, "splits", "conversion"),
    ("split", (f(2), [None]), {}, "splits[0]", "conversion"),
    ("transpose", (f(1, 2, 4),), {"permutation": [0, 2, 3, 1]}, "options.permutation", "length"),
    ("transpose", (f(1, 2, 3, 4),), {"permutation": [0, 2, 3, 2]}, "options.permutation", "different"),
    ("transpose", (f(1, 2, 3, 4),), {"permutation": [0, 1, 2, 4]}, "options.permutation", "axis"),
    ("transpose", (f(1, 2, 3, 4),), {"permutation": [0, -1, 2, 3]}, "options.permutation[1]", "conversion"),
    ("triangular", (f(),), {}, "input", "rank"),
    ("triangular", (f(2),), {}, "input", "rank"),
    ("triangular", (f(2, 2),), {"diagonal": 2**31}, "options.diagonal", "conversion"),
    ("where", (f(2, 4), f(2, 4), f(2, 4)), {}, "condition", "type"),
    ("where", (u8(2, 4), f(2, 4, type=H), f(2, 4)), {}, "other", "type"),
    ("where", (u8(2, 4), f(2, 4), f(2, 3)), {}, "other", "broadcast"),
    ("where", (u8(2, 4), f(2, 3), f(2, 1)), {}, "condition", "broadcast"),
]


@each_row(("name", "arguments", "options", "outputs"), VALID)
def test_valid(name: str, arguments: tuple[Any, ...], options: dict[str, Any], outputs: list[tuple[str, list[int]]]) -> None:
    assert infer(name, *arguments, **options) == outputs


@each_row(("name", "arguments", "options", "argument", "rule"), INVALID)
def test_invalid(name: str, arguments: tuple[Any, ...], options: dict[str, Any], argument: str, rule: str) -> None:
    with refused(rule=rule, operation=name, argument=argument):
        infer(name, *arguments, **options)


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
