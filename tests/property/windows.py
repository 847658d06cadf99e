"""Valid calls of operations on two spatial axes: pooling, convolution, resampling."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from tests.property.calls import Call
from tests.property.draws import ANY, NUMBERS, TAME, Draw, arrays, floats, optional, types
from webnn.reference.numbers import idl_float

__all__ = ["CONV", "POOLING", "RESAMPLING"]

_LAYOUTS = st.sampled_from(["nchw", "nhwc"])
_STEPS = st.lists(st.integers(1, 3), min_size=2, max_size=2)


def _laid_out(sizes: dict[str, int], layout: str) -> list[int]:
    """Return the sizes of the axes, each named by a letter, in the order of a layout."""
    return [sizes[axis] for axis in layout]


def _reach(window: int, dilation: int) -> int:
    return (window - 1) * dilation + 1


@st.composite
def _pool(draw: Draw, name: str) -> Call:
    dtype = draw(types(name))
    sizes = {axis: draw(st.integers(1, most)) for axis, most in (("n", 2), ("c", 3), ("h", 7), ("w", 7))}
    options: dict[str, Any] = draw(
        optional(
            windowDimensions=st.lists(st.integers(1, 4), min_size=2, max_size=2),
            padding=st.lists(st.integers(0, 3), min_size=4, max_size=4),
            strides=_STEPS,
            dilations=_STEPS,
            layout=_LAYOUTS,
            roundingType=st.sampled_from(["floor", "ceil"]),
        )
    )
    extent = [sizes["h"], sizes["w"]]
    window = options.get("windowDimensions", extent)
    padding, strides, dilations = (options.get(member, [1] * 2) for member in ("padding", "strides", "dilations"))
    padding = options.get("padding", [0] * 4)
    spans = [extent[d] + padding[2 * d] + padding[2 * d + 1] - _reach(window[d], dilations[d]) for d in (0, 1)]
    floor = [spans[d] // strides[d] + 1 for d in (0, 1)]
    ceil = [-(-spans[d] // strides[d]) + 1 for d in (0, 1)]
    given = draw(st.sampled_from([None, None, None, floor, ceil]))
    chosen = given or (ceil if options.get("roundingType") == "ceil" else floor)
    if min(chosen) < 1:
        # The window is larger than the padded input: padding makes room.
        options["padding"] = [padding[0] + max(0, -spans[0]), padding[1], padding[2], padding[3] + max(0, -spans[1])]
        given = None
    if given is not None:
        options["outputSizes"] = given
    styles = NUMBERS if name == "maxPool2d" else TAME
    input = draw(arrays(dtype, _laid_out(sizes, options.get("layout", "nchw")), styles))
    return Call(name=name, arguments={"input": input}, options=options)


@st.composite
def _window(draw: Draw, filterLayouts: tuple[str, ...]) -> dict[str, Any]:
    """Draw what both convolutions have in common."""
    options: dict[str, Any] = draw(
        optional(
            padding=st.lists(st.integers(0, 3), min_size=4, max_size=4),
            strides=_STEPS,
            dilations=_STEPS,
            inputLayout=_LAYOUTS,
            filterLayout=st.sampled_from(filterLayouts),
        )
    )
    return options


@st.composite
def _conv2d(draw: Draw) -> Call:
    dtype = draw(types("conv2d"))
    options = draw(_window(("oihw", "hwio", "ohwi", "ihwo")))
    groups, inputs, outputs = (draw(st.integers(1, 3)) for _ in range(3))
    if draw(st.booleans()):
        inputs = 1  # depthwise
    window = {"o": outputs * groups, "i": inputs, "h": draw(st.integers(1, 3)), "w": draw(st.integers(1, 3))}
    if groups > 1 or draw(st.booleans()):
        options["groups"] = groups
    padding, dilations = options.get("padding", [0] * 4), options.get("dilations", [1, 1])
    sizes = {"n": draw(st.integers(1, 2)), "c": groups * inputs}
    for d, axis in enumerate("hw"):
        least = max(1, _reach(window[axis], dilations[d]) - padding[2 * d] - padding[2 * d + 1])
        sizes[axis] = draw(st.integers(least, least + 4))
    if draw(st.booleans()):
        options["bias"] = draw(arrays(dtype, [window["o"]], TAME))
    arguments = {
        "input": draw(arrays(dtype, _laid_out(sizes, options.get("inputLayout", "nchw")), TAME)),
        "filter": draw(arrays(dtype, _laid_out(window, options.get("filterLayout", "oihw")), TAME)),
    }
    return Call(name="conv2d", arguments=arguments, options=options)


@st.composite
def _convTranspose2d(draw: Draw) -> Call:
    dtype = draw(types("convTranspose2d"))
    options = draw(_window(("iohw", "hwoi", "ohwi")))
    groups, inputs, outputs = (draw(st.integers(1, 3)) for _ in range(3))
    window = {"o": outputs, "i": inputs * groups, "h": draw(st.integers(1, 3)), "w": draw(st.integers(1, 3))}
    if groups > 1 or draw(st.booleans()):
        options["groups"] = groups
    padding, strides, dilations = (options.get(*item) for item in (("padding", [0] * 4), ("strides", [1, 1]), ("dilations", [1, 1])))
    sizes = {"n": draw(st.integers(1, 2)), "c": window["i"]}
    lowest = []
    for d, axis in enumerate("hw"):
        size = draw(st.integers(1, 4))
        # Less padding or more input, until something of the output is left.
        while (size - 1) * strides[d] + _reach(window[axis], dilations[d]) - padding[2 * d] - padding[2 * d + 1] < 1:
            size += 1
        sizes[axis] = size
        lowest.append((size - 1) * strides[d] + _reach(window[axis], dilations[d]) - padding[2 * d] - padding[2 * d + 1])
    extra = [draw(st.integers(0, stride - 1)) for stride in strides]
    style = draw(st.integers(0, 3))
    if style == 1:
        options["outputPadding"] = extra
    elif style >= 2:
        options["outputSizes"] = [size + more for size, more in zip(lowest, extra, strict=True)]
        if style == 3:
            options["outputPadding"] = [0, 0]
    if draw(st.booleans()):
        options["bias"] = draw(arrays(dtype, [outputs * groups], TAME))
    arguments = {
        "input": draw(arrays(dtype, _laid_out(sizes, options.get("inputLayout", "nchw")), TAME)),
        "filter": draw(arrays(dtype, _laid_out(window, options.get("filterLayout", "iohw")), TAME)),
    }
    return Call(name="convTranspose2d", arguments=arguments, options=options)


@st.composite
def _resample2d(draw: Draw) -> Call:
    dtype = draw(types("resample2d"))
    options: dict[str, Any] = draw(
        optional(mode=st.sampled_from(["nearest-neighbor", "linear"]), axes=st.sampled_from([[0, 1], [1, 2], [2, 3]]))
    )
    axes = options.get("axes", [2, 3])
    shape = [draw(st.integers(1, 7 if axis in axes else 2)) for axis in range(4)]
    style = draw(st.sampled_from(["scales", "sizes", "both", "none"]))
    if style in ("sizes", "both"):
        options["sizes"] = draw(st.lists(st.integers(1, 9), min_size=2, max_size=2))
    if style in ("scales", "both"):
        scales = [draw(st.sampled_from([1, 2, 0.5, 1.5, 3, 0.25, 0.75, 0.7, 2.3]) | floats(0.3, 3)) for _ in range(2)]
        # No size may become 0.
        fits = [math.floor(shape[axis] * Fraction(idl_float(scale))) > 0 for axis, scale in zip(axes, scales, strict=True)]
        options["scales"] = [scale if fit else 1 for scale, fit in zip(scales, fits, strict=True)]
    styles = TAME if options.get("mode") == "linear" else ANY
    return Call(name="resample2d", arguments={"input": draw(arrays(dtype, shape, styles))}, options=options)


POOLING = {name: _pool(name) for name in ("averagePool2d", "l2Pool2d", "maxPool2d")}
CONV = {"conv2d": _conv2d(), "convTranspose2d": _convTranspose2d()}
RESAMPLING = {"resample2d": _resample2d()}
