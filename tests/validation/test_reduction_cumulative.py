"""``cumulativeSum``: inferred descriptors, and every step that can fail."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import CURRENT, Shape, infer, refused
from webnn.validation.descriptor import DATA_TYPES

ALLOWED = ("float32", "float16", "int32", "uint32", "int64", "uint64")

VALID: list[tuple[list[int], Any, dict[str, Any]]] = [
    ([3], 0, {}),
    ([3, 2, 5], 1, {"exclusive": True}),
    ([3, 2, 5], 2, {"reversed": True}),
    ([3, 2, 5], 2, {"reversed": "yes", "exclusive": 0}),
    ([1, 2, 1, 2, 1, 2, 1, 2], 7, {"exclusive": True, "reversed": True}),
    # unsigned long without a range to enforce: modulo 2^32, and no number is 0.
    ([3, 2], 2**32 + 1, {}),
    ([3, 2], 1.9, {}),
    ([3, 2], float("nan"), {}),
]

INVALID: list[tuple[Shape, Any, str, str]] = [
    (Shape("float32", [2]), [1, 2], "axis", "conversion"),
    # 3. Before 4.
    *((Shape(each, [2]), 1, "input", "type") for each in ("int8", "uint8")),
    # 4. A scalar has no axis at all.
    (Shape("float32", []), 0, "input", "rank"),
    (Shape("float32", [1, 2, 3]), 3, "axis", "axis"),
    (Shape("float32", [1, 2, 3]), -1, "axis", "axis"),
]


@pytest.mark.parametrize(("dimensions", "axis", "options"), VALID)
def test_valid(dimensions: list[int], axis: Any, options: dict[str, Any]) -> None:
    assert infer("cumulativeSum", Shape("float16", dimensions), axis, revision=CURRENT, **options) == [("float16", dimensions)]


def test_types() -> None:
    for dataType in ALLOWED:
        assert infer("cumulativeSum", Shape(dataType, [2, 3]), 1, revision=CURRENT) == [(dataType, [2, 3])]
    others = {input.dataType for input, _, _, rule in INVALID if rule == "type"}
    assert others == set(DATA_TYPES) - set(ALLOWED)


@pytest.mark.parametrize(("input", "axis", "argument", "rule"), INVALID)
def test_invalid(input: Shape, axis: Any, argument: str, rule: str) -> None:
    with refused(rule=rule, operation="cumulativeSum", argument=argument, label="here"):
        infer("cumulativeSum", input, axis, revision=CURRENT, label="here")


def test_the_draft_of_2024_has_none() -> None:
    with refused(rule="draft", operation="cumulativeSum"):
        infer("cumulativeSum", Shape("float32", [2]), 0, revision="2024-06")
