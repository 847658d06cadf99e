"""Convolutions of all kinds, compared with the definition."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np
import pytest

from tests.webnn.stablehlo.programs import Array, check, operators, program, refusal, type_of
from webnn.hlo.attributes import ConvDimensionNumbers
from webnn.hlo.types import TensorType

RANDOM = np.random.default_rng(4)


def layout(input: str, kernel: str, output: str) -> ConvDimensionNumbers:
    """Return dimension numbers from texts such as "b01f"."""

    def spatial(text: str) -> tuple[int, ...]:
        return tuple(text.index(each) for each in sorted(set(text) & set("012")))

    return ConvDimensionNumbers(
        input_batch_dimension=input.index("b"),
        input_feature_dimension=input.index("f"),
        input_spatial_dimensions=spatial(input),
        kernel_input_feature_dimension=kernel.index("i"),
        kernel_output_feature_dimension=kernel.index("o"),
        kernel_spatial_dimensions=spatial(kernel),
        output_batch_dimension=output.index("b"),
        output_feature_dimension=output.index("f"),
        output_spatial_dimensions=spatial(output),
    )


def convolve(input: Array, kernel: Array, numbers: ConvDimensionNumbers, options: dict[str, Any]) -> Array:
    """Return a convolution, element by element of the kernel."""
    count = len(numbers.input_spatial_dimensions)
    x = input.transpose(numbers.input_batch_dimension, numbers.input_feature_dimension, *numbers.input_spatial_dimensions)
    w = kernel.transpose(
        numbers.kernel_output_feature_dimension, numbers.kernel_input_feature_dimension, *numbers.kernel_spatial_dimensions
    )
    wide = np.float64 if input.dtype.kind == "f" else np.int64
    x, w = x.astype(wide), w.astype(wide)
    strides, bases, dilations = (options.get(name, (1,) * count) for name in ("window_strides", "lhs_dilation", "rhs_dilation"))
    padding = np.reshape(options.get("padding", np.zeros((count, 2), int)), (count, 2))
    w = np.flip(w, [2 + axis for axis, flag in enumerate(options.get("window_reversal", ())) if flag])
    if options.get("batch_group_count", 1) > 1:
        groups = options["batch_group_count"]
        pieces = zip(np.split(x, groups, 0), np.split(w, groups, 0), strict=True)
    else:
        groups = options.get("feature_group_count", 1)
        pieces = zip(np.split(x, groups, 1), np.split(w, groups, 0), strict=True)
    results = []
    for one, weights in pieces:
        sizes = [(size - 1) * base + 1 for size, base in zip(one.shape[2:], bases, strict=True)]
        spread = np.zeros([*one.shape[:2], *(size + 200 for size in sizes)], wide)
        inside: Any = (..., *(slice(100, 100 + size, base) for size, base in zip(sizes, bases, strict=True)))
        spread[inside] = one
        starts = [100 - low for low, _ in padding]
        places = [
            (size + low + high - ((k - 1) * d + 1)) // s + 1
            for size, (low, high), k, d, s in zip(sizes, padding, w.shape[2:], dilations, strides, strict=True)
        ]
        total = np.zeros([one.shape[0], weights.shape[0], *places], wide)
        for offsets in itertools.product(*map(range, w.shape[2:])):
            cut = tuple(
                slice(start + o * d, start + o * d + (n - 1) * s + 1, s)
                for start, o, d, n, s in zip(starts, offsets, dilations, places, strides, strict=True)
            )
            total += np.einsum("bi...,oi->bo...", spread[(slice(None), slice(None), *cut)], weights[(slice(None), slice(None), *offsets)])
        results.append(total)
    joined = np.concatenate(results, 1)
    order = [numbers.output_batch_dimension, numbers.output_feature_dimension, *numbers.output_spatial_dimensions]
    return joined.transpose(np.argsort(order)).astype(input.dtype)


def make(text: str, sizes: dict[str, int], dtype: Any = np.float32) -> Array:
    return RANDOM.integers(-4, 5, [sizes[each] for each in text]).astype(dtype)


INPUT, KERNEL = {"b": 2, "f": 4, "0": 7, "1": 6, "2": 5}, {"i": 4, "o": 6, "0": 3, "1": 2, "2": 2}
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"window_strides": (2, 3), "padding": np.array([[1, 2], [0, 1]])},
    {"rhs_dilation": (2, 3), "padding": np.array([[0, 0], [3, 0]])},
    {"padding": np.array([[-1, 2], [0, -2]])},
    {"window_reversal": (True, False)},
    {"lhs_dilation": (2, 2)},
    {"lhs_dilation": (2, 3), "padding": np.array([[2, 2], [1, 1]])},
    {"lhs_dilation": (3, 1), "padding": np.array([[1, 3], [0, 1]]), "rhs_dilation": (2, 1)},
    {"lhs_dilation": (2, 2), "padding": np.array([[3, 0], [0, 4]])},
    {"lhs_dilation": (2, 2), "padding": np.array([[-1, -2], [0, 0]]), "window_reversal": (True, True)},
    {"lhs_dilation": (2, 2), "window_strides": (3, 1), "padding": np.array([[1, 1], [-2, 1]])},
)


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("texts", [("b01f", "01io", "b01f"), ("bf01", "oi01", "bf01"), ("b01f", "o01i", "bf01"), ("0fb1", "i1o0", "10fb")])
def test_planes(texts: tuple[str, str, str], options: dict[str, Any]) -> None:
    numbers = layout(*texts)
    operands = [make(texts[0], INPUT), make(texts[1], KERNEL)]
    wanted = convolve(operands[0], operands[1], numbers, options)
    check("convolution", operands, wanted + 0, {"dimension_numbers": numbers, **options}, tolerance=1e-6, known=[(), (1,)])


@pytest.mark.parametrize(
    "options",
    [
        {"feature_group_count": 2},
        {"feature_group_count": 4, "window_strides": (2, 1)},
        {"feature_group_count": 2, "lhs_dilation": (2, 2), "padding": np.array([[1, 1], [1, 1]])},
        {"batch_group_count": 2},
        {"batch_group_count": 2, "padding": np.array([[1, 1], [1, 1]])},
    ],
)
@pytest.mark.parametrize("texts", [("b01f", "01io", "b01f"), ("bf01", "oi01", "bf01"), ("f01b", "i01o", "01bf")])
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_groups(texts: tuple[str, str, str], options: dict[str, Any], dtype: Any) -> None:
    numbers = layout(*texts)
    groups = options.get("feature_group_count", 1)
    operands = [make(texts[0], INPUT, dtype), make(texts[1], {**KERNEL, "i": 4 // groups, "o": 8}, dtype)]
    wanted = convolve(operands[0], operands[1], numbers, options)
    check("convolution", operands, wanted, {"dimension_numbers": numbers, **options}, tolerance=1e-6, known=[()])


@pytest.mark.parametrize(
    ("texts", "options"),
    [
        (("bf", "io", "bf"), {}),
        (("fb", "oi", "fb"), {"batch_group_count": 2}),
        (("b0f", "0io", "b0f"), {"window_strides": (2,), "padding": np.array([[1, 2]])}),
        (("bf0", "oi0", "bf0"), {"lhs_dilation": (2,), "padding": np.array([[2, 2]])}),
        (("b0f", "0io", "b0f"), {"feature_group_count": 2, "rhs_dilation": (2,)}),
        (("b012f", "012io", "b012f"), {"padding": np.array([[1, 0], [0, 1], [1, 1]])}),
        (("bf012", "oi012", "bf012"), {"window_strides": (2, 1, 2), "rhs_dilation": (2, 1, 1)}),
        (("bf012", "oi012", "b012f"), {"lhs_dilation": (2, 2, 1), "feature_group_count": 2}),
        (("b012f", "012io", "b012f"), {"window_reversal": (True, False, True), "padding": np.array([[-1, 0], [0, 0], [0, -1]])}),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int8])
def test_other_ranks(texts: tuple[str, str, str], options: dict[str, Any], dtype: Any) -> None:
    numbers = layout(*texts)
    operands = [make(texts[0], INPUT, dtype), make(texts[1], {**KERNEL, "i": 4 // options.get("feature_group_count", 1)}, dtype)]
    wanted = convolve(operands[0], operands[1], numbers, options)
    check("convolution", operands, wanted, {"dimension_numbers": numbers, **options}, tolerance=1e-6, known=[()])


def test_types_of_results() -> None:
    numbers = layout("b01f", "01io", "b01f")
    for dtype, result in ((np.int8, np.int32), (np.float16, np.float32), (np.int8, np.float32)):
        operands = [make("b01f", INPUT, dtype), make("01io", KERNEL, dtype)]
        wanted = convolve(operands[0].astype(np.int64), operands[1].astype(np.int64), numbers, {}).astype(result)
        check("convolution", operands, wanted, {"dimension_numbers": numbers}, tolerance=1e-6, known=[()])


def test_dynamic_conv() -> None:
    numbers = layout("b01f", "01io", "b01f")
    padding = np.array([[1, 2], [0, 1]])
    operands = [make("b01f", INPUT), make("01io", KERNEL)]
    wanted = convolve(operands[0], operands[1], numbers, {"padding": padding})
    attributes = {"dimension_numbers": numbers}
    check("dynamic_conv", [*operands, padding], wanted, attributes, tolerance=1e-6, known=[(2,), (1, 2)])
    reason = refusal("dynamic_conv", [*operands, padding], [type_of(wanted)], attributes)
    assert reason == "the padding must follow from constants, but comes from arg2"


@pytest.mark.parametrize(
    ("texts", "options", "wanted"),
    [
        (("b01f", "01io", "b01f"), {}, ["conv2d"]),
        (("bf01", "oi01", "bf01"), {"window_strides": (2, 2)}, ["conv2d"]),
        (("b01f", "01io", "bf01"), {}, ["conv2d", "transpose"]),
        (("b01f", "01oi", "b01f"), {"lhs_dilation": (2, 2), "window_reversal": (True, True)}, ["convTranspose2d"]),
        (("b0f", "0io", "b0f"), {}, ["reshape", "reshape", "conv2d", "reshape"]),
    ],
)
def test_operators(texts: tuple[str, str, str], options: dict[str, Any], wanted: list[str]) -> None:
    numbers = layout(*texts)
    operands = [make(texts[0], INPUT), make(texts[1], KERNEL)]
    result = convolve(operands[0], operands[1], numbers, options)
    assert operators(program("convolution", operands, [type_of(result)], {"dimension_numbers": numbers, **options})) == wanted


PLAIN = layout("b01f", "01io", "b01f")


@pytest.mark.parametrize(
    ("input", "kernel", "attributes", "message"),
    [
        ((1, 5, 5, 2), (3, 3, 2, 4), {}, "the attribute dimension_numbers must be given"),
        ((1, 5, 5, 2), (3, 3, 3, 4), {"dimension_numbers": PLAIN}, "the groups must divide the features and the batches"),
        (
            (1, 5, 5, 2),
            (3, 3, 2, 4),
            {"dimension_numbers": PLAIN, "feature_group_count": 0},
            "there must be groups of features or of batches",
        ),
        ((1, 5, 5, 2), (3, 3, 2, 4), {"dimension_numbers": PLAIN, "batch_group_count": 2}, "the groups must divide"),
        ((1, 5, 5, 2), (3, 3, 2, 4), {"dimension_numbers": PLAIN, "window_strides": (0, 1)}, "window_strides must have 2 numbers"),
        ((1, 5, 5, 2), (3, 3, 2, 4), {"dimension_numbers": PLAIN, "padding": (1, 1, 1)}, "padding must have 2 numbers for each of 2"),
        ((1, 5, 5, 2), (3, 3, 2, 4), {"dimension_numbers": PLAIN, "window_reversal": (True,)}, "window_reversal must have 2 flags, got 1"),
        ((1, 5, 5, 2), (3, 2, 4), {"dimension_numbers": PLAIN}, "both operands must have 4 dimensions, got"),
        ((1, 5, 5, 2), (2, 2, 2, 4), {"dimension_numbers": PLAIN}, "the results must have the shape"),
        (
            (1, 5, 5, 2),
            (3, 3, 2, 4),
            {"dimension_numbers": layout("b01f", "01io", "b0f1")},
            "the results must have",
        ),
    ],
)
def test_refusals(input: Any, kernel: Any, attributes: dict[str, Any], message: str) -> None:
    operands = [np.zeros(input, np.float32), np.zeros(kernel, np.float32)]
    assert re.search(message, refusal("convolution", operands, [TensorType(shape=(1, 3, 3, 4), element="f32")], attributes))


def test_a_dimension_named_twice() -> None:
    numbers = ConvDimensionNumbers(
        input_batch_dimension=0, input_feature_dimension=0, input_spatial_dimensions=(1, 2), kernel_input_feature_dimension=2,
        kernel_output_feature_dimension=3, kernel_spatial_dimensions=(0, 1), output_batch_dimension=0, output_feature_dimension=3,
        output_spatial_dimensions=(1, 2),
    )  # fmt: skip
    operands = [np.zeros((1, 5, 5, 2), np.float32), np.zeros((3, 3, 2, 4), np.float32)]
    reason = refusal("convolution", operands, [TensorType(shape=(1, 3, 3, 4), element="f32")], {"dimension_numbers": numbers})
    assert "the dimension numbers of the input must name each dimension from 0 to 3 once, got [0, 0, 1, 2]" in reason
