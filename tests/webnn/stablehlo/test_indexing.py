"""Gathering and scattering, compared with the words of the specification, element by element."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from tests.webnn.stablehlo.programs import Array, body, check, compute, operators, program, refusal, type_of
from webnn.hlo import RegionBuilder
from webnn.hlo.attributes import GatherDimensionNumbers, ScatterDimensionNumbers
from webnn.hlo.ir import Region
from webnn.hlo.types import TensorType


def _starts(
    numbers: Any, mapped: Sequence[int], batching: Sequence[int], batches: Sequence[int], indices: Array, place: Sequence[int], rank: int
) -> list[int]:
    """Return where the window of one place of the batch starts."""
    vector = numbers.index_vector_dim
    index: list[Any] = list(place)
    index.insert(vector, slice(None))
    parts = np.atleast_1d(indices[tuple(index[: indices.ndim])])
    start = [0] * rank
    for part, axis in zip(parts, mapped, strict=True):
        start[axis] = int(part)
    for axis, each in zip(batching, batches, strict=True):
        start[axis] = index[each]
    return start


def gather(x: Array, indices: Array, numbers: GatherDimensionNumbers, sizes: Sequence[int]) -> Array:
    """Gather windows one by one."""
    batch = [size for axis, size in enumerate(indices.shape) if axis != numbers.index_vector_dim]
    dropped = (*numbers.collapsed_slice_dims, *numbers.operand_batching_dims)
    kept = [size for axis, size in enumerate(sizes) if axis not in dropped]
    others = [axis for axis in range(len(batch) + len(kept)) if axis not in numbers.offset_dims]
    shape = [0] * (len(batch) + len(kept))
    for axes, given in ((others, batch), (numbers.offset_dims, kept)):
        for axis, size in zip(axes, given, strict=True):
            shape[axis] = size
    result = np.zeros(shape, x.dtype)
    batching, batches = numbers.operand_batching_dims, numbers.start_indices_batching_dims
    for place in np.ndindex(*batch):
        start = _starts(numbers, numbers.start_index_map, batching, batches, indices, place, x.ndim)
        start = [min(max(first, 0), given - size) for first, given, size in zip(start, x.shape, sizes, strict=True)]
        window = x[tuple([slice(first, first + size) for first, size in zip(start, sizes, strict=True)])].reshape(kept)
        where: list[Any] = [slice(None)] * len(shape)
        for axis, each in zip(others, place, strict=True):
            where[axis] = each
        result[tuple(where)] = window
    return result


def scatter(x: Array, indices: Array, updates: Array, numbers: ScatterDimensionNumbers, function: Any) -> Array:
    """Update windows one by one; those that do not lie in the input are left out."""
    result = x.copy()
    dropped = (*numbers.inserted_window_dims, *numbers.input_batching_dims)
    others = [axis for axis in range(updates.ndim) if axis not in numbers.update_window_dims]
    kept = iter(numbers.update_window_dims)
    sizes = [1 if axis in dropped else updates.shape[next(kept)] for axis in range(x.ndim)]
    batching, batches = numbers.input_batching_dims, numbers.scatter_indices_batching_dims
    for place in np.ndindex(*[updates.shape[axis] for axis in others]):
        start = _starts(numbers, numbers.scatter_dims_to_operand_dims, batching, batches, indices, place, x.ndim)
        if any(not 0 <= first <= given - size for first, given, size in zip(start, x.shape, sizes, strict=True)):
            continue
        where: list[Any] = [slice(None)] * updates.ndim
        for axis, each in zip(others, place, strict=True):
            where[axis] = each
        window = tuple([slice(first, first + size) for first, size in zip(start, sizes, strict=True)])
        result[window] = function(result[window], updates[tuple(where)].reshape(sizes))
    return result


X = np.arange(3 * 4 * 5, dtype=np.float32).reshape(3, 4, 5) + 1
RANDOM = np.random.default_rng(5)


def _indices(*shape: int, dtype: Any = np.int32) -> Array:
    return RANDOM.integers(-2, 7, shape).astype(dtype)


GATHERS: tuple[tuple[str, Array, Array, dict[str, Any], tuple[int, ...]], ...] = (
    (
        "rows",
        X,
        _indices(6, 1),
        {"offset_dims": (1, 2), "collapsed_slice_dims": (0,), "start_index_map": (0,), "index_vector_dim": 1},
        (1, 4, 5),
    ),
    (
        "numbers as vectors",
        X,
        _indices(6),
        {"offset_dims": (0, 2), "collapsed_slice_dims": (1,), "start_index_map": (1,), "index_vector_dim": 1},
        (3, 1, 5),
    ),
    ("one row", X, _indices(1), {"offset_dims": (0, 1), "collapsed_slice_dims": (0,), "start_index_map": (0,)}, (1, 4, 5)),
    (
        "columns",
        X,
        _indices(2, 3, 1),
        {"offset_dims": (1, 2), "collapsed_slice_dims": (2,), "start_index_map": (2,), "index_vector_dim": 2},
        (3, 4, 1),
    ),
    ("elements", X, _indices(7, 3), {"collapsed_slice_dims": (0, 1, 2), "start_index_map": (2, 0, 1), "index_vector_dim": 1}, (1, 1, 1)),
    (
        "two dimensions apart",
        X,
        _indices(2, 7),
        {"offset_dims": (1,), "collapsed_slice_dims": (0, 2), "start_index_map": (0, 2), "index_vector_dim": 0},
        (1, 4, 1),
    ),
    (
        "windows",
        X,
        _indices(4, 2),
        {"offset_dims": (0, 2), "collapsed_slice_dims": (0,), "start_index_map": (0, 1), "index_vector_dim": 1},
        (1, 3, 5),
    ),
    (
        "windows that are kept",
        X,
        _indices(4, 3),
        {"offset_dims": (1, 2, 3), "start_index_map": (0, 1, 2), "index_vector_dim": 1},
        (2, 3, 4),
    ),
    ("a window of one", X, _indices(4, 1), {"offset_dims": (1, 2, 3), "start_index_map": (1,), "index_vector_dim": 1}, (3, 1, 5)),
    (
        "parts of dimensions",
        X,
        _indices(4, 1),
        {"offset_dims": (1, 2), "collapsed_slice_dims": (1,), "start_index_map": (1,), "index_vector_dim": 1},
        (2, 1, 3),
    ),
    ("whole windows", X, _indices(4, 2), {"offset_dims": (0, 2, 3), "start_index_map": (0, 2), "index_vector_dim": 1}, (3, 4, 5)),
    (
        "a batch",
        X,
        _indices(3, 6, 1),
        {
            "offset_dims": (2,),
            "collapsed_slice_dims": (1,),
            "operand_batching_dims": (0,),
            "start_indices_batching_dims": (0,),
            "start_index_map": (1,),
            "index_vector_dim": 2,
        },
        (1, 1, 5),
    ),
    (
        "two batches, in another order",
        X,
        _indices(5, 2, 3),
        {
            "collapsed_slice_dims": (1,),
            "operand_batching_dims": (0, 2),
            "start_indices_batching_dims": (2, 0),
            "start_index_map": (1,),
            "index_vector_dim": 3,
        },
        (1, 1, 1),
    ),
    (
        "a batch of one",
        X[:1],
        _indices(1, 6, 1),
        {
            "offset_dims": (2,),
            "collapsed_slice_dims": (1,),
            "operand_batching_dims": (0,),
            "start_indices_batching_dims": (0,),
            "start_index_map": (1,),
            "index_vector_dim": 2,
        },
        (1, 1, 5),
    ),
    (
        "a batch of windows",
        X,
        _indices(1, 4),
        {
            "offset_dims": (0, 2),
            "operand_batching_dims": (1,),
            "start_indices_batching_dims": (1,),
            "start_index_map": (2,),
            "index_vector_dim": 0,
        },
        (2, 1, 2),
    ),
    (
        "a batch alone",
        X,
        _indices(3, 2, 0),
        {"offset_dims": (1, 3), "operand_batching_dims": (0,), "start_indices_batching_dims": (0,), "index_vector_dim": 2},
        (1, 4, 5),
    ),
    (
        "dimensions of size 1",
        X[:1, :, :1],
        _indices(6, 2),
        {"offset_dims": (1,), "collapsed_slice_dims": (0, 1), "start_index_map": (0, 1), "index_vector_dim": 1},
        (1, 1, 1),
    ),
)


@pytest.mark.parametrize(("x", "indices", "members", "sizes"), [row[1:] for row in GATHERS], ids=[row[0] for row in GATHERS])
def test_gather(x: Array, indices: Array, members: dict[str, Any], sizes: tuple[int, ...]) -> None:
    numbers = GatherDimensionNumbers(**members)
    wanted = gather(x, indices, numbers, sizes)
    check("gather", [x, indices], wanted, {"dimension_numbers": numbers, "slice_sizes": sizes}, known=[(), (1,), (0, 1)])
    unknown = TensorType(shape=(None,) * wanted.ndim, element="f32")
    attributes: Mapping[str, Any] = {"dimension_numbers": numbers}
    check("dynamic_gather", [x, indices, np.array(sizes)], wanted, attributes, known=[(2,), (0, 1, 2)], types=[unknown])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64])
def test_types_of_indices(dtype: Any) -> None:
    """Indices out of range are clamped in their own type."""
    rows = GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,), index_vector_dim=1)
    elements = GatherDimensionNumbers(collapsed_slice_dims=(0, 1), start_index_map=(0, 1), index_vector_dim=1)
    range_ = np.iinfo(dtype)
    indices = np.array([[range_.min, 1], [range_.max, 0], [1, range_.max], [0, range_.min]], dtype)
    x = X[0]
    check("gather", [x, indices[:, :1]], gather(x, indices[:, :1], rows, (1, 5)), {"dimension_numbers": rows, "slice_sizes": (1, 5)})
    check("gather", [x, indices], gather(x, indices, elements, (1, 1)), {"dimension_numbers": elements, "slice_sizes": (1, 1)})
    written = ScatterDimensionNumbers(inserted_window_dims=(0, 1), scatter_dims_to_operand_dims=(0, 1), index_vector_dim=1)
    updates = -np.arange(4, dtype=np.float32)
    wanted = scatter(x, indices, updates, written, lambda _, update: update)
    check("scatter", [x, indices, updates], wanted, {"scatter_dimension_numbers": written}, [body("f32")])


def test_an_embedding_is_one_gather() -> None:
    numbers = GatherDimensionNumbers(offset_dims=(2,), collapsed_slice_dims=(0,), start_index_map=(0,), index_vector_dim=2)
    table, tokens = np.zeros((100, 8), np.float32), np.zeros((2, 7, 1), np.int32)
    attributes: Mapping[str, Any] = {"dimension_numbers": numbers, "slice_sizes": (1, 8)}
    module = program("gather", [table, tokens], [TensorType(shape=(2, 7, 8), element="f32")], attributes)
    assert operators(module) == ["reshape", "max", "gather"]
    assert operators(module, {"arg1": tokens}) == ["gather"]


# Scattering.

SCATTERS: tuple[tuple[str, Array, Array, tuple[int, ...], dict[str, Any]], ...] = (
    (
        "rows",
        X,
        _indices(6, 1),
        (6, 4, 5),
        {"update_window_dims": (1, 2), "inserted_window_dims": (0,), "scatter_dims_to_operand_dims": (0,), "index_vector_dim": 1},
    ),
    (
        "one row",
        X,
        np.array([2]),
        (4, 5),
        {"update_window_dims": (0, 1), "inserted_window_dims": (0,), "scatter_dims_to_operand_dims": (0,)},
    ),
    (
        "columns",
        X,
        _indices(4),
        (3, 4, 4),
        {"update_window_dims": (0, 1), "inserted_window_dims": (2,), "scatter_dims_to_operand_dims": (2,), "index_vector_dim": 1},
    ),
    (
        "elements",
        X,
        _indices(30, 3),
        (30,),
        {"inserted_window_dims": (0, 1, 2), "scatter_dims_to_operand_dims": (2, 0, 1), "index_vector_dim": 1},
    ),
    (
        "windows",
        X,
        _indices(9, 2),
        (2, 9, 5),
        {"update_window_dims": (0, 2), "inserted_window_dims": (0,), "scatter_dims_to_operand_dims": (0, 1), "index_vector_dim": 1},
    ),
    (
        "parts of dimensions",
        X,
        _indices(3, 1),
        (2, 3, 3),
        {"update_window_dims": (0, 2), "inserted_window_dims": (1,), "scatter_dims_to_operand_dims": (1,), "index_vector_dim": 1},
    ),
    (
        "whole windows",
        X,
        np.array([[0], [1], [0]]),
        (3, 3, 4, 5),
        {"update_window_dims": (1, 2, 3), "scatter_dims_to_operand_dims": (1,), "index_vector_dim": 1},
    ),
    (
        "a batch",
        X,
        _indices(3, 6, 1),
        (3, 6, 5),
        {
            "update_window_dims": (2,),
            "inserted_window_dims": (1,),
            "input_batching_dims": (0,),
            "scatter_indices_batching_dims": (0,),
            "scatter_dims_to_operand_dims": (1,),
            "index_vector_dim": 2,
        },
    ),
    (
        "a batch of one",
        X[:1],
        _indices(1, 6, 1),
        (1, 6, 5),
        {
            "update_window_dims": (2,),
            "inserted_window_dims": (1,),
            "input_batching_dims": (0,),
            "scatter_indices_batching_dims": (0,),
            "scatter_dims_to_operand_dims": (1,),
            "index_vector_dim": 2,
        },
    ),
    (
        "a batch alone",
        X,
        _indices(3, 2, 0),
        (3, 2, 4, 5),
        {"update_window_dims": (2, 3), "input_batching_dims": (0,), "scatter_indices_batching_dims": (0,), "index_vector_dim": 2},
    ),
    (
        "all out of range",
        X,
        np.full((3, 1), 9),
        (3, 4, 5),
        {"update_window_dims": (1, 2), "inserted_window_dims": (0,), "scatter_dims_to_operand_dims": (0,), "index_vector_dim": 1},
    ),
)
FUNCTIONS: tuple[tuple[str, Any], ...] = (
    ("add", np.add),
    ("multiply", np.multiply),
    ("maximum", np.maximum),
    ("minimum", np.minimum),
    ("subtract", np.subtract),
)


@pytest.mark.parametrize(("x", "indices", "shape", "members"), [row[1:] for row in SCATTERS], ids=[row[0] for row in SCATTERS])
@pytest.mark.parametrize(("name", "function"), FUNCTIONS, ids=[row[0] for row in FUNCTIONS])
def test_scatter(x: Array, indices: Array, shape: tuple[int, ...], members: dict[str, Any], name: str, function: Any) -> None:
    numbers = ScatterDimensionNumbers(**members)
    # Small integers, so that all orders of additions and multiplications have one result.
    updates = RANDOM.integers(1, 3, shape).astype(np.float32)
    wanted = scatter(x, indices, updates, numbers, function)
    attributes: Mapping[str, Any] = {"scatter_dimension_numbers": numbers}
    check("scatter", [x, indices, updates], wanted, attributes, [body("f32", name)], known=[(), (1,), (0, 1, 2)])


@pytest.mark.parametrize(("x", "indices", "shape", "members"), [row[1:] for row in SCATTERS], ids=[row[0] for row in SCATTERS])
def test_replacement(x: Array, indices: Array, shape: tuple[int, ...], members: dict[str, Any]) -> None:
    """Of several updates for one place, any may count; here they are equal."""
    numbers = ScatterDimensionNumbers(**members)
    updates = np.full(shape, -1, np.float32)
    wanted = scatter(x, indices, updates, numbers, lambda _, update: update)
    check("scatter", [x, indices, updates], wanted, {"scatter_dimension_numbers": numbers}, [body("f32")], known=[(), (1,), (0, 1, 2)])


ROWS = ScatterDimensionNumbers(update_window_dims=(1,), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,), index_vector_dim=1)
PLACES = ScatterDimensionNumbers(inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,), index_vector_dim=1)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64, np.float16, np.float32, np.bool_])
@pytest.mark.parametrize("count", [5, 40])
def test_sums_of_each_type(dtype: Any, count: int) -> None:
    """Few updates are done one after the other, many are combined before."""
    element = type_of(np.zeros(0, dtype)).element
    assert isinstance(element, str)
    x = RANDOM.integers(0, 2, (6, 2)).astype(dtype)
    indices, updates = RANDOM.integers(0, 5, (count, 1)), RANDOM.integers(0, 2, (count, 2)).astype(dtype)
    wanted = scatter(x, indices, updates, ROWS, np.add)
    check(
        "scatter", [x, indices, updates], wanted, {"scatter_dimension_numbers": ROWS}, [body(element, "add")], known=[(), (1,), (0, 1, 2)]
    )


def test_infinite_updates_stay_in_their_rows() -> None:
    x = np.zeros((4, 1), np.float32)
    indices = np.array([[0], [1], [1], [2], [0], [0], [0], [0], [0], [0]])
    updates = np.array([1, np.inf, 1, np.nan, 1, 1, 1, 1, 1, 1], np.float32).reshape(10, 1)
    wanted = np.array([[7], [np.inf], [np.nan], [0]], np.float32)
    check("scatter", [x, indices, updates], wanted, {"scatter_dimension_numbers": ROWS}, [body("f32", "add")], known=[(), (1,), (0, 1, 2)])


def test_many_sums() -> None:
    """More than 4096 updates are put in order to find those for one place."""
    x, indices = np.zeros(300, np.float32), RANDOM.integers(-1, 301, (5000, 1))
    updates = RANDOM.integers(-4, 5, 5000).astype(np.float32)
    wanted = scatter(x, indices, updates, PLACES, np.add)
    check("scatter", [x, indices, updates], wanted, {"scatter_dimension_numbers": PLACES}, [body("f32", "add")])


def _pairs() -> Region:
    """Return a region that keeps the pair with the greater first number."""
    scalar, flag = TensorType(shape=(), element="f32"), TensorType(shape=(), element="i1")
    region = RegionBuilder([scalar] * 4)
    a, b, c, d = region.arguments
    (greater,) = region.append("stablehlo.compare", [c, a], [flag], {"comparison_direction": "GT"})
    (first,) = region.append("stablehlo.select", [greater, c, a], [scalar])
    (second,) = region.append("stablehlo.select", [greater, d, b], [scalar])
    region.append("stablehlo.return", [first, second])
    return region.build()


def test_several_operands() -> None:
    x, y = np.zeros(4, np.float32), np.zeros(4, np.float32)
    indices = np.array([[1], [2], [1], [9], [1]])
    updates, others = np.array([3, 2, 5, 9, 4], np.float32), np.array([10, 20, 30, 40, 50], np.float32)
    wanted = [np.array([0, 5, 2, 0], np.float32), np.array([0, 30, 20, 0], np.float32)]
    operands = [x, y, indices, updates, others]
    check("scatter", operands, wanted, {"scatter_dimension_numbers": PLACES}, [_pairs()], known=[(), (2,), (0, 1, 2, 3, 4)])


def test_unique_indices() -> None:
    """A region that is no single operation may update many places, if they differ."""
    x, y = RANDOM.normal(size=(2, 400)).astype(np.float32)
    updates, others = RANDOM.normal(size=(2, 300)).astype(np.float32)
    indices = RANDOM.permutation(400)[:300].reshape(300, 1)
    first, second = x.copy(), y.copy()
    greater = updates > x[indices[:, 0]]
    first[indices[greater, 0]], second[indices[greater, 0]] = updates[greater], others[greater]
    operands = [x, y, indices, updates, others]
    attributes: Mapping[str, Any] = {"scatter_dimension_numbers": PLACES}
    check("scatter", operands, [first, second], attributes, [_pairs()], known=[(2,), (0, 1, 2, 3, 4)])
    check("scatter", operands, [first, second], {**attributes, "unique_indices": True}, [_pairs()], known=[()])
    results = [type_of(x), type_of(y)]
    assert "at most 128 updates may be for one place" in refusal("scatter", operands, results, attributes, [_pairs()])


def test_no_updates() -> None:
    x = np.arange(4, dtype=np.float32)
    operands = [x, np.zeros((0, 1), np.int32), np.zeros(0, np.float32)]
    check("scatter", operands, x, {"scatter_dimension_numbers": PLACES}, [body("f32", "add")])


def test_a_replacement_is_one_scatter() -> None:
    operands = [np.zeros((9, 3), np.float32), np.zeros((4, 1), np.int32), np.zeros((4, 3), np.float32)]
    module = program("scatter", operands, [type_of(operands[0])], {"scatter_dimension_numbers": ROWS}, [body("f32")])
    assert operators(module, {"arg1": operands[1]}) == ["scatterND"]
    assert operators(module).count("scatterND") == 1
    assert not {"gather", "reduceSum"} & {*operators(module)}


# Refusals.

HOSTILE: tuple[tuple[dict[str, Any], tuple[int, ...], tuple[int, ...], str], ...] = (
    ({"start_index_map": (3,)}, (6, 1), (1, 4, 5), "must be a dimension of 3, counted from 0, got 3"),
    ({"start_index_map": (-1,)}, (6, 1), (1, 4, 5), "must be a dimension of 3, counted from 0, got -1"),
    ({"start_index_map": (0, 1)}, (6, 1), (1, 4, 5), "a part for each of the dimensions [0, 1], got 1"),
    ({"start_index_map": (0, 0)}, (6, 2), (1, 4, 5), "must name each dimension once, got [0, 0]"),
    ({}, (6, 1), (1, 4, 6), "a size that fits for each of [3, 4, 5], got [1, 4, 6]"),
    ({}, (6, 1), (1, 4), "a size that fits for each of [3, 4, 5], got [1, 4]"),
    ({}, (6, 1), (2, 4, 5), "must have the size 1 along the dimensions [0], got [2, 4, 5]"),
    ({"index_vector_dim": 3}, (6, 1), (1, 4, 5), "index_vector_dim must be from 0 to 2, got 3"),
    ({"offset_dims": (2, 1)}, (6, 1), (1, 4, 5), "must be in order"),
    ({"offset_dims": (1,)}, (6, 1), (1, 4, 5), "one for each of [3, 4, 5] that is not dropped, got [1]"),
    ({"offset_dims": (1, 7)}, (6, 1), (1, 4, 5), "the window dimensions must be a dimension of 3, counted from 0, got 7"),
    (
        {"operand_batching_dims": (1,), "start_indices_batching_dims": (0,), "offset_dims": (1,)},
        (6, 1),
        (1, 1, 5),
        "the batching dimensions must be equal, got 4 and 6",
    ),
    ({"operand_batching_dims": (1,), "offset_dims": (1,)}, (6, 1), (1, 1, 5), "the batching dimensions must be as many"),
    ({}, (7, 1), (1, 4, 5), "the result must have the shape [7, 4, 5], got tensor<6x4x5xf32>"),
)


@pytest.mark.parametrize(("members", "shape", "sizes", "reason"), HOSTILE, ids=[row[3] for row in HOSTILE])
def test_refused_gathers(members: dict[str, Any], shape: tuple[int, ...], sizes: tuple[int, ...], reason: str) -> None:
    given = {"offset_dims": (1, 2), "collapsed_slice_dims": (0,), "start_index_map": (0,), "index_vector_dim": 1, **members}
    attributes: Mapping[str, Any] = {"dimension_numbers": GatherDimensionNumbers(**given), "slice_sizes": sizes}
    result = [TensorType(shape=(6, 4, 5), element="f32")]
    for known in ((), (0, 1)):
        assert reason in refusal("gather", [X, np.zeros(shape, np.int32)], result, attributes, known=known)


@pytest.mark.parametrize(
    ("members", "shape", "reason"),
    [
        ({}, (5, 4, 5), "the updates must have the shape [6, 4, 5], got [5, 4, 5]"),
        ({}, (6, 4, 6), "a size that fits for each of [3, 4, 5], got [1, 4, 6]"),
        ({"update_window_dims": (1, 5)}, (6, 4, 5), "update_window_dims must be a dimension of 3, counted from 0, got 5"),
        ({"update_window_dims": (1,)}, (6, 4, 5), "one for each of [3, 4, 5] that is not dropped, got [1]"),
    ],
)
def test_refused_scatters(members: dict[str, Any], shape: tuple[int, ...], reason: str) -> None:
    given = {
        "update_window_dims": (1, 2),
        "inserted_window_dims": (0,),
        "scatter_dims_to_operand_dims": (0,),
        "index_vector_dim": 1,
        **members,
    }
    attributes: Mapping[str, Any] = {"scatter_dimension_numbers": ScatterDimensionNumbers(**given)}
    operands = [X, np.zeros((6, 1), np.int32), np.zeros(shape, np.float32)]
    for known in ((), (0, 1, 2)):
        assert reason in refusal("scatter", operands, [type_of(X)], attributes, [body("f32", "add")], known=known)


def test_computed_tables_are_not_copied() -> None:
    """Windows of a large table are gathered without indices for all of its elements."""
    numbers = GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,), index_vector_dim=1)
    table = np.zeros((1000, 512), np.float32)
    (found,) = compute(
        program(
            "gather",
            [table, np.zeros((3, 1), np.int64)],
            [TensorType(shape=(3, 512), element="f32")],
            {"dimension_numbers": numbers, "slice_sizes": (1, 512)},
        ),
        [table, np.zeros((3, 1), np.int64)],
    )
    assert found.shape == (3, 512)
