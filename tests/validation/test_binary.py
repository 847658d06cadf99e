"""Binary operations: inferred descriptors, and every step that can fail."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import Shape, each_row, infer

NAMES = ["add", "sub", "mul", "div", "max", "min", "pow"]
DATA_TYPES = ["float32", "float16", "int32", "uint32", "int64", "uint64", "int8", "uint8"]

SHAPES: list[tuple[list[int], list[int], list[int]]] = [
    ([], [], []),
    ([2, 3], [2, 3], [2, 3]),
    ([8, 1, 6, 1], [7, 1, 5], [8, 7, 6, 5]),
    ([4, 2, 1], [4], [4, 2, 4]),
    ([4, 2, 4], [], [4, 2, 4]),
    ([], [1, 1], [1, 1]),
    ([3], [1] * 8, [1] * 7 + [3]),
]

# a, b, the argument at fault, a fragment of the message
INVALID: list[tuple[Any, Any, str, str]] = [
    (1, Shape("float32", []), "a", "must be an MLOperand, got 1"),
    (Shape("float32", []), {}, "b", "must be an MLOperand, got {}"),
    # 3.
    (Shape("float32", [4, 2]), Shape("int32", [1]), "b", "must have the data type of a, float32, got int32"),
    (Shape("int8", [2]), Shape("uint8", [2]), "b", "must have the data type of a, int8, got uint8"),
    # 6.
    (Shape("float32", [4, 2]), Shape("float32", [4]), "b", r"must broadcast with the shape of a, \[4, 2\], got \[4\]"),
    (Shape("int64", [2, 3]), Shape("int64", [3, 3]), "b", "must broadcast with the shape of a"),
    # The broadcast shape is larger than both.
    (Shape("float32", [50000, 1]), Shape("float32", [50000]), "output", "must have at most 2147483647 bytes"),
]


@pytest.mark.parametrize("name", NAMES)
@each_row("dataType", DATA_TYPES)
def test_valid(name: str, dataType: str) -> None:
    for a, b, output in SHAPES:
        assert infer(name, Shape(dataType, a), Shape(dataType, b)) == [(dataType, output)]
        assert infer(name, Shape(dataType, b), Shape(dataType, a)) == [(dataType, output)]


@pytest.mark.parametrize("name", NAMES)
@each_row(("a", "b", "argument", "message"), INVALID)
def test_invalid(name: str, a: Any, b: Any, argument: str, message: str) -> None:
    with pytest.raises(TypeError, match=message) as caught:
        infer(name, a, b)
    assert (caught.value.operation, caught.value.argument) == (name, argument)  # type: ignore[attr-defined]
