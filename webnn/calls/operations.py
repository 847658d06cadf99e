"""Valid calls of every operation: their arguments and options, valid by construction."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

from webnn.calls.maker import Arguments, Call, CallMaker, DrawnValue
from webnn.calls.windows import WINDOWS, take_image
from webnn.validation import unary
from webnn.validation.descriptor import is_float

__all__ = ["ACTIVATIONS", "CALLS", "parameters"]

_EPSILONS = (1e-5, 1e-3, 0.25, 1)
#: The numbers of activation functions, with their ends.
_PARAMETERS: Mapping[str, Mapping[str, tuple[int, int]]] = {
    "elu": {"alpha": (-2, 2)},
    "hardSigmoid": {"alpha": (-1, 1), "beta": (-1, 1)},
    "leakyRelu": {"alpha": (-2, 2)},
    "linear": {"alpha": (-3, 3), "beta": (-3, 3)},
}
#: The activation functions of one operand.
ACTIVATIONS = ("tanh", "sigmoid", "relu", "gelu", "hardSwish", "softplus", "softsign", *_PARAMETERS)
#: Numbers beyond the range of some types, in ascending order.
_EXTREMES = (-3e38, -(2.0**63), -1e6, 0, 1e6, 2.0**31, 2.0**63, 2.0**64, 3e38)


# Element by element.


def _unary(name: str, operand: str = "input") -> Call:
    return lambda m: ([m.first(name, operand)], parameters(m, name))


def parameters(m: CallMaker, name: str) -> dict[str, Any]:
    """Choose the numbers of an activation function."""
    return m.options(**{key: partial(m.dice.number, *ends) for key, ends in _PARAMETERS.get(name, {}).items()})


def _pair(name: str, first: str = "a") -> Call:
    def make(m: CallMaker) -> Arguments:
        a = m.first(name, first, style="positive" if name == "pow" else "")
        if m.dice.chance(0.1):
            return [a, a], {}
        # An integer divided by 0, or with a negative exponent, ends the computation on some devices: what follows shows nothing then.
        careful = name in ("div", "pow") and (m.chained or m.dice.chance(0.6))
        style = "positive" if careful else m.style() if is_float(a.dataType) else m.dice.pick(("small", "uniform"))
        # `prelu` stretches its slope only.
        b = m.other(a.dataType, m.beside(a.shape, m.ranks(name, first)[1]) if first == "a" else m.stretched(a.shape), style)
        return ([b, a] if first == "a" and name not in ("pow", "div") and m.dice.chance(0.3) else [a, b]), {}

    return make


def _clamp(m: CallMaker) -> Arguments:
    x = m.first("clamp")
    low = m.dice.number(-4, 2) if is_float(x.dataType) else m.dice.integer(0, 2)
    bounds = {"minValue": low, "maxValue": low + m.dice.integer(0, 5)}
    if m.dice.chance(0.2):
        bounds = dict(zip(bounds, sorted(m.dice.pick(_EXTREMES) for _ in bounds), strict=True))
    return [x], {key: value for key, value in bounds.items() if m.dice.chance(0.75)}


def _softmax(m: CallMaker) -> Arguments:
    x = m.first("softmax")
    return [x, m.dice.integer(0, x.rank - 1)], {}


def _where(m: CallMaker) -> Arguments:
    first, second, _ = m.revision.operations["where"].operands
    x = m.first("where", second)
    types, high = m.types("where", first), m.ranks("where", second)[1]
    condition = x if x.dataType in types and m.dice.chance() else m.other(m.dice.pick(types), m.stretched(x.shape), "small")
    return [condition, x, x if m.dice.chance(0.1) else m.other(x.dataType, m.beside(x.shape, high))], {}


def _quantize(name: str) -> Call:
    def make(m: CallMaker) -> Arguments:
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


def _cast(m: CallMaker) -> Arguments:
    x = m.first("cast")
    types = m.types("cast", "output")
    style = [each for each in types if is_float(each)] if is_float(x.dataType) and m.dice.chance() else types
    return [x, m.dice.pick(style)], {}


def _concat(m: CallMaker) -> Arguments:
    x = m.first("concat", "inputs", most=40)
    axis = m.dice.integer(0, x.rank - 1)
    more = [m.other(x.dataType, [*x.shape[:axis], m.dice.integer(1, 3), *x.shape[axis + 1 :]]) for _ in range(m.dice.integer(0, 2))]
    return [m.dice.shuffle([x, *more, *[x] * m.dice.chance(0.2)]), axis], {}


def _split(m: CallMaker) -> Arguments:
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


def _expand(m: CallMaker) -> Arguments:
    x = m.first("expand", most=12)
    high = m.ranks("expand", "output")[1]
    shape = [m.dice.integer(1, 3) if size == 1 else size for size in x.shape]
    return [x, [*m.dice.integers(m.dice.integer(0, max(0, min(2, high - x.rank))), 1, 3), *shape]], {}


def _reshape(m: CallMaker) -> Arguments:
    x = m.first("reshape")
    count, shape = math.prod(x.shape), list[int]()
    while count > 1 and len(shape) < m.ranks("reshape", "output")[1] - 1:
        shape.append(m.dice.pick([size for size in range(1, count + 1) if count % size == 0]))
        count //= shape[-1]
    return [x, [*shape, count] if count > 1 or m.dice.chance(0.3) else shape], {}


def _slice(m: CallMaker) -> Arguments:
    x = m.first("slice")
    starts = [m.dice.integer(0, size - 1) for size in x.shape]
    sizes = [m.dice.integer(1, size - start) for start, size in zip(starts, x.shape, strict=True)]
    steps = {"strides": lambda: [m.dice.integer(1, size) for size in sizes]} if m.takes("slice", "strides") else {}
    return [x, starts, sizes], m.options(**steps)


def _transpose(m: CallMaker) -> Arguments:
    x = m.first("transpose")
    return [x], m.options(permutation=lambda: m.dice.axes(x.rank, x.rank))


def _reverse(m: CallMaker) -> Arguments:
    x = m.first("reverse")
    return [x], m.options(axes=lambda: m.dice.axes(x.rank))


def _tile(m: CallMaker) -> Arguments:
    x = m.first("tile", most=20)
    return [x, [m.dice.pick((1, 1, 2, 3)) for _ in x.shape]], {}


def _triangular(m: CallMaker) -> Arguments:
    diagonal = m.dice.pick((-(2**31), 2**31 - 1)) if m.dice.chance(0.1) else m.dice.integer(-6, 6)
    return [m.first("triangular")], m.options(upper=m.dice.chance, diagonal=lambda: diagonal)


def _pad(m: CallMaker) -> Arguments:
    x = m.first("pad", most=20)
    modes = m.enumeration("MLPaddingMode")
    mode, most = m.dice.pick(modes), 4 if x.rank < 5 else 1
    # A draft with symmetric padding repeats reflections.
    isBounded = mode == "reflection" and "symmetric" not in modes
    ends = [[m.dice.integer(0, min(most, size - 1) if isBounded else most) for size in x.shape] for _ in range(2)]
    value = m.dice.integer(0, 9) if not is_float(x.dataType) else m.dice.number(-5, 5)
    chosen = m.dice.pick(_EXTREMES) if m.dice.chance(0.2) else value
    return [x, *ends], {**({} if mode == "constant" and m.dice.chance() else {"mode": mode}), **m.options(value=lambda: chosen)}


def _cumulative(m: CallMaker) -> Arguments:
    x = m.first("cumulativeSum")
    return [x, m.dice.integer(0, x.rank - 1)], m.options(exclusive=m.dice.chance, reversed=m.dice.chance)


def _reduce(name: str) -> Call:
    style = "positive" if name in ("reduceLogSum", "reduceProduct") else ""

    def make(m: CallMaker) -> Arguments:
        x = m.first(name, style=style)
        return [x], m.options(axes=lambda: m.dice.axes(x.rank), keepDimensions=m.dice.chance)

    return make


def _select(name: str) -> Call:
    def make(m: CallMaker) -> Arguments:
        x = m.first(name)
        if m.takes(name, "axes"):
            return [x], m.options(axes=lambda: m.dice.axes(x.rank), keepDimensions=m.dice.chance, selectLastIndex=m.dice.chance)
        types = m.types(name, "output")
        options = m.options(keepDimensions=m.dice.chance, outputDataType=lambda: m.dice.pick(types))
        return [x, m.dice.integer(0, x.rank - 1)], options if "int32" in types else {**options, "outputDataType": types[0]}

    return make


# Indices.


def _indices(m: CallMaker, name: str, shape: list[int], sizes: list[int]) -> DrawnValue:
    """Make indices: the last axis of the shape has one for each of several axes of these sizes, if there are several."""
    dataType = m.dice.pick(m.types(name, "indices"))
    beyond = 2 if m.dice.chance(0.1) else 0
    numbers = [
        m.dice.integer(0 if dataType.startswith("u") else -size, size - 1 + beyond)
        for size in (sizes[place % len(sizes)] for place in range(math.prod(shape)))
    ]
    return m.operand(dataType, shape, elements=[str(each) for each in numbers] if dataType.endswith("64") else numbers)


def _gather(m: CallMaker) -> Arguments:
    x = m.first("gather")
    axis = m.dice.integer(0, x.rank - 1)
    rank = min(m.ranks("gather", "indices")[1], m.ranks("gather", "output")[1] - x.rank + 1)
    indices = _indices(m, "gather", m.dice.shape(0, rank, 12), [x.shape[axis]])
    return [x, indices], {"axis": axis} if axis or m.dice.chance() else {}


def _gather_elements(m: CallMaker) -> Arguments:
    x = m.first("gatherElements")
    axis = m.dice.integer(0, x.rank - 1)
    shape = [m.dice.integer(1, 4) if each == axis else size for each, size in enumerate(x.shape)]
    return [x, _indices(m, "gatherElements", shape, [x.shape[axis]])], {"axis": axis} if axis or m.dice.chance() else {}


def _scatter_elements(m: CallMaker) -> Arguments:
    x = m.first("scatterElements")
    axis = m.dice.integer(0, x.rank - 1)
    shape = list(x.shape)
    shape[axis] = 1  # the same place twice has no defined result
    updates = m.other(x.dataType, shape)
    return [x, _indices(m, "scatterElements", shape, [x.shape[axis]]), updates], {"axis": axis} if axis or m.dice.chance() else {}


def _gather_nd(m: CallMaker) -> Arguments:
    x = m.first("gatherND")
    depth = m.dice.integer(1, x.rank)
    rank = min(m.ranks("gatherND", "indices")[1] - 1, m.ranks("gatherND", "output")[1] - x.rank + depth)
    return [x, _indices(m, "gatherND", [*m.dice.shape(0, rank, 6), depth], list(x.shape[:depth]))], {}


def _scatter_nd(m: CallMaker) -> Arguments:
    x = m.first("scatterND")
    depth = m.dice.integer(1, x.rank)
    # One update: the same place twice has no defined result.
    rank = min(m.ranks("scatterND", "indices")[1] - 1, m.ranks("scatterND", "updates")[1] - x.rank + depth)
    shape = [1] * m.dice.integer(0, rank)
    indices = _indices(m, "scatterND", [*shape, depth], list(x.shape[:depth]))
    return [x, indices, m.other(x.dataType, [*shape, *x.shape[depth:]])], {}


# Products, normalizations, recurrent networks.


def _matmul(m: CallMaker) -> Arguments:
    low, high = m.ranks("matmul", "b")
    a = m.first("matmul", "a", ranks=(2, m.ranks("matmul", "a")[1]), style="uniform")
    if a.shape[-1] == a.shape[-2] and m.dice.chance(0.2):
        return [a, a], {}
    batches = list(a.shape[:-2]) if low > 2 else m.beside(a.shape[:-2], high - 2)
    return [a, m.other(a.dataType, [*batches, a.shape[-1], m.dice.integer(1, 4)], "uniform")], {}


def _gemm(m: CallMaker) -> Arguments:
    a = m.first("gemm", "a", style="uniform")
    options: dict[str, Any] = m.options(alpha=lambda: m.dice.number(-2, 2), beta=lambda: m.dice.number(-2, 2))
    options |= m.options(aTranspose=m.dice.chance, bTranspose=m.dice.chance)
    rows, inner = a.shape[::-1] if options.get("aTranspose") else a.shape
    columns = m.dice.integer(1, 4)
    b = m.other(a.dataType, [columns, inner] if options.get("bTranspose") else [inner, columns], "uniform")
    if m.dice.chance():
        options["c"] = m.other(a.dataType, m.stretched([rows, columns]), "uniform")
    return [a, b], options


def _batch_normalization(m: CallMaker) -> Arguments:
    x = m.first("batchNormalization", style="uniform")
    axis = m.dice.integer(0, x.rank - 1) if x.rank == 1 or m.dice.chance() else 1
    feature = partial(m.other, x.dataType, [x.shape[axis]], "small")
    options = m.options(scale=feature, bias=feature, epsilon=lambda: m.dice.pick(_EPSILONS))
    return [x, feature(), m.other(x.dataType, [x.shape[axis]], "positive")], {**options, **({"axis": axis} if axis != 1 else {})}


def _instance_normalization(m: CallMaker) -> Arguments:
    x, sizes, layout = take_image(m, "instanceNormalization")
    feature = partial(m.other, x.dataType, [sizes["c"]], "small")
    options = m.options(scale=feature, bias=feature, epsilon=lambda: m.dice.pick(_EPSILONS))
    return [x], {**options, **({"layout": layout} if layout == "nhwc" else {})}


def _layer_normalization(m: CallMaker) -> Arguments:
    x = m.first("layerNormalization", style="uniform")
    options: dict[str, Any] = m.options(axes=lambda: m.dice.axes(x.rank), epsilon=lambda: m.dice.pick(_EPSILONS))
    shape = [x.shape[axis] for axis in options.get("axes", range(1, x.rank))]
    parameter = partial(m.other, x.dataType, shape, "small")
    return [x], {**options, **m.options(scale=parameter, bias=parameter)}


def _recurrent(name: str) -> Call:
    isGru, isCell = name.startswith("gru"), name.endswith("Cell")
    gates = 3 if isGru else 4

    def make(m: CallMaker) -> Arguments:
        x = m.first(name, ranks=(2, 2) if isCell else (3, 3), style="unit")
        batch, features = x.shape[-2:]
        hidden = m.dice.integer(1, 4)
        layouts = ("zrn", "rzn") if isGru else ("iofg", "ifgo")
        options: dict[str, Any] = m.options(layout=lambda: m.dice.pick(layouts))
        options |= {"resetAfter": m.dice.chance()} if isGru and m.dice.chance() else {}
        if m.dice.chance(0.3):
            options["activations"] = [m.activation() for _ in range(2 if isGru else 3)]
        directions: list[int] = []
        if not isCell:
            options |= m.options(returnSequence=m.dice.chance, direction=lambda: m.dice.pick(("forward", "backward", "both")))
            directions = [2 if options.get("direction") == "both" else 1]

        def operand(*shape: int) -> DrawnValue:
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
        return [*arguments, *([] if isCell else [x.shape[0]]), hidden], {**options, **m.options(**members)}

    return make


_PAIRS = "add sub mul div max min pow equal notEqual greater greaterOrEqual lesser lesserOrEqual logicalAnd logicalOr logicalXor"
_REDUCTIONS = "reduceL1 reduceL2 reduceLogSum reduceLogSumExp reduceMax reduceMean reduceMin reduceProduct reduceSum reduceSumSquare"

#: How a valid call of each operation is made.
CALLS: Mapping[str, Call] = {
    **{name: _unary(name) for name in (*(row.name for row in unary.OPERATIONS), *ACTIVATIONS)},
    **{name: _unary(name, "a") for name in ("logicalNot", "isNaN", "isInfinite")},
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
    **WINDOWS,
    "matmul": _matmul,
    "gemm": _gemm,
    "batchNormalization": _batch_normalization,
    "instanceNormalization": _instance_normalization,
    "layerNormalization": _layer_normalization,
    **{name: _recurrent(name) for name in ("gru", "gruCell", "lstm", "lstmCell")},
}
