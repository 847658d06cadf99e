"""Gathering, compared with the words of the specification."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from tests.webnn.stablehlo.places import X, gather, make_indices
from tests.webnn.stablehlo.programs import Array, check, compute, operators, program, refusal
from webnn.hlo.attributes import GatherDimensionNumbers
from webnn.hlo.types import TensorType

RANDOM = np.random.default_rng(5)
Axes = tuple[int, ...]


def numbers(
    offset: Axes = (), collapsed: Axes = (), mapped: Axes = (), vector: int = 0, batching: Axes = (), batches: Axes = ()
) -> GatherDimensionNumbers:
    return GatherDimensionNumbers(
        offset_dims=offset, collapsed_slice_dims=collapsed, start_index_map=mapped, index_vector_dim=vector,
        operand_batching_dims=batching, start_indices_batching_dims=batches,
    )  # fmt: skip


GATHERS: tuple[tuple[str, Array, Array, GatherDimensionNumbers, Axes], ...] = (
    ("rows", X, make_indices(RANDOM, 6, 1), numbers((1, 2), (0,), (0,), 1), (1, 4, 5)),
    ("numbers as vectors", X, make_indices(RANDOM, 6), numbers((0, 2), (1,), (1,), 1), (3, 1, 5)),
    ("one row", X, make_indices(RANDOM, 1), numbers((0, 1), (0,), (0,)), (1, 4, 5)),
    ("columns", X, make_indices(RANDOM, 2, 3, 1), numbers((1, 2), (2,), (2,), 2), (3, 4, 1)),
    ("elements", X, make_indices(RANDOM, 7, 3), numbers((), (0, 1, 2), (2, 0, 1), 1), (1, 1, 1)),
    ("two dimensions apart", X, make_indices(RANDOM, 2, 7), numbers((1,), (0, 2), (0, 2)), (1, 4, 1)),
    ("windows", X, make_indices(RANDOM, 4, 2), numbers((0, 2), (0,), (0, 1), 1), (1, 3, 5)),
    ("windows that are kept", X, make_indices(RANDOM, 4, 3), numbers((1, 2, 3), (), (0, 1, 2), 1), (2, 3, 4)),
    ("a window of one", X, make_indices(RANDOM, 4, 1), numbers((1, 2, 3), (), (1,), 1), (3, 1, 5)),
    ("parts of dimensions", X, make_indices(RANDOM, 4, 1), numbers((1, 2), (1,), (1,), 1), (2, 1, 3)),
    ("whole windows", X, make_indices(RANDOM, 4, 2), numbers((0, 2, 3), (), (0, 2), 1), (3, 4, 5)),
    ("a batch", X, make_indices(RANDOM, 3, 6, 1), numbers((2,), (1,), (1,), 2, (0,), (0,)), (1, 1, 5)),
    ("two batches, in another order", X, make_indices(RANDOM, 5, 2, 3), numbers((), (1,), (1,), 3, (0, 2), (2, 0)), (1, 1, 1)),
    ("a batch of one", X[:1], make_indices(RANDOM, 1, 6, 1), numbers((2,), (1,), (1,), 2, (0,), (0,)), (1, 1, 5)),
    ("a batch of windows", X, make_indices(RANDOM, 1, 4), numbers((0, 2), (), (2,), 0, (1,), (1,)), (2, 1, 2)),
    ("a batch alone", X, make_indices(RANDOM, 3, 2, 0), numbers((1, 3), (), (), 2, (0,), (0,)), (1, 4, 5)),
    ("dimensions of size 1", X[:1, :, :1], make_indices(RANDOM, 6, 2), numbers((1,), (0, 1), (0, 1), 1), (1, 1, 1)),
)


@pytest.mark.parametrize(("x", "indices", "where", "sizes"), [row[1:] for row in GATHERS], ids=[row[0] for row in GATHERS])
def test_gather(x: Array, indices: Array, where: GatherDimensionNumbers, sizes: Axes) -> None:
    wanted = gather(x, indices, where, sizes)
    check("gather", [x, indices], wanted, {"dimension_numbers": where, "slice_sizes": sizes}, known=[(), (1,), (0, 1)])
    unknown = TensorType(shape=(None,) * wanted.ndim, element="f32")
    attributes: Mapping[str, Any] = {"dimension_numbers": where}
    check("dynamic_gather", [x, indices, np.array(sizes)], wanted, attributes, known=[(2,), (0, 1, 2)], types=[unknown])


def test_an_embedding_is_one_gather() -> None:
    numbers = GatherDimensionNumbers(offset_dims=(2,), collapsed_slice_dims=(0,), start_index_map=(0,), index_vector_dim=2)
    table, tokens = np.zeros((100, 8), np.float32), np.zeros((2, 7, 1), np.int32)
    attributes: Mapping[str, Any] = {"dimension_numbers": numbers, "slice_sizes": (1, 8)}
    module = program("gather", [table, tokens], [TensorType(shape=(2, 7, 8), element="f32")], attributes)
    assert operators(module) == ["reshape", "max", "gather"]
    assert operators(module, {"arg1": tokens}) == ["gather"]


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
