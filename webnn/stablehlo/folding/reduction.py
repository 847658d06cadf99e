"""Reductions of elements that are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from webnn.stablehlo.node import Node
from webnn.stablehlo.reducing import known_arrays, read_reduction, reduce_any
from webnn.stablehlo.regions import Kind, find_kinds

if TYPE_CHECKING:
    from webnn.importing.values import Array
    from webnn.stablehlo.folding import Fold

__all__ = ["FOLDS"]

#: The reducers of NumPy.
_KNOWN: Mapping[Kind, Callable[..., Any]] = MappingProxyType({"add": np.add, "max": np.maximum, "min": np.minimum, "mul": np.multiply})


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
        # Sums and products of floating-point numbers are rounded once; those of small integers wrap around.
        wide = np.dtype(np.float64) if array.dtype.kind not in "biuc" else array.dtype
        wide = np.dtype(np.complex128) if array.dtype.kind == "c" else wide
        function: Any = _KNOWN[kind]
        reduced = function.reduce(
            array.astype(wide, copy=False), axis=tuple(reduction.axes), initial=first.astype(wide).reshape(()), dtype=wide
        )
        found.append(np.asarray(reduced).astype(array.dtype))
    return found


FOLDS: Mapping[str, Fold] = MappingProxyType({"stablehlo.reduce": _reduce})
