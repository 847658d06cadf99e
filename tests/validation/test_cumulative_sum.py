"""``cumulativeSum``: inferred descriptors, and every step that can fail."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import CURRENT, Shape, infer
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
    (Shape("float32", [2]), [1, 2], "axis", "must be a number"),
    # 3. Before 4.
    *((Shape(each, [2]), 1, "input", f"must have a data type of .*, got {each}") for each in ("int8", "uint8")),
    # 4. A scalar has no axis at all.
    (Shape("float32", []), 0, "input", r"must have at least 1 dimensions, got 0-D \[\]"),
    (Shape("float32", [1, 2, 3]), 3, "axis", "must be less than the rank of input, 3, got 3"),
    (Shape("float32", [1, 2, 3]), -1, "axis", "must be less than the rank of input, 3, got 4294967295"),
]


@pytest.mark.parametrize(("dimensions", "axis", "options"), VALID)
def test_valid(dimensions: list[int], axis: Any, options: dict[str, Any]) -> None:
    assert infer("cumulativeSum", Shape("float16", dimensions), axis, revision=CURRENT, **options) == [("float16", dimensions)]


def test_types() -> None:
    for dataType in ALLOWED:
        assert infer("cumulativeSum", Shape(dataType, [2, 3]), 1, revision=CURRENT) == [(dataType, [2, 3])]
    refused = {input.dataType for input, _, _, message in INVALID if "data type" in message}
    assert refused == set(DATA_TYPES) - set(ALLOWED)


@pytest.mark.parametrize(("input", "axis", "argument", "message"), INVALID)
def test_invalid(input: Shape, axis: Any, argument: str, message: str) -> None:
    with pytest.raises(TypeError, match=rf"^\[here\] cumulativeSum: {argument} {message}") as caught:
        infer("cumulativeSum", input, axis, revision=CURRENT, label="here")
    assert (caught.value.operation, caught.value.argument) == ("cumulativeSum", argument)  # type: ignore[attr-defined]


def test_the_draft_of_2024_has_none() -> None:
    with pytest.raises(TypeError, match=r"^cumulativeSum: the draft 2024-06 has no such operation"):
        infer("cumulativeSum", Shape("float32", [2]), 0, revision="2024-06")
