"""resample2d: inferred shapes, and every step that can fail."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import Shape, infer, refused

F = "float32"
MAX = 2**32 - 1

VALID: list[tuple[list[int], dict[str, Any], list[int]]] = [
    ([1, 1, 2, 4], {}, [1, 1, 2, 4]),
    ([1, 1, 2, 4], {"scales": [2.0, 2.0]}, [1, 1, 4, 8]),
    ([1, 1, 5, 5], {"scales": [0.5, 0.5], "axes": [2, 3]}, [1, 1, 2, 2]),
    ([1, 1, 2, 4], {"scales": [1.0, 2.0], "axes": [0, 1]}, [1, 2, 2, 4]),
    ([1, 1, 2, 4], {"scales": [2.0, 2.0], "axes": [1, 2], "mode": "linear"}, [1, 2, 4, 4]),
    ([1, 1, 2, 4], {"scales": [2.0, 2.0], "sizes": [3, 6]}, [1, 1, 3, 6]),
    # The scale is a float32: 0.7 is a little less, 0.1 a little more; the product with the size is exact.
    ([1, 1, 10, 10], {"scales": [0.7, 0.1]}, [1, 1, 6, 1]),
]

X = Shape(F, [1, 1, 2, 4])

INVALID: list[tuple[Shape, dict[str, Any], str, str]] = [
    (Shape("int32", [1, 1, 2, 4]), {}, "input", "type"),
    (Shape(F, [2, 4]), {}, "input", "rank"),
    (X, {"scales": [1.0, 1.0, 2.0, 2.0]}, "options.scales", "length"),
    (X, {"scales": [1.0, -2.0]}, "options.scales", "range"),
    (X, {"scales": [0, 2.0]}, "options.scales", "range"),
    (X, {"scales": [0, 2.0], "sizes": [2, 2]}, "options.scales", "range"),
    (X, {"sizes": [1, 1, 4, 6]}, "options.sizes", "length"),
    (X, {"sizes": [1, 0]}, "options.sizes", "range"),
    (X, {"sizes": [MAX + 1, 1]}, "options.sizes[0]", "conversion"),
    (X, {"axes": [0, 1, 2]}, "options.axes", "axis"),
    (X, {"axes": [3, 4]}, "options.axes", "axis"),
    (X, {"axes": [0, 2]}, "options.axes", "axis"),
    (X, {"axes": [1, 0]}, "options.axes", "axis"),
    (X, {"axes": [0, 0]}, "options.axes", "axis"),
    (X, {"mode": "cubic"}, "options.mode", "conversion"),
    (X, {"scales": [MAX, 1]}, "output", "limit"),
    (X, {"scales": [0.02, 0.8]}, "output", "limit"),
    (X, {"scales": [0.7, 0.1]}, "output", "limit"),
    (X, {"sizes": [MAX, MAX]}, "output", "limit"),
]


@pytest.mark.parametrize("dataType", ["float32", "float16"])
@pytest.mark.parametrize(("input", "options", "shape"), VALID)
def test_valid(input: list[int], options: dict[str, Any], shape: list[int], dataType: str) -> None:
    assert infer("resample2d", Shape(dataType, input), **options) == [(dataType, shape)]


@pytest.mark.parametrize(("input", "options", "argument", "rule"), INVALID)
def test_invalid(input: Shape, options: dict[str, Any], argument: str, rule: str) -> None:
    with refused(rule=rule, operation="resample2d", argument=argument):
        infer("resample2d", input, **options)
