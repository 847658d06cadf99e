"""Convolutions, pooling and resampling. LiteRT has channels last; transposes stand around operators of the other layout."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, cast

import numpy as np

from webnn.builder.places import find_samples
from webnn.hlo.export.emitter import Tensor
from webnn.hlo.export.graph import RULES as SHARED
from webnn.hlo.export.rule import Op, RuleError
from webnn.hlo.types import DTYPES
from webnn.tflite.export.emitter import LiteEmitter, slot_of
from webnn.tflite.export.program import Quantization
from webnn.validation.descriptor import extreme
from webnn.validation.windows import PoolingAxis, pooling_axes

__all__ = ["RULES"]

_LAST = "nhwc"
_SAME, _VALID = 0, 1
#: LiteRT reads strides and dilations as integers of 16 bits.
_LARGEST = 2**15 - 1


def _to(e: LiteEmitter, x: Tensor, layout: str, wanted: str) -> Tensor:
    """Bring a tensor from a layout to another one."""
    return e.transpose(x, [layout.index(letter) for letter in wanted])


def _back(e: LiteEmitter, x: Tensor, layout: str) -> Tensor:
    return _to(e, x, _LAST, layout)


def _window(axes: Sequence[PoolingAxis]) -> dict[str, int]:
    """Return the options for strides and dilations. Raises `RuleError` if they are too large."""
    height, width = axes
    found = {"StrideH": height.stride, "StrideW": width.stride, "DilationHFactor": height.dilation, "DilationWFactor": width.dilation}
    if max(found.values()) > _LARGEST:
        raise RuleError(f"must have strides and dilations of at most {_LARGEST}, got {max(found.values())}")
    return found


def _around(e: LiteEmitter, x: Tensor, axes: Sequence[PoolingAxis], number: float = 0) -> tuple[Tensor, int]:
    """Return the input with its padding, and the kind of padding that is left to the operator."""
    if all(axis.is_same for axis in axes) and any(axis.begin or axis.end for axis in axes):
        return x, _SAME
    low, high = ([0, *group, 0] for group in ([axis.begin for axis in axes], [axis.end for axis in axes]))
    return e.pad(x, low, high, number), _VALID


def _conv2d(e: LiteEmitter, op: Op) -> Tensor:
    options, shape, layout = op.options, op.outputs[0].dimensions, op.options.filterLayout
    window = [op["filter"].shape[layout.index(letter)] for letter in "hw"]
    axes = pooling_axes(options.inputLayout, op["input"].shape, shape, window, options.padding, options.strides, options.dilations)
    x, kind = _around(e, _to(e, op["input"], options.inputLayout, _LAST), axes)
    channels, outputs = x.shape[3], op["filter"].shape[layout.index("o")]
    sizes = [shape[options.inputLayout.index(letter)] for letter in _LAST]
    fields: dict[str, Any] = {"Padding": kind, **_window(axes)}
    bias = _bias(e, op, outputs)
    if options.groups == channels and channels > 1:
        filter = _to(e, op["filter"], layout, "ihwo")
        made = e.act("DEPTHWISE_CONV_2D", [x, filter, bias], sizes, DepthMultiplier=outputs // channels, **fields)
    else:
        made = e.act("CONV_2D", [x, _to(e, op["filter"], layout, "ohwi"), bias], sizes, **fields)
    return _back(e, made, options.inputLayout)


def _bias(e: LiteEmitter, op: Op, outputs: int) -> Tensor:
    bias = op.get("bias")
    return e.full(0, op["filter"].element, [outputs]) if bias is None else bias


def _conv_transpose2d(e: LiteEmitter, op: Op) -> Tensor:
    options, shape = op.options, op.outputs[0].dimensions
    x, filter = _to(e, op["input"], options.inputLayout, _LAST), _to(e, op["filter"], options.filterLayout, "ohwi")
    strides = options.strides or (1, 1)
    filter = _spread(e, filter, options.dilations or (1, 1))
    if max(strides) > _LARGEST:
        raise RuleError(f"must have strides of at most {_LARGEST}, got {max(strides)}")
    outputs, *window, _ = filter.shape
    sizes = [shape[options.inputLayout.index(letter)] for letter in _LAST]
    begins = (options.padding or (0, 0, 0, 0))[::2]
    whole = [(size - 1) * stride + reach for size, stride, reach in zip(x.shape[1:3], strides, window, strict=True)]
    whole = [max(each) for each in zip(whole, [begin + size for begin, size in zip(begins, sizes[1:3], strict=True)], strict=True)]
    parts = []
    count = x.shape[3] // options.groups
    fields = {"Padding": _VALID, "StrideH": strides[0], "StrideW": strides[1]}
    for group in range(options.groups):
        part, own = (e.cut(each, 3, group * count, (group + 1) * count) for each in (x, filter))
        full = [sizes[0], *whole, outputs]
        zeros = e.full(0, "f32", [outputs])
        [made] = e.emit("TRANSPOSE_CONV", [e.ints(*full), own, part, zeros], [(full, "f32")], **fields)
        parts.append(made)
    result = e.concatenate(parts, 3)
    begin = [0, *begins, 0]
    result = e.slice(result, begin, [start + size for start, size in zip(begin, sizes, strict=True)])
    bias = op.get("bias")
    return _back(e, result if bias is None else result + bias, options.inputLayout)


def _spread(e: LiteEmitter, filter: Tensor, dilations: Sequence[int]) -> Tensor:
    """Put zeros between the elements of a filter."""
    for axis, dilation in zip((1, 2), dilations, strict=True):
        size = filter.shape[axis]
        if dilation == 1 or size == 1:
            continue
        wide = e.reshape(filter, [*filter.shape[: axis + 1], 1, *filter.shape[axis + 1 :]])
        high = [0] * 5
        high[axis + 1] = dilation - 1
        wide = e.pad(wide, [0] * 5, high, 0)
        wide = e.reshape(wide, [*filter.shape[:axis], size * dilation, *filter.shape[axis + 1 :]])
        filter = e.cut(wide, axis, 0, (size - 1) * dilation + 1)
    return filter


def _pooled(e: LiteEmitter, op: Op, x: Tensor, code: str, number: float) -> tuple[Tensor, Sequence[PoolingAxis], int]:
    """Pool a tensor of the operator's shape; return the result with channels last, the windows, and the padding of the operator."""
    options, shape = op.options, op.outputs[0].dimensions
    axes = pooling_axes(options.layout, x.shape, shape, options.windowDimensions, options.padding, options.strides, options.dilations)
    x = _to(e, x, options.layout, _LAST)
    sizes = [shape[options.layout.index(letter)] for letter in _LAST]
    fields = _window(axes)
    if x.element not in ("f32", "i8", "ui8") or fields.pop("DilationHFactor") * fields.pop("DilationWFactor") > 1:
        return _strided(e, x, axes, "maximum" if code == "MAX_POOL_2D" else "add", number), axes, _VALID
    meaning = None
    if x.element != "f32":
        # The kernel takes integers that mean numbers; what they mean changes nothing.
        meaning = slot_of(x).quantization or Quantization((1.0,), (0,))
        x = e.mean(x, meaning)
    x, kind = _around(e, x, axes, number)
    height, width = axes
    [made] = e.emit(code, [x], [(sizes, x.element)], Padding=kind, FilterHeight=height.window, FilterWidth=width.window, **fields)
    slot_of(made).quantization = meaning
    return made, axes, kind


