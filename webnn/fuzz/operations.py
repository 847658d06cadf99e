"""Valid calls of every operation: their arguments and options, valid by construction."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from webnn.fuzz.maker import Maker, Value
from webnn.validation.descriptor import is_float

__all__ = ["CALLS", "Call"]

_EPSILONS = (1e-5, 1e-3, 0.25)
#: The arguments and options of a call.
Arguments = tuple[list[Any], dict[str, Any]]
#: Makes the operands of a call, and returns its arguments.
Call = Callable[[Maker], Arguments]


def _options(m: Maker, **members: Callable[[], Any]) -> dict[str, Any]:
    """Choose which options are given."""
    return {name: make() for name, make in members.items() if m.dice.chance()}


# Element by element.


def _unary(name: str, operand: str = "input", **numbers: tuple[int, int]) -> Call:
    def make(m: Maker) -> Arguments:
        return [m.first(name, operand)], _options(m, **{key: lambda ends=ends: m.dice.number(*ends) for key, ends in numbers.items()})

    return make


def _pair(name: str, first: str = "a") -> Call:
    def make(m: Maker) -> Arguments:
        a = m.first(name, first, style="positive" if name == "pow" else "")
        if m.dice.chance(0.1):
            return [a, a], {}
        # An integer divided by 0, or with a negative exponent, ends the computation on some devices: what follows shows nothing then.
        careful = name in ("div", "pow") and (m.chained or m.dice.chance(0.6))
        b = m.other(a.dataType, m.stretched(a.shape), "positive" if careful else m.dice.pick(("small", "uniform")))
        return ([b, a] if first == "a" and name not in ("pow", "div") and m.dice.chance(0.3) else [a, b]), {}

    return make


def _clamp(m: Maker) -> Arguments:
    x = m.first("clamp")
    low = m.dice.number(-4, 2) if is_float(x.dataType) else m.dice.integer(0, 2)
    bounds = {"minValue": low, "maxValue": low + m.dice.integer(0, 5)}
    return [x], {key: value for key, value in bounds.items() if m.dice.chance(0.75)}


def _softmax(m: Maker) -> Arguments:
    x = m.first("softmax")
    return [x, m.dice.integer(0, x.rank - 1)], {}


def _where(m: Maker) -> Arguments:
    x = m.first("where", "trueValue")
    condition = m.other("uint8", m.stretched(x.shape))
    return [condition, x, m.other(x.dataType, m.stretched(x.shape))], {}


def _quantize(name: str) -> Call:
    def make(m: Maker) -> Arguments:
        x = m.first(name)
        shape = [1 if m.dice.chance(0.6) else size for size in x.shape]
        divisors = [m.dice.pick([each for each in range(1, size + 1) if size % each == 0]) for size in x.shape]
        shape = divisors if m.dice.chance(0.3) else shape
        isQuantize = name == "quantizeLinear"
        kind = x.dataType if isQuantize else m.dice.pick(m.types(name, "scale"))
        other = m.dice.pick(m.types(name, "zeroPoint")) if isQuantize else x.dataType
        return [x, m.other(kind, shape, "positive"), m.other(other, shape, "positive")], {}

    return make


# Movement.


def _cast(m: Maker) -> Arguments:
    x = m.first("cast")
    types = m.types("cast", "output")
    style = [each for each in types if is_float(each)] if is_float(x.dataType) and m.dice.chance() else types
    return [x, m.dice.pick(style)], {}


def _concat(m: Maker) -> Arguments:
    x = m.first("concat", "inputs", most=40)
    axis = m.dice.integer(0, x.rank - 1)
    more = [m.other(x.dataType, [*x.shape[:axis], m.dice.integer(1, 3), *x.shape[axis + 1 :]]) for _ in range(m.dice.integer(0, 2))]
    return [m.dice.shuffle([x, *more]), axis], {}


def _split(m: Maker) -> Arguments:
    x = m.first("split")
    axis = m.dice.integer(0, x.rank - 1)
    size = x.shape[axis]
    if m.dice.chance():
        return [x, m.dice.pick([count for count in range(1, size + 1) if size % count == 0])], {"axis": axis}
    parts: list[int] = []
    while size:
        parts.append(m.dice.integer(1, size))
        size -= parts[-1]
    return [x, parts], {"axis": axis}


def _expand(m: Maker) -> Arguments:
    x = m.first("expand", most=12)
    high = m.ranks("expand", "output")[1]
    shape = [m.dice.integer(1, 3) if size == 1 else size for size in x.shape]
    return [x, [*m.dice.integers(m.dice.integer(0, max(0, min(2, high - x.rank))), 1, 3), *shape]], {}


def _reshape(m: Maker) -> Arguments:
    x = m.first("reshape")
    count, shape = math.prod(x.shape), list[int]()
    while count > 1 and len(shape) < m.ranks("reshape", "output")[1] - 1:
        shape.append(m.dice.pick([size for size in range(1, count + 1) if count % size == 0]))
        count //= shape[-1]
    return [x, [*shape, count] if count > 1 or m.dice.chance(0.3) else shape], {}


def _slice(m: Maker) -> Arguments:
    x = m.first("slice")
    starts = [m.dice.integer(0, size - 1) for size in x.shape]
    sizes = [m.dice.integer(1, size - start) for start, size in zip(starts, x.shape, strict=True)]
    return [x, starts, sizes], _options(m, strides=lambda: [m.dice.integer(1, size) for size in sizes])


def _transpose(m: Maker) -> Arguments:
    x = m.first("transpose")
    return [x], _options(m, permutation=lambda: m.dice.axes(x.rank, x.rank))


def _reverse(m: Maker) -> Arguments:
    x = m.first("reverse")
    return [x], _options(m, axes=lambda: m.dice.axes(x.rank))


def _tile(m: Maker) -> Arguments:
    x = m.first("tile", most=20)
    return [x, [m.dice.pick((1, 1, 2, 3)) for _ in x.shape]], {}


def _triangular(m: Maker) -> Arguments:
    return [m.first("triangular")], _options(m, upper=m.dice.chance, diagonal=lambda: m.dice.integer(-3, 3))


def _pad(m: Maker) -> Arguments:
    x = m.first("pad", most=20)
    mode = m.dice.pick(("constant", "edge", "reflection"))
    most = 2 if x.rank < 5 else 1
    ends = [[m.dice.integer(0, size - 1 if mode == "reflection" else most) for size in x.shape] for _ in range(2)]
    value = m.dice.integer(0, 9) if not is_float(x.dataType) else m.dice.number(-5, 5)
    return [x, *ends], {**({} if mode == "constant" and m.dice.chance() else {"mode": mode}), **_options(m, value=lambda: value)}


def _cumulative(m: Maker) -> Arguments:
    x = m.first("cumulativeSum")
    return [x, m.dice.integer(0, x.rank - 1)], _options(m, exclusive=m.dice.chance, reversed=m.dice.chance)


def _reduce(name: str) -> Call:
    style = "positive" if name in ("reduceLogSum", "reduceProduct") else ""

    def make(m: Maker) -> Arguments:
        x = m.first(name, style=style)
        return [x], _options(m, axes=lambda: m.dice.axes(x.rank), keepDimensions=m.dice.chance)

    return make


def _select(name: str) -> Call:
    def make(m: Maker) -> Arguments:
        x = m.first(name)
        types = m.types(name, "output")
        options = _options(m, keepDimensions=m.dice.chance, outputDataType=lambda: m.dice.pick(types))
        return [x, m.dice.integer(0, x.rank - 1)], options if "int32" in types else {**options, "outputDataType": types[0]}

    return make


# Indices.


def _indices(m: Maker, name: str, shape: list[int], sizes: list[int]) -> Value:
    """Make indices: the last axis of the shape has one for each of several axes of these sizes, if there are several."""
    dataType = m.dice.pick(m.types(name, "indices"))
    beyond = 2 if m.dice.chance(0.1) else 0
    numbers = [
        m.dice.integer(0 if dataType.startswith("u") else -size, size - 1 + beyond)
        for size in (sizes[place % len(sizes)] for place in range(math.prod(shape)))
    ]
    return m.operand(dataType, shape, values=[str(each) for each in numbers] if dataType.endswith("64") else numbers)


def _gather(m: Maker) -> Arguments:
    x = m.first("gather")
    axis = m.dice.integer(0, x.rank - 1)
    rank = min(m.ranks("gather", "indices")[1], m.ranks("gather", "output")[1] - x.rank + 1)
    indices = _indices(m, "gather", m.dice.shape(0, rank, 12), [x.shape[axis]])
    return [x, indices], {"axis": axis} if axis or m.dice.chance() else {}


def _gather_elements(m: Maker) -> Arguments:
    x = m.first("gatherElements")
    axis = m.dice.integer(0, x.rank - 1)
    shape = [m.dice.integer(1, 4) if each == axis else size for each, size in enumerate(x.shape)]
    return [x, _indices(m, "gatherElements", shape, [x.shape[axis]])], {"axis": axis} if axis or m.dice.chance() else {}


def _scatter_elements(m: Maker) -> Arguments:
    x = m.first("scatterElements")
    axis = m.dice.integer(0, x.rank - 1)
    shape = list(x.shape)
    shape[axis] = 1  # the same place twice has no defined result
    updates = m.other(x.dataType, shape)
    return [x, _indices(m, "scatterElements", shape, [x.shape[axis]]), updates], {"axis": axis} if axis or m.dice.chance() else {}


def _gather_nd(m: Maker) -> Arguments:
    x = m.first("gatherND")
    depth = m.dice.integer(1, x.rank)
    rank = min(m.ranks("gatherND", "indices")[1] - 1, m.ranks("gatherND", "output")[1] - x.rank + depth)
    return [x, _indices(m, "gatherND", [*m.dice.shape(0, rank, 6), depth], list(x.shape[:depth]))], {}


def _scatter_nd(m: Maker) -> Arguments:
    x = m.first("scatterND")
    depth = m.dice.integer(1, x.rank)
    # One update: the same place twice has no defined result.
    rank = min(m.ranks("scatterND", "indices")[1] - 1, m.ranks("scatterND", "updates")[1] - x.rank + depth)
    shape = [1] * m.dice.integer(0, rank)
    indices = _indices(m, "scatterND", [*shape, depth], list(x.shape[:depth]))
    return [x, indices, m.other(x.dataType, [*shape, *x.shape[depth:]])], {}


# Windows over images.


def _laid_out(sizes: Mapping[str, int], layout: str) -> list[int]:
    return [sizes[axis] for axis in layout]


def _image(m: Maker, name: str, layouts: tuple[str, ...] = ("nchw", "nhwc")) -> tuple[Value, dict[str, int], str]:
    """Take an image; return its sizes by the letters of its axes, and the layout."""
    x, layout = m.first(name, most=120, style="uniform"), m.dice.pick(layouts)
    return x, dict(zip(layout, x.shape, strict=True)), layout


def _reach(window: int, dilation: int) -> int:
    return (window - 1) * dilation + 1


def _pool(name: str) -> Call:
    def make(m: Maker) -> Arguments:
        x, sizes, layout = _image(m, name)
        extent = [sizes["h"], sizes["w"]]
        options = _options(m, strides=lambda: m.dice.integers(2, 1, 3), layout=lambda: layout)
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
        options |= _options(m, outputShapeRounding=lambda: m.dice.pick(("floor", "ceil")))
        if m.dice.chance(0.1) and "dilations" not in options and not any(padding) and window == extent:
            del options["windowDimensions"]
        return [x], options

    return make


def _conv(m: Maker) -> Arguments:
    x, sizes, layout = _image(m, "conv2d")
    order = m.dice.pick(("oihw", "hwio", "ohwi", "ihwo"))
    groups = m.dice.pick([each for each in range(1, sizes["c"] + 1) if sizes["c"] % each == 0])
    parts = {"o": groups * m.dice.integer(1, 2), "i": sizes["c"] // groups, "h": 1, "w": 1}
    options = _options(m, padding=lambda: m.dice.integers(4, 0, 2), strides=lambda: m.dice.integers(2, 1, 3))
    options |= {"dilations": m.dice.integers(2, 1, 2)} if m.dice.chance(0.3) else {}
    padding, dilations = options.get("padding", [0] * 4), options.get("dilations", [1, 1])
    for axis, letter in enumerate("hw"):
        room = sizes[letter] + padding[2 * axis] + padding[2 * axis + 1]
        parts[letter] = m.dice.integer(1, min(3, (room - 1) // dilations[axis] + 1))
    return _window(m, "conv2d", x, layout, order, parts, groups, parts["o"], options)


def _conv_transpose(m: Maker) -> Arguments:
    x, sizes, layout = _image(m, "convTranspose2d")
    order = m.dice.pick(("iohw", "hwoi", "ohwi"))
    groups = m.dice.pick([each for each in range(1, sizes["c"] + 1) if sizes["c"] % each == 0]) if m.dice.chance(0.3) else 1
    parts = {"o": m.dice.integer(1, 2), "i": sizes["c"], "h": m.dice.integer(1, 3), "w": m.dice.integer(1, 3)}
    options: dict[str, Any] = _options(m, strides=lambda: m.dice.integers(2, 1, 3))
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
    return _window(m, "convTranspose2d", x, layout, order, parts, groups, parts["o"] * groups, options)


def _window(
    m: Maker, name: str, x: Value, layout: str, order: str, parts: Mapping[str, int], groups: int, outputs: int, options: dict[str, Any]
) -> Arguments:
    default = "oihw" if name == "conv2d" else "iohw"
    chosen = {"inputLayout": layout, "filterLayout": order, "groups": groups}
    usual = {"inputLayout": "nchw", "filterLayout": default, "groups": 1}
    options |= {key: value for key, value in chosen.items() if value != usual[key] or m.dice.chance(0.3)}
    filter = m.other(x.dataType, _laid_out(parts, order), "uniform")
    if m.dice.chance(0.4):
        options["bias"] = m.other(x.dataType, [outputs], "uniform")
    return [x, filter], options


def _resample(m: Maker) -> Arguments:
    x = m.first("resample2d", most=80, style="uniform")
    options: dict[str, Any] = _options(m, mode=lambda: m.dice.pick(("nearest-neighbor", "linear")))
    options |= {"axes": m.dice.axes(4, 4)[:2]} if m.dice.chance() else {}
    axes = options.get("axes", [2, 3])
    if m.dice.chance():
        options["sizes"] = m.dice.integers(2, 1, 6)
    elif m.dice.chance(0.8):
        options["scales"] = [m.dice.pick((1, 2, 3, 1.5) if x.shape[axis] == 1 else (1, 2, 3, 1.5, 0.5)) for axis in axes]
    return [x], options


# Products, normalizations, recurrent networks.


def _matmul(m: Maker) -> Arguments:
    a = m.first("matmul", "a", ranks=(2, m.ranks("matmul", "a")[1]), style="uniform")
    low = m.ranks("matmul", "b")[0]
    batches = list(a.shape[:-2]) if low > 2 else m.stretched(a.shape[:-2])
    return [a, m.other(a.dataType, [*batches, a.shape[-1], m.dice.integer(1, 4)], "uniform")], {}


def _gemm(m: Maker) -> Arguments:
    a = m.first("gemm", "a", style="uniform")
    options: dict[str, Any] = _options(m, alpha=lambda: m.dice.number(-2, 2), beta=lambda: m.dice.number(-2, 2))
    options |= _options(m, aTranspose=m.dice.chance, bTranspose=m.dice.chance)
    rows, inner = a.shape[::-1] if options.get("aTranspose") else a.shape
    columns = m.dice.integer(1, 4)
    b = m.other(a.dataType, [columns, inner] if options.get("bTranspose") else [inner, columns], "uniform")
    if m.dice.chance():
        options["c"] = m.other(a.dataType, m.stretched([rows, columns]), "uniform")
    return [a, b], options


def _batch_normalization(m: Maker) -> Arguments:
    x = m.first("batchNormalization", style="uniform")
    axis = m.dice.integer(0, x.rank - 1) if x.rank == 1 or m.dice.chance() else 1
    feature = partial(m.other, x.dataType, [x.shape[axis]])
    options = _options(m, scale=feature, bias=feature, epsilon=lambda: m.dice.pick(_EPSILONS))
    return [x, feature(), feature("positive")], {**options, **({"axis": axis} if axis != 1 else {})}


def _instance_normalization(m: Maker) -> Arguments:
    x, sizes, layout = _image(m, "instanceNormalization")
    feature = partial(m.other, x.dataType, [sizes["c"]])
    options = _options(m, scale=feature, bias=feature, epsilon=lambda: m.dice.pick(_EPSILONS))
    return [x], {**options, **({"layout": layout} if layout == "nhwc" else {})}


def _layer_normalization(m: Maker) -> Arguments:
    x = m.first("layerNormalization", style="uniform")
    options: dict[str, Any] = _options(m, axes=lambda: m.dice.axes(x.rank), epsilon=lambda: m.dice.pick(_EPSILONS))
    shape = [x.shape[axis] for axis in options.get("axes", range(1, x.rank))]
    parameter = partial(m.other, x.dataType, shape)
    return [x], {**options, **_options(m, scale=parameter, bias=parameter)}


def _recurrent(name: str) -> Call:
    isGru, isCell = name.startswith("gru"), name.endswith("Cell")
    gates = 3 if isGru else 4

    def make(m: Maker) -> Arguments:
        x = m.first(name, ranks=(2, 2) if isCell else (3, 3), style="unit")
        batch, features = x.shape[-2:]
        hidden = m.dice.integer(1, 4)
        layouts = ("zrn", "rzn") if isGru else ("iofg", "ifgo")
        options: dict[str, Any] = _options(m, layout=lambda: m.dice.pick(layouts))
        options |= {"resetAfter": m.dice.chance()} if isGru and m.dice.chance() else {}
        if m.dice.chance(0.3):
            options["activations"] = [m.dice.pick(("relu", "sigmoid", "tanh")) for _ in range(2 if isGru else 3)]
        directions: list[int] = []
        if not isCell:
            options |= _options(m, returnSequence=m.dice.chance, direction=lambda: m.dice.pick(("forward", "backward", "both")))
            directions = [2 if options.get("direction") == "both" else 1]

        def operand(*shape: int) -> Value:
            return m.other(x.dataType, [*directions, *shape], "unit")

        members = dict.fromkeys(("bias", "recurrentBias"), partial(operand, gates * hidden))
        if not isGru:
            members["peepholeWeight"] = partial(operand, 3 * hidden)
        states = ["hiddenState"] if isGru else ["hiddenState", "cellState"]
        if not isCell:
            # Their own first axis is the directions, too.
            members |= dict.fromkeys([f"initial{each[0].upper()}{each[1:]}" for each in states], partial(operand, batch, hidden))
        arguments = [x, operand(gates * hidden, features), operand(gates * hidden, hidden)]
        arguments += [operand(batch, hidden) for _ in states] if isCell else []
        return [*arguments, *([] if isCell else [x.shape[0]]), hidden], {**options, **_options(m, **members)}

    return make


_UNARY = (
    "abs ceil cos erf exp floor identity log neg reciprocal roundEven sign sin sqrt tan gelu hardSwish relu sigmoid softplus softsign tanh"
)
_PAIRS = "add sub mul div max min pow equal notEqual greater greaterOrEqual lesser lesserOrEqual logicalAnd logicalOr logicalXor"
_REDUCTIONS = "reduceL1 reduceL2 reduceLogSum reduceLogSumExp reduceMax reduceMean reduceMin reduceProduct reduceSum reduceSumSquare"

#: How a valid call of each operation is made.
CALLS: Mapping[str, Call] = MappingProxyType(
    {
        **{name: _unary(name) for name in _UNARY.split()},
        **{name: _unary(name, "a") for name in ("logicalNot", "isNaN", "isInfinite")},
        "elu": _unary("elu", alpha=(-2, 2)),
        "leakyRelu": _unary("leakyRelu", alpha=(-2, 2)),
        "hardSigmoid": _unary("hardSigmoid", alpha=(-1, 1), beta=(-1, 1)),
        "linear": _unary("linear", alpha=(-3, 3), beta=(-3, 3)),
        **{name: _pair(name) for name in _PAIRS.split()},
        "prelu": _pair("prelu", "input"),
        "clamp": _clamp,
        "softmax": _softmax,
        "where": _where,
        "quantizeLinear": _quantize("quantizeLinear"),
        "dequantizeLinear": _quantize("dequantizeLinear"),
        "cast": _cast,
        "concat": _concat,
        "split": _split,
        "expand": _expand,
        "reshape": _reshape,
        "slice": _slice,
        "transpose": _transpose,
        "reverse": _reverse,
        "tile": _tile,
        "triangular": _triangular,
        "pad": _pad,
        "cumulativeSum": _cumulative,
        **{name: _reduce(name) for name in _REDUCTIONS.split()},
        "argMax": _select("argMax"),
        "argMin": _select("argMin"),
        "gather": _gather,
        "gatherElements": _gather_elements,
        "gatherND": _gather_nd,
        "scatterElements": _scatter_elements,
        "scatterND": _scatter_nd,
        **{name: _pool(name) for name in ("averagePool2d", "l2Pool2d", "maxPool2d")},
        "conv2d": _conv,
        "convTranspose2d": _conv_transpose,
        "resample2d": _resample,
        "matmul": _matmul,
        "gemm": _gemm,
        "batchNormalization": _batch_normalization,
        "instanceNormalization": _instance_normalization,
        "layerNormalization": _layer_normalization,
        **{name: _recurrent(name) for name in ("gru", "gruCell", "lstm", "lstmCell")},
    }
)
