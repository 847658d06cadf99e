"""conv2d and convTranspose2d: inferred shapes, and every step that can fail."""

from __future__ import annotations

from typing import Any

from tests.support import Shape, each_row, infer, refused

F = "float32"
MAX = 2**32 - 1

Case = tuple[str, list[int], list[int], dict[str, Any], list[int]]

#: Operation, input, filter, options, output.
VALID: list[Case] = [
    ("conv2d", [1, 1, 5, 5], [1, 1, 3, 3], {}, [1, 1, 3, 3]),
    ("conv2d", [1, 1, 5, 5], [1, 1, 3, 3], {"padding": [1, 1, 1, 1], "strides": [2, 2]}, [1, 1, 3, 3]),
    ("conv2d", [1, 1, 5, 5], [1, 1, 4, 2], {"padding": [1, 2, 0, 1], "strides": [2, 2]}, [1, 1, 3, 3]),
    ("conv2d", [1, 65, 65, 1], [1, 3, 3, 1], {"inputLayout": "nhwc", "filterLayout": "ihwo", "dilations": [4, 4]}, [1, 57, 57, 1]),
    ("conv2d", [2, 4, 2, 2], [4, 1, 2, 2], {"groups": 4, "bias": Shape(F, [4])}, [2, 4, 1, 1]),
    ("conv2d", [1, 4, 5, 6], [6, 2, 1, 1], {"groups": 2}, [1, 6, 5, 6]),
    ("conv2d", [1, 2, 5, 5], [4, 2, 2, 3], {"filterLayout": "oihw"}, [1, 4, 4, 3]),
    ("conv2d", [1, 2, 5, 5], [2, 3, 2, 4], {"filterLayout": "hwio"}, [1, 4, 4, 3]),
    ("conv2d", [1, 5, 5, 2], [4, 2, 3, 2], {"inputLayout": "nhwc", "filterLayout": "ohwi"}, [1, 4, 3, 4]),
    ("conv2d", [1, 5, 5, 2], [2, 2, 3, 4], {"inputLayout": "nhwc", "filterLayout": "ihwo"}, [1, 4, 3, 4]),
    ("conv2d", [1, 1, 2, 2], [1, 1, 1, 1], {"dilations": [MAX, MAX], "strides": [MAX, 1]}, [1, 1, 1, 2]),
    ("convTranspose2d", [1, 1, 3, 3], [1, 1, 3, 3], {}, [1, 1, 5, 5]),
    ("convTranspose2d", [1, 1, 3, 3], [3, 2, 2, 1], {"filterLayout": "hwoi"}, [1, 2, 5, 4]),
    ("convTranspose2d", [1, 3, 3, 1], [2, 3, 2, 1], {"inputLayout": "nhwc", "filterLayout": "ohwi"}, [1, 5, 4, 2]),
    ("convTranspose2d", [1, 1, 3, 3], [1, 2, 3, 3], {"strides": [3, 2], "outputSizes": [10, 8]}, [1, 2, 10, 8]),
    ("convTranspose2d", [1, 1, 3, 3], [1, 2, 3, 3], {"strides": [3, 2], "outputPadding": [1, 1]}, [1, 2, 10, 8]),
    ("convTranspose2d", [1, 1, 3, 3], [1, 1, 3, 3], {"strides": [3, 2], "outputPadding": [2, 1]}, [1, 1, 11, 8]),
    ("convTranspose2d", [1, 1, 3, 3], [1, 1, 3, 3], {"strides": [2, 3], "outputPadding": [1, 2]}, [1, 1, 8, 11]),
    ("convTranspose2d", [1, 1, 3, 3], [1, 2, 3, 3], {"outputPadding": [3, 3], "strides": [3, 2], "outputSizes": [9, 8]}, [1, 2, 9, 8]),
    ("convTranspose2d", [1, 1, 5, 5], [1, 1, 3, 3], {"padding": [1, 1, 1, 1], "groups": 3}, [1, 3, 5, 5]),
    ("convTranspose2d", [2, 4, 5, 5], [4, 2, 2, 2], {"dilations": [2, 3], "groups": 2, "bias": Shape(F, [4])}, [2, 4, 7, 8]),
    ("convTranspose2d", [1, 1, 1, 1], [1, 1, 1, 1], {"strides": [3, 3], "padding": [1, 1, 0, 1], "outputPadding": [2, 2]}, [1, 1, 1, 2]),
]

X, W = [1, 1, 5, 5], [1, 1, 3, 3]