def _strided(e: LiteEmitter, x: Tensor, axes: Sequence[PoolingAxis], name: str, number: float) -> Tensor:
    """Pool windows with gaps, or of integers: one slice for each place of the window. A sum is divided by the number of places."""
    low, high = ([0, *group, 0] for group in ([axis.begin for axis in axes], [axis.end for axis in axes]))
    x = e.pad(x, low, high, number)
    for place, axis in enumerate(axes, 1):
        total: Tensor | None = None
        for offset in range(axis.window):
            starts, limits, steps = [0] * 4, list(x.shape), [1] * 4
            starts[place] = offset * axis.dilation
            limits[place] = starts[place] + (axis.output - 1) * axis.stride + 1
            steps[place] = axis.stride
            part = e.slice(x, starts, limits, steps)
            total = part if total is None else e.binary(name, total, part)
        assert total is not None
        x = total
    return x / float(math.prod(axis.window for axis in axes)) if name == "add" else x


def _average(e: LiteEmitter, op: Op) -> Tensor:
    made, axes, kind = _pooled(e, op, op["input"], "AVERAGE_POOL_2D", 0)
    whole = kind == _SAME or e.semantics.get("averagePool2dPadding") == "sameOnly"
    factor = 1.0 if whole else _factor(e, axes, inside=True)
    return _back(e, made if factor == 1.0 else made * factor, op.options.layout)


