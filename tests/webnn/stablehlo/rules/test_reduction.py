"""Reductions of inputs and of known elements."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.webnn.stablehlo.programs import Array, body, check, element_of, operators, program, refusal, type_of
from webnn.hlo import RegionBuilder
from webnn.hlo.ir import Region
from webnn.hlo.types import TensorType
from webnn.stablehlo.regions import find_position

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((3, 4, 5)).astype(np.float32)
INTEGERS = RANDOM.integers(-100, 100, (4, 6))
ROWS = np.array([[1, np.nan, 3], [-np.inf, 5, np.inf]], np.float32)


def affine(element: str) -> Region:
    """Return a body that is associative, and not commutative: one line after the other, y = a x + b."""
    scalar = TensorType(shape=(), element=element)
    region = RegionBuilder([scalar] * 4)
    a, b, c, d = region.arguments
    (slope,) = region.append("stablehlo.multiply", [a, c], [scalar])
    (moved,) = region.append("stablehlo.multiply", [b, c], [scalar])
    (offset,) = region.append("stablehlo.add", [moved, d], [scalar])
    region.append("stablehlo.return", [slope, offset])
    return region.build()


def several(element: str, *names: str) -> Region:
    """Return a body with an operation for each operand."""
    scalar = TensorType(shape=(), element=element)
    region = RegionBuilder([scalar] * (2 * len(names)))
    results: list[Any] = []
    for index, name in enumerate(names):
        results += region.append(f"stablehlo.{name}", [region.arguments[index], region.arguments[index + len(names)]], [scalar])
    region.append("stablehlo.return", results)
    return region.build()


def position(element: str, index: str, direction: str = "GT", *, ties: str = "LT", nan: bool = True) -> Region:
    """Return the body with which JAX looks for the position of an extreme value."""
    value, place, flag = (TensorType(shape=(), element=each) for each in (element, index, "i1"))
    region = RegionBuilder([value, place, value, place])
    a, i, b, j = region.arguments

    def compare(how: str, left: Any, right: Any) -> Any:
        (found,) = region.append("stablehlo.compare", [left, right], [flag], {"comparison_direction": how})
        return found

    def both(name: str, left: Any, right: Any) -> Any:
        (found,) = region.append(f"stablehlo.{name}", [left, right], [flag])
        return found

    first = compare(direction, a, b)
    if nan:
        first = both("or", first, compare("NE", a, a))
    second = both("or", first, both("and", compare("EQ", a, b), compare(ties, i, j)))
    (best,) = region.append("stablehlo.select", [first, a, b], [value])
    (where,) = region.append("stablehlo.select", [second, i, j], [place])
    region.append("stablehlo.return", [best, where])
    return region.build()


@pytest.mark.parametrize(
    ("array", "name", "initial", "function"),
    [
        (X, "add", 0, np.sum),
        (X, "add", 2.5, lambda array, axes: np.sum(array, axes) + 2.5),
        (X, "multiply", 1, np.prod),
        (X, "maximum", -np.inf, np.max),
        (X, "maximum", 0.5, lambda array, axes: np.maximum(np.max(array, axes), 0.5)),
        (X, "minimum", np.inf, np.min),
        (X.astype(np.float16), "maximum", -np.inf, np.max),
        (INTEGERS.astype(np.int32), "add", 0, np.sum),
        (INTEGERS, "multiply", 1, np.prod),
        (INTEGERS.astype(np.int8), "add", 0, np.sum),
        (INTEGERS.astype(np.int8), "maximum", -128, np.max),
        (INTEGERS.astype(np.uint8), "minimum", 255, np.min),
        (INTEGERS.astype(np.uint8), "multiply", 3, lambda array, axes: 3 * np.prod(array, axes)),
        (INTEGERS.astype(np.uint64), "maximum", 0, np.max),
        (INTEGERS > 0, "or", False, np.any),
        (INTEGERS > -90, "and", True, np.all),
        (INTEGERS > 0, "add", False, np.any),
        (ROWS, "maximum", -np.inf, np.max),
        (ROWS, "add", 0, np.sum),
    ],
)
def test_one_operation(array: Array, name: str, initial: float, function: Any) -> None:
    for axes in ((), (array.ndim - 1,), tuple(range(array.ndim))):
        wide = array.astype(np.float64) if array.dtype.kind == "f" else array
        with np.errstate(invalid="ignore"):
            wanted = np.asarray(function(wide, axes)).astype(array.dtype)
        operands = [array, array.dtype.type(initial)]
        tolerance = 1e-5 if name in ("add", "multiply") and array.dtype.kind == "f" else 0.0
        known = [(), (1,), (0, 1)]
        check("reduce", operands, wanted, {"dimensions": axes[::-1]}, [body(element_of(array), name)], tolerance=tolerance, known=known)


def test_operators() -> None:
    """A neutral initial value costs nothing; integers of 8 bits are reduced as int32."""

    def names(array: Array, initial: Any) -> list[str]:
        types = [type_of(array[0])]
        module = program("reduce", [array, initial], types, {"dimensions": (0,)}, [body(element_of(array), "add")])
        return operators(module, {"arg1": initial})

    assert names(X, np.float32(0)) == ["reduceSum"]
    assert names(X, np.float32(1)) == ["reduceSum", "add"]
    assert names(INTEGERS.astype(np.int8), np.int8(0)) == ["cast", "reduceSum", "cast"]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 13])
def test_any_body(size: int) -> None:
    slopes, offsets = RANDOM.integers(-2, 3, (2, 2, size, 3)).astype(np.int32)
    wanted = np.stack([np.full((2, 3), 3), np.full((2, 3), 5)]).astype(np.int32)
    for index in range(size):
        wanted = np.stack([wanted[0] * slopes[:, index], wanted[1] * slopes[:, index] + offsets[:, index]])
    operands = [slopes, offsets, np.int32(3), np.int32(5)]
    check("reduce", operands, [wanted[0], wanted[1]], {"dimensions": (1,)}, [affine("i32")], known=[(), range(4), (0, 2), (1,)])


def test_several_dimensions_with_any_body() -> None:
    slopes, offsets = RANDOM.integers(-2, 3, (2, 2, 3, 2)).astype(np.int32)
    wanted = [np.full(3, 1, np.int32), np.full(3, 0, np.int32)]
    for i, j in np.ndindex(2, 2):
        wanted = [wanted[0] * slopes[i, :, j], wanted[1] * slopes[i, :, j] + offsets[i, :, j]]
    check("reduce", [slopes, offsets, np.int32(1), np.int32(0)], wanted, {"dimensions": (2, 0)}, [affine("i32")])


def test_several_operands() -> None:
    wanted = [INTEGERS.max(1).astype(np.int32), INTEGERS.sum(1).astype(np.int32)]
    array = INTEGERS.astype(np.int32)
    check("reduce", [array, array, np.int32(-1000), np.int32(0)], wanted, {"dimensions": (1,)}, [several("i32", "maximum", "add")])


def test_nothing_to_reduce() -> None:
    check("reduce", [X[:, :0], np.float32(7)], np.full((3, 5), np.float32(7)), {"dimensions": (1,)}, [body("f32", "add")])
    check("reduce", [X[:0], np.float32(7)], np.full(5, np.float32(7)), {"dimensions": (0, 1)}, [body("f32", "add")])


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32, np.int8, np.uint8, np.bool_])
@pytest.mark.parametrize(("direction", "function", "other"), [("GT", np.argmax, np.max), ("LT", np.argmin, np.min)])
def test_positions(dtype: Any, direction: str, function: Any, other: Any) -> None:
    array = RANDOM.integers(0, 4, (3, 6, 2)).astype(dtype)
    kinds = {"f": (-np.inf, np.inf), "b": (False, True)}
    least, most = kinds.get(array.dtype.kind) or (np.iinfo(dtype).min, np.iinfo(dtype).max)
    places = np.broadcast_to(np.arange(6, dtype=np.int32)[:, None], array.shape)
    initial = array.dtype.type(least if direction == "GT" else most)
    operands = [array, places, initial, np.int32(0)]
    wanted = [other(array, 1), function(array, 1).astype(np.int32)]
    check("reduce", operands, wanted, {"dimensions": (1,)}, [position(element_of(array), "i32", direction)], known=[(1, 2, 3)])


def test_positions_of_nan() -> None:
    array = np.array([[1, np.nan, 3, np.nan], [-np.inf] * 4, [2, 5, 5, -np.inf]], np.float32)
    places = np.broadcast_to(np.arange(4), array.shape)
    operands = [array, places, np.float32(-np.inf), np.int64(0)]
    wanted = [array.max(1), np.array([1, 0, 1])]
    check("reduce", operands, wanted, {"dimensions": (1,)}, [position("f32", "i64")], known=[(1, 2, 3)])


def test_position_in_several_dimensions() -> None:
    array = np.array([[[3, 9], [1, 0]], [[9, 4], [2, 2]]], np.int32)
    places = np.broadcast_to(np.arange(4, dtype=np.int32).reshape(2, 1, 2), array.shape)
    operands = [array, places, np.int32(-(2**31)), np.int32(0)]
    wanted = [np.array([9, 2], np.int32), np.array([1, 2], np.int32)]
    check("reduce", operands, wanted, {"dimensions": (0, 2)}, [position("i32", "i32")], known=[(1, 2, 3)])


def test_position_operators() -> None:
    places = np.broadcast_to(np.arange(4, dtype=np.int32), (3, 4))
    array = X[:, :, 0].copy()
    types = [type_of(array[:, 0]), type_of(places[:, 0])]

    def names(region: Region) -> list[str]:
        module = program("reduce", [array, places, np.float32(0), np.int32(0)], types, {"dimensions": (1,)}, [region])
        return operators(module, {"arg1": places, "arg2": np.float32(-np.inf), "arg3": np.int32(0)})

    assert sorted(names(position("f32", "i32"))) == ["argMax", "reduceMax"]


@pytest.mark.parametrize(
    ("region", "extreme", "is_last"),
    [
        (position("f32", "i32"), "max", False),
        (position("f32", "i64", "LT"), "min", False),
        (position("i32", "i32", ties="GT"), "max", True),
        (position("ui8", "i32", nan=False), "max", False),
        (position("bf16", "i32", "LT", ties="GE"), None, None),
        (position("f32", "i32", nan=False), None, None),
        (position("f32", "i32", ties="GT"), None, None),
        (position("i32", "i32", "EQ"), None, None),
        (affine("f32"), None, None),
        (body("f32", "add"), None, None),
    ],
)
def test_what_positions_a_body_finds(region: Region, extreme: str | None, is_last: bool | None) -> None:
    found = find_position(region)
    assert (found and found.extreme) == extreme
    assert (found and found.is_last) == is_last


SCALAR = TensorType(shape=(), element="f32")


@pytest.mark.parametrize(
    ("operands", "results", "dimensions", "message"),
    [
        ([X, np.float32(0)], [SCALAR], (0, 1), r"the results must have the shape \[5\], got \[\]"),
        ([X, np.float32(0)], [SCALAR], (0, 1, 3), "dimensions must be a dimension of 3, counted from 0, got 3"),
        ([X, np.float32(0)], [SCALAR], (-1, 0, 1), "dimensions must be a dimension of 3, counted from 0, got -1"),
        ([X, np.float32(0)], [SCALAR], (0, 0, 1), "dimensions must name each dimension once, got"),
        ([X, X[0, 0, :1]], [SCALAR], (0, 1, 2), "the initial values must be scalars, got"),
        ([X, np.int32(0)], [SCALAR], (0, 1, 2), "each initial value must have the element type of its operand"),
        ([X], [SCALAR], (0, 1, 2), "there must be an initial value and a result for each operand"),
    ],
)
def test_refusals(operands: Sequence[Any], results: list[TensorType], dimensions: tuple[int, ...], message: str) -> None:
    assert re.search(message, refusal("reduce", operands, results, {"dimensions": dimensions}, [body("f32", "add")]))


@pytest.mark.parametrize("is_known", [False, True])
def test_a_body_with_too_few_results(is_known: bool) -> None:
    places = np.zeros(4, np.int32)
    region = RegionBuilder([TensorType(shape=(), element=each) for each in ("f32", "i32", "f32", "i32")])
    region.append("stablehlo.return", [region.arguments[0]])
    operands = [X[0, 0, :4].copy(), places, np.float32(0), np.int32(0)]
    types = [SCALAR, TensorType(shape=(), element="i32")]
    known = range(4) if is_known else ()
    assert refusal("reduce", operands, types, {"dimensions": (0,)}, [region.build()], known) == "the region must return 2 results, got 1"
