"""Logical operations: inferred descriptors, and every step that can fail."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import Shape, infer

COMPARISONS = ["equal", "greater", "greaterOrEqual", "lesser", "lesserOrEqual"]
DATA_TYPES = ["float32", "float16", "int32", "uint32", "int64", "uint64", "int8", "uint8"]

SHAPES: list[tuple[list[int], list[int], list[int]]] = [
    ([], [], []),
    ([8, 1, 6, 1], [7, 1, 5], [8, 7, 6, 5]),
    ([4, 2, 4], [], [4, 2, 4]),
]

INVALID: list[tuple[str, tuple[Any, ...], str, str]] = [
    *((name, (Shape("float32", [2]), None), "b", "must be an MLOperand") for name in COMPARISONS),
    ("logicalNot", (None,), "a", "must be an MLOperand"),
    # 2.2.
    *(("logicalNot", (Shape(t, [2]),), "a", rf"must have a data type of \['uint8'\], got {t}") for t in DATA_TYPES if t != "uint8"),
    # 3.2.
    *((name, (Shape("float32", [2]), Shape("float16", [2])), "b", "must have the data type of a, float32") for name in COMPARISONS),
    # 3.3.
    *((name, (Shape("int8", [2]), Shape("int8", [3])), "b", r"must broadcast with the shape of a, \[2\]") for name in COMPARISONS),
    # The broadcast shape is larger than both.
    ("equal", (Shape("uint8", [50000, 1]), Shape("uint8", [50000])), "output", "must have at most 2147483647 bytes"),
]


@pytest.mark.parametrize("dataType", DATA_TYPES)
@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons(name: str, dataType: str) -> None:
    for a, b, output in SHAPES:
        assert infer(name, Shape(dataType, a), Shape(dataType, b)) == [("uint8", output)]
        assert infer(name, Shape(dataType, b), Shape(dataType, a)) == [("uint8", output)]


@pytest.mark.parametrize("dimensions", [[], [2], [1, 2, 1, 2, 1, 2, 1, 2]])
def test_logicalNot(dimensions: list[int]) -> None:
    assert infer("logicalNot", Shape("uint8", dimensions)) == [("uint8", dimensions)]


@pytest.mark.parametrize(("name", "arguments", "argument", "message"), INVALID)
def test_invalid(name: str, arguments: tuple[Any, ...], argument: str, message: str) -> None:
    with pytest.raises(TypeError, match=message) as caught:
        infer(name, *arguments)
    assert (caught.value.operation, caught.value.argument) == (name, argument)  # type: ignore[attr-defined]
