"""Products of quantized numbers, by the engine's kernels of integers.

A kernel of integers adds the products exactly. So the result is nearer to that of real numbers than a sum in float32, and is there sooner.
`docs/numerics.md` says what is promised. The fastest kernels of x86-64 take uint8 on the left and int8 on the right: other integers become
such ones, with zero points that are 128 more or less. Where these kernels overflow, both factors become uint8.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from webnn.builder.graph import ComputationalGraph
from webnn.builder.onnx.block_products import find_block_product
from webnn.builder.onnx.conv import arrange_filter, conv_attributes
from webnn.builder.onnx.emitter import Emitter
from webnn.builder.onnx.matmul import find_product
from webnn.builder.onnx.together import FactorType, Setting, Single, Together, find_maker
from webnn.builder.onnx.values import Array
from webnn.builder.onnx_names import scope
from webnn.builder.operand import MLOperand, Operator
from webnn.validation.descriptor import DataType, Shape, integer_range

__all__ = ["find_products"]

#: Scales between these: no number and no product of two numbers leaves the normal range of float32, even a sum of 2^31 does not.
_LEAST, _GREATEST = 2.0**-48, 2.0**48
#: Ratios of scales that float32 holds as normal numbers, also multiplied with 2^31.
_LEAST_RATIO, _GREATEST_RATIO = 2.0**-126, 2.0**96
#: The largest magnitude of a product of two integers of 8 bits, less their zero points or not.
_PRODUCT = 255 * 255
#: The fewest products of each sum of a matrix product. With fewer, products of floating-point numbers are faster.
_FEWEST_PRODUCTS = 16
#: The same for convolutions: the fewest input channels without groups, of each group, and of all groups if each channel is one.
_FEWEST_CHANNELS, _FEWEST_IN_GROUP, _FEWEST_GROUPS = 8, 32, 32
#: How far a bias may be from a whole number of steps, relatively: a rounding of float32.
_NEAR = 2.0**-23


class _Grid(NamedTuple):
    """Where the integers of 8 bits lie among the numbers. Scale and zero point are constants, with the operand's rank."""

    dataType: DataType
    scale: Array
    zeroPoint: Array

    @property
    def isOne(self) -> bool:
        """There is one scale for all numbers."""
        return self.scale.size == 1

    @property
    def shift(self) -> int:
        """The number to add to the integers to make them uint8."""
        return 128 if self.dataType == "int8" else 0


class _Quantized(NamedTuple):
    """Numbers that integers encode. ``zero``: a zero point known only at run time, one uint8; then grid.zeroPoint is unused."""

    integers: MLOperand
    grid: _Grid
    zero: MLOperand | None = None

    @property
    def shape(self) -> Shape:
        return self.integers.descriptor.dimensions


def _grid(dataType: DataType, scale: MLOperand, zeroPoint: MLOperand) -> _Grid | None:
    """Check the type of the integers, and scale and zero point of a dequantization or a quantization."""
    scales = _scales(dataType, scale)
    return None if scales is None or zeroPoint._value is None else _Grid(dataType, scales, zeroPoint._value.astype(np.int64))


def _scales(dataType: DataType, scale: MLOperand) -> Array | None:
    if dataType not in ("int8", "uint8") or scale.descriptor.dataType != "float32" or scale._value is None:
        return None
    scales = scale._value.astype(np.float64)
    # False for NaN.
    return scales if ((scales >= _LEAST) & (scales <= _GREATEST)).all() else None


def _dequantized(operand: MLOperand) -> _Quantized | None:
    """Return the integers behind numbers that `dequantizeLinear` made."""
    maker = find_maker(operand, "dequantizeLinear")
    if maker is None:
        return None
    integers, scale, zeroPoint = maker.inputs
    dataType = integers.descriptor.dataType
    if zeroPoint._value is None:
        scales = _scales(dataType, scale)
        if scales is None or scales.size != 1 or dataType != "uint8":
            return None
        return _Quantized(integers, _Grid(dataType, scales, np.zeros_like(scales)), zeroPoint)
    grid = _grid(dataType, scale, zeroPoint)
    return None if grid is None else _Quantized(integers, grid)


class _Factors(NamedTuple):
    """A variable with one scale, and a constant."""

    left: _Quantized
    right: _Quantized

    @property
    def operands(self) -> tuple[MLOperand, ...]:
        """The operands of a product's nodes: the integers, and a zero point known only at run time."""
        given = self.left.integers, self.right.integers
        return given if self.left.zero is None else (*given, self.left.zero)


