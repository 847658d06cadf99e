"""Unary operations: inferred descriptors, and every step that can fail."""

from __future__ import annotations

import pytest

from tests.support import Shape, infer

FLOATS = {"float32", "float16"}
SIGNED = FLOATS | {"int32", "int8"}
ALL = SIGNED | {"uint32", "int64", "uint64", "uint8"}

ALLOWED = {
    "abs": SIGNED,
    "ceil": FLOATS,
    "cos": FLOATS,
    "erf": FLOATS,
    "exp": FLOATS,
    "floor": FLOATS,
    "identity": ALL,
    "log": FLOATS,
    "neg": SIGNED,
    "reciprocal": FLOATS,
    "sin": FLOATS,
    "sqrt": FLOATS,
    "tan": FLOATS,
}


@pytest.mark.parametrize("dimensions", [[], [2], [2, 3, 4, 5, 6], [1, 2, 1, 2, 1, 2, 1, 2]])
@pytest.mark.parametrize(("name", "dataType"), [(name, dataType) for name, allowed in ALLOWED.items() for dataType in sorted(allowed)])
def test_valid(name: str, dataType: str, dimensions: list[int]) -> None:
    assert infer(name, Shape(dataType, dimensions)) == [(dataType, dimensions)]


@pytest.mark.parametrize(
    ("name", "dataType"), [(name, dataType) for name, allowed in ALLOWED.items() for dataType in sorted(ALL - allowed)]
)
def test_types(name: str, dataType: str) -> None:
    with pytest.raises(TypeError, match=f"^{name}: input must have a data type of .*, got {dataType}$") as caught:
        infer(name, Shape(dataType, [2, 3]))
    assert (caught.value.operation, caught.value.argument) == (name, "input")  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ALLOWED)
def test_conversion(name: str) -> None:
    with pytest.raises(TypeError, match=f"^{name}: input must be an MLOperand, got 1.5$"):
        infer(name, 1.5)
    with pytest.raises(TypeError, match=r"^\[here\] "):
        infer(name, [], label="here")
