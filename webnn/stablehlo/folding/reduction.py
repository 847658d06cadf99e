"""Reductions of elements that are known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from webnn.importing.values import Array
from webnn.stablehlo.folding import Fold
from webnn.stablehlo.node import Node
from webnn.stablehlo.reducing import known_arrays, read_reduction, reduce_any
from webnn.stablehlo.regions import Kind, find_kinds

__all__ = ["FOLDS", "REDUCERS", "widen"]

#: The reducers of NumPy.
REDUCERS: Mapping[Kind, np.ufunc] = {"add": np.add, "max": np.maximum, "min": np.minimum, "mul": np.multiply}


def widen(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type to compute in: one that NumPy has, in which the results of integers wrap around in the same way."""
    if dtype.name in ("int2", "int4", "uint2", "uint4"):
        return np.dtype(np.int32)
    return np.dtype(np.float32) if dtype.itemsize < 4 and dtype.kind not in "biu" else dtype


def _reduce(node: Node) -> list[Array] | None:
    reduction = read_reduction(node)
    kinds = find_kinds(node.regions[0])
    if kinds is None:
        return known_arrays(reduce_any(node, reduction))
    found = []
    for kind, value, initial in zip(kinds, reduction.inputs, reduction.initial, strict=True):
        array, first = value.array, initial.array
        assert array is not None
        assert first is not None
        # Sums and products of floating-point numbers are rounded once.
        wide = np.dtype(np.float64) if array.dtype.name in ("float16", "bfloat16", "float32") else widen(array.dtype)
        reduced = REDUCERS[kind].reduce(
            array.astype(wide, copy=False), axis=tuple(reduction.axes), initial=first.astype(wide).reshape(()), dtype=wide
        )
        found.append(np.asarray(reduced).astype(array.dtype))
    return found


FOLDS: Mapping[str, Fold] = {"stablehlo.reduce": _reduce}