def _factors(a: MLOperand, b: MLOperand) -> _Factors | None:
    left, right = _dequantized(a), _dequantized(b)
    if left is None or right is None or not left.grid.isOne or left.integers._value is not None or right.integers._value is None:
        return None
    return _Factors(left, right) if right.zero is None else None


def _left(e: Emitter, value: str, left: _Quantized, zero: str = "") -> list[str]:
    """Return the left factor as uint8, and its zero point; ``zero`` is a zero point known only at run time."""
    if left.zero is not None:
        return [value, e.reshape(zero, ())]
    shift = left.grid.shift
    zeroPoint = e.scalar(left.grid.zeroPoint.item() + shift, "uint8")
    return [e.unsigned(value, len(left.shape)) if shift else value, zeroPoint]


def _right(e: Emitter, value: str, right: _Quantized, target: DataType) -> tuple[str, Array]:
    """Return the right factor, a constant, in the type that it should have, and its zero points."""
    zeroPoints = right.grid.zeroPoint + right.grid.shift - (128 if target == "int8" else 0)
    integers = right.integers._value
    if right.grid.dataType != target and integers is not None:
        # 128 more or less, modulo 256.
        value = e.weight(f"{value}^{target}", (integers.view(np.uint8) ^ np.uint8(128)).view(target))
    return value, zeroPoints.astype(target)


# Matrix products


@dataclass(frozen=True, slots=True, kw_only=True)
class _MatrixProduct(Single):
    """A `matmul` or `gemm`. Its result does not depend on what follows: it equals the exact result up to three roundings.

    Attributes:
        operator: The operator.
        factors: The factors. The scale of the right one is one number, or one for each column.
        transposed: The right factor has to be transposed.
        addend: The value to add to each row of the product.
        target: Returns the type of the right factor.
    """

    factors: _Factors
    target: FactorType
    transposed: bool
    addend: MLOperand | None

    @property
    def operands(self) -> tuple[MLOperand, ...]:
        """The operands of the nodes."""
        given = self.factors.operands
        return given if self.addend is None else (*given, self.addend)

    def emit(self, e: Emitter, inputs: Sequence[str]) -> dict[int, Sequence[str]]:
        """Emit the nodes."""
        e.scope(scope(self.operator.operation.name, self.operator.index))
        left, right = self.factors
        first, second, *others = inputs
        rows, rowsZero = _left(e, first, left, others.pop(0) if left.zero is not None else "")
        columns, columnsZero = _right(e, second, right, self.target())
        if self.transposed:
            columns = e.transpose(columns, (1, 0))
        shape = () if right.grid.isOne else (right.grid.scale.size,)
        scale = (left.grid.scale.item() * right.grid.scale).astype(np.float32).reshape(shape)
        # The engine multiplies both scales, in float32.
        values = [rows, columns, e.scalar(1, "float32"), e.literal(scale), rowsZero, e.literal(columnsZero.reshape(shape))]
        result = e.node("MatMulIntegerToFloat", [*values, *others])
        return {self.operator.index: [result]}


def _matrix_product(operator: Operator, target: FactorType) -> Together | None:
    product = find_product(operator)
    factors = None if product is None else _factors(product.a, product.b)
    if product is None or factors is None or len(factors.right.shape) != 2:
        return None
    transposed, addend = product.transposed, product.addend
    sums, columns = factors.right.shape[::-1] if transposed else factors.right.shape
    wide = (columns, 1) if transposed else (1, columns)
    if factors.right.grid.scale.shape not in ((1, 1), wide) or sums < _FEWEST_PRODUCTS or sums * _PRODUCT >= 2**31:
        return None
    if addend is not None and addend.descriptor.dimensions != (columns,):
        return None
    return _MatrixProduct(operator=operator, factors=factors, target=target, transposed=transposed, addend=addend)


# Convolutions


