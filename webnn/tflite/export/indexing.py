"""Operations that pick or replace elements by index. The shared rules hold indices inside of the axis, before LiteRT takes them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from webnn.builder.places import find_positions
from webnn.hlo.export.emitter import Tensor
from webnn.hlo.export.gather_scatter import axis_positions, coordinates
from webnn.hlo.export.graph import RULES as SHARED
from webnn.hlo.export.rule import Op
from webnn.tflite.export.emitter import LiteEmitter
from webnn.tflite.export.program import Array

__all__ = ["RULES"]


def _pick(e: LiteEmitter, op: Op, found: Tensor) -> Tensor:
    """Take the slices that leading coordinates name."""
    return e.act("GATHER_ND", [op["input"]], op.outputs[0].dimensions, e.places(found))


def _put(e: LiteEmitter, op: Op, found: Tensor) -> Tensor:
    """Put updates at leading coordinates. The operator adds them to zeros: a second one finds out which elements they replace."""
    x, updates = op["input"], op["updates"]
    *places, depth = found.shape
    if 0 in places:
        return x
    size = math.prod(places)
    flat, rest = [size, depth], x.shape[depth:]
    known = e.known(found)
    if e.semantics.get("scatterDuplicates") == "sum":
        found, updates = e.reshape(found, flat), e.reshape(updates, [size, *rest])
    elif known is not None:
        found, updates = _without_duplicates(e, known.reshape(flat), updates, [size, *rest])
    else:
        e.note(f"{op.name}: several updates of one element are added up")
        found, updates = e.reshape(found, flat), e.reshape(updates, [size, *rest])
    # The operator takes indices of int32 only.
    found = e.convert(found, "i32")
    shape = e.ints(*x.shape)
    wide = "f32" if x.element == "f16" else x.element
    put = _scatter(e, found, e.widen(updates, wide), shape, x.shape)
    ones = e.full(1, "ui8", updates.shape)
    hit = _scatter(e, found, ones, shape, x.shape)
    return e.select(e.convert(hit, "i1"), e.widen(put, x.element), x)


def _scatter(e: LiteEmitter, found: Tensor, updates: Tensor, shape: Tensor, sizes: tuple[int, ...]) -> Tensor:
    # The type of the updates decides, and the indices come first.
    element = updates.element
    if element in ("ui32", "ui64"):
        return e.widen(_scatter(e, found, e.widen(updates, "i64"), shape, sizes), element)
    return e.emit("SCATTER_ND", [found, updates, shape], [(sizes, element)])[0]


def _without_duplicates(e: LiteEmitter, places: Array, updates: Tensor, shape: list[int]) -> tuple[Tensor, Tensor]:
    """Keep the last one of several updates of one place."""
    _, last = np.unique(places[::-1], axis=0, return_index=True)
    kept = np.sort(len(places) - 1 - last)
    flat = e.reshape(updates, shape)
    if len(kept) < len(places):
        flat = e.take(flat, e.constant(kept.astype(np.int32)), 0)
    return e.constant(places[kept].astype(np.int32)), flat


def _inside(e: LiteEmitter, op: Op) -> Op:
    """Return an operator with the positions that its constant indices mean in their place."""
    known = op.constants.get("indices")
    if known is None:
        return op
    shape = op["input"].shape
    by_axis = hasattr(op.options, "axis")
    found = find_positions(known, shape[op.options.axis] if by_axis else shape[: known.shape[-1]]).astype(np.int32)
    return replace(op, tensors={**op.tensors, "indices": e.constant(found)}, constants={**op.constants, "indices": found})


def _coordinates(e: LiteEmitter, op: Op) -> Tensor:
    """Return the coordinates that the indices name: known ones are a constant."""
    op = _inside(e, op)
    known = op.constants.get("indices")
    if not hasattr(op.options, "axis"):
        return coordinates(e, op)
    if known is None:
        return axis_positions(e, op)
    places = np.indices(known.shape, np.int32)
    places[op.options.axis] = known
    return e.constant(np.moveaxis(places, 0, -1))


RULES: Mapping[str, Callable[[LiteEmitter, Op], Tensor | Sequence[Tensor]]] = {
    "gather": lambda e, op: SHARED["gather"].emit(e, _inside(e, op)),
    **{name: lambda e, op: _pick(e, op, _coordinates(e, op)) for name in ("gatherElements", "gatherND")},
    **{name: lambda e, op: _put(e, op, _coordinates(e, op)) for name in ("scatterElements", "scatterND")},
}
