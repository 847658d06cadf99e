"""Recipes for the nodes of random ONNX graphs: indices, selection, and images of other sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tests.property.onnx_graphs import FLOATS, Drawing, Recipe, Unsuitable, Value

__all__ = ["INDEXING"]

ANY = (*FLOATS, "int32", "int64", "uint8", "int8", "bool")
PLAIN = ("float32",)


def _indices(d: Drawing, size: int, shape: Sequence[int]) -> Value:
    """Return indices into a dimension, some of them from its end."""
    low = -size if d.version >= 11 else 0
    numbers = d.random.integers(low, size - 1, tuple(shape), endpoint=True)
    return d.new(numbers.astype(d.choice(["int64", "int64", "int32"])))


def _gather(d: Drawing) -> None:
    x = d.pick(ANY, rank=(1, 4))
    axis = d.axis(x.rank)
    d.emit("Gather", [x, _indices(d, x.shape[axis], d.shape(0, 2))], exact=True, axis=axis)


def _gather_elements(d: Drawing) -> None:
    x = d.pick(ANY, rank=(1, 4))
    axis = d.axis(x.rank)
    shape = [*x.shape]
    shape[axis] = d.integer(1, 4)
    d.emit("GatherElements", [x, _indices(d, x.shape[axis], shape)], exact=True, axis=axis)


def _coordinates(d: Drawing, shape: Sequence[int], batch: int) -> Value:
    """Return coordinates of elements or slices behind the batch dimensions."""
    depth = d.integer(1, len(shape) - batch)
    places = d.shape(1, 2, 4)
    columns = [d.random.integers(-size, size - 1, [*shape[:batch], *places], endpoint=True) for size in shape[batch : batch + depth]]
    return d.new(np.stack(columns, -1))


def _gather_nd(d: Drawing) -> None:
    x = d.pick(ANY, rank=(1, 4))
    batch = d.integer(0, x.rank - 1) if d.version >= 12 and d.chance(0.3) else 0
    d.emit("GatherND", [x, _coordinates(d, x.shape, batch)], exact=True, batch_dims=batch if batch else None)


def _scatter_elements(d: Drawing) -> None:
    x = d.pick(("float32", "int32", "int64"), rank=(1, 3))
    axis = d.axis(x.rank)
    size = x.shape[axis]
    shape = [d.integer(1, each) for each in x.shape]
    # Without a reduction each place must be written once.
    line = np.stack([d.random.permutation(size)[: shape[axis]] for _ in range(int(np.prod(shape)) // shape[axis])])
    others = [each for index, each in enumerate(shape) if index != axis % x.rank]
    indices = np.moveaxis(line.reshape([*others, shape[axis]]), -1, axis % x.rank)
    reduction = d.choice([None, "add", "mul", *(["max", "min"] if d.version >= 18 else [])]) if d.version >= 16 else None
    operator = "ScatterElements" if d.version >= 11 else "Scatter"
    updates = d.pick([x.dtype], shape=shape)
    isExact = reduction in (None, "max", "min") or x.dtype != "float32"
    d.emit(operator, [x, d.new(indices), updates], exact=isExact, axis=axis, reduction=reduction)


def _scatter_nd(d: Drawing) -> None:
    x = d.pick(("float32", "int32", "int64"), rank=(1, 3))
    depth = d.integer(1, x.rank)
    every = np.stack(np.meshgrid(*(np.arange(size) for size in x.shape[:depth]), indexing="ij"), -1).reshape(-1, depth)
    chosen = d.random.permutation(len(every))[: d.integer(1, min(4, len(every)))]
    reduction = d.choice([None, "add", "mul", *(["max", "min"] if d.version >= 18 else [])]) if d.version >= 16 else None
    updates = d.pick([x.dtype], shape=[len(chosen), *x.shape[depth:]])
    exact = reduction in (None, "max", "min") or x.dtype != "float32"
    d.emit("ScatterND", [x, d.new(every[chosen]), updates], exact=exact, reduction=reduction)


def _top_k(d: Drawing) -> None:
    x = d.pick(("float32", "int32", "int64"), rank=(1, 3), exact=True)
    axis = d.axis(x.rank)
    count = d.integer(1, x.shape[axis])
    if d.version < 10:
        d.emit("TopK", [x], outputs=2, exact=True, k=count, axis=axis)
        return
    largest = d.choice([None, 0, 1]) if d.version >= 11 else None
    d.emit("TopK", [x, d.known([count])], outputs=2, exact=True, axis=axis, largest=largest)


def _one_hot(d: Drawing) -> None:
    depth = d.integer(1, 5)
    indices = d.new(d.random.integers(-depth if d.version >= 11 else 0, depth - 1, d.shape(1, 3), endpoint=True))
    values = d.new(d.elements(d.choice(["float32", "int64"]), [2]))
    d.emit("OneHot", [indices, d.known(depth), values], exact=True, axis=d.axis(indices.rank + 1) if d.chance(0.6) else None)


def _compress(d: Drawing) -> None:
    x = d.pick(ANY, rank=(1, 3))
    axis = d.axis(x.rank) if d.version >= 11 and d.chance(0.7) else None
    size = x.array.size if axis is None else x.shape[axis]
    chosen = d.random.random(d.integer(1, size)) < 0.6
    if not chosen.any():
        raise Unsuitable
    d.emit("Compress", [x, d.known(chosen, "bool")], exact=True, axis=axis)


def _non_zero(d: Drawing) -> None:
    d.emit("NonZero", [d.known(d.elements("float32", d.shape(1, 3)), "float32")], exact=True)


def _unique(d: Drawing) -> None:
    x = d.known(d.elements("float32", d.shape(1, 2)), "float32")
    d.emit("Unique", [x], outputs=4, exact=True, sorted=d.choice([None, 0, 1]), axis=d.choice([None, d.axis(x.rank)]))


# Images.


def _resize(d: Drawing) -> None:
    mode = d.choice(["nearest", "linear", *(["cubic"] if d.version >= 11 else [])])
    x = d.pick(PLAIN, shape=[d.integer(1, 2), d.integer(1, 2), d.integer(3, 6), d.integer(3, 6)])
    factors = [1.0, 1.0, d.choice([0.5, 1.0, 1.5, 2.0, 2.5]), d.choice([0.5, 1.0, 2.0, 3.0])]
    if d.version < 9:
        d.emit("Upsample", [x], exact=mode == "nearest", mode=mode, scales=[max(each, 1.0) for each in factors])
        return
    if d.version < 11:
        operator = "Upsample" if d.version == 9 else "Resize"
        scales = d.known([max(each, 1.0) for each in factors] if operator == "Upsample" else factors, "float32")
        d.emit(operator, [x, scales], exact=mode == "nearest", mode=mode)
        return
    place = d.choice([None, "half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"])
    more: dict[str, Any] = {"coordinate_transformation_mode": place}
    if mode == "nearest":
        more["nearest_mode"] = d.choice([None, "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
    if mode == "cubic":
        more["cubic_coeff_a"], more["exclude_outside"] = d.choice([None, -0.5]), d.choice([None, 0, 1])
    nothing = d.known([], "float32") if d.version < 13 else None
    if d.chance():
        target = [*x.shape[:2], d.integer(1, 9), d.integer(1, 9)]
        d.emit("Resize", [x, nothing, nothing, d.known(target)], exact=mode == "nearest", mode=mode, **more)
    else:
        if place == "align_corners":
            # Of a fractional length, ONNX means the length itself, and ONNX Runtime the integer below.
            factors[2:] = [d.choice([1.0, 2.0, 3.0]) for _ in range(2)]
        d.emit("Resize", [x, nothing, d.known(factors, "float32")], exact=mode == "nearest", mode=mode, **more)


def _grid_sample(d: Drawing) -> None:
    x = d.pick(PLAIN, shape=[1, d.integer(1, 2), d.integer(2, 5), d.integer(2, 5)])
    grid = d.leaf("float32", [1, d.integer(1, 4), d.integer(1, 4), 2], -0.95, 0.95)
    mode = d.choice(["bilinear", "bicubic"] if d.version < 20 else ["linear", "cubic"])
    d.emit("GridSample", [x, grid], mode=mode, padding_mode=d.choice([None, "zeros", "border"]), align_corners=d.choice([None, 0, 1]))


def _affine_grid(d: Drawing) -> None:
    size = d.known([2, 1, d.integer(2, 4), d.integer(2, 4)])
    d.emit("AffineGrid", [d.pick(PLAIN, shape=[2, 2, 3]), size], align_corners=d.choice([None, 0, 1]))


def _det(d: Drawing) -> None:
    size = d.integer(1, 3)
    d.emit("Det", [d.pick(PLAIN, shape=[*d.shape(0, 1), size, size], low=-4, high=4)])


INDEXING: Mapping[str, Recipe] = {
    "AffineGrid": _affine_grid,
    "Compress": _compress,
    "Det": _det,
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "GatherND": _gather_nd,
    "GridSample": _grid_sample,
    "NonZero": _non_zero,
    "OneHot": _one_hot,
    "Resize": _resize,
    "ScatterElements": _scatter_elements,
    "ScatterND": _scatter_nd,
    "TopK": _top_k,
    "Unique": _unique,
}