@dataclass(frozen=True, slots=True, kw_only=True)
class _Convolution(Single):
    """A `quantizeLinear` behind a `conv2d`, with bounds between them.

    Attributes:
        operator: The quantization.
        conv: The convolution.
        factors: Input and filter. The scale of the filter is one number, or one for each output channel; it has one zero point.
        ratios: The product of both scales, divided by that of the result, for each output channel.
        bias: The bias, in steps of the product of both scales.
        result: Scale and zero point of the result.
        bounds: The smallest and the largest integer of the result.
        target: Returns the type of the filter.
    """

    conv: Operator
    factors: _Factors
    target: FactorType
    ratios: Array
    bias: Array | None
    result: _Grid
    bounds: tuple[int, int]

    @property
    def operands(self) -> tuple[MLOperand, ...]:
        """The operands of the nodes."""
        return self.factors.operands

    def emit(self, e: Emitter, inputs: Sequence[str]) -> dict[int, Sequence[str]]:
        """Emit the nodes."""
        e.scope(scope(self.operator.operation.name, self.operator.index))
        options: Any = self.conv.options
        shift = self.result.shift
        input, inputZero = _left(e, inputs[0], self.factors.left)
        filter, filterZeros = _right(e, inputs[1], self.factors.right, self.target())
        filter = arrange_filter(e, filter, options)
        filterZero = np.broadcast_to(filterZeros.reshape(-1)[:1], self.ratios.shape).copy()
        # The engine multiplies the scales of the factors and divides by that of the result, in float32. So all of it is one of them.
        one, ratios = e.scalar(1, "float32"), e.literal(self.ratios.astype(np.float32))
        result = e.node(
            "QLinearConv",
            [
                *(e.from_layout(input, options.inputLayout), one, inputZero),
                *(filter, ratios, e.literal(filterZero)),
                *(one, e.scalar(self.result.zeroPoint.item() + shift, "uint8")),
                None if self.bias is None else e.literal(self.bias),
            ],
            **conv_attributes(options),
        )
        low, high = (bound + shift for bound in self.bounds)
        if (low, high) != (0, 255):
            result = e.node("Clip", [result, e.scalar(low, "uint8"), e.scalar(high, "uint8")])
        if shift:
            result = e.signed(result)
        return {self.operator.index: [e.to_layout(result, options.inputLayout)]}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sums(Single):
    """A `conv2d` of integers less their zero points, with scales of 1. Its result does not depend on what follows.

    The engine's kernel of integers is fast for a filter of uint8 without groups, and slower than that of floats with groups.

    Attributes:
        operator: The convolution.
        factors: Input and filter. The filter has one zero point.
    """

    factors: _Factors

    @property
    def operands(self) -> tuple[MLOperand, ...]:
        """The operands of the nodes."""
        return self.factors.operands

    def emit(self, e: Emitter, inputs: Sequence[str]) -> dict[int, Sequence[str]]:
        """Emit the nodes."""
        e.scope(scope(self.operator.operation.name, self.operator.index))
        left, right = self.factors
        options: Any = self.operator.options
        first, second, *zero = inputs
        input, inputZero = _left(e, first, left, *zero)
        filter, filterZeros = _right(e, second, right, "uint8")
        input = e.from_layout(input, options.inputLayout)
        attributes = conv_attributes(options)
        if options.groups == 1:
            values = [input, arrange_filter(e, filter, options), inputZero, e.literal(filterZeros.reshape(-1)[0])]
            result = e.cast(e.node("ConvInteger", values, **attributes), "float32")
        else:
            # The engine may compute a `DequantizeLinear` of a constant in each run.
            numbers = e.node("Sub", [e.cast(filter, "float32"), e.scalar(filterZeros.reshape(-1)[0], "float32")])
            values = [e.node("DequantizeLinear", [input, e.scalar(1, "float32"), inputZero]), arrange_filter(e, numbers, options)]
            result = e.node("Conv", values, **attributes)
        return {self.operator.index: [e.to_layout(result, options.inputLayout)]}


def _sums(operator: Operator) -> Together | None:
    factors = _factors(*operator.inputs)
    if factors is None or "bias" in dict(operator.members):
        return None
    options: Any = operator.options
    shape, grid = factors.right.shape, factors.right.grid
    if np.any(grid.scale != 1) or np.any(factors.left.grid.scale != 1) or np.ptp(grid.zeroPoint):
        return None
    channels = options.filterLayout.index("o")
    if math.prod(shape) // shape[channels] * _PRODUCT >= 2**31:
        return None
    return _Sums(operator=operator, factors=factors)


