"""Unary operations of the current draft: inferred descriptors, and every step that can fail."""

from __future__ import annotations

import re

import pytest

from tests.support import CURRENT, Shape, infer
from webnn.validation.descriptor import DATA_TYPES, FLOAT_TYPES, DataType
from webnn.validation.unary import OPERATIONS

SIGNED: tuple[DataType, ...] = ("float32", "float16", "int32", "int64", "int8")
ALLOWED: dict[str, tuple[DataType, ...]] = {
    **{operation.name: FLOAT_TYPES for operation in OPERATIONS},
    **dict.fromkeys(("abs", "neg", "sign"), SIGNED),
    "identity": DATA_TYPES,
}


@pytest.mark.parametrize("dimensions", [[], [2], [1, 2, 1, 2, 1, 2, 1, 2]])
@pytest.mark.parametrize("name", ALLOWED)
def test_valid(name: str, dimensions: list[int]) -> None:
    for dataType in ALLOWED[name]:
        assert infer(name, Shape(dataType, dimensions), revision=CURRENT) == [(dataType, dimensions)]


@pytest.mark.parametrize(
    ("name", "dataType"), [(name, each) for name, allowed in ALLOWED.items() for each in DATA_TYPES if each not in allowed]
)
def test_types(name: str, dataType: str) -> None:
    message = re.escape(f"[here] {name}: input must have a data type of {list(ALLOWED[name])}, got {dataType}")
    with pytest.raises(TypeError, match=f"^{message}$") as caught:
        infer(name, Shape(dataType, [2, 3]), revision=CURRENT, label="here")
    assert (caught.value.operation, caught.value.argument) == (name, "input")  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["roundEven", "sign"])
def test_conversion(name: str) -> None:
    with pytest.raises(TypeError, match=f"^{name}: input must be an MLOperand, got 1.5$"):
        infer(name, 1.5, revision=CURRENT)


@pytest.mark.parametrize("name", ["roundEven", "sign"])
def test_the_draft_of_2024_has_none(name: str) -> None:
    with pytest.raises(TypeError, match=f"^{name}: the draft 2024-06 has no such operation"):
        infer(name, Shape("float32", [2]), revision="2024-06")


@pytest.mark.parametrize("name", ["abs", "neg"])
def test_the_draft_of_2024_lacks_int64(name: str) -> None:
    with pytest.raises(TypeError, match=r"must have a data type of .*, got int64"):
        infer(name, Shape("int64", [2]), revision="2024-06")