#: Input, filter, options, argument at fault, part of the message: for both operations.
BOTH: list[tuple[Any, ...]] = [
    (Shape("int32", X), Shape("int32", W), {}, "input", "type"),
    ([1, 5, 5], W, {}, "input", "rank"),
    (X, [2, 2], {}, "filter", "rank"),
    (X, Shape("float16", W), {}, "filter", "type"),
    (X, W, {"padding": [2, 2]}, "options.padding", "length"),
    (X, W, {"strides": [2]}, "options.strides", "length"),
    (X, W, {"strides": [1, 0]}, "options.strides", "range"),
    (X, W, {"dilations": [1]}, "options.dilations", "length"),
    (X, W, {"dilations": [0, 1]}, "options.dilations", "range"),
    (X, W, {"groups": 0}, "options.groups", "range"),
    (X, W, {"groups": -1}, "options.groups", "conversion"),
    (X, W, {"inputLayout": "chwn"}, "options.inputLayout", "conversion"),
    (X, W, {"filterLayout": "whio"}, "options.filterLayout", "conversion"),
    (X, W, {"bias": Shape(F, [1, 2])}, "options.bias", "shape"),
    (X, W, {"bias": Shape(F, [2])}, "options.bias", "shape"),
    (X, W, {"bias": Shape("int32", [1])}, "options.bias", "type"),
]

#: Operation, input, filter, options, argument at fault, part of the message.
INVALID: list[tuple[str, Any, Any, dict[str, Any], str, str]] = [
    *((name, *row) for name in ("conv2d", "convTranspose2d") for row in BOTH),
    ("conv2d", [1, 4, 5, 5], [1, 1, 2, 2], {"groups": 3}, "options.groups", "divisible"),
    ("conv2d", [1, 4, 5, 5], [2, 1, 2, 2], {"groups": 2}, "filter", "shape"),
    ("conv2d", [1, 4, 5, 5], [3, 2, 2, 2], {"groups": 2}, "options.groups", "divisible"),
    ("conv2d", X, [1, 1, 7, 7], {}, "output", "limit"),
    ("conv2d", X, [1, 1, 4, 2], {"dilations": [4, 1], "padding": [1, 1, 1, 1], "strides": [2, 2]}, "output", "limit"),
    ("conv2d", X, [1, 1, 434983, 2], {"dilations": [328442, 1]}, "output", "limit"),
    ("conv2d", X, W, {"dilations": [1, MAX]}, "output", "limit"),
    ("conv2d", X, W, {"padding": [MAX, MAX, 0, 0]}, "output", "limit"),
    ("convTranspose2d", [1, 2, 5, 5], W, {}, "filter", "shape"),
    ("convTranspose2d", X, W, {"outputPadding": [1, 1, 1, 1]}, "options.outputPadding", "length"),
    ("convTranspose2d", X, W, {"strides": [2, 2], "outputPadding": [0, 2]}, "options.outputPadding", "range"),
    ("convTranspose2d", X, W, {"strides": [2, 2], "outputPadding": [2, 0]}, "options.outputPadding", "range"),
    ("convTranspose2d", X, W, {"strides": [3, 2], "outputPadding": [1, 2]}, "options.outputPadding", "range"),
    ("convTranspose2d", X, W, {"strides": [2, 3], "outputPadding": [2, 1]}, "options.outputPadding", "range"),
    ("convTranspose2d", X, W, {"outputSizes": [1, 2, 7, 7]}, "options.outputSizes", "length"),
    ("convTranspose2d", X, W, {"strides": [2, 2], "outputSizes": [10, 11]}, "options.outputSizes", "range"),
    ("convTranspose2d", X, W, {"strides": [2, 2], "outputSizes": [12, 13]}, "options.outputSizes", "range"),
    ("convTranspose2d", X, W, {"padding": [4, 4, 0, 0]}, "output", "limit"),
    ("convTranspose2d", X, W, {"groups": MAX, "filterLayout": "iohw", "strides": [MAX, 1]}, "output", "limit"),
    ("convTranspose2d", X, W, {"dilations": [1, MAX]}, "output", "limit"),
]


def operand(value: Any) -> Shape:
    return value if isinstance(value, Shape) else Shape(F, value)


@each_row("dataType", ["float32", "float16"])
@each_row(("name", "input", "filter", "options", "shape"), VALID)
def test_valid(name: str, input: Any, filter: Any, options: dict[str, Any], shape: list[int], dataType: str) -> None:
    typed = {key: Shape(dataType, value.dimensions) if isinstance(value, Shape) else value for key, value in options.items()}
    assert infer(name, Shape(dataType, input), Shape(dataType, filter), **typed) == [(dataType, shape)]


@each_row(("name", "input", "filter", "options", "argument", "rule"), INVALID)
def test_invalid(name: str, input: Any, filter: Any, options: dict[str, Any], argument: str, rule: str) -> None:
    with refused(rule=rule, operation=name, argument=argument):
        infer(name, operand(input), operand(filter), **options)
