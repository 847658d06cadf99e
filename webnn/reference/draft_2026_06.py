"""The operations that the draft of June 2026 defines in another way than the draft before it."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from webnn.reference import movement, recurrent, reduction, resample
from webnn.reference.numbers import Array, Operation, cast_option, elementwise, idl_float, named, typed, wide

__all__ = ["change"]

#: The options that are cast to the first operand's type, with their defaults.
_CAST: Mapping[str, Mapping[str, float]] = {
    "elu": {"alpha": 1},
    "hardSigmoid": {"alpha": 0.2, "beta": 0.5},
    "leakyRelu": {"alpha": 0.01},
    "linear": {"alpha": 1, "beta": 0},
    "gemm": {"alpha": 1, "beta": 1},
    **{name: {"epsilon": 1e-5} for name in ("batchNormalization", "instanceNormalization", "layerNormalization")},
}


def _with_cast(function: Operation, numbers: Mapping[str, float]) -> Operation:
    """Cast the options of these names, whose defaults are given, to the first operand's type."""

    @functools.wraps(function)
    def changed(first: Array, *others: Any, **options: Any) -> Any:
        values = {name: cast_option(options.get(name, default), first.dtype.name) for name, default in numbers.items()}
        return function(first, *others, **{**options, **values})

    return changed


def _with_rounding(function: Operation) -> Operation:
    """Take how the sizes are rounded under its name."""

    @functools.wraps(function)
    def changed(input: Array, *, outputShapeRounding: str = "floor", **options: Any) -> Any:
        return function(input, roundingType=outputShapeRounding, **options)

    return changed


def clamp(input: Array, *, minValue: float | None = None, maxValue: float | None = None) -> Array:
    """Compute min(max(x, minValue), maxValue) with bounds of the input's type: `#api-mlgraphbuilder-clamp`.

    NaN, among the values or as a bound, makes NaN.
    """
    low = cast_option(-math.inf if minValue is None else minValue, input.dtype.name)
    high = cast_option(math.inf if maxValue is None else maxValue, input.dtype.name)
    return elementwise(lambda x: np.minimum(np.maximum(x, low), high), input)


def pad(input: Array, beginningPadding: list[int], endingPadding: list[int], *, mode: str = "constant", value: float = 0) -> Array:
    """Add elements around the tensor: `#api-mlgraphbuilder-pad`. The constant is cast to the input's type."""
    filler = np.asarray(cast_option(value, input.dtype.name), input.dtype)
    return movement.pad_with(input, beginningPadding, endingPadding, mode, filler)


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


def _along_axis(function: Callable[..., Array]) -> Callable[..., Array]:
    """Find the first index along one axis, in a type: `#api-mlgraphbuilder-argminmax`."""

    def changed(input: Array, axis: int, *, keepDimensions: bool = False, outputDataType: str = "int32") -> Array:
        return function(input, axes=[axis], keepDimensions=keepDimensions).astype(outputDataType)

    return changed


def _with_names(function: Operation) -> Operation:
    """Take activations by their names: "relu", "sigmoid", "tanh"."""

    @functools.wraps(function)
    def changed(*arguments: Any, activations: Sequence[str] | None = None, **options: Any) -> Any:
        pairs: list[recurrent.Activation] | None = None if activations is None else [(name, {}) for name in activations]
        return function(*arguments, activations=pairs, **options)

    return changed


def change(before: Mapping[str, Operation]) -> Mapping[str, Operation]:
    """Return the operations that are not those of the draft before, by their names."""
    return {
        **named(clamp, pad, resample2d, slice_),
        "argMin": _along_axis(reduction.argMin),
        "argMax": _along_axis(reduction.argMax),
        **{name: _with_cast(before[name], numbers) for name, numbers in _CAST.items()},
        **{name: _with_rounding(before[name]) for name in ("averagePool2d", "l2Pool2d", "maxPool2d")},
        **{name: _with_names(before[name]) for name in ("gru", "gruCell", "lstm", "lstmCell")},
    }
