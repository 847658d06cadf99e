"""The values of gather: exact, bit for bit, whatever the indices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.builder.test_movement import assert_same, values
from tests.reference import REFERENCE
from tests.support import Array, make_context, run
from webnn import MLGraphBuilder
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


@pytest.mark.parametrize("constants", [False, True])
@pytest.mark.parametrize("index_type", INDEX_TYPES)
@pytest.mark.parametrize("dtype", DATA_TYPES)
def test_values(dtype: str, index_type: str, *, constants: bool) -> None:
    for shape, index_shape, axis in SHAPES:
        input, wanted = values(dtype, *shape), indices(index_type, *index_shape)
        assert_same(run("gather", input, wanted, constants=constants, axis=axis), REFERENCE["gather"](input, wanted, axis=axis))


@pytest.mark.parametrize("index_type", INDEX_TYPES)
def test_every_index_alone(index_type: str) -> None:
    for index in indices(index_type, 20):
        for size in (1, 3):
            input, wanted = values("float32", size, 2), np.array(index)
            assert_same(run("gather", input, wanted), REFERENCE["gather"](input, wanted))


@pytest.mark.parametrize("wanted", [[0, 2, 1], [-3, -1, 0], [3, -4, 100]])
@pytest.mark.parametrize("index_type", INDEX_TYPES)
def test_constant_indices(index_type: str, wanted: list[int]) -> None:
    """Indices that are known when the graph is built, in range and not."""
    array = np.array(wanted, np.int64).astype(index_type)
    input = values("float32", 3, 2)
    context = make_context()
    builder = MLGraphBuilder(context)
    descriptor: Any = {"dataType": index_type, "dimensions": [3]}
    operand = builder.gather(builder.input("x", {"dataType": "float32", "dimensions": [3, 2]}), builder.constant(descriptor, array))
    graph = builder.buildSync({"y": operand})
    result = context.computeSync(graph, {"x": input}, {"y": np.zeros((3, 2), np.float32)})
    assert_same([result["outputs"]["y"]], REFERENCE["gather"](input, array))
