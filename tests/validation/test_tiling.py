"""``reverse`` and ``tile``: inferred descriptors, and every step that can fail."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import CURRENT, Shape, infer, refused
from webnn.validation.descriptor import DATA_TYPES

EIGHT = [1, 2, 1, 2, 1, 2, 1, 2]

REVERSED: list[tuple[list[int], dict[str, Any]]] = [
    ([], {}),
    ([], {"axes": []}),
    ([], {"axes": None}),
    ([3, 3], {}),
    ([1, 2, 3], {"axes": [0, 1]}),
    ([1, 2, 3], {"axes": [2, 0]}),
    ([1, 2, 3], {"axes": (1.9,)}),
    ([1, 2, 3], {"axes": range(1, 3)}),
    ([1, 2, 3], {"axes": []}),
    (EIGHT, {"axes": [7, 0, 3]}),
]

TILED: list[tuple[list[int], Any, list[int]]] = [
    ([], [], []),
    ([1, 2, 3, 4], [1, 1, 1, 1], [1, 2, 3, 4]),
    ([1, 2, 3, 4], [1, 2, 3, 4], [1, 4, 9, 16]),
    ([3], range(2, 3), [6]),
    (EIGHT, [2, 1] * 4, [2] * 8),
    # unsigned long without a range to enforce: modulo 2^32.
    ([3], [2**32 + 2], [6]),
    ([3], ["2.7"], [6]),
    # As long and as large as can be.
    ([1], [2**31 - 1], [2**31 - 1]),
]

INVALID: list[tuple[str, list[int], tuple[Any, ...], dict[str, Any], str, str]] = [
    ("reverse", [2], (), {"axes": 0}, "options.axes", "conversion"),
    ("reverse", [2], (), {"axes": [-1]}, "options.axes[0]", "conversion"),
    # 6.
    ("reverse", [1, 2, 3, 4], (), {"axes": [2, 2, 3]}, "options.axes", "different"),
    ("reverse", [3, 3], (), {"axes": [3]}, "options.axes", "axis"),
    ("reverse", [3, 3], (), {"axes": [0, 2]}, "options.axes", "axis"),
    ("reverse", [], (), {"axes": [0]}, "options.axes", "axis"),
    ("tile", [2], (2,), {}, "repetitions", "conversion"),
    ("tile", [2], (None,), {}, "repetitions", "conversion"),
    ("tile", [2], ([2, "x"],), {}, "repetitions", "length"),
    # 3.
    ("tile", [1, 2, 4], ([1, 2, 3, 4],), {}, "repetitions", "length"),
    ("tile", [], ([1],), {}, "repetitions", "length"),
    # 4.
    ("tile", [1, 2, 3, 4], ([0, 1, 2, 3],), {}, "repetitions", "range"),
    ("tile", [2], ([2**32],), {}, "repetitions", "range"),
    # 7. The last dimension, the byte length, the rank of the numbers that wrapped.
    ("tile", [1, 2, 3, 4], ([-1, 1, 2, 3],), {}, "output", "limit"),
    ("tile", [1, 2, 3, 4], ([1, 1, 2**32 - 1, 3],), {}, "output", "limit"),
    ("tile", [1, 1, 1, 2**29 - 1], ([1, 2, 3, 4],), {}, "output", "limit"),
    ("tile", [1], ([2**29],), {}, "output", "limit"),
]


@pytest.mark.parametrize(("dimensions", "options"), REVERSED)
def test_reverse(dimensions: list[int], options: dict[str, Any]) -> None:
    assert infer("reverse", Shape("float32", dimensions), revision=CURRENT, **options) == [("float32", dimensions)]


@pytest.mark.parametrize(("dimensions", "repetitions", "output"), TILED)
def test_tile(dimensions: list[int], repetitions: Any, output: list[int]) -> None:
    assert infer("tile", Shape("int8", dimensions), repetitions, revision=CURRENT) == [("int8", output)]


@pytest.mark.parametrize("dataType", DATA_TYPES)
def test_types(dataType: str) -> None:
    assert infer("reverse", Shape(dataType, [2, 3]), revision=CURRENT) == [(dataType, [2, 3])]
    assert infer("tile", Shape(dataType, [2, 3]), [3, 2], revision=CURRENT) == [(dataType, [6, 6])]


@pytest.mark.parametrize(("name", "dimensions", "arguments", "options", "argument", "rule"), INVALID)
def test_invalid(name: str, dimensions: list[int], arguments: tuple[Any, ...], options: dict[str, Any], argument: str, rule: str) -> None:
    with refused(rule=rule, operation=name, label="here", argument=argument):
        infer(name, Shape("float32", dimensions), *arguments, revision=CURRENT, label="here", **options)


@pytest.mark.parametrize(("name", "arguments"), [("reverse", ()), ("tile", ([1],))])
def test_the_draft_of_2024_has_none(name: str, arguments: tuple[Any, ...]) -> None:
    with refused(rule="draft", operation=name):
        infer(name, Shape("float32", [2]), *arguments, revision="2024-06")
