"""Pooling: inferred shapes, and every step that can fail."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import Shape, each_row, infer, refused
from webnn.validation.descriptor import DATA_TYPES, FLOAT_TYPES

NAMES = ["averagePool2d", "l2Pool2d", "maxPool2d"]
LARGEST = 2**32 - 1
WIDE: Any = {"windowDimensions": [4, 4], "padding": [1] * 4, "strides": [2, 2]}
PADDED: Any = {"windowDimensions": [2, 2], "padding": [2] * 4, "strides": [2, 2]}

VALID: list[tuple[list[int], dict[str, Any], list[int]]] = [
    ([1, 3, 4, 4], {}, [1, 3, 1, 1]),
    ([1, 4, 5, 3], {"layout": "nhwc"}, [1, 1, 1, 3]),
    ([1, 3, 4, 4], {"windowDimensions": [3, 3]}, [1, 3, 2, 2]),
    ([1, 5, 5, 2], {"windowDimensions": [3, 3], "layout": "nhwc"}, [1, 3, 3, 2]),
    ([1, 3, 5, 5], {"windowDimensions": [5, 5], "padding": [2, 2, 2, 2]}, [1, 3, 5, 5]),
    ([1, 3, 5, 5], {"windowDimensions": [2, 2], "strides": [2, 2]}, [1, 3, 2, 2]),
    ([1, 3, 5, 5], {"windowDimensions": [3, 3], "dilations": [2, 1]}, [1, 3, 1, 3]),
    ([1, 3, 7, 7], {"windowDimensions": [4, 4], "padding": [2, 1, 2, 1], "strides": [2, 2]}, [1, 3, 4, 4]),
    ([1, 3, 7, 7], WIDE, [1, 3, 3, 3]),
    ([1, 3, 7, 7], {**WIDE, "roundingType": "ceil"}, [1, 3, 4, 4]),
    ([1, 1, 4, 4], {"windowDimensions": [1, 1], "strides": [2, 2], "roundingType": "ceil"}, [1, 1, 3, 3]),
    # Output sizes are used as given, whatever the rounding type, and together with padding.
    ([1, 3, 7, 7], {**WIDE, "roundingType": "ceil", "outputSizes": [3, 3]}, [1, 3, 3, 3]),
    ([1, 3, 7, 7], {**WIDE, "outputSizes": [4, 4]}, [1, 3, 4, 4]),
    # The window is larger than the input, and rounding up gives one output all the same.
    ([1, 1, 5, 5], {"windowDimensions": [6, 5], "strides": [2, 1], "roundingType": "ceil"}, [1, 1, 1, 1]),
]

INVALID: list[tuple[list[int], dict[str, Any], str, str]] = [
    ([1, 5, 5], {}, "input", "rank"),
    ([1, 1, 1, 5, 5], {}, "input", "rank"),
    ([1, 2, 5, 5], {"windowDimensions": [1, 1, 1, 1]}, "options.windowDimensions", "length"),
    ([1, 2, 5, 5], {"windowDimensions": [0, 2]}, "options.windowDimensions", "range"),
    ([1, 2, 5, 5], {"padding": [2, 2]}, "options.padding", "length"),
    ([1, 2, 5, 5], {"strides": [2]}, "options.strides", "length"),
    ([1, 2, 5, 5], {"strides": [0, 2]}, "options.strides", "range"),
    ([1, 2, 5, 5], {"dilations": [1, 1, 2]}, "options.dilations", "length"),
    ([1, 2, 5, 5], {"dilations": [1, 0]}, "options.dilations", "range"),
    ([1, 2, 5, 5], {"outputSizes": [1, 2, 4, 4]}, "options.outputSizes", "length"),
    ([1, 2, 5, 5], {**PADDED, "outputSizes": [3, 3]}, "options.outputSizes", "range"),
    # Both are rounded in the same way.
    ([1, 2, 5, 5], {**PADDED, "outputSizes": [4, 5]}, "options.outputSizes", "range"),
    ([1, 2, 5, 5], {"windowDimensions": [2, 2], "outputSizes": [5, 5]}, "options.outputSizes", "range"),
    ([1, 2, 5, 5], {"windowDimensions": [8, 2]}, "output", "limit"),
    ([1, 2, 5, 5], {"windowDimensions": [2, 8]}, "output", "limit"),
    ([1, 2, 5, 5], {"windowDimensions": [6, 3]}, "output", "limit"),
    ([1, 2, 5, 5], {"windowDimensions": [3, 6]}, "output", "limit"),
    ([1, 3, 5, 5], {"padding": [LARGEST, LARGEST, 0, 0]}, "output", "limit"),
    ([1, 3, 5, 5], {"padding": [0, 0, LARGEST, LARGEST]}, "output", "limit"),
    ([1, 3, 5, 5], {"roundingType": "round"}, "options.roundingType", "conversion"),
    ([1, 3, 5, 5], {"layout": "chwn"}, "options.layout", "conversion"),
]


@each_row(("dimensions", "options", "shape"), VALID)
@pytest.mark.parametrize("name", NAMES)
def test_valid(name: str, dimensions: list[int], options: dict[str, Any], shape: list[int]) -> None:
    assert infer(name, Shape("float16", dimensions), **options) == [("float16", shape)]


@each_row(("dimensions", "options", "argument", "rule"), INVALID)
@pytest.mark.parametrize("name", NAMES)
def test_invalid(name: str, dimensions: list[int], options: dict[str, Any], argument: str, rule: str) -> None:
    with refused(rule=rule, operation=name, argument=argument):
        infer(name, Shape("float32", dimensions), **options)


@pytest.mark.parametrize("name", NAMES)
def test_types(name: str) -> None:
    for dataType in DATA_TYPES:
        if name == "maxPool2d" or dataType in FLOAT_TYPES:
            assert infer(name, Shape(dataType, [1, 3, 4, 4])) == [(dataType, [1, 3, 1, 1])]
        else:
            with refused(rule="type", argument="input"):
                infer(name, Shape(dataType, [1, 3, 4]))
