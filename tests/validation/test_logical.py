"""Logical operations: inferred descriptors, and every step that can fail."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import CURRENT, FIRST, Shape, each_row, infer, refused
from webnn.validation.descriptor import DATA_TYPES, FLOAT_TYPES

COMPARISONS = ["equal", "notEqual", "greater", "greaterOrEqual", "lesser", "lesserOrEqual"]
CONNECTIVES = ["logicalAnd", "logicalOr", "logicalXor"]
CLASSES = ["isInfinite", "isNaN"]
#: Each operation with its number of operands and the types that it allows.
ALLOWED: dict[str, tuple[int, tuple[str, ...]]] = {
    **dict.fromkeys(COMPARISONS, (2, DATA_TYPES)),
    **dict.fromkeys(CONNECTIVES, (2, ("uint8",))),
    **dict.fromkeys(CLASSES, (1, FLOAT_TYPES)),
    "logicalNot": (1, ("uint8",)),
}

SHAPES: list[tuple[list[int], list[int], list[int]]] = [
    ([], [], []),
    ([3], [], [3]),
    ([4, 2, 4], [], [4, 2, 4]),
    ([8, 1, 6, 1], [7, 1, 5], [8, 7, 6, 5]),
    ([1, 2, 1, 2, 1, 2, 1, 2], [2, 1], [1, 2, 1, 2, 1, 2, 2, 2]),
]

#: The comparisons of both drafts.
BOTH = [name for name in COMPARISONS if name != "notEqual"]

#: Calls of both drafts.
INVALID: list[tuple[str, tuple[Any, ...], str, str]] = [
    *((name, (Shape("float32", [2]), None), "b", "conversion") for name in BOTH),
    ("logicalNot", (None,), "a", "conversion"),
    # 2.2.
    *(("logicalNot", (Shape(t, [2]),), "a", "type") for t in DATA_TYPES if t != "uint8"),
    # 3.2.
    *((name, (Shape("float32", [2]), Shape("float16", [2])), "b", "type") for name in BOTH),
    # 3.3.
    *((name, (Shape("int8", [2]), Shape("int8", [3])), "b", "broadcast") for name in BOTH),
    # The broadcast shape is larger than both.
    ("equal", (Shape("uint8", [50000, 1]), Shape("uint8", [50000])), "output", "limit"),
]

#: Calls since 2026-06.
INVALID_NEW: list[tuple[str, tuple[Any, ...], str, str]] = [
    *((name, (Shape("uint8", [2]), None), "b", "conversion") for name in ["notEqual", *CONNECTIVES]),
    *((name, (None,), "a", "conversion") for name in CLASSES),
    # 4.1., and 6.2. for the second operand.
    *((name, (Shape("int8", [2]), Shape("uint8", [2])), "a", "type") for name in CONNECTIVES),
    *((name, (Shape("uint8", [2]), Shape("int8", [2])), "b", "type") for name in CONNECTIVES),
    # 6.2.
    ("notEqual", (Shape("float32", [2]), Shape("float16", [2])), "b", "type"),
    # 6.3.
    *((name, (Shape("uint8", [2]), Shape("uint8", [3])), "b", "broadcast") for name in ["notEqual", *CONNECTIVES]),
    # 8. The broadcast shape is larger than both.
    ("logicalOr", (Shape("uint8", [50000, 1]), Shape("uint8", [50000])), "output", "limit"),
]


@pytest.mark.parametrize("name", ALLOWED)
def test_types(name: str) -> None:
    count, allowed = ALLOWED[name]
    for dataType in DATA_TYPES:
        operands = [Shape(dataType, [2, 3])] * count
        if dataType in allowed:
            assert infer(name, *operands, revision=CURRENT) == [("uint8", [2, 3])]
        else:
            with refused(rule="type", operation=name, argument="a", label="here", said=str(list(allowed))):
                infer(name, *operands, revision=CURRENT, label="here")


@each_row(("a", "b", "output"), SHAPES)
@pytest.mark.parametrize("name", [*COMPARISONS, *CONNECTIVES])
def test_broadcasts(name: str, a: list[int], b: list[int], output: list[int]) -> None:
    assert infer(name, Shape("uint8", a), Shape("uint8", b), revision=CURRENT) == [("uint8", output)]
    assert infer(name, Shape("uint8", b), Shape("uint8", a), revision=CURRENT) == [("uint8", output)]


@pytest.mark.parametrize("dimensions", [[], [2], [1, 2, 1, 2, 1, 2, 1, 2]])
@pytest.mark.parametrize("name", CLASSES)
def test_classes(name: str, dimensions: list[int]) -> None:
    assert infer(name, Shape("float16", dimensions), revision=CURRENT) == [("uint8", dimensions)]


@each_row("dataType", DATA_TYPES)
@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("revision", [FIRST.name, CURRENT])
def test_comparisons(revision: str, name: str, dataType: str) -> None:
    for a, b, output in SHAPES:
        assert infer(name, Shape(dataType, a), Shape(dataType, b), revision=revision) == [("uint8", output)]
        assert infer(name, Shape(dataType, b), Shape(dataType, a), revision=revision) == [("uint8", output)]


@pytest.mark.parametrize("dimensions", [[], [2], [1, 2, 1, 2, 1, 2, 1, 2]])
@pytest.mark.parametrize("revision", [FIRST.name, CURRENT])
def test_logicalNot(revision: str, dimensions: list[int]) -> None:
    assert infer("logicalNot", Shape("uint8", dimensions), revision=revision) == [("uint8", dimensions)]


@each_row(
    ("revision", "name", "arguments", "argument", "rule"),
    [*((FIRST.name, *row) for row in INVALID), *((CURRENT, *row) for row in INVALID + INVALID_NEW)],
)
def test_invalid(revision: str, name: str, arguments: tuple[Any, ...], argument: str, rule: str) -> None:
    with refused(rule=rule, operation=name, argument=argument):
        infer(name, *arguments, revision=revision)


@pytest.mark.parametrize("name", ["notEqual", *CONNECTIVES, *CLASSES])
def test_operations_since_2026_06(name: str) -> None:
    operands = [Shape("uint8", [2])] * ALLOWED[name][0]
    with refused(rule="draft", operation=name):
        infer(name, *operands, revision=FIRST.name)
