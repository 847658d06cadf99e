"""Valid calls of operations whose windows move over images."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from webnn.calls.maker import Arguments, Call, CallMaker, DrawnValue

__all__ = ["WINDOWS", "take_image"]


def _laid_out(sizes: Mapping[str, int], layout: str) -> list[int]:
    return [sizes[axis] for axis in layout]


def take_image(m: CallMaker, name: str, layouts: tuple[str, ...] = ("nchw", "nhwc")) -> tuple[DrawnValue, dict[str, int], str]:
    """Take an image; return its sizes by the letters of its axes, and the layout."""
    x, layout = m.first(name, most=120, style="uniform"), m.dice.pick(layouts)
    return x, dict(zip(layout, x.shape, strict=True)), layout


def _reach(window: int, dilation: int) -> int:
    return (window - 1) * dilation + 1


def _pool(name: str) -> Call:
    def make(m: CallMaker) -> Arguments:
        x, sizes, layout = take_image(m, name)
        extent = [sizes["h"], sizes["w"]]
        options = m.options(strides=lambda: m.dice.integers(2, 1, 3), layout=lambda: layout)
        if layout == "nhwc":
            options["layout"] = layout
        window = [m.dice.integer(1, min(4, size)) for size in extent]
        options["windowDimensions"] = window
        if m.dice.chance(0.3):
            options["dilations"] = [m.dice.integer(1, 2) for _ in window]
        dilations = options.get("dilations", [1, 1])
        padding = [0] * 4
        for axis, size in enumerate(extent):
            reach = _reach(window[axis], dilations[axis])
            padding[2 * axis] = max(reach - size, m.dice.integer(0, window[axis] - 1) if m.dice.chance(0.4) else 0)
            padding[2 * axis + 1] = m.dice.integer(0, window[axis] - 1) if m.dice.chance(0.4) else 0
        if any(padding):
            options["padding"] = padding
        rounding = "outputShapeRounding" if m.takes(name, "outputShapeRounding") else "roundingType"
        options |= m.options(**{rounding: lambda: m.dice.pick(("floor", "ceil"))})
        if m.dice.chance(0.2):
            spans = [extent[axis] + padding[2 * axis] + padding[2 * axis + 1] - _reach(window[axis], dilations[axis]) for axis in (0, 1)]
            strides, up = options.get("strides", [1, 1]), m.dice.chance()
            options["outputSizes"] = [(-(-spans[axis] // strides[axis]) if up else spans[axis] // strides[axis]) + 1 for axis in (0, 1)]
        elif m.dice.chance(0.1) and "dilations" not in options and not any(padding):
            del options["windowDimensions"]
        return [x], options

    return make


def _conv(m: CallMaker) -> Arguments:
    x, sizes, layout = take_image(m, "conv2d")
    order = m.dice.pick(("oihw", "hwio", "ohwi", "ihwo"))
    groups = m.dice.pick([each for each in range(1, sizes["c"] + 1) if sizes["c"] % each == 0])
    parts = {"o": groups * m.dice.integer(1, 2), "i": sizes["c"] // groups, "h": 1, "w": 1}
    options = m.options(padding=lambda: m.dice.integers(4, 0, 2), strides=lambda: m.dice.integers(2, 1, 3))
    options |= {"dilations": m.dice.integers(2, 1, 2)} if m.dice.chance(0.3) else {}
    padding, dilations = options.get("padding", [0] * 4), options.get("dilations", [1, 1])
    for axis, letter in enumerate("hw"):
        room = sizes[letter] + padding[2 * axis] + padding[2 * axis + 1]
        parts[letter] = m.dice.integer(1, min(3, (room - 1) // dilations[axis] + 1))
    return _window(m, "conv2d", x, layout, order, parts, groups, parts["o"], options)


def _conv_transpose(m: CallMaker) -> Arguments:
    x, sizes, layout = take_image(m, "convTranspose2d")
    order = m.dice.pick(("iohw", "hwoi", "ohwi"))
    groups = m.dice.pick([each for each in range(1, sizes["c"] + 1) if sizes["c"] % each == 0]) if m.dice.chance(0.3) else 1
    parts = {"o": m.dice.integer(1, 2), "i": sizes["c"], "h": m.dice.integer(1, 3), "w": m.dice.integer(1, 3)}
    options: dict[str, Any] = m.options(strides=lambda: m.dice.integers(2, 1, 3))
    options |= {"dilations": m.dice.integers(2, 1, 2)} if m.dice.chance(0.2) else {}
    strides, dilations = options.get("strides", [1, 1]), options.get("dilations", [1, 1])
    lowest = [(sizes[each] - 1) * strides[axis] + _reach(parts[each], dilations[axis]) for axis, each in enumerate("hw")]
    if m.dice.chance(0.3):
        ends = [m.dice.integer(0, min(1, (lowest[axis // 2] - 1) // 2)) for axis in range(4)]
        options["padding"] = ends
        lowest = [size - ends[2 * axis] - ends[2 * axis + 1] for axis, size in enumerate(lowest)]
    more = [m.dice.integer(0, stride - 1) for stride in strides]
    if m.dice.chance(0.2):
        options["outputPadding"] = more
    elif m.dice.chance(0.2):
        options["outputSizes"] = [size + extra for size, extra in zip(lowest, more, strict=True)]
        options |= {"outputPadding": [0, 0]} if m.dice.chance(0.3) else {}
    return _window(m, "convTranspose2d", x, layout, order, parts, groups, parts["o"] * groups, options)


def _window(
    m: CallMaker,
    name: str,
    x: DrawnValue,
    layout: str,
    order: str,
    parts: Mapping[str, int],
    groups: int,
    outputs: int,
    options: dict[str, Any],
) -> Arguments:
    default = "oihw" if name == "conv2d" else "iohw"
    chosen = {"inputLayout": layout, "filterLayout": order, "groups": groups}
    usual = {"inputLayout": "nchw", "filterLayout": default, "groups": 1}
    options |= {key: value for key, value in chosen.items() if value != usual[key] or m.dice.chance(0.3)}
    filter = m.other(x.dataType, _laid_out(parts, order), "uniform")
    if m.dice.chance(0.4):
        options["bias"] = m.other(x.dataType, [outputs], "uniform")
    return [x, filter], options


def _resample(m: CallMaker) -> Arguments:
    options: dict[str, Any] = m.options(mode=lambda: m.dice.pick(("nearest-neighbor", "linear")))
    x = m.first("resample2d", most=80, style="uniform" if options.get("mode") == "linear" else "")
    if m.dice.chance():
        first = m.dice.integer(0, 2)
        options["axes"] = m.dice.axes(4, 4)[:2] if m.revision.tensors else [first, first + 1]
    axes = options.get("axes", [2, 3])
    if m.dice.chance():
        options["sizes"] = m.dice.integers(2, 1, 6)
    elif m.dice.chance(0.8):
        options["scales"] = [m.dice.pick((1, 2, 3, 1.5) if x.shape[axis] == 1 else (1, 2, 3, 1.5, 0.5)) for axis in axes]
    return [x], options


#: How a valid call of each of the operations is made.
WINDOWS: Mapping[str, Call] = {
    **{name: _pool(name) for name in ("averagePool2d", "l2Pool2d", "maxPool2d")},
    "conv2d": _conv,
    "convTranspose2d": _conv_transpose,
    "resample2d": _resample,
}
