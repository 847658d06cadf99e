"""Operations that move elements: each bit arrives, of every data type, at the limits of shapes and indices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from tools.upstream.extremes.case import FLOATS, INTEGERS, Array, Extreme, array, largest, smallest, special, values_of

__all__ = ["rows"]

_ONES = (1,) * 5

#: The eight special elements of a type: what is called with them.
_CALLS: Mapping[str, Callable[[Array], Mapping[str, Any]]] = MappingProxyType(
    {
        "concat": lambda x: {"operands": [[x, x[:1], x]], "arguments": [0]},
        "expand": lambda x: {"operands": [x.reshape(8, 1)], "arguments": [[8, 2]]},
        "gather": lambda x: {"operands": [x, array("int32", [7, -1, 0, -8])]},
        "gatherElements": lambda x: {"operands": [x.reshape(2, 4), array("int32", [[1, 0, -1, -2]])]},
        "gatherND": lambda x: {"operands": [x.reshape(2, 4), array("int32", [[1, 3], [0, 0], [-1, -4]])]},
        "pad": lambda x: {"operands": [x], "arguments": [[2], [1]], "options": {"mode": "edge"}},
        "reshape": lambda x: {"operands": [x], "arguments": [[2, 1, 2, 1, 2]]},
        "reverse": lambda x: {"operands": [x.reshape(2, 1, 4)]},
        "scatterElements": lambda x: {"operands": [x, array("int32", [-1, 0]), x[1:3]], "options": {"axis": 0}},
        "scatterND": lambda x: {"operands": [x.reshape(2, 4), array("int32", [[-1], [0]]), x[::-1].reshape(2, 4)]},
        "slice": lambda x: {"operands": [x], "arguments": [[1], [7]], "options": {"strides": [3]}},
        "split": lambda x: {"operands": [x], "arguments": [[1, 6, 1]]},
        "tile": lambda x: {"operands": [x.reshape(1, 8)], "arguments": [[3, 1]]},
        "transpose": lambda x: {"operands": [x.reshape(2, 1, 4)], "options": {"permutation": [1, 2, 0]}},
        "triangular": lambda x: {"operands": [x.reshape(2, 4)], "options": {"upper": False, "diagonal": 1}},
        "where": lambda x: {"operands": [array("uint8", [0, 1, 2, 255, 0, 128, 1, 0]), x, x[::-1].copy()]},
    }
)


def _bits() -> Iterator[Extreme]:
    for operation, call in _CALLS.items():
        for kind in (*FLOATS, *INTEGERS):
            signed = operation != "triangular"
            yield Extreme(operation=operation, about=f"{kind} special elements", **call(values_of(kind)), signed=signed)


def _row(operation: str, about: str, operands: Sequence[Any], *arguments: Any, **options: Any) -> Extreme:
    # The draft leaves the sign of the zeros of triangular open.
    signed = operation != "triangular"
    return Extreme(operation=operation, about=about, operands=operands, arguments=arguments, options=options, signed=signed)


def _shapes() -> Iterator[Extreme]:
    """Yield dimensions of one element, scalars, and attributes at their limits."""
    eight = values_of("float32")
    scalar, ones = array("float32", -0.0), array("float32", [np.nan], _ONES)
    zero, far = array("int32", [0]), 2**31 - 1
    yield _row("concat", "one operand", [[eight]], 0)
    yield _row("concat", "along the last of five dimensions of one element", [[ones, ones, ones]], 4)
    yield _row("expand", "a scalar to five dimensions", [scalar], [2, 1, 1, 1, 2])
    yield _row("expand", "a scalar to itself", [scalar], [])
    yield _row("gather", "a scalar index", [eight, array("int32", -8)])
    yield _row("gather", "the last axis, dimensions of one element", [ones, zero], axis=4)
    yield _row("gatherElements", "one element", [array("float32", [np.inf]), zero])
    yield _row("gatherND", "a whole tensor of one element", [ones, array("int32", [[0]])])
    yield _row("pad", "nothing", [eight], [0], [0])
    yield _row("pad", "an infinity", [eight], [1], [2], value=np.inf)
    yield _row("pad", "NaN", [eight], [1], [1], value=np.nan)
    yield _row("pad", "negative zero", [eight], [1], [1], value=-0.0)
    yield _row("pad", "float16 overflow of the value", [array("float16", [1.0])], [1], [1], value=largest("float32"))
    for kind in INTEGERS:
        value = largest(kind) if kind not in ("int64", "uint64") else 2**53 - 1
        yield _row("pad", f"{kind} the largest value", [array(kind, [0])], [1], [1], value=value)
        if kind in ("int8", "int32"):
            yield _row("pad", f"{kind} the smallest value", [array(kind, [0])], [1], [1], value=smallest(kind))
    yield _row("pad", "the edge of one element, far", [array("float32", [np.inf])], [7], [9], mode="edge")
    yield _row("pad", "as many reflected elements as there can be", [eight], [7], [7], mode="reflection")
    yield _row("reshape", "one element to a scalar", [ones], [])
    yield _row("reshape", "a scalar to five dimensions", [scalar], list(_ONES))
    yield _row("reverse", "no axes", [eight], axes=[])
    yield _row("reverse", "a scalar", [scalar])
    yield _row("reverse", "dimensions of one element", [ones])
    yield _row("scatterElements", "the only element", [array("float32", [1.0]), zero, array("float32", [np.nan])])
    yield _row("scatterND", "the only element", [array("float32", [1.0]), array("int32", [[0]]), array("float32", [-np.inf])])
    yield _row("slice", "the last element", [eight], [7], [1])
    yield _row("slice", "a scalar", [scalar], [], [])
    yield _row("slice", "a stride that is longer than the slice", [eight], [1], [7], strides=[far])
    yield _row("slice", "a stride as long as the slice", [eight], [0], [8], strides=[8])
    yield _row("split", "one part", [eight], 1)
    yield _row("split", "parts of one element", [eight], 8)
    yield _row("split", "along the last of five dimensions", [ones], [1], axis=4)
    yield _row("tile", "no repetition", [eight], [1])
    yield _row("tile", "a scalar", [scalar], [])
    yield _row("tile", "five dimensions of one element", [ones], [1, 1, 1, 1, 3])
    yield _row("transpose", "a scalar", [scalar], permutation=[])
    yield _row("transpose", "five dimensions of one element", [ones], permutation=[4, 3, 2, 1, 0])
    yield _row("transpose", "the identity", [eight.reshape(2, 4)], permutation=[0, 1])
    square = array("float32", special("float32")[:4], (2, 2))
    for diagonal in (far, -far - 1):
        for upper in (True, False):
            about = f"upper is {str(upper).lower()}, the diagonal {diagonal}"
            yield _row("triangular", about, [square], upper=upper, diagonal=diagonal)
    yield _row("triangular", "one row", [eight.reshape(1, 8)], diagonal=7)
    yield _row("triangular", "NaN and infinities leave nothing behind", [array("float32", [[np.nan, np.inf], [-np.inf, np.nan]])])
    yield _row("where", "scalars", [array("uint8", 255), scalar, array("float32", np.nan)])
    yield _row("where", "a scalar condition", [array("uint8", 0), eight, array("float32", [np.nan])])


def _resampling() -> Iterator[Extreme]:
    for kind in FLOATS:
        high = largest(kind)
        image = array(kind, [[[[np.inf, -np.inf], [high, -high]]]])
        one = array(kind, [[[[high]]]])
        for mode in ("nearest-neighbor", "linear"):
            yield _row("resample2d", f"{kind} {mode} of one pixel", [one if mode[0] == "n" else one / 2], mode=mode, sizes=[3, 2])
            yield _row("resample2d", f"{kind} {mode} to one pixel", [array(kind, [[[[2.0] * 3] * 3]])], mode=mode, sizes=[1, 1])
        yield _row("resample2d", f"{kind} every pixel twice", [image], scales=[2.0, 2.0])
        yield _row("resample2d", f"{kind} the first two axes", [image.reshape(2, 2, 1, 1)], axes=[0, 1], sizes=[4, 2])


def rows() -> Iterator[Extreme]:
    """Yield the rows."""
    for part in (_bits, _shapes, _resampling):
        yield from part()
