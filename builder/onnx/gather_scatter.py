"""Operations that pick or replace elements by index. Elements of every type keep their bits.

The engine refuses an index that is out of range, so each is clamped first (docs/numerics.md).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from webnn.builder.onnx.emitter import Emitter, Op, Translation
from webnn.builder.places import clamp_indices
from webnn.validation.descriptor import NUMPY_DTYPES, DataType, Shape
from webnn.validation.named_descriptor import is_named

__all__ = ["TRANSLATIONS", "emit_indices", "slice_numbers"]

#: Operations along one axis, and the nodes that they are.
_ALONG_AXIS: Mapping[str, str] = MappingProxyType(
    {
        "gather": "Gather",
        "gatherElements": "GatherElements",
        "scatterElements": "ScatterElements",
    }
)
#: Up to this many bytes of updates, `ScatterND` copies one slice after the other. It uses several threads from about 200,000.
_IN_ORDER = 2**17


def _known(op: Op, sizes: Shape) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]] | None:
    """Return the clamped indices if they are a constant. For ``sizes`` see `emit_indices`."""
    indices = op.constants.get("indices")
    return None if indices is None else clamp_indices(indices, sizes)


def emit_indices(e: Emitter, op: Op, sizes: Shape, *, wide: bool = False) -> str:
    """Emit the indices: each clamped to -N .. N - 1, N being the size of its axis, and signed, as all of the engine's kernels want them.

    ``sizes`` has the size of the axis that all indices are for, or of each axis that the last dimension of the indices is for. If ``wide``,
    the kernel takes int64 only, not int32.
    """
    value, dtype = op["indices"], op.type("indices")
    # Clamped indices fit, because no operand has 2^31 bytes.
    target: DataType = "int64" if wide or dtype == "int64" else "int32"
    known = _known(op, sizes)
    if known is not None:
        if dtype == target and np.array_equal(known, op.constants["indices"]):
            return value
        return e.weight(f"{value}:{target}<{','.join(map(str, sizes))}", known.astype(target))
    # `Clip`, `Max` and `Min` of int64 are wrong (integer.py). A double holds every size, and rounding brings no index into range.
    computed = "float64" if dtype == "int64" else dtype
    if computed != dtype:
        value = e.cast(value, computed)
    if any(map(is_named, sizes)):
        value = _clamp_in_run(e, value, sizes, computed, signed=dtype != "uint32")
        return value if computed == target else e.cast(value, target)
    lows, highs = [0 if dtype == "uint32" else -size for size in sizes], [size - 1 for size in sizes]
    if len(set(sizes)) == 1:
        value = e.node("Clip", [value, e.scalar(lows[0], computed), e.scalar(highs[0], computed)])
    else:
        # The limits of `Clip` are scalars.
        if dtype != "uint32":
            value = e.node("Max", [value, e.literal(np.array(lows, computed))])
        value = e.node("Min", [value, e.literal(np.array(highs, computed))])
    return value if computed == target else e.cast(value, target)


def _clamp_in_run(e: Emitter, value: str, sizes: Shape, dtype: str, *, signed: bool) -> str:
    """Clamp indices where the size of an axis is known in each run."""
    limits = e.ints(sizes)
    limits = e.cast(e.node("Squeeze", [limits]) if len(sizes) == 1 else limits, dtype)
    if signed:
        value = e.node("Max", [value, e.node("Neg", [limits])])
    return e.node("Min", [value, e.node("Sub", [limits, e.scalar(1, dtype)])])


def _along_axis(e: Emitter, op: Op) -> str:
    axis = op.options.axis
    indices = emit_indices(e, op, op.shape("input")[axis : axis + 1])
    return e.node(_ALONG_AXIS[op.name], [op["input"], indices, op.get("updates")], axis=axis)


def _gather_nd(e: Emitter, op: Op) -> str:
    sizes = op.shape("input")[: op.shape("indices")[-1]]
    return e.node("GatherND", [op["input"], emit_indices(e, op, sizes, wide=True)])


def _scatter_nd(e: Emitter, op: Op) -> str:
    sizes = op.shape("input")[: op.shape("indices")[-1]]
    indices = emit_indices(e, op, sizes, wide=True)
    if _is_in_order(op, sizes):
        return e.node("ScatterND", [op["input"], indices, op["updates"]])
    return _scatter_in_order(e, op, indices, sizes)


def _is_in_order(op: Op, sizes: Shape) -> bool:
    """Tell whether the last of several updates of one slice counts in `ScatterND`: one thread copies all, or each slice has one update."""
    moved = math.prod(op.shape("updates")) * NUMPY_DTYPES[op.type("updates")].itemsize
    count = math.prod(op.shape("indices")[:-1])
    if count == 1 or moved <= _IN_ORDER:
        return True
    known = _known(op, sizes)
    if known is None:
        return False
    coordinates = known.reshape(count, len(sizes)) % np.array(sizes, np.int64)
    return len(np.unique(np.ravel_multi_index(tuple(coordinates.T), sizes))) == count


def _reshape(e: Emitter, value: str, shape: Shape, newShape: Shape) -> str:
    return value if shape == newShape else e.reshape(value, newShape)


def slice_numbers(e: Emitter, indices: str, sizes: Shape, count: int) -> str:
    """Emit the number of the slice that each tuple of coordinates names."""
    # The remainder has the divisor's sign, so it counts from the start.
    numbers = e.node("Mod", [indices, e.ints(sizes)])
    if len(sizes) > 1:
        strides = [math.prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
        numbers = e.node("MatMul", [numbers, e.literal(np.array(strides, np.int64).reshape(-1, 1))])
    return e.reshape(numbers, [count])


def _scatter_in_order(e: Emitter, op: Op, indices: str, sizes: Shape) -> str:
    """Emit ``scatterND`` where several threads would copy updates of one slice in any order; `ScatterElements` always has one thread."""
    shape = op.shape("input")
    slices, behind, count = math.prod(sizes), shape[len(sizes) :], math.prod(op.shape("indices")[:-1])
    numbers = slice_numbers(e, indices, sizes, count)
    if math.prod(behind) == 1:
        input, updates = _reshape(e, op["input"], shape, (slices,)), _reshape(e, op["updates"], op.shape("updates"), (count,))
        return _reshape(e, e.node("ScatterElements", [input, numbers, updates], axis=0), (slices,), shape)
    # Every update of a slice becomes its last one: then their order does not matter.
    order = e.node("Range", [e.scalar(number, "int32") for number in (0, count, 1)])
    last = e.node("ScatterElements", [e.node("Expand", [e.scalar(0, "int32"), e.ints([slices])]), numbers, order], axis=0)
    updates = _reshape(e, op["updates"], op.shape("updates"), (count, *behind))
    updates = e.node("Gather", [updates, e.node("Gather", [last, numbers], axis=0)], axis=0)
    return e.node("ScatterND", [op["input"], indices, _reshape(e, updates, (count, *behind), op.shape("updates"))])


TRANSLATIONS = {
    **{name: Translation(emit=_along_axis, native=("bfloat16",)) for name in _ALONG_AXIS},
    "gatherND": Translation(emit=_gather_nd, native=("bfloat16",)),
    "scatterND": Translation(emit=_scatter_nd, native=("bfloat16",)),
}
