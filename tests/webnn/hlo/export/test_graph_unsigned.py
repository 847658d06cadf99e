"""Exported programs with numbers of uint32 that int32 does not have: imported again, they give what the graph gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import webnn.stablehlo
from tests.support import CURRENT, Array, compute_directly, each_row, shared_context
from webnn.hlo.export import export
from webnn.reference import compute

X = np.arange(1, 25, dtype=np.float32).reshape(4, 3, 2)
#: An index beyond the end means the last element, however large it is.
FAR = np.array([[0, 1], [2**31 - 1, 2], [2**31, 2**31 + 1], [2**32 - 1, 2**32 - 3]], np.uint32)
LARGE = np.array([0, 7, 2**31 - 1, 2**31, 3 * 10**9, 2**32 - 1], np.uint32)


def _constant(b: Any, array: Array) -> Any:
    return b.constant({"dataType": array.dtype.name, "shape": list(array.shape)}, array)


def _pair(b: Any, scale: float, zeroPoint: int) -> list[Any]:
    return [_constant(b, np.full(1, scale, np.float32)), _constant(b, np.full(1, zeroPoint, np.uint32))]


CASES: list[tuple[Array, Callable[[Any, Any], Any]]] = [
    (FAR, lambda b, x: b.gather(_constant(b, X), x, axis=1)),
    (FAR, lambda b, x: b.gatherElements(_constant(b, X[:, :, 0].copy()), x, axis=1)),
    (FAR, lambda b, x: b.gatherND(_constant(b, X), x)),
    (FAR[:3, 1:], lambda b, x: b.scatterElements(_constant(b, X[:3, :, 0].copy()), x, _constant(b, -X[:3, :1, 0].copy()), axis=1)),
    (FAR[:2], lambda b, x: b.scatterND(_constant(b, X), x, _constant(b, -X[0, :2].copy()))),
    (LARGE, lambda b, x: b.dequantizeLinear(x, *_pair(b, 0.5, 5))),
    (LARGE, lambda b, x: b.dequantizeLinear(x, *_pair(b, 2.0, 2**32 - 1))),
    (np.array([-9, 0, 3, 2**30, 2**31, 2**32], np.float32), lambda b, x: b.quantizeLinear(x, *_pair(b, 1.0, 2**31))),
    (LARGE, lambda b, x: b.greater(x, _constant(b, np.full(1, 2**31, np.uint32)))),
]


@each_row(("array", "make"), CASES)
def test_large_unsigned_integers(array: Array, make: Callable[[Any, Any], Any]) -> None:
    context = shared_context(CURRENT)
    builder, again = webnn.MLGraphBuilder(context), webnn.MLGraphBuilder(context)
    x: Any = builder.input("x", {"dataType": array.dtype.name, "shape": list(array.shape)})  # type: ignore[typeddict-item]
    described = webnn.describe({"y": make(builder, x)})
    wanted = compute(described, {"x": array})["y"]
    imported = webnn.stablehlo.load(export(described), again)
    [name] = imported.inputs
    [found] = compute_directly(again.buildSync(dict(imported.outputs)), {name: np.array(array, order="C")})
    np.testing.assert_array_equal(found, wanted)
