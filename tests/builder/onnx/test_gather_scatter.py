"""The values of gather: exact, bit for bit, whatever the indices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.builder.onnx.test_movement import assert_same, compare, values
from tests.support import Array, Case, check_cases, each_row, shared_context
from webnn import MLGraphBuilder
from webnn.reference.operations import REFERENCE
from webnn.validation.descriptor import DATA_TYPES

INDEX_TYPES = ("int32", "uint32", "int64")

#: Input's shape, indices' shape, axis.
SHAPES: list[tuple[tuple[int, ...], tuple[int, ...], int]] = [
    ((3,), (), 0),
    ((1,), (4,), 0),
    ((3, 4), (), 1),
    ((3, 4), (2, 3), 0),
    ((2, 3, 4), (2, 1, 2), 1),
    ((1, 1, 1, 1, 1, 1, 2, 3), (7,), 7),
    ((2,), (1, 2, 1, 2, 1, 2, 1, 2), 0),
]


def indices(dtype: str, *shape: int) -> Array:
    """Indices inside and outside of every axis of the table, the ends of their type included."""
    info = np.iinfo(dtype)
    numbers = [info.max, 0, info.min, 1, 2, 3, 4, 5, *(() if dtype == "uint32" else (-1, -2, -3, -4, -5)), info.max - 1, info.min + 1]
    return np.resize(np.array(numbers, dtype), shape)


@pytest.mark.parametrize("index_type", INDEX_TYPES)
@pytest.mark.parametrize("dtype", DATA_TYPES)
def test_values(dtype: str, index_type: str) -> None:
    cases = [Case("gather", values(dtype, *shape), indices(index_type, *index_shape), axis=axis) for shape, index_shape, axis in SHAPES]
    check_cases(cases, compare)


@pytest.mark.parametrize("index_type", INDEX_TYPES)
def test_every_index_alone(index_type: str) -> None:
    cases = [Case("gather", values("float32", size, 2), np.array(index)) for index in indices(index_type, 20) for size in (1, 3)]
    check_cases(cases, compare, constants=[False])


@each_row("wanted", [[0, 2, 1], [-3, -1, 0], [3, -4, 100]])
@each_row("index_type", INDEX_TYPES)
def test_constant_indices(index_type: str, wanted: list[int]) -> None:
    """Indices that are known when the graph is built, in range and not."""
    array = np.array(wanted, np.int64).astype(index_type)
    input = values("float32", 3, 2)
    context = shared_context("2024-06")
    builder = MLGraphBuilder(context)
    descriptor: Any = {"dataType": index_type, "dimensions": [3]}
    operand = builder.gather(builder.input("x", {"dataType": "float32", "dimensions": [3, 2]}), builder.constant(descriptor, array))
    graph = builder.buildSync({"y": operand})
    result = context.computeSync(graph, {"x": input}, {"y": np.zeros((3, 2), np.float32)})
    assert_same([result["outputs"]["y"]], REFERENCE["gather"](input, array))
