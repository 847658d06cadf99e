"""Scattering, compared with the words of the specification."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from tests.webnn.stablehlo.places import X, gather, make_indices, scatter
from tests.webnn.stablehlo.programs import Array, body, check, operators, program, refusal, type_of
from webnn.hlo import RegionBuilder
from webnn.hlo.attributes import GatherDimensionNumbers, ScatterDimensionNumbers
from webnn.hlo.ir import Region
from webnn.hlo.types import TensorType

RANDOM = np.random.default_rng(5)
Axes = tuple[int, ...]


def numbers(
    window: Axes = (), inserted: Axes = (), mapped: Axes = (), vector: int = 0, batching: Axes = (), batches: Axes = ()
) -> ScatterDimensionNumbers:
    return ScatterDimensionNumbers(
        update_window_dims=window, inserted_window_dims=inserted, scatter_dims_to_operand_dims=mapped, index_vector_dim=vector,
        input_batching_dims=batching, scatter_indices_batching_dims=batches,
    )  # fmt: skip


SCATTERS: tuple[tuple[str, Array, Array, Axes, ScatterDimensionNumbers], ...] = (
    ("rows", X, make_indices(RANDOM, 6, 1), (6, 4, 5), numbers((1, 2), (0,), (0,), 1)),
    ("one row", X, np.array([2]), (4, 5), numbers((0, 1), (0,), (0,))),
    ("columns", X, make_indices(RANDOM, 4), (3, 4, 4), numbers((0, 1), (2,), (2,), 1)),
    ("elements", X, make_indices(RANDOM, 30, 3), (30,), numbers((), (0, 1, 2), (2, 0, 1), 1)),
    ("windows", X, make_indices(RANDOM, 9, 2), (2, 9, 5), numbers((0, 2), (0,), (0, 1), 1)),
    ("parts of dimensions", X, make_indices(RANDOM, 3, 1), (2, 3, 3), numbers((0, 2), (1,), (1,), 1)),
    ("whole windows", X, np.array([[0], [1], [0]]), (3, 3, 4, 5), numbers((1, 2, 3), (), (1,), 1)),
    ("a batch", X, make_indices(RANDOM, 3, 6, 1), (3, 6, 5), numbers((2,), (1,), (1,), 2, (0,), (0,))),
    ("a batch of one", X[:1], make_indices(RANDOM, 1, 6, 1), (1, 6, 5), numbers((2,), (1,), (1,), 2, (0,), (0,))),
    ("a batch alone", X, make_indices(RANDOM, 3, 2, 0), (3, 2, 4, 5), numbers((2, 3), (), (), 2, (0,), (0,))),
    ("all out of range", X, np.full((3, 1), 9), (3, 4, 5), numbers((1, 2), (0,), (0,), 1)),
)
FUNCTIONS = {name: getattr(np, name) for name in ("add", "multiply", "maximum", "minimum", "subtract")}
#: Which operands are known: none, the indices, all.
KNOWN = [(), (1,), (0, 1, 2)]


def check_scatter(
    operands: list[Array], wanted: Any, where: ScatterDimensionNumbers, *operations: str, element: str = "f32", known: Any = KNOWN
) -> None:
    check("scatter", operands, wanted, {"scatter_dimension_numbers": where}, [body(element, *operations)], known=known)


@pytest.mark.parametrize(("x", "indices", "shape", "where"), [row[1:] for row in SCATTERS], ids=[row[0] for row in SCATTERS])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_scatter(x: Array, indices: Array, shape: Axes, where: ScatterDimensionNumbers, name: str) -> None:
    # Small integers, so that all orders of additions and multiplications have one result.
    updates = RANDOM.integers(1, 3, shape).astype(np.float32)
    check_scatter([x, indices, updates], scatter(x, indices, updates, where, FUNCTIONS[name]), where, name)


@pytest.mark.parametrize(("x", "indices", "shape", "where"), [row[1:] for row in SCATTERS], ids=[row[0] for row in SCATTERS])
def test_replacement(x: Array, indices: Array, shape: Axes, where: ScatterDimensionNumbers) -> None:
    """Of several updates for one place, any may count; here they are equal."""
    updates = np.full(shape, -1, np.float32)
    check_scatter([x, indices, updates], scatter(x, indices, updates, where, lambda _, update: update), where)


ROWS, PLACES = numbers((1,), (0,), (0,), 1), numbers((), (0,), (0,), 1)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64, np.float16, np.float32, np.bool_])
@pytest.mark.parametrize("count", [5, 40])
def test_sums_of_each_type(dtype: Any, count: int) -> None:
    """Few updates are done one after the other, many are combined before."""
    element = type_of(np.zeros(0, dtype)).element
    assert isinstance(element, str)
    x = RANDOM.integers(0, 2, (6, 2)).astype(dtype)
    indices, updates = RANDOM.integers(0, 5, (count, 1)), RANDOM.integers(0, 2, (count, 2)).astype(dtype)
    check_scatter([x, indices, updates], scatter(x, indices, updates, ROWS, np.add), ROWS, "add", element=element)


def test_infinite_updates_stay_in_their_rows() -> None:
    x = np.zeros((4, 1), np.float32)
    indices = np.array([[0], [1], [1], [2], [0], [0], [0], [0], [0], [0]])
    updates = np.array([1, np.inf, 1, np.nan, 1, 1, 1, 1, 1, 1], np.float32).reshape(10, 1)
    wanted = np.array([[7], [np.inf], [np.nan], [0]], np.float32)
    check_scatter([x, indices, updates], wanted, ROWS, "add")


def test_many_sums() -> None:
    """More than 4096 updates are put in order to find those for one place."""
    x, indices = np.zeros(300, np.float32), RANDOM.integers(-1, 301, (5000, 1))
    updates = RANDOM.integers(-4, 5, 5000).astype(np.float32)
    check_scatter([x, indices, updates], scatter(x, indices, updates, PLACES, np.add), PLACES, "add", known=None)


@pytest.mark.parametrize("count", [9, 16, 33, 4096, 4097])
def test_many_sums_of_one_row(count: int) -> None:
    """Each step of the combination doubles how many updates of a row are summed: one step less leaves the last ones out."""
    x, indices = np.full(3, 0.5, np.float32), np.ones((count, 1), np.int32)
    updates = RANDOM.integers(1, 5, count).astype(np.float32)
    wanted = np.array([0.5, 0.5 + updates.sum(), 0.5], np.float32)
    check_scatter([x, indices, updates], wanted, PLACES, "add", known=[(), (1,)])


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
    """A region that is not a single operation may update many places, if they differ."""
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
    check_scatter([x, np.zeros((0, 1), np.int32), np.zeros(0, np.float32)], x, PLACES, "add", known=None)


def test_a_replacement_is_one_scatter() -> None:
    operands = [np.zeros((9, 3), np.float32), np.zeros((4, 1), np.int32), np.zeros((4, 3), np.float32)]
    module = program("scatter", operands, [type_of(operands[0])], {"scatter_dimension_numbers": ROWS}, [body("f32")])
    assert operators(module, {"arg1": operands[1]}) == ["scatterND"]
    assert operators(module).count("scatterND") == 1
    assert not {"gather", "reduceSum"} & {*operators(module)}


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
    written, updates = numbers((), (0, 1), (0, 1), 1), -np.arange(4, dtype=np.float32)
    check_scatter([x, indices, updates], scatter(x, indices, updates, written, lambda _, update: update), written, known=None)


# Refusals.


@pytest.mark.parametrize(
    ("window", "shape", "reason"),
    [
        ((1, 2), (5, 4, 5), "the updates must have the shape [6, 4, 5], got [5, 4, 5]"),
        ((1, 2), (6, 4, 6), "a size that fits for each of [3, 4, 5], got [1, 4, 6]"),
        ((1, 5), (6, 4, 5), "update_window_dims must be a dimension of 3, counted from 0, got 5"),
        ((1,), (6, 4, 5), "one for each of [3, 4, 5] that is not dropped, got [1]"),
    ],
)
def test_refused_scatters(window: Axes, shape: Axes, reason: str) -> None:
    attributes: Mapping[str, Any] = {"scatter_dimension_numbers": numbers(window, (0,), (0,), 1)}
    operands = [X, np.zeros((6, 1), np.int32), np.zeros(shape, np.float32)]
    for known in ((), (0, 1, 2)):
        assert reason in refusal("scatter", operands, [type_of(X)], attributes, [body("f32", "add")], known=known)
