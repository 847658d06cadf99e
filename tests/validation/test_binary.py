"""Binary operations: inferred descriptors, and every step that can fail."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import Shape, each_row, infer, refused

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
    (1, Shape("float32", []), "a", "conversion"),
    (Shape("float32", []), {}, "b", "conversion"),
    # 3.
    (Shape("float32", [4, 2]), Shape("int32", [1]), "b", "type"),
    (Shape("int8", [2]), Shape("uint8", [2]), "b", "type"),
    # 6.
    (Shape("float32", [4, 2]), Shape("float32", [4]), "b", "broadcast"),
    (Shape("int64", [2, 3]), Shape("int64", [3, 3]), "b", "broadcast"),
    # The broadcast shape is larger than both.
    (Shape("float32", [50000, 1]), Shape("float32", [50000]), "output", "limit"),
]


@pytest.mark.parametrize("name", NAMES)
@each_row("dataType", DATA_TYPES)
def test_valid(name: str, dataType: str) -> None:
    for a, b, output in SHAPES:
        assert infer(name, Shape(dataType, a), Shape(dataType, b)) == [(dataType, output)]
        assert infer(name, Shape(dataType, b), Shape(dataType, a)) == [(dataType, output)]


@pytest.mark.parametrize("name", NAMES)
@each_row(("a", "b", "argument", "rule"), INVALID)
def test_invalid(name: str, a: Any, b: Any, argument: str, rule: str) -> None:
    with refused(rule=rule, operation=name, argument=argument):
        infer(name, a, b)
