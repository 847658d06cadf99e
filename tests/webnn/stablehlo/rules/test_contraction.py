"""Products of matrices and of tensors: inputs and known elements."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from tests.webnn.stablehlo.programs import check, element_of, operators, program, refusal
from webnn.hlo.attributes import DotDimensionNumbers
from webnn.hlo.types import TensorType

RANDOM = np.random.default_rng(2)


def numbers(batch: Any = ((), ()), summed: Any = ((), ())) -> dict[str, Any]:
    return {
        "dot_dimension_numbers": DotDimensionNumbers(
            lhs_batching_dimensions=batch[0],
            rhs_batching_dimensions=batch[1],
            lhs_contracting_dimensions=summed[0],
            rhs_contracting_dimensions=summed[1],
        )
    }


#: Shapes, batch and summed dimensions, the same for einsum, and the operators.
PRODUCTS: tuple[tuple[tuple[int, ...], tuple[int, ...], Any, Any, str, list[str]], ...] = (
    ((3, 4), (4, 5), ((), ()), ((1,), (0,)), "ij,jk->ik", ["matmul"]),
    ((4, 3), (4, 5), ((), ()), ((0,), (0,)), "ji,jk->ik", ["gemm"]),
    ((3, 4), (5, 4), ((), ()), ((1,), (1,)), "ij,kj->ik", ["gemm"]),
    ((4, 3), (5, 4), ((), ()), ((0,), (1,)), "ji,kj->ik", ["gemm"]),
    ((2, 3, 4), (4, 5), ((), ()), ((2,), (0,)), "aij,jk->aik", ["matmul"]),
    ((2, 3, 4), (5, 4), ((), ()), ((2,), (1,)), "aij,kj->aik", ["reshape", "gemm", "reshape"]),
    ((2, 3, 4), (3, 4, 5), ((), ()), ((1, 2), (0, 1)), "aij,ijk->ak", ["reshape", "reshape", "matmul"]),
    ((2, 4, 3), (3, 4, 5), ((), ()), ((2, 1), (0, 1)), "aji,ijk->ak", ["transpose", "reshape", "reshape", "matmul"]),
    ((6, 2, 3, 4), (6, 2, 4, 3), ((0, 1), (0, 1)), ((3,), (2,)), "abij,abjk->abik", ["matmul"]),
    ((2, 3, 6, 4), (2, 5, 6, 4), ((0, 2), (0, 2)), ((3,), (3,)), "aibj,akbj->abik", ["transpose", "transpose", "matmul"]),
    ((2, 3), (2, 3), ((0,), (0,)), ((1,), (1,)), "ij,ij->i", ["reshape", "reshape", "matmul", "reshape"]),
    ((4,), (4,), ((), ()), ((0,), (0,)), "i,i->", ["reshape", "reshape", "matmul", "reshape"]),
    ((3,), (4,), ((), ()), ((), ()), "i,j->ij", ["reshape", "mul"]),
    ((2, 3), (2, 4), ((0,), (0,)), ((), ()), "ai,aj->aij", ["reshape", "reshape", "mul"]),
    ((2, 3), (3, 2), ((0, 1), (1, 0)), ((), ()), "ij,ji->ij", ["transpose", "mul"]),
)


@pytest.mark.parametrize(("one", "other", "batch", "summed", "einsum", "wanted"), PRODUCTS, ids=[row[4] for row in PRODUCTS])
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_products(dtype: Any, one: Any, other: Any, batch: Any, summed: Any, einsum: str, wanted: list[str]) -> None:
    arrays = [RANDOM.integers(-9, 9, shape).astype(dtype) for shape in (one, other)]
    result = np.asarray(np.einsum(einsum, *arrays)).astype(dtype)
    check("dot_general", arrays, result, numbers(batch, summed), tolerance=1e-6, known=[(), (0,), (1,), (0, 1)])
    if dtype == np.float32:
        types = [TensorType(shape=result.shape, element="f32")]
        module = program("dot_general", arrays, types, numbers(batch, summed))
        assert sorted(operators(module)) == sorted(wanted)


@pytest.mark.parametrize(
    ("one", "other", "result"),
    [
        (np.int8, np.int8, np.int32),
        (np.int8, np.int8, np.int8),
        (np.uint8, np.uint8, np.uint32),
        (np.uint8, np.uint8, np.int64),
        (np.int32, np.int32, np.int32),
        (np.int64, np.int64, np.int64),
        (np.uint64, np.uint64, np.uint64),
        (np.uint32, np.uint32, np.uint32),
        (np.float16, np.float16, np.float32),
        (np.int8, np.int8, np.float32),
        (np.float16, np.float16, np.float16),
    ],
)
def test_types(one: Any, other: Any, result: Any) -> None:
    limits = [np.iinfo(each) if np.dtype(each).kind in "iu" else np.iinfo(np.int8) for each in (one, other)]
    shapes = ((2, 3, 300), (2, 300, 4))
    first, second = (
        RANDOM.integers(each.min, each.max, shape, endpoint=True, dtype=each.dtype) for each, shape in zip(limits, shapes, strict=True)
    )
    first, second = first.astype(one), second.astype(other)
    is_float = np.dtype(result).kind == "f"
    if is_float:
        # Nothing cancels.
        first, second = np.abs(first) // one(2), np.abs(second) // other(64)
    wide = np.float64 if is_float else np.int64
    wanted = (first.astype(wide) @ second.astype(wide)).astype(result)
    tolerance = 1e-3 if result == np.float16 else 1e-6 if is_float else 0.0
    check("dot_general", [first, second], wanted, numbers(((0,), (0,)), ((2,), (1,))), tolerance=tolerance)


def test_booleans() -> None:
    first, second = RANDOM.integers(0, 5, (3, 4)) == 0, RANDOM.integers(0, 3, (4, 5)) == 0
    check("dot_general", [first, second], first @ second, numbers(summed=((1,), (0,))))


def test_long_sums_of_small_integers() -> None:
    """One float32 sum of all these products would not be exact."""
    first, second = np.full((2, 5000), -128, np.int8), np.full((5000, 3), -128, np.int8)
    first[0, 7] = 1
    wanted = first.astype(np.int32) @ second.astype(np.int32)
    check("dot_general", [first, second], wanted, numbers(summed=((1,), (0,))), known=[()])


def test_nothing_to_add() -> None:
    empty = np.zeros((2, 0), np.float32), np.zeros((0, 3), np.float32)
    check("dot_general", list(empty), np.zeros((2, 3), np.float32), numbers(summed=((1,), (0,))))


@pytest.mark.parametrize(("one", "other"), [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4))])
def test_dot(one: tuple[int, ...], other: tuple[int, ...]) -> None:
    first, second = (RANDOM.integers(-9, 9, shape).astype(np.float32) for shape in (one, other))
    check("dot", [first, second], np.asarray(first @ second))


@pytest.mark.parametrize(
    ("one", "other", "attributes", "result", "message"),
    [
        ((2, 3), (4, 5), numbers(summed=((1,), (0,))), (2, 5), r"the contracting dimensions must have equal sizes, got \[3\] and \[4\]"),
        ((2, 3), (4, 5), numbers(batch=((0,), (0,))), (2, 5), r"the batching dimensions must have equal sizes, got \[2\] and \[4\]"),
        ((2, 3), (3, 5), numbers(summed=((2,), (0,))), (2, 5), "the dimension numbers must name each dimension from 0 to 1"),
        ((2, 3), (3, 5), numbers(summed=((-1,), (0,))), (2, 5), "the dimension numbers must name each dimension from 0 to 1"),
        ((3, 3), (3, 3), numbers(batch=((0,), (0,)), summed=((0,), (0,))), (3,), "the dimension numbers must name"),
        ((2, 3), (3, 5), numbers(summed=((1,), (0,))), (5, 2), r"the results must have the shape \[2, 5\], got \[5, 2\]"),
        ((2, 3), (3, 5), {}, (5, 2), "the attribute dot_dimension_numbers must be given"),
    ],
)
def test_refusals(one: Any, other: Any, attributes: dict[str, Any], result: tuple[int, ...], message: str) -> None:
    arrays = [np.zeros(one, np.float32), np.zeros(other, np.float32)]
    assert re.search(message, refusal("dot_general", arrays, [TensorType(shape=result, element="f32")], attributes))


def test_refusals_of_dot() -> None:
    arrays = [np.zeros((2, 3, 4), np.float32), np.zeros(4, np.float32)]
    assert "the operands must be vectors or matrices" in refusal("dot", arrays, [TensorType(shape=(2, 3), element=element_of(arrays[0]))])
