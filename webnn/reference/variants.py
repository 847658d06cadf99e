"""Operations with the semantics of other backends: one function for each value of a switch (`webnn.builder.semantics`).

Each one takes the operation of the draft, and changes its arguments or its results.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial, wraps
from typing import Any, cast

import numpy as np

from webnn.builder.semantics import SWITCHES, Semantics
from webnn.reference.accumulation import accumulate_in_float16, add_in_float16, multiply_in_float16
from webnn.reference.gather_scatter import find_coordinates, find_grid
from webnn.reference.numbers import Array, Operation, is_float, typed, wide
from webnn.validation.descriptor import integer_range
from webnn.validation.numbers import LARGEST_SINGLE
from webnn.validation.windows import pooling_axes, same_scale

__all__ = ["vary"]

#: Computes an operation in another way, by means of the function of the draft.
Change = Callable[..., "Array | list[Array]"]


def _one(result: Array | list[Array]) -> Array:
    return cast("Array", result)


#: How an operation accumulates: the parameter of its function, and the value for float16.
_ACCUMULATORS: Mapping[str, Mapping[str, Any]] = {
    **{name: {"accumulate": accumulate_in_float16} for name in ("conv2d", "convTranspose2d")},
    **{name: {"multiply": multiply_in_float16} for name in ("gemm", "gru", "gruCell", "lstm", "lstmCell", "matmul")},
}


def _accumulate(operation: Operation, first: Array, *others: Any, accumulator: Mapping[str, Any], **options: Any) -> Array | list[Array]:
    """Accumulate in float16, unless no axes are reduced. Operands of float64 are exact ones of float16: see `semantics_of`."""
    if first.dtype not in (np.float16, np.float64) or options.get("axes") == []:
        return operation(first, *others, **options)
    return operation(first, *others, **options, **accumulator)


def _ignore_nan(operation: Operation, input: Array, *arguments: Any, is_max: bool, **options: Any) -> Array:
    """Find the first number that is the extreme one."""
    if not is_float(input):
        return _one(operation(input, *arguments, **options))
    axes = [arguments[0]] if arguments else options.get("axes")
    every = tuple(range(input.ndim)) if axes is None else tuple(axes)
    nan = np.isnan(input)
    numbers = np.where(nan, -np.inf if is_max else np.inf, input)
    found = ~nan & (numbers == (np.max if is_max else np.min)(numbers, axis=every, keepdims=True))
    return _one(operation((found if is_max else ~found).astype(np.float64), *arguments, **options))


def _average_with_padding(operation: Operation, input: Array, **options: Any) -> Array:
    """Divide by all places of the window, except for "same-upper" padding. The padding becomes zeros of the input."""
    result = _one(operation(input, **options))
    names = ("windowDimensions", "padding", "strides", "dilations")
    axes = pooling_axes(options.get("layout", "nchw"), input.shape, result.shape, *(options.get(name) for name in names))
    if all(axis.is_same for axis in axes):
        return result
    around = [(0, 0)] * 4
    for axis in axes:
        around[axis.axis] = axis.begin, axis.end
    options = {**options, "windowDimensions": [axis.window for axis in axes], "padding": [0, 0, 0, 0]}
    for name in ("roundingType", "outputShapeRounding"):
        options.pop(name, None)
    whole = _one(operation(np.pad(input, around), **options))
    return whole[tuple(slice(size) for size in result.shape)]


def _l2_of_mean(operation: Operation, input: Array, **options: Any) -> Array:
    """The mean square of the elements inside the input is that of the whole window, for "same-upper" padding."""
    result, layout = _one(operation(input, **options)), options.get("layout", "nchw")
    names = ("windowDimensions", "padding", "strides", "dilations")
    scale = same_scale(pooling_axes(layout, input.shape, result.shape, *(options.get(name) for name in names)), layout)
    return result if scale is None else typed(wide(result) * np.sqrt(scale), result.dtype)


def _unchanged(operation: Operation, *arguments: Any, **options: Any) -> Array:
    return _one(operation(*arguments, **options))


def _fill_empty_windows(operation: Operation, input: Array, fill: float = 0.0, **options: Any) -> Array:
    """The maximum of zeros is -Infinity where a window has none."""
    empty = np.isneginf(_one(operation(np.zeros_like(input, np.float64), **options)))
    return np.where(empty, np.array(fill, input.dtype), _one(operation(input, **options)))


def _fill_unless_strided(operation: Operation, input: Array, **options: Any) -> Array:
    """The lowest number counts where a stride is longer than the window."""
    first = 1 if options.get("layout") == "nhwc" else 2
    window = options.get("windowDimensions") or input.shape[first : first + 2]
    if all(stride <= size for stride, size in zip(options.get("strides") or (1, 1), window, strict=True)):
        return _fill_empty_windows(operation, input, **options)
    lowest = -LARGEST_SINGLE if input.dtype == np.float32 else -np.inf
    return _fill_empty_windows(operation, input, lowest, **options)


def _cast_nan(operation: Operation, input: Array, type: str, *, largest: bool) -> Array:
    result = _one(operation(input, type))
    if not is_float(input) or is_float(result):
        return result
    return np.where(np.isnan(input), np.array(integer_range(type)[largest], result.dtype), result)


def _cast_low_bits(operation: Operation, input: Array, type: str) -> Array:
    result = _one(operation(input, type))
    if not is_float(input) or is_float(result):
        return result
    low, high = integer_range("int64" if type in ("uint32", "int64", "uint64") else "int32")
    numbers = wide(input)
    inside = np.where((numbers >= low) & (numbers < high + 1), numbers, low)
    return typed(np.where(np.isnan(numbers), 0, inside).astype(np.int64), result.dtype)


def _ignore_bound(operation: Operation, input: Array, **options: Any) -> Array:
    if is_float(input):
        options = {name: value for name, value in options.items() if value is None or not math.isnan(value)}
    return _one(operation(input, **options))


def _prefer_maximum(operation: Operation, input: Array, **options: Any) -> Array:
    low = options.get("minValue")
    if low is None or not is_float(input) or not math.isnan(low):
        return _ignore_bound(operation, input, **options)
    return _ignore_bound(operation, np.full_like(input, np.inf), **options)


def _gather_zero(operation: Operation, input: Array, indices: Array, *, count: bool = False, **options: Any) -> Array:
    """Take a zero behind each axis where an index is out of range."""
    axes = range(indices.shape[-1]) if count else (options.get("axis", 0),)
    sizes = np.array([input.shape[axis] for axis in axes], np.int64).reshape([-1] if count else [])
    places = indices.astype(np.int64)
    inside = (places >= -sizes) & (places < sizes)
    places = np.where(inside, np.where(places < 0, places + sizes, places), sizes)
    return _one(operation(np.pad(input, [(0, int(axis in axes)) for axis in range(input.ndim)]), places, **options))


def _all_zeros(operation: Operation, a: Array, b: Array, *, where: Callable[[Array, int], Array]) -> Array:
    result = _one(operation(a, b))
    return np.zeros_like(result) if not is_float(b) and np.any(where(b, 0)) else result


def _second(operation: Operation, a: Array, b: Array) -> Array:
    result = _one(operation(a, b))
    if not is_float(a):
        return result
    return np.where(np.isnan(a) | np.isnan(b), a if a.shape[-1:] in ((), (1,)) else b, result)


def _upper_tie(operation: Operation, input: Array, **options: Any) -> Array:
    """Reverse both axes: the lower one of two elements is then the upper one."""
    if options.get("mode", "nearest-neighbor") != "nearest-neighbor":
        return _one(operation(input, **options))
    turned = tuple(options.get("axes") or (2, 3))
    return np.flip(_one(operation(np.flip(input, turned), **options)), turned)


def _reverse_elements(operation: Operation, input: Array, indices: Array, updates: Array, *, axis: int = 0) -> Array:
    """The last one of several updates is now the first one."""
    return _one(operation(input, np.flip(indices, axis), np.flip(updates, axis), axis=axis))


def _reverse_slices(operation: Operation, input: Array, indices: Array, updates: Array) -> Array:
    batch = tuple(range(indices.ndim - 1))
    return _one(operation(input, np.flip(indices, batch), np.flip(updates, batch)))


def _sum_updates(operation: Operation, input: Array, indices: Array, updates: Array, *, slices: bool, **options: Any) -> Array:
    """Add the updates to zeros, one after the other; the rest of the input stays."""
    marks = _one(operation(np.zeros(input.shape, np.int64), indices, np.ones(updates.shape, np.int64), **options))
    # Each element of the input has a number. The coordinates of an update then find the number of its element.
    numbers = np.arange(math.prod(input.shape)).reshape(input.shape)
    axis = options.get("axis", 0)
    coordinates = find_coordinates(indices, input.shape) if slices else find_grid(indices, axis, input.shape[axis])
    places = numbers[coordinates] if coordinates else np.broadcast_to(numbers, updates.shape)
    # The sum rounds to float32 after each update, as TFLite's does.
    sums = np.zeros(math.prod(input.shape), np.float32 if is_float(input) else input.dtype)
    with np.errstate(over="ignore"):
        np.add.at(sums, places.ravel(), updates.ravel().astype(sums.dtype))
    return np.where(marks == 1, sums.reshape(input.shape).astype(input.dtype), input)


def _keep_nan(operation: Operation, input: Array) -> Array:
    result = _one(operation(input))
    return np.where(np.isnan(input), input, result) if is_float(input) else result


def _multiply_mask(operation: Operation, input: Array, **options: Any) -> Array:
    return input * _one(operation(np.ones_like(input), **options)) if is_float(input) else _one(operation(input, **options))


#: The function of each value that is not a default, for all operations of the switch or by the operation. Of two for one operation, the
#: later one wraps the other.
CHANGES: Mapping[tuple[str, str], Change | Mapping[str, Change]] = {
    ("accumulation", "float16"): {
        operation: partial(_accumulate, accumulator=_ACCUMULATORS.get(operation, {"add": add_in_float16}))
        for operation in SWITCHES["accumulation"].operations
    },
    ("argMinMaxNaN", "ignore"): {"argMax": partial(_ignore_nan, is_max=True), "argMin": partial(_ignore_nan, is_max=False)},
    ("averagePool2dPadding", "sameOnly"): _average_with_padding,
    ("castOutOfRange", "lowBits"): _cast_low_bits,
    ("castNaN", "largest"): partial(_cast_nan, largest=True),
    ("castNaN", "smallest"): partial(_cast_nan, largest=False),
    ("clampNaN", "ignore"): _ignore_bound,
    ("clampNaN", "maxValue"): _prefer_maximum,
    ("gatherOutOfRange", "zero"): {"gather": _gather_zero, "gatherElements": _gather_zero, "gatherND": partial(_gather_zero, count=True)},
    ("integerDivByZero", "zeros"): partial(_all_zeros, where=np.equal),
    ("integerNegativePower", "zeros"): partial(_all_zeros, where=np.less),
    ("l2Pool2dPadding", "sameMean"): _l2_of_mean,
    # The reference makes infinities without it.
    ("maxPool2dEmptyWindow", "infinity"): _unchanged,
    ("maxPool2dEmptyWindow", "zero"): _fill_empty_windows,
    ("maxPool2dEmptyWindow", "zeroUnlessStrided"): _fill_unless_strided,
    ("minMaxNaN", "second"): _second,
    ("resample2dTies", "upper"): _upper_tie,
    ("scatterDuplicates", "first"): {"scatterElements": _reverse_elements, "scatterND": _reverse_slices},
    ("scatterDuplicates", "sum"): {"scatterElements": partial(_sum_updates, slices=False), "scatterND": partial(_sum_updates, slices=True)},
    ("signNaN", "nan"): _keep_nan,
    ("triangularMask", "multiply"): _multiply_mask,
}


def vary(operations: Mapping[str, Operation], semantics: Semantics) -> dict[str, Operation]:
    """Return the operations that have other semantics than the default ones."""
    changed: dict[str, Operation] = {}
    for (name, value), change in CHANGES.items():
        if (name, value) in semantics:
            for operation in [each for each in SWITCHES[name].operations if each in operations]:
                function = change[operation] if isinstance(change, Mapping) else change
                changed[operation] = _bind(function, changed.get(operation, operations[operation]))
    return changed


def _bind(change: Change, operation: Operation) -> Operation:
    @wraps(operation)
    def changed(*arguments: Any, **options: Any) -> Array | list[Array]:
        # Without elements there is nothing to change.
        if any(isinstance(each, np.ndarray) and not each.size for each in arguments):
            return operation(*arguments, **options)
        return change(operation, *arguments, **options)

    return changed