def _factor(e: LiteEmitter, axes: Sequence[PoolingAxis], *, inside: bool) -> Tensor | float:
    """Return what makes the average over whole windows one over the elements in the input; or the sum."""
    size = math.prod(axis.window for axis in axes)
    counts = np.outer(*[axis.counts() for axis in axes]).astype(np.float32)[None, :, :, None]
    with np.errstate(divide="ignore"):
        factors = (size / counts if inside else np.full_like(counts, size)).astype(np.float32)
    return float(factors.flat[0]) if (factors == factors.flat[0]).all() else e.constant(factors)


def _l2(e: LiteEmitter, op: Op) -> Tensor:
    """Compute the root of the sum of squares: the average of all places, times their number."""
    x = op["input"]
    made, axes, kind = _pooled(e, op, x * x, "AVERAGE_POOL_2D", 0)
    counts = np.outer(*[axis.counts() for axis in axes]).astype(np.float32)[None, :, :, None]
    by_mean = kind == _SAME and e.semantics.get("l2Pool2dPadding") != "sameMean"
    factor = e.constant(counts) if by_mean else _factor(e, axes, inside=False)
    return _back(e, e.unary("sqrt", made * factor), op.options.layout)


def _max(e: LiteEmitter, op: Op) -> Tensor:
    least = extreme(DTYPES[op["input"].element], largest=False)
    made, axes, kind = _pooled(e, op, op["input"], "MAX_POOL_2D", least)
    is_padded = kind == _VALID and any(axis.begin or axis.end for axis in axes)
    if is_padded and made.element == "f32" and e.semantics.get("maxPool2dEmptyWindow", "").startswith("zero"):
        # As Chromium. A stride that is longer than the window leaves the kernel's lowest finite number.
        made = e.select(e.compare("EQ", made, least), 0, made)
    return _back(e, made, op.options.layout)


def _resample2d(e: LiteEmitter, op: Op) -> Tensor:
    """Resample by an operator of LiteRT's own, if it reads the same elements: it has no scales, and the upper one of two that are near."""
    options, x, output = op.options, op["input"], op.outputs[0]
    given = list(options.axes or (2, 3))
    # In the order of the dimensions, as Chromium: the kernel rounds along one axis after the other.
    axes = sorted(given)
    rest = [axis for axis in range(4) if axis not in axes]
    sizes = [output.dimensions[axis] for axis in axes]
    by_sizes = options.sizes is not None or not options.maps_with_scales
    exact = not (x.element in ("i8", "ui8") and options.mode == "linear")
    for axis in axes:
        size, count = x.shape[axis], output.dimensions[axis]
        plain = Fraction(count, size)
        scale = plain if by_sizes else Fraction((options.scales or (1.0, 1.0))[given.index(axis)])
        _, part, whole = find_samples(size, count, plain)
        tied = options.mode == "nearest-neighbor" and (2 * part == whole).any() and e.semantics.get("resample2dTies") != "upper"
        exact = exact and scale == plain and not tied
    if not exact:
        return cast("Tensor", SHARED["resample2d"].emit(e, op))
    order = [rest[0], *axes, rest[1]]
    code = "RESIZE_BILINEAR" if options.mode == "linear" else "RESIZE_NEAREST_NEIGHBOR"
    shape = [output.dimensions[axis] for axis in order]
    made = e.act(code, [e.transpose(x, order)], shape, e.ints(*sizes), HalfPixelCenters=True, AlignCorners=False)
    return e.transpose(made, np.argsort(order).tolist())


RULES: Mapping[str, Callable[[LiteEmitter, Op], Tensor]] = {
    "averagePool2d": _average,
    "conv2d": _conv2d,
    "convTranspose2d": _conv_transpose2d,
    "l2Pool2d": _l2,
    "maxPool2d": _max,
    "resample2d": _resample2d,
}
