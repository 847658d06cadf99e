"""Element-wise operations at the limits of their types: unary and binary ones, comparisons, activations, casts and quantization.

The tables leave out numbers for which the draft leaves the result open; `tools.upstream.index` lists these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from tools.upstream.extremes.case import FLOATS, INTEGERS, Extreme, array, largest, limits, smallest, special, values_of

__all__ = ["rows"]

INF, NAN = np.inf, np.nan
_NOT_FINITE = (INF, -INF, NAN)
_ROUNDED = (0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 0.25, -0.25, 0.0, -0.0, *_NOT_FINITE, 1023.5)
_SIGNED = ("int32", "int64", "int8")

#: Numbers of both floating-point types; `L` and `S` below are added: the largest one, and the smallest normal one.
_UNARY: Mapping[str, Sequence[float]] = MappingProxyType(
    {
        "ceil": _ROUNDED,
        "floor": _ROUNDED,
        "roundEven": _ROUNDED,
        "cos": (0.0, -0.0, *_NOT_FINITE),
        "sin": (0.0, -0.0, *_NOT_FINITE),
        "tan": (0.0, -0.0, *_NOT_FINITE),
        "exp": (0.0, -0.0, 1.0, *_NOT_FINITE, 100.0, -200.0),
        "gelu": (0.0, -0.0, 1.0, INF, NAN),
        "elu": (0.0, -0.0, 1.0, INF, -INF),
        "hardSigmoid": (0.0, -0.0, 1.0, INF, -INF, 3.0, -3.0),
        "hardSwish": (0.0, -0.0, 3.0, -3.0, 6.0, 1000.0, -1000.0, INF),
        "leakyRelu": (0.0, -0.0, 1.0, INF, -INF),
        "relu": (0.0, -0.0, 1.0, -1.0, INF, -INF),
        "softsign": (0.0, -0.0, 1.0, -1.0),
        "sqrt": (0.0, -0.0, 1.0, -1.0, 0.25, *_NOT_FINITE),
        "sign": (0.0, -0.0, 1.0, -1.0, INF, -INF),
        "log": (0.0, -0.0, 1.0, -1.0, *_NOT_FINITE),
        "reciprocal": (0.0, -0.0, 1.0, -1.0, *_NOT_FINITE),
    }
)
#: Operations that take every special number, with both largest ones.
_SPECIAL = ("abs", "erf", "identity", "neg", "isNaN", "isInfinite", "sigmoid", "tanh", "linear")
#: Operations to which the largest numbers of both signs are given, too.
_LARGEST = frozenset({"ceil", "floor", "roundEven", "sign", "elu", "hardSigmoid", "relu", "softsign", "leakyRelu"})
_LARGEST_ONLY = frozenset({"gelu", "sqrt", "log"})
_SMALLEST = frozenset({"abs", "relu", "sqrt", "reciprocal", "identity", "neg", "sign", "ceil", "floor"})
_KEEP_SIGN = frozenset({"identity", "roundEven", "ceil", "floor"})


def _unary() -> Iterator[Extreme]:
    for operation in (*_UNARY, *_SPECIAL):
        for kind in FLOATS:
            values = [*_UNARY.get(operation, special(kind))]
            values += [largest(kind)] * (operation in _LARGEST | _LARGEST_ONLY) + [-largest(kind)] * (operation in _LARGEST)
            values += [smallest(kind), -smallest(kind)] * (operation in _SMALLEST and operation != "sqrt")
            signed = operation in _KEEP_SIGN
            yield Extreme(operation=operation, about=f"{kind} zeros, infinities and limits", operands=[array(kind, values)], signed=signed)
            yield Extreme(
                operation=operation, about=f"{kind} one element of five dimensions", operands=[array(kind, [1.0], (1,) * 5)], signed=signed
            )
    for kind in ("int8", "int32", "int64"):
        values = [each for each in limits(kind) if each != smallest(kind)]
        for operation in ("abs", "neg", "sign"):
            yield Extreme(operation=operation, about=f"{kind} limits", operands=[array(kind, values)])
    for kind in INTEGERS:
        yield Extreme(operation="identity", about=f"{kind} limits", operands=[values_of(kind)])
    for kind in ("int8", "int32"):
        yield Extreme(operation="relu", about=f"{kind} limits", operands=[array(kind, [*limits(kind), -1])])
    yield Extreme(operation="logicalNot", about="every number but 0 is true", operands=[array("uint8", [0, 1, 2, 128, 255])])
    yield Extreme(operation="logicalNot", about="scalar", operands=[array("uint8", 255)])


def _parameters() -> Iterator[Extreme]:
    """Yield activations with parameters, and those whose formula overflows early."""
    for kind, far in (("float32", 60.0), ("float16", 10.0)):
        high = largest(kind)
        for operation, about, values, options in (
            ("softplus", "far from zero", [0.0, -0.0, far, -INF, NAN, -high], {}),
            ("softplus", "scalar", 0.0, {}),
            ("elu", "alpha is 2", [-INF, -high, 0.0, INF, high], {"alpha": 2.0}),
            ("linear", "overflow", [high, -high, INF, -INF, NAN], {"alpha": 2.0, "beta": -1.0}),
            ("linear", "alpha and beta are 0", [1.0, -1.0, high, -high], {"alpha": 0.0, "beta": 0.0}),
            ("leakyRelu", "alpha is negative", [-1.0, 0.0, 1.0, high], {"alpha": -2.0}),
            ("hardSigmoid", "alpha is 0", [-high, 0.0, high], {"alpha": 0.0, "beta": 0.5}),
            ("clamp", "default bounds", [0.0, -0.0, INF, -INF, high, -high, smallest(kind), -smallest(kind)], {}),
            ("clamp", "equal bounds", [INF, -INF, high, -high, 0.0], {"minValue": 1.0, "maxValue": 1.0}),
            ("clamp", "infinite bounds", [INF, -INF, high, -high, 0.0], {"minValue": -INF, "maxValue": INF}),
            ("clamp", "only an upper bound", [INF, -INF, high, -high, 0.0], {"maxValue": -1.0}),
        ):
            yield Extreme(operation=operation, about=f"{kind} {about}", operands=[array(kind, values)], options=options)
        for about, slope in (("slope is 0", [0.0]), ("negative slope", [-1.0]), ("slope with one element of three dimensions", [[[2.0]]])):
            numbers = [1.0, -1.0, INF, high, 0.0]
            yield Extreme(operation="prelu", about=f"{kind} {about}", operands=[array(kind, numbers), array(kind, slope)])
    for kind in INTEGERS:
        bounds = {"minValue": 1, "maxValue": 100}
        yield Extreme(operation="clamp", about=f"{kind} limits", operands=[values_of(kind)], options=bounds)


#: Pairs of numbers, by the operation. `_binary` adds pairs with the largest number.
_PAIRS: Mapping[str, Sequence[tuple[float, float]]] = MappingProxyType(
    {
        "add": ((INF, -INF), (INF, INF), (0.0, -0.0), (NAN, 1.0), (1.0, -1.0), (INF, 1.0)),
        "sub": ((INF, INF), (INF, -INF), (0.0, -0.0), (1.0, NAN), (1.0, 1.0), (1.0, INF)),
        "mul": ((INF, 0.0), (INF, -INF), (-0.0, 1.0), (NAN, 0.0), (-1.0, 0.0), (INF, 1.0)),
        "div": ((1.0, 0.0), (-1.0, 0.0), (1.0, -0.0), (0.0, 0.0), (INF, INF), (1.0, INF), (NAN, 1.0)),
        "max": ((INF, -INF), (-INF, 1.0), (INF, 1.0), (-1.0, -2.0)),
        "min": ((INF, -INF), (-INF, 1.0), (INF, 1.0), (-1.0, -2.0)),
        "pow": ((2.0, 0.0), (0.0, 1.0), (2.0, INF), (2.0, -INF), (0.5, INF), (-2.0, 3.0), (2.0, -1.0), (10.0, 39.0), (0.0, 2.0)),
    }
)
_HIGH: Mapping[str, Sequence[tuple[float, float]]] = MappingProxyType(
    # factors of the largest number
    {"add": ((1, 1), (1, -1)), "sub": ((1, -1), (-1, 1)), "max": ((1, -1),), "min": ((1, -1),), "mul": ((1, 1), (1, -1)), "div": ((1, 1),)}
)
_COMPARISONS = ("equal", "notEqual", "greater", "greaterOrEqual", "lesser", "lesserOrEqual")


def _pair(operation: str, about: str, kind: str, pairs: Sequence[tuple[Any, Any]]) -> Extreme:
    return Extreme(operation=operation, about=f"{kind} {about}", operands=[array(kind, side) for side in zip(*pairs, strict=True)])


def _binary() -> Iterator[Extreme]:
    for operation, pairs in _PAIRS.items():
        for kind in FLOATS:
            high = largest(kind)
            more = [(one * high, other * high) for one, other in _HIGH.get(operation, ())]
            yield _pair(operation, "zeros, infinities and limits", kind, [*pairs, *more])
            shapes = array(kind, [2.0], (1, 1, 1, 1, 1)), array(kind, 3.0)
            yield Extreme(operation=operation, about=f"{kind} one element of five dimensions and a scalar", operands=shapes)
    for kind in INTEGERS:
        low, high = smallest(kind), largest(kind)
        yield _pair("add", "up to the limits", kind, [(high, 0), (low, 0), (high - 1, 1), (low + 1, 0), (low, high)])
        yield _pair("sub", "down to the limits", kind, [(high, 0), (low, 0), (high, 1), (high, high), (low, low)])
        yield _pair("mul", "limits", kind, [(high, 1), (low, 1), (high, 0), (high // 2, 2)])
        yield _pair("div", "limits", kind, [(high, 1), (low, 1), (high, high), (0, high), (high, 2)])
        yield _pair("max", "limits", kind, [(low, high), (high, high - 1), (low, low + 1), (0, high)])
        yield _pair("min", "limits", kind, [(low, high), (high, high - 1), (low, low + 1), (0, high)])
        for operation in _COMPARISONS:
            neighbours = [(high, high - 1), (high - 1, high), (low, low + 1), (low, low), (high, high), (low, high)]
            yield _pair(operation, "neighbours at the limits", kind, neighbours)
    for operation in _COMPARISONS:
        for kind in FLOATS:
            high = largest(kind)
            pairs = [(NAN, NAN), (NAN, 1.0), (INF, INF), (INF, high), (-INF, -high), (-INF, INF), (0.0, -0.0)]
            yield _pair(operation, "NaN, infinities and zeros", kind, pairs)
    for operation in ("logicalAnd", "logicalOr", "logicalXor"):
        pairs = [(0, 0), (0, 255), (255, 0), (1, 2), (128, 255)]
        yield _pair(operation, "every number but 0 is true", "uint8", pairs)
        shapes = array("uint8", [255], (1, 1, 1)), array("uint8", 0)
        yield Extreme(operation=operation, about="one element of three dimensions and a scalar", operands=shapes)


def _casts() -> Iterator[Extreme]:
    for kind in FLOATS:
        for target in _SIGNED:
            values = [0.5, -0.5, 0.0, -0.0, 1.75, -1.75, 127.5, -128.5]
            yield Extreme(operation="cast", about=f"{kind} to {target} truncates", operands=[array(kind, values)], arguments=[target])
        for target in ("uint8", "uint32", "uint64"):
            values = [0.5, -0.5, 0.0, -0.0, 1.75, 255.5]
            yield Extreme(operation="cast", about=f"{kind} to {target} truncates", operands=[array(kind, values)], arguments=[target])
        yield Extreme(operation="cast", about=f"{kind} to itself", operands=[values_of(kind)], arguments=[kind], signed=True)
    ties = [2049.0, 2051.0, -2049.0, 65519.0, 65520.0, -65520.0, INF, -INF, NAN, 0.0, -0.0]
    yield Extreme(
        operation="cast", about="float32 to float16: ties to even, overflow", operands=[array("float32", ties)], arguments=["float16"],
        signed=True,
    )  # fmt: skip
    wide = [0.0, -0.0, INF, -INF, NAN, largest("float16"), -largest("float16"), smallest("float16")]
    yield Extreme(
        operation="cast", about="float16 to float32 is exact", operands=[array("float16", wide)], arguments=["float32"], signed=True
    )
    odd = 2**24 + 1
    whole = array("int32", [odd, -odd, odd + 2, *limits("int32")])
    yield Extreme(operation="cast", about="int32 to float32: ties to even", operands=[whole],
                  arguments=["float32"])  # fmt: skip
    yield Extreme(operation="cast", about="uint32 to float32", operands=[values_of("uint32")], arguments=["float32"])
    for kind in ("int64", "uint64"):
        yield Extreme(operation="cast", about=f"{kind} to float32", operands=[values_of(kind)], arguments=["float32"])
    for kind, target in (("int8", "int64"), ("uint8", "int32"), ("uint32", "int64"), ("int32", "int64"), ("uint32", "uint64")):
        yield Extreme(operation="cast", about=f"{kind} to {target} is exact", operands=[values_of(kind)], arguments=[target])


def _quantization() -> Iterator[Extreme]:
    one = array("float32", [1.0])
    for kind in ("int8", "uint8"):
        low, high = smallest(kind), largest(kind)
        zero = array(kind, [0])
        values = [0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 126.5, 127.5, 300.0, -300.0, INF, -INF, 0.0]
        yield Extreme(operation="quantizeLinear", about=f"{kind} ties to even, saturation", operands=[array("float32", values), one, zero])
        shifted = [array("float32", [0.0, 1.0, -1.0, -300.0, 300.0]), one, array(kind, [high])]
        yield Extreme(operation="quantizeLinear", about=f"{kind} the largest zero point", operands=shifted)
        shifted = [array("float32", [0.0, 1.0, -1.0, -300.0, 300.0]), one, array(kind, [low])]
        yield Extreme(operation="quantizeLinear", about=f"{kind} the smallest zero point", operands=shifted)
        numbers = array(kind, [low, high, 0, 1])
        for about, point in (("largest", high), ("smallest", low)):
            operands = [numbers, array("float32", [0.5]), array(kind, [point])]
            yield Extreme(operation="dequantizeLinear", about=f"{kind} the {about} zero point", operands=operands)
    operands = [array("int32", [2**31 - 1, -(2**31), 0, 1]), one, array("int32", [0])]
    yield Extreme(operation="dequantizeLinear", about="int32 limits", operands=operands)
    operands = [array("int8", [[127, -128]]), array("float32", [[0.5, 2.0]]), array("int8", [[-128, 127]])]
    yield Extreme(operation="dequantizeLinear", about="a scale for each element", operands=operands)
    for operation, kind in (("quantizeLinear", "float32"), ("dequantizeLinear", "int8")):
        operands = [array(kind, 2), array("float32", 1.0), array("int8", 1)]
        yield Extreme(operation=operation, about="scalars", operands=operands)


def rows() -> Iterator[Extreme]:
    """Yield the rows."""
    for part in (_unary, _parameters, _binary, _casts, _quantization):
        yield from part()
