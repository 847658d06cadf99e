"""Unary operations: inferred descriptors, and every step that can fail."""

from __future__ import annotations

import pytest

from tests.support import CURRENT, FIRST, Shape, each_row, infer, refused
from webnn.validation.descriptor import DATA_TYPES, FLOAT_TYPES
from webnn.validation.unary import OPERATIONS

NAMES = [operation.name for operation in OPERATIONS]
NEW = [name for name in NAMES if name not in FIRST.operations]
#: The data types that each operation allows, by draft.
ALLOWED: dict[str, dict[str, tuple[str, ...]]] = {
    FIRST.name: {
        **{name: FLOAT_TYPES for name in NAMES if name not in NEW},
        **dict.fromkeys(("abs", "neg"), ("float32", "float16", "int32", "int8")),
        "identity": DATA_TYPES,
    },
    CURRENT: {
        **dict.fromkeys(NAMES, FLOAT_TYPES),
        **dict.fromkeys(("abs", "neg", "sign"), ("float32", "float16", "int32", "int64", "int8")),
        "identity": DATA_TYPES,
    },
}
EACH = [(revision, name) for revision, allowed in ALLOWED.items() for name in allowed]
REFUSED = [(revision, name, type) for revision, name in EACH for type in DATA_TYPES if type not in ALLOWED[revision][name]]


@each_row("dimensions", [[], [2], [2, 3, 4, 5, 6], [1, 2, 1, 2, 1, 2, 1, 2]])
@pytest.mark.parametrize(("revision", "name"), EACH)
def test_valid(revision: str, name: str, dimensions: list[int]) -> None:
    for dataType in ALLOWED[revision][name]:
        assert infer(name, Shape(dataType, dimensions), revision=revision) == [(dataType, dimensions)]


@each_row(("revision", "name", "dataType"), REFUSED)
def test_types(revision: str, name: str, dataType: str) -> None:
    with refused(rule="type", operation=name, argument="input", label="here", said=str(list(ALLOWED[revision][name]))):
        infer(name, Shape(dataType, [2, 3]), revision=revision, label="here")


@each_row(("revision", "name"), EACH)
def test_conversion(revision: str, name: str) -> None:
    with refused(rule="conversion", operation=name, argument="input"):
        infer(name, 1.5, revision=revision)
    with refused(rule="conversion", argument="input", label="here"):
        infer(name, [], revision=revision, label="here")


@pytest.mark.parametrize("name", NEW)
def test_operations_since_2026_06(name: str) -> None:
    with refused(rule="draft", operation=name):
        infer(name, Shape("float32", [2]), revision=FIRST.name)
