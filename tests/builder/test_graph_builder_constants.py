"""The memory of constants."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from tests.support import make_context
from webnn import MLGraphBuilder, MLOperand

#: From what has memory of its own to what shares it, around each limit.
SIZES = [1, 3, 1023, 1024, 1025, 4096, 100_003, 2**20 - 1, 2**20, 2**20 + 1]


def constant(builder: MLGraphBuilder, array: np.ndarray[Any, Any]) -> MLOperand:
    return builder.constant({"dataType": array.dtype.name, "dimensions": list(array.shape)}, array)  # type: ignore[typeddict-item]


def value(operand: MLOperand) -> np.ndarray[Any, Any]:
    assert operand._value is not None
    return operand._value


def test_constants_of_all_sizes_keep_their_values() -> None:
    builder = MLGraphBuilder(make_context())
    arrays = [np.random.default_rng(seed).integers(-9, 9, size, np.int32) for seed, size in enumerate(SIZES * 4)]
    operands = [constant(builder, array) for array in arrays]
    kept = [array.copy() for array in arrays]
    for array in arrays:
        array[:] = 7
    for operand, expected in zip(operands, kept, strict=True):
        np.testing.assert_array_equal(value(operand), expected)
        assert value(operand).flags.c_contiguous
        assert value(operand).flags.aligned


def test_memory_outlives_the_builder_and_the_other_constants() -> None:
    builder = MLGraphBuilder(make_context())
    operands = [constant(builder, np.full(2000, number, np.float32)) for number in range(30)]
    last = value(operands[7])
    del builder, operands
    np.testing.assert_array_equal(last, np.full(2000, 7, np.float32))


def test_views_of_any_shape_and_stride_are_copied_in_row_major_order() -> None:
    builder = MLGraphBuilder(make_context())
    array = np.arange(60 * 80, dtype=np.float32).reshape(60, 80)
    np.testing.assert_array_equal(value(constant(builder, array.T)), array.T)
    np.testing.assert_array_equal(value(constant(builder, array[::-1, ::2])), array[::-1, ::2])
    flat = builder.constant({"dataType": "float32", "dimensions": [80, 60]}, array)
    np.testing.assert_array_equal(value(flat), array.reshape(80, 60))


def test_threads_do_not_share_memory() -> None:
    builder = MLGraphBuilder(make_context())
    operands: dict[int, list[MLOperand]] = {}

    def fill(number: int) -> None:
        operands[number] = [constant(builder, np.full(5000 + number, number, np.int64)) for _ in range(200)]

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(fill, range(4)))
    for number, made in operands.items():
        assert len(made) == 200
        assert all((value(operand) == number).all() for operand in made)
