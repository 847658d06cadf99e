"""Windows over elements that are known."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from webnn.importing.values import Array, Value
from webnn.importing.windows import Window
from webnn.stablehlo.folding import Fold
from webnn.stablehlo.folding.reduction import REDUCERS, widen
from webnn.stablehlo.node import Node
from webnn.stablehlo.reducing import check_shape, known_arrays, read_operands
from webnn.stablehlo.regions import find_kinds
from webnn.stablehlo.tensors import cut
from webnn.stablehlo.windows import find_running, pad_windows, read_windows, reduce_windows, select_and_scatter, slide

__all__ = ["FOLDS"]

#: The most elements of windows that are reduced one element after the other, as the interpreter of StableHLO does.
_MOST_ELEMENTS = 64


def _reduce_window(node: Node) -> list[Array] | None:
    inputs, initial = read_operands(node)
    windows = read_windows(node, inputs[0].shape)
    sizes = [window.places for window in windows]
    kinds = find_kinds(node.regions[0])
    if kinds is None or 0 in sizes:
        return known_arrays(reduce_windows(node))
    check_shape(node, sizes)
    running = find_running(windows)
    found = []
    for kind, value, first in zip(kinds, inputs, initial, strict=True):
        assert value.array is not None
        assert first.array is not None
        wide = widen(value.dtype)
        reducer = REDUCERS[kind]
        start = first.array.astype(wide)
        array = value.array.astype(wide)
        if running is not None:
            axis, is_reversed = running
            array = np.flip(reducer.accumulate(np.flip(array, axis), axis), axis) if is_reversed else reducer.accumulate(array, axis)
        else:
            padded = pad_windows(node, Value.known(array), Value.known(start), windows)
            array = _reduce_places(node, padded, windows, reducer)
        found.append(np.asarray(reducer(start, array)).astype(value.dtype))
    return found


def _reduce_places(node: Node, padded: Value, windows: Sequence[Window], reducer: np.ufunc) -> Any:
    """Reduce windows: small ones element by element."""
    if math.prod(window.count for window in windows) > _MOST_ELEMENTS:
        return slide(node, [padded], windows, partial(_apply, reducer))[0].array
    sizes, strides = [window.places for window in windows], [window.stride for window in windows]
    found: Any = None
    for offsets in itertools.product(*(range(window.count) for window in windows)):
        starts = [offset * window.dilation for offset, window in zip(offsets, windows, strict=True)]
        part = cut(node, padded, starts, sizes, strides).array
        found = part if found is None else reducer(found, part)
    return found


def _apply(reducer: Any, one: Sequence[Value], other: Sequence[Value]) -> list[Value]:
    return [Value.known(np.asarray(reducer(one[0].array, other[0].array)))]


def _select_and_scatter(node: Node) -> list[Array] | None:
    return known_arrays([select_and_scatter(node)])


FOLDS: Mapping[str, Fold] = {"stablehlo.reduce_window": _reduce_window, "stablehlo.select_and_scatter": _select_and_scatter}
