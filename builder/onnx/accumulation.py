"""Sums with an accumulator of float16: the value "float16" of the switch `accumulation`.

Each term is rounded to float16 and added to the accumulator, which is rounded to float16 after each addition. The engine computes both in
float32, and two casts round. That is exact: a product of two numbers of float16 is a number of float32, and float32 has more than twice as
many significant bits as float16, so that rounding a sum twice is rounding it once. The terms come one after the other, in the order that
docs/semantics.md states. A `Scan` has one step for each term, for all elements of the result together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from webnn.builder.onnx.conv import arrange_filter
from webnn.builder.onnx.emitter import Emit, Emitter, Op
from webnn.builder.onnx.recurrent import run_steps
from webnn.builder.onnx.values import Array
from webnn.validation.conv import input_sizes
from webnn.validation.descriptor import OperandDescriptor, Shape

__all__ = ["accumulate_float16"]


#: A value to scan, the axis to scan, and the descriptor of one step's part.
_Scanned = tuple[str, int, OperandDescriptor]

#: The node of an element before it is added. "Square", which ONNX lacks, is a product.
_TERMS = {"reduceL1": "Abs", "reduceL2": "Square", "reduceSumSquare": "Square"}
#: The node of the sum.
_AFTER = {"reduceL2": "Sqrt", "reduceLogSum": "Log", "reduceLogSumExp": "Log"}
_LARGEST = float(np.finfo(np.float32).max)


def accumulate_float16(emit: Emit, e: Emitter, op: Op) -> str | Sequence[str]:
    """Emit an operator of float16 with accumulators of float16. Other types, and reductions of no axes, are emitted as by default."""
    if next(iter(op.operands.values())).descriptor.dataType != "float16":
        return emit(e, op)
    if op.name == "matmul":
        return _multiply(e, op["a"], op["b"], op.shape("a"), op.shape("b"), op.outputs[0].dimensions)
    if op.name == "gemm":
        return _gemm(e, op)
    if op.name in ("conv2d", "convTranspose2d"):
        return _convolve(e, op)
    if op.name.startswith("reduce"):
        return emit(e, op) if op.options.axes is not None and not op.options.axes else _reduce(e, op)
    return run_steps(e, op, _multiply_transposed)


def _half(e: Emitter, value: str) -> str:
    """Round float32 to float16."""
    return e.cast(e.cast(value, "float16"), "float32")


def _single(*shape: int) -> OperandDescriptor:
    return OperandDescriptor("float32", shape)


def _zeros(e: Emitter, shape: Sequence[int]) -> str:
    return e.node("ConstantOfShape", [e.ints(shape)])


def _loop(e: Emitter, total: str, shape: Shape, scanned: Sequence[_Scanned], step: Callable[..., str]) -> str:
    """Emit a loop: ``step`` makes the next total from the total and the parts of the scanned values."""
    with e.subgraph("sum") as body:
        before = e.declare_input(f"{total}.before", _single(*shape))
        parts = [e.declare_input(f"{total}.part.{index}", part) for index, (_, _, part) in enumerate(scanned)]
        e.declare_output(step(before, *parts), _single(*shape))
    values, axes = [value for value, _, _ in scanned], [axis for _, axis, _ in scanned]
    return e.node("Scan", [total, *values], num_scan_inputs=len(values), scan_input_axes=axes, body=body)


def _sum(e: Emitter, total: str, shape: Shape, scanned: Sequence[_Scanned], term: Callable[..., str]) -> str:
    """Emit a loop that adds the terms of the parts to a total."""

    def step(before: str, *parts: str) -> str:
        return _half(e, e.node("Add", [before, _half(e, term(*parts))]))

    return _loop(e, total, shape, scanned, step)


def _multiply(e: Emitter, a: str, b: str, aShape: Shape, bShape: Shape, shape: Shape) -> str:
    """Emit the product of the matrices [..., M, K] and [..., K, N]; K ascends."""

    def term(column: str, row: str) -> str:
        return e.node("Mul", [e.node("Unsqueeze", [column, e.ints([-1])]), e.node("Unsqueeze", [row, e.ints([-2])])])

    columns = a, len(aShape) - 1, _single(*aShape[:-1])
    rows = b, len(bShape) - 2, _single(*bShape[:-2], bShape[-1])
    return _sum(e, _zeros(e, shape), shape, [columns, rows], term)


def _multiply_transposed(e: Emitter, x: str, weight: str, addend: str | None, sizes: tuple[int, int, int]) -> str:
    """Emit the product of x, rounded to float16, and a transposed weight, and add a value; see `recurrent_steps.Multiply`."""
    rows, inner, columns = sizes
    turned = e.transpose(weight, [1, 0])
    product = _multiply(e, _half(e, x), turned, (rows, inner), (inner, columns), (rows, columns))
    return product if addend is None else e.node("Add", [product, addend])


def _gemm(e: Emitter, op: Op) -> str:
    options = op.options
    values, shapes = {}, {}
    for name, isTransposed in (("a", options.aTranspose), ("b", options.bTranspose)):
        values[name] = e.transpose(op[name], [1, 0]) if isTransposed else op[name]
        shapes[name] = op.shape(name)[::-1] if isTransposed else op.shape(name)
    result = _multiply(e, values["a"], values["b"], shapes["a"], shapes["b"], op.outputs[0].dimensions)
    if options.alpha != 1:
        result = e.node("Mul", [result, e.scalar(options.alpha, "float32")])
    c = op.get("c")
    if c is None:
        return result
    return e.node("Add", [result, c if options.beta == 1 else e.node("Mul", [c, e.scalar(options.beta, "float32")])])


def _reduce(e: Emitter, op: Op) -> str:
    """Emit a reduction: the index along the last of the reduced axes runs fastest."""
    shape, name = op.shape("input"), op.name
    axes = sorted(range(len(shape)) if op.options.axes is None else op.options.axes)
    kept = [axis for axis in range(len(shape)) if axis not in axes]
    rows, count = (math.prod([shape[axis] for axis in each]) for each in (kept, axes))
    value = e.reshape(e.transpose(op["input"], [*kept, *axes]), [rows, count])
    maximum = ""
    if name == "reduceLogSumExp":
        # An infinite maximum is made finite: infinity minus infinity would be NaN.
        maximum = e.node("ReduceMax", [value, e.ints([1])], keepdims=0)
        maximum = e.node("Clip", [maximum, e.scalar(-_LARGEST, "float32"), e.scalar(_LARGEST, "float32")])

    def term(part: str) -> str:
        if maximum:
            return e.node("Exp", [e.node("Sub", [part, maximum])])
        before = _TERMS.get(name, "")
        if before == "Square":
            return e.node("Mul", [part, part])
        return e.node(before, [part]) if before else part

    result = _sum(e, _zeros(e, [rows]), (rows,), [(value, 1, _single(rows))], term)
    if name == "reduceMean":
        result = e.node("Div", [result, e.cast(e.ints([count]), "float32")])
    if name in _AFTER:
        result = e.node(_AFTER[name], [result])
    if maximum:
        result = e.node("Add", [result, maximum])
    return e.reshape(result, op.outputs[0].dimensions)


def _convolve(e: Emitter, op: Op) -> str:
    """Emit a convolution: the positions of the filter in rows, for each one the channels of a group.

    A position meets one place of the input for each place of the output. Places in the padding are zeros. A transposed convolution has no
    term for a place that does not exist.
    """
    options, isTransposed = op.options, op.name == "convTranspose2d"
    batches, channels, *sizes = (int(size) for size in input_sizes(options.inputLayout, op.shape("input")))
    _, outputs, *outputSizes = (int(size) for size in input_sizes(options.inputLayout, op.outputs[0].dimensions))
    groups = options.groups
    inner, outer = channels // groups, outputs // groups
    filterSizes = [op.shape("filter")[options.filterLayout.index(axis)] for axis in "hw"]
    places = _find_places(sizes, outputSizes, filterSizes, options, isTransposed=isTransposed)
    taps, count = places.shape
    missing = math.prod(sizes)
    x = e.reshape(e.from_layout(op["input"], options.inputLayout), [batches, groups, inner, missing])
    x = e.node("Concat", [x, _zeros(e, [batches, groups, inner, 1])], axis=3)
    w = arrange_filter(e, op["filter"], options, "hwio")
    if isTransposed:
        w = e.transpose(e.reshape(w, [taps, groups, inner, outer]), [0, 2, 1, 3])
    else:
        w = e.reshape(w, [taps, inner, groups, outer])
    shape = batches, groups, outer, count

    def tap(total: str, indices: str, factors: str) -> str:
        patch = e.node("Gather", [x, indices], axis=3)
        exists = e.node("Less", [indices, e.scalar(missing, "int64")]) if isTransposed else ""

        def term(values: str, weights: str) -> str:
            product = e.node("Mul", [e.node("Unsqueeze", [values, e.ints([2])]), e.node("Unsqueeze", [weights, e.ints([2])])])
            return e.node("Where", [exists, product, e.scalar(0, "float32")]) if exists else product

        parts = [(patch, 2, _single(batches, groups, count)), (factors, 0, _single(groups, outer))]
        return _sum(e, total, shape, parts, term)

    table = e.weight(f"places.{op.index}", places)
    scanned = [(table, 0, OperandDescriptor("int64", (count,))), (w, 0, _single(inner, groups, outer))]
    result = e.reshape(_loop(e, _zeros(e, shape), shape, scanned, tap), [batches, outputs, *outputSizes])
    bias = op.get("bias")
    if bias is not None:
        result = e.node("Add", [result, e.reshape(bias, [1, outputs, 1, 1])])
    return e.to_layout(result, options.inputLayout)


def _find_places(input: Sequence[int], output: Sequence[int], filter: Sequence[int], options: Any, *, isTransposed: bool) -> Array:
    """Return [taps, output places]: the place of the input that each position of the filter meets; behind the last one if there is none."""
    top, _, left, _ = options.padding or (0, 0, 0, 0)
    strides, dilations = options.strides or (1, 1), options.dilations or (1, 1)
    found: list[tuple[Array, Array]] = []
    for size, wanted, width, begin, stride, dilation in zip(input, output, filter, (top, left), strides, dilations, strict=True):
        # [positions of the filter, places]
        place, position = np.arange(wanted), np.arange(width)[:, np.newaxis]
        if isTransposed:
            index, rest = np.divmod(place + begin - position * dilation, stride)
        else:
            index, rest = place * stride + position * dilation - begin, np.zeros([1, 1], np.int64)
        found.append((index, (index >= 0) & (index < size) & (rest == 0)))
    (rows, inRows), (columns, inColumns) = found
    exists = inRows[:, np.newaxis, :, np.newaxis] & inColumns[:, np.newaxis, :]
    indices = rows[:, np.newaxis, :, np.newaxis] * input[1] + columns[:, np.newaxis, :]
    return np.ascontiguousarray(np.where(exists, indices, math.prod(input)).reshape(math.prod(filter), math.prod(output)), np.int64)