def _convolution(operator: Operator, target: FactorType) -> Together | None:
    real, scale, zeroPoint = operator.inputs
    result = _grid(operator.outputs[0].dataType, scale, zeroPoint)
    if result is None or not result.isOne:
        return None
    bounds = integer_range(operator.outputs[0].dataType)
    between = list(_between(real))
    for each in reversed(between):
        inner = _quantize_bounds(each, result)
        if inner is None:
            return None
        bounds = min(max(bounds[0], inner[0]), inner[1]), min(max(bounds[1], inner[0]), inner[1])
    conv = find_maker(between[-1].inputs[0] if between else real, "conv2d")
    factors = None if conv is None else _factors(*conv.inputs)
    if conv is None or factors is None or factors.left.zero is not None:
        return None
    shape, grid = factors.right.shape, factors.right.grid
    options: Any = conv.options
    channels = options.filterLayout.index("o")
    if not _is_large(options.groups, shape[options.filterLayout.index("i")], shape[channels]):
        return None
    if any(size != 1 for axis, size in enumerate(grid.scale.shape) if axis != channels) or np.ptp(grid.zeroPoint):
        return None
    steps = factors.left.grid.scale.item() * grid.scale.reshape(-1)
    if steps.size not in (1, shape[channels]):
        return None
    steps = np.broadcast_to(steps, shape[channels])
    ratios = steps / result.scale.item()
    if not ((ratios >= _LEAST_RATIO) & (ratios <= _GREATEST_RATIO)).all():
        return None
    bias, member = None, dict(conv.members).get("bias")
    if member is not None:
        bias = _count(member, steps)
        if bias is None:
            return None
    # The number of products in each sum.
    sums = math.prod(shape) // shape[channels]
    if sums * _PRODUCT + (0 if bias is None else int(np.abs(bias).max())) >= 2**31:
        return None
    whole = None if bias is None else bias.astype(np.int32)
    return _Convolution(
        operator=operator, conv=conv, factors=factors, target=target, ratios=ratios, bias=whole, result=result, bounds=bounds
    )


def _is_large(groups: int, inputs: int, outputs: int) -> bool:
    """Tell whether a convolution has enough input channels in each group for integers to be faster."""
    if groups == 1:
        return inputs >= _FEWEST_CHANNELS
    return inputs >= _FEWEST_IN_GROUP or (inputs == 1 and groups == outputs >= _FEWEST_GROUPS)


def _between(operand: MLOperand) -> Iterator[Operator]:
    """Yield the operators before an operand that hold numbers between bounds, at most two, the last one first."""
    for _ in range(2):
        maker = find_maker(operand, "clamp", "relu")
        if maker is None:
            break
        yield maker
        operand = maker.inputs[0]


def _quantize_bounds(operator: Operator, result: _Grid) -> tuple[int, int] | None:
    """Quantize the bounds of a `clamp` or `relu`: as quantization keeps the order, its integers have these bounds. ``None`` for NaN."""
    low, high = 0.0, math.inf
    if operator.operation.name == "clamp":
        options: Any = operator.options
        low, high = options.minValue, options.maxValue
        low, high = -math.inf if low is None else low, math.inf if high is None else high
    if math.isnan(low) or math.isnan(high):
        return None
    least, greatest = integer_range(result.dataType)
    with np.errstate(over="ignore"):
        steps = np.rint(np.array([low, high], np.float32) / np.float32(result.scale.item())).astype(np.float64)
    first, last = np.clip(steps + result.zeroPoint.item(), least, greatest).astype(int).tolist()
    return first, last


def _count(bias: MLOperand, steps: Array) -> Array | None:
    """Return a constant bias as whole numbers of steps, int64; ``None`` if it is something else."""
    if bias._value is not None and bias.descriptor.dataType == "float32":
        numbers = bias._value.astype(np.float64)
    else:
        maker = find_maker(bias, "dequantizeLinear")
        if maker is None or bias.descriptor.dataType != "float32":
            return None
        integers, scale, zeroPoint = (operand._value for operand in maker.inputs)
        if integers is None or scale is None or zeroPoint is None or integers.dtype != np.int32 or scale.size not in (1, integers.size):
            return None
        with np.errstate(invalid="ignore"):
            numbers = (integers.astype(np.float64) - zeroPoint) * scale.astype(np.float64)
    counts = numbers / steps
    # False for NaN and infinities.
    if not (np.abs(counts) < 2**31).all():
        return None
    whole = np.rint(counts)
    return whole.astype(np.int64) if (np.abs(counts - whole) <= _NEAR * np.abs(whole)).all() else None


def find_products(graph: ComputationalGraph, setting: Setting) -> dict[int, Together]:
    """Find the products of a graph that kernels of integers compute, each by the number of its operator."""
    found: dict[int, Together] = {}
    target = setting.factors
    if target is None:
        return found
    for operator in graph.operators:
        one: Together | None = None
        match operator.operation.name:
            case "quantizeLinear":
                one = _convolution(operator, target)
            case "conv2d":
                one = _sums(operator)
            case "matmul" | "gemm":
                one = _matrix_product(operator, target) or find_block_product(operator)
        if one is not None:
            found[operator.index] = one
    return found
