"""The operations that the draft of June 2026 adds, or defines in another way than the draft before it."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np

from webnn.reference import (
    activation,
    gather_scatter,
    logical,
    matmul,
    movement,
    normalization,
    pooling,
    quantization,
    recurrent,
    reduction,
    resample,
    tiling,
    unary,
)
from webnn.reference.numbers import Array, Operation, cast_number, exact, idl_float, typed, wide

__all__ = ["CHANGED"]


def _with_cast(function: Callable[..., Array], **numbers: float) -> Callable[..., Array]:
    """Cast the options of these names, whose defaults are given, to the first operand's type."""

    @functools.wraps(function)
    def changed(first: Array, *others: Any, **options: Any) -> Array:
        values = {name: cast_number(options.get(name, default), first.dtype.name) for name, default in numbers.items()}
        return function(first, *others, **{**options, **values})

    return changed


elu = _with_cast(activation.elu, alpha=1)
hardSigmoid = _with_cast(activation.hardSigmoid, alpha=0.2, beta=0.5)
leakyRelu = _with_cast(activation.leakyRelu, alpha=0.01)
linear = _with_cast(activation.linear, alpha=1, beta=0)
gemm = _with_cast(matmul.gemm, alpha=1, beta=1)
batchNormalization = _with_cast(normalization.batchNormalization, epsilon=1e-5)
instanceNormalization = _with_cast(normalization.instanceNormalization, epsilon=1e-5)
layerNormalization = _with_cast(normalization.layerNormalization, epsilon=1e-5)


def _with_rounding(function: Callable[..., Array]) -> Callable[..., Array]:
    """Take how the sizes are rounded under its name."""

    @functools.wraps(function)
    def changed(input: Array, *, outputShapeRounding: str = "floor", **options: Any) -> Array:
        return function(input, roundingType=outputShapeRounding, **options)

    return changed


averagePool2d = _with_rounding(pooling.averagePool2d)
l2Pool2d = _with_rounding(pooling.l2Pool2d)
maxPool2d = _with_rounding(pooling.maxPool2d)


def clamp(input: Array, *, minValue: float | None = None, maxValue: float | None = None) -> Array:
    """Compute min(max(x, minValue), maxValue) with bounds of the input's type: `#api-mlgraphbuilder-clamp`.

    NaN, among the values or as a bound, makes NaN.
    """
    low = cast_number(-math.inf if minValue is None else minValue, input.dtype.name)
    high = cast_number(math.inf if maxValue is None else maxValue, input.dtype.name)
    values = exact(input)
    # Arrays, because NumPy would make a C integer of a number beside a scalar.
    return typed(np.minimum(np.maximum(values, np.asarray(low, values.dtype)), np.asarray(high, values.dtype)), input.dtype)


def pad(
    input: Array,
    beginningPadding: list[int],
    endingPadding: list[int],
    *,
    mode: str = "constant",
    value: float = 0,
) -> Array:
    """Add elements around the tensor: `#api-mlgraphbuilder-pad`. The constant is cast to the input's type."""
    if mode != "constant":
        return movement.pad(input, beginningPadding, endingPadding, mode=mode)
    padding = list(zip(beginningPadding, endingPadding, strict=True))
    constant = typed(np.array(cast_number(value, input.dtype.name), object), input.dtype)
    return np.pad(input, padding, constant_values=constant) if padding else input.copy()


def resample2d(
    input: Array,
    *,
    mode: str = "nearest-neighbor",
    scales: list[float] | None = None,
    sizes: list[int] | None = None,
    axes: list[int] | None = None,
) -> Array:
    """Resample two dimensions: `#api-mlgraphbuilder-resample2d-method`.

    The quotients of the sizes map the positions, also where scales are given. Integers between two others are rounded to the nearest.
    """
    axes = axes or [2, 3]
    if sizes is None:
        factors = scales or [1.0, 1.0]
        sizes = [math.floor(input.shape[axis] * Fraction(idl_float(scale))) for axis, scale in zip(axes, factors, strict=True)]
    if input.dtype.kind == "f":
        return resample.resample2d(input, mode=mode, sizes=sizes, axes=axes)
    return typed(np.rint(resample.resample2d(wide(input), mode=mode, sizes=sizes, axes=axes)), input.dtype)


def slice_(input: Array, starts: list[int], sizes: list[int], *, strides: list[int] | None = None) -> Array:
    """Cut a block out and take the first element of each stride: `#api-mlgraphbuilder-slice`."""
    steps = tuple(slice(None, None, stride) for stride in strides or [1] * input.ndim)
    return np.array(movement.slice_(input, starts, sizes)[steps])


def argMin(input: Array, axis: int, *, keepDimensions: bool = False, outputDataType: str = "int32") -> Array:
    """Find the index of the least value along the axis, of several the first: `#api-mlgraphbuilder-argminmax`."""
    return reduction.argMin(input, axes=[axis], keepDimensions=keepDimensions).astype(outputDataType)


def argMax(input: Array, axis: int, *, keepDimensions: bool = False, outputDataType: str = "int32") -> Array:
    """Find the index of the greatest value along the axis, of several the first: `#api-mlgraphbuilder-argminmax`."""
    return reduction.argMax(input, axes=[axis], keepDimensions=keepDimensions).astype(outputDataType)


def _with_names(function: Callable[..., Any]) -> Callable[..., Any]:
    """Take activations by their names: "relu", "sigmoid", "tanh"."""

    @functools.wraps(function)
    def changed(*arguments: Any, activations: Sequence[str] | None = None, **options: Any) -> Any:
        pairs: list[recurrent.Activation] | None = None if activations is None else [(name, {}) for name in activations]
        return function(*arguments, activations=pairs, **options)

    return changed


gru = _with_names(recurrent.gru)
gruCell = _with_names(recurrent.gruCell)
lstm = _with_names(recurrent.lstm)
lstmCell = _with_names(recurrent.lstmCell)

#: What is new or another operation, by the names of methods of `MLGraphBuilder`.
CHANGED: Mapping[str, Operation] = MappingProxyType(
    {
        "clamp": clamp,
        "elu": elu,
        "hardSigmoid": hardSigmoid,
        "leakyRelu": leakyRelu,
        "linear": linear,
        "gemm": gemm,
        "batchNormalization": batchNormalization,
        "instanceNormalization": instanceNormalization,
        "layerNormalization": layerNormalization,
        "averagePool2d": averagePool2d,
        "l2Pool2d": l2Pool2d,
        "maxPool2d": maxPool2d,
        "argMin": argMin,
        "argMax": argMax,
        "gru": gru,
        "gruCell": gruCell,
        "lstm": lstm,
        "lstmCell": lstmCell,
        "pad": pad,
        "resample2d": resample2d,
        "slice": slice_,
        "notEqual": logical.notEqual,
        "isInfinite": logical.isInfinite,
        "isNaN": logical.isNaN,
        "logicalAnd": logical.logicalAnd,
        "logicalOr": logical.logicalOr,
        "logicalXor": logical.logicalXor,
        "roundEven": unary.roundEven,
        "sign": unary.sign,
        "cumulativeSum": reduction.cumulativeSum,
        "gatherElements": gather_scatter.gatherElements,
        "gatherND": gather_scatter.gatherND,
        "scatterElements": gather_scatter.scatterElements,
        "scatterND": gather_scatter.scatterND,
        "dequantizeLinear": quantization.dequantizeLinear,
        "quantizeLinear": quantization.quantizeLinear,
        "reverse": tiling.reverse,
        "tile": tiling.tile,
    }
)
