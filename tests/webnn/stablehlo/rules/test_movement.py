"""Operations that move elements, with operands that are inputs, and known ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from tests.webnn.stablehlo.programs import Array, check, operators, program, refusal, type_of
from webnn.hlo import Function, Module, RegionBuilder
from webnn.hlo.types import TensorType

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
NUMBER = np.float32(7)

ATTRIBUTED: tuple[tuple[str, list[Any], Any, dict[str, Any]], ...] = (
    ("reshape", [X], X.reshape(6, 4), {}),
    ("reshape", [NUMBER], NUMBER.reshape(1, 1), {}),
    ("transpose", [X], X.transpose(2, 0, 1), {"permutation": (2, 0, 1)}),
    ("broadcast_in_dim", [X[:, 0]], np.broadcast_to(X[:, 0].T[:, None], (4, 3, 2)), {"broadcast_dimensions": (2, 0)}),
    ("broadcast_in_dim", [NUMBER], np.full((2, 3), NUMBER), {"broadcast_dimensions": ()}),
    ("slice", [X], X[1:2, 0:3:2, 1:4], {"start_indices": (1, 0, 1), "limit_indices": (2, 3, 4), "strides": (1, 2, 1)}),
    ("slice", [X], X[:, 1:3:5, 3:4], {"start_indices": (0, 1, 3), "limit_indices": (2, 3, 4), "strides": (1, 5, 9)}),
    ("slice", [X], X, {"start_indices": (0, 0, 0), "limit_indices": (2, 3, 4), "strides": (1, 1, 1)}),
    ("slice", [NUMBER], NUMBER, {"start_indices": (), "limit_indices": (), "strides": ()}),
    ("concatenate", [X, X[:, :1], X], np.concatenate([X, X[:, :1], X], 1), {"dimension": 1}),
    ("concatenate", [X], X, {"dimension": 2}),
    ("concatenate", [X[:, :0], X, X[:, 2:2]], X, {"dimension": 1}),
    ("reverse", [X], X[::-1, :, ::-1], {"dimensions": (2, 0)}),
    ("reverse", [X], X, {"dimensions": ()}),
    ("reverse", [X[:, :1]], X[:, :1], {"dimensions": (1,)}),
    ("reverse", [X > 3], X[::-1] > 3, {"dimensions": (0,)}),
)


@pytest.mark.parametrize(("name", "operands", "wanted", "attributes"), ATTRIBUTED, ids=[f"{row[0]}-{row[3]}" for row in ATTRIBUTED])
def test_movement(name: str, operands: list[Any], wanted: Any, attributes: Mapping[str, Any]) -> None:
    check(name, operands, wanted, attributes)


# Padding.


def _pad(array: Array, number: Any, low: tuple[int, ...], high: tuple[int, ...], interior: tuple[int, ...]) -> Array:
    """Pad an array, element by element."""
    shape = [n + max(n - 1, 0) * k + a + b for n, a, b, k in zip(array.shape, low, high, interior, strict=True)]
    result = np.full(shape, number, array.dtype)
    for index in np.ndindex(*array.shape):
        place = tuple(a + i * (k + 1) for i, a, k in zip(index, low, interior, strict=True))
        if all(0 <= p < n for p, n in zip(place, shape, strict=True)):
            result[place] = array[index]
    return result


@pytest.mark.parametrize(
    ("low", "high", "interior"),
    [
        ((1, 0), (2, 3), (0, 0)),
        ((0, 0), (0, 0), (1, 2)),
        ((-1, 1), (1, -2), (0, 0)),
        ((1, -2), (-1, 1), (2, 1)),
        ((0, 2), (0, -1), (0, 3)),
        ((0, -5), (0, 9), (0, 0)),
        ((0, 9), (0, -7), (0, 1)),
        ((0, -1), (0, -1), (0, 2)),
        ((-2, -3), (0, 0), (1, 1)),
        ((0, 0), (0, 0), (0, 0)),
    ],
)
@pytest.mark.parametrize("number", [np.float32(-7), np.float32(-np.inf)])
def test_pad(low: tuple[int, ...], high: tuple[int, ...], interior: tuple[int, ...], number: Any) -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    attributes = {"edge_padding_low": low, "edge_padding_high": high, "interior_padding": interior}
    check("pad", [x, number], _pad(x, number, low, high, interior), attributes, known=[(), (1,), (0,), (0, 1)])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64, np.float16, np.bool_])
def test_pad_of_each_type(dtype: Any) -> None:
    x = np.array([1, 0, 1]).astype(dtype)
    number = np.asarray(np.iinfo(dtype).max if np.issubdtype(dtype, np.integer) else 1).astype(dtype)[()]
    attributes = {"edge_padding_low": (1,), "edge_padding_high": (-1,), "interior_padding": (1,)}
    check("pad", [x, number], _pad(x, number, (1,), (-1,), (1,)), attributes, known=[(), (1,), (0, 1)])


def test_pad_of_no_elements() -> None:
    attributes = {"edge_padding_low": (1,), "edge_padding_high": (2,), "interior_padding": (4,)}
    check("pad", [np.zeros(0, np.float32), NUMBER], np.full(3, 7, np.float32), attributes)


# Slices that start where an operand says.

STARTS = [(0, 0, 0), (1, 1, 1), (-1, 5, 2), (2, -9, 100), (127, -128, 3)]


@pytest.mark.parametrize("starts", STARTS)
@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint8, np.uint32, np.uint64])
def test_dynamic_slice(starts: tuple[int, ...], dtype: Any) -> None:
    operands = [X, *(np.asarray(start).astype(dtype)[()] for start in starts)]
    places = [min(max(int(each), 0), limit) for each, limit in zip(operands[1:], (1, 1, 1), strict=True)]
    wanted = X[places[0] : places[0] + 1, places[1] : places[1] + 2, places[2] : places[2] + 3]
    check("dynamic_slice", operands, wanted, {"slice_sizes": (1, 2, 3)}, known=[(), (1,), (2, 3), (1, 2, 3), (0, 1, 2, 3)])


@pytest.mark.parametrize("starts", STARTS)
@pytest.mark.parametrize("shape", [(1, 2, 3), (1, 1, 1), (2, 3, 1), (2, 3, 2), (2, 3, 4)])
def test_dynamic_update_slice(starts: tuple[int, ...], shape: tuple[int, ...]) -> None:
    update = -1 - np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    places = [min(max(start, 0), n - size) for start, n, size in zip(starts, X.shape, shape, strict=True)]
    wanted = X.copy()
    wanted[tuple([slice(place, place + size) for place, size in zip(places, shape, strict=True)])] = update
    operands = [X, update, *(np.int64(start) for start in starts)]
    check("dynamic_update_slice", operands, wanted, known=[(), (2,), (3, 4), (2, 3, 4), (0, 2, 4), (0, 1, 2, 3, 4)])


def test_starts_out_of_range() -> None:
    """They are clamped in their own type: int32 could not hold them."""
    x = np.arange(5, dtype=np.float32)
    for start, wanted in (
        (np.int64(2**32 + 1), x[3:]),
        (np.int64(-(2**63)), x[:2]),
        (np.uint32(2**32 - 1), x[3:]),
        (np.uint64(2**63), x[3:]),
    ):
        check("dynamic_slice", [x, start], wanted, {"slice_sizes": (2,)})


def test_an_update_without_elements() -> None:
    check("dynamic_update_slice", [X, X[:, :0], *[np.int32(1)] * 3], X)


def test_a_slice_without_elements() -> None:
    main = RegionBuilder([type_of(X), TensorType(shape=(), element="i32")])
    x, start = main.arguments
    (empty,) = main.append(
        "stablehlo.dynamic_slice", [x, start, start, start], [TensorType(shape=(2, 0, 4), element="f32")], {"slice_sizes": (2, 0, 4)}
    )
    (joined,) = main.append("stablehlo.concatenate", [empty, x], [type_of(X)], {"dimension": 1})
    main.append("func.return", [joined])
    assert operators(Module(functions=(Function(name="main", body=main.build()),))) == ["identity"]


# Graphs.


def test_graphs_are_small() -> None:
    """One operation where WebNN has one."""
    index = np.int32(1)
    rows = program("dynamic_slice", [X, index, index, index], [type_of(X[:1])], {"slice_sizes": (1, 3, 4)})
    assert operators(rows) == ["max", "min", "reshape", "gather"]
    assert operators(rows, {"arg1": index}) == ["slice"]
    row = program("dynamic_update_slice", [X, X[:1], index, index, index], [type_of(X)])
    assert operators(row) == ["max", "min", "equal", "reshape", "where"]
    assert operators(row, {"arg2": np.int32(0)}) == ["concat", "slice"][::-1]
    attributes = {"edge_padding_low": (0, 1, 1), "edge_padding_high": (0, 1, 1), "interior_padding": (0, 0, 0)}
    padded = program("pad", [X, NUMBER], [TensorType(shape=(2, 5, 6), element="f32")], attributes)
    assert operators(padded, {"arg1": NUMBER}) == ["pad"]


# Refusals.

HOSTILE: tuple[tuple[str, list[Any], tuple[int, ...], dict[str, Any], str], ...] = (
    ("reshape", [X], (5,), {}, "24 elements of [2, 3, 4], got [5]"),
    ("transpose", [X], (2, 3, 4), {"permutation": (0, 1)}, "permutation must be one number for each of 3 dimensions, got [0, 1]"),
    ("transpose", [X], (2, 3, 4), {"permutation": (0, 1, 3)}, "permutation must be a dimension of 3, counted from 0, got 3"),
    ("transpose", [X], (2, 3, 4), {"permutation": (0, 1, 1)}, "permutation must name each dimension once, got [0, 1, 1]"),
    ("transpose", [X], (2, 3, 4), {"permutation": (2, 1, 0)}, "the result must have the shape [4, 3, 2], got tensor<2x3x4xf32>"),
    ("broadcast_in_dim", [X], (2, 3, 5), {"broadcast_dimensions": (0, 1, 2)}, "[2, 3, 4] must broadcast to the dimensions [0, 1, 2]"),
    ("broadcast_in_dim", [X], (2, 3, 4), {"broadcast_dimensions": (0, 1, -1)}, "must be a dimension of 3, counted from 0, got -1"),
    ("slice", [X], (1, 3, 4), {"start_indices": (-1, 0, 0), "limit_indices": (0, 3, 4), "strides": (1, 1, 1)}, "must lie in it"),
    ("slice", [X], (2, 3, 4), {"start_indices": (0, 0, 0), "limit_indices": (2, 3, 4), "strides": (0, 1, 1)}, "strides of at least 1"),
    ("concatenate", [X, X[:1]], (2, 6, 4), {"dimension": 1}, "equal but for dimension 1, got [2, 3, 4] and [1, 3, 4]"),
    ("concatenate", [X, X], (4, 3, 4), {"dimension": -3}, "dimension must be a dimension of 3, counted from 0, got -3"),
    ("reverse", [X], (2, 3, 4), {"dimensions": (0, 3)}, "dimensions must be a dimension of 3, counted from 0, got 3"),
    (
        "pad",
        [X, NUMBER],
        (2, 3, 4),
        {"edge_padding_low": (0, 0, 0), "edge_padding_high": (0, 0, -5), "interior_padding": (0, 0, 0)},
        "must be 0 or greater, got [2, 3, -1]",
    ),
    (
        "pad",
        [X, NUMBER],
        (2, 3, 4),
        {"edge_padding_low": (0, 0, 0), "edge_padding_high": (0, 0, 0), "interior_padding": (0, 1 << 62, 0)},
        "the result must have the shape",
    ),
    ("dynamic_slice", [X, np.int32(0)], (1, 3, 4), {"slice_sizes": (1, 3, 4)}, "there must be a scalar start and a size"),
    ("dynamic_slice", [X, *[np.int32(0)] * 3], (2, 3, 5), {"slice_sizes": (2, 3, 5)}, "a slice must fit into [2, 3, 4], got [2, 3, 5]"),
    (
        "dynamic_update_slice",
        [X, np.zeros((3, 3, 4), np.float32), *[np.int32(0)] * 3],
        (2, 3, 4),
        {},
        "a slice must fit into [2, 3, 4], got [3, 3, 4]",
    ),
)


@pytest.mark.parametrize(("name", "operands", "shape", "attributes", "reason"), HOSTILE, ids=[f"{row[0]}-{row[4]}" for row in HOSTILE])
def test_refusals(name: str, operands: list[Any], shape: tuple[int, ...], attributes: dict[str, Any], reason: str) -> None:
    result = [TensorType(shape=shape, element="f32")]
    for known in ((), range(len(operands))):
        assert reason in refusal(name, operands, result, attributes, known=known)
