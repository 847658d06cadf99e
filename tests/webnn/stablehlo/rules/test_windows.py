"""Windows that slide over inputs and over known elements."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from tests.webnn.stablehlo.programs import Array, body, check, compare, element_of, operators, program, refusal, type_of
from tests.webnn.stablehlo.rules.test_reduction import affine
from webnn.hlo.types import TensorType

RANDOM = np.random.default_rng(1)


def windows_of(array: Array, filler: Any, attributes: dict[str, Any]) -> tuple[Array, list[list[tuple[int, ...]]]]:
    """Return a padded array, and the indices of the elements of each window, row by row."""
    rank = array.ndim
    counts = attributes["window_dimensions"]
    strides, bases, dilations = (attributes.get(name, (1,) * rank) for name in ("window_strides", "base_dilations", "window_dilations"))
    padding = np.reshape(attributes.get("padding", np.zeros((rank, 2), int)), (rank, 2))
    shape = [max((size - 1) * base + 1, 0) for size, base in zip(array.shape, bases, strict=True)]
    padded = np.full([size + low + high for size, (low, high) in zip(shape, padding, strict=True)], filler, array.dtype)
    for index in np.ndindex(*array.shape):
        place = tuple(int(i * base + low) for i, base, (low, _) in zip(index, bases, padding, strict=True))
        if all(0 <= p < size for p, size in zip(place, padded.shape, strict=True)):
            padded[place] = array[index]
    sizes = [(size - (count - 1) * d - 1) // s + 1 for size, count, d, s in zip(padded.shape, counts, dilations, strides, strict=True)]
    found = []
    for start in np.ndindex(*sizes):
        offsets = np.ndindex(*counts)
        found.append([tuple(i * s + o * d for i, s, o, d in zip(start, strides, each, dilations, strict=True)) for each in offsets])
    return np.array(padded), [found, sizes]  # type: ignore[list-item]


def reduce_windows(arrays: Sequence[Array], initial: Sequence[Any], attributes: dict[str, Any], combine: Callable[..., Any]) -> list[Array]:
    """Reduce windows, element by element."""
    padded = []
    for array, first in zip(arrays, initial, strict=True):
        one, (windows, sizes) = windows_of(array, first, attributes)
        padded.append(one)
    results: list[Any] = []
    for window in windows:
        found = tuple(initial)
        for index in window:
            found = combine(found, tuple(one[index] for one in padded))
        results.append(found)
    return [np.array([each[k] for each in results], array.dtype).reshape(sizes) for k, array in enumerate(arrays)]


IMAGES = RANDOM.standard_normal((2, 7, 8, 3)).astype(np.float32)
POOLS: tuple[dict[str, Any], ...] = (
    {"window_dimensions": (1, 2, 2, 1), "window_strides": (1, 2, 2, 1)},
    {"window_dimensions": (1, 3, 3, 1), "window_strides": (1, 2, 2, 1), "padding": np.array([[0, 0], [1, 1], [0, 1], [0, 0]])},
    {"window_dimensions": (1, 3, 1, 1), "padding": np.array([[0, 0], [4, -1], [0, 0], [0, 0]])},
    # Windows of nothing but padding.
    {"window_dimensions": (1, 3, 1, 1), "padding": np.array([[0, 0], [3, 0], [0, 0], [0, 0]])},
    {"window_dimensions": (1, 1, 3, 1), "padding": np.array([[0, 0], [0, 0], [0, 3], [0, 0]])},
    {"window_dimensions": (1, 2, 3, 1), "window_strides": (1, 2, 1, 1), "padding": np.array([[0, 0], [2, 1], [0, 3], [0, 0]])},
    # As much padding as a window, of which none has only that: engines pad less.
    {"window_dimensions": (1, 3, 1, 1), "window_strides": (1, 3, 1, 1), "padding": np.array([[0, 0], [0, 3], [0, 0], [0, 0]])},
    {"window_dimensions": (1, 2, 3, 1), "window_dilations": (1, 2, 3, 1), "padding": np.array([[0, 0], [1, 0], [2, 1], [0, 0]])},
    {"window_dimensions": (1, 1, 3, 2), "window_strides": (2, 3, 1, 1)},
    {"window_dimensions": (2, 2, 1, 3)},
    {"window_dimensions": (2, 1, 2, 1), "padding": np.array([[1, 0], [2, 0], [0, 0], [0, 1]])},
    {"window_dimensions": (1, 3, 2, 1), "base_dilations": (1, 2, 1, 2), "padding": np.array([[0, 0], [1, 1], [0, 0], [-1, 0]])},
    {"window_dimensions": (1, 7, 8, 1)},
)


@pytest.mark.parametrize("attributes", POOLS)
@pytest.mark.parametrize(
    ("name", "initial", "combine"),
    [
        ("add", 0.0, lambda one, other: (one[0] + np.float64(other[0]),)),
        ("maximum", -np.inf, lambda one, other: (max(one[0], other[0]),)),
        ("minimum", np.inf, lambda one, other: (min(one[0], other[0]),)),
    ],
)
def test_pools(attributes: dict[str, Any], name: str, initial: float, combine: Callable[..., Any]) -> None:
    first = np.float32(initial)
    (wanted,) = reduce_windows([IMAGES], [first], attributes, combine)
    tolerance = 1e-4 if name == "add" else 0.0
    check("reduce_window", [IMAGES, first], wanted, attributes, [body("f32", name)], tolerance=tolerance, known=[(1,), (0, 1)])


@pytest.mark.parametrize(
    ("array", "name", "initial"),
    [
        (IMAGES[0, :, :, 0], "maximum", np.float32(0.5)),
        (IMAGES[0, :, :, 0], "minimum", np.float32(0.5)),
        (IMAGES[0, :, :, 0].astype(np.float16), "maximum", np.float16(0.5)),
        (RANDOM.integers(-99, 99, (5, 6)), "maximum", np.int64(-(2**63))),
        (RANDOM.integers(-99, 99, (5, 6)).astype(np.int8), "minimum", np.int8(127)),
        (RANDOM.integers(0, 99, (5, 6)).astype(np.uint32), "add", np.uint32(0)),
        (RANDOM.integers(0, 99, (5, 6)).astype(np.uint8), "add", np.uint8(0)),
        (RANDOM.integers(-9, 9, (5, 6)).astype(np.int32), "multiply", np.int32(-2)),
    ],
)
def test_types(array: Array, name: str, initial: Any) -> None:
    attributes = {"window_dimensions": (3, 2), "window_strides": (2, 1), "padding": np.array([[2, 0], [1, 1]])}
    functions = {"add": np.add, "maximum": np.maximum, "minimum": np.minimum, "multiply": np.multiply}
    if name == "add" or initial == 0.5 or name == "multiply":
        # The padding is the initial value too: it must be one that changes nothing, or what is done twice must be done once.
        attributes["padding"] = np.array([[0, 0], [0, 0]]) if name == "multiply" else attributes["padding"]
    with np.errstate(over="ignore"):
        (wanted,) = reduce_windows([array], [initial], attributes, lambda one, other: (functions[name](one[0], other[0]),))
    check("reduce_window", [array, initial], wanted, attributes, [body(element_of(array), name)], known=[(), (1,), (0, 1)])


def test_sum_with_an_initial_value() -> None:
    attributes = {"window_dimensions": (2, 2)}
    array = IMAGES[0, :, :, 0]
    (wanted,) = reduce_windows([array], [np.float32(2)], attributes, lambda one, other: (one[0] + np.float64(other[0]),))
    check("reduce_window", [array, np.float32(2)], wanted, attributes, [body("f32", "add")], tolerance=1e-5)


@pytest.mark.parametrize("padding", [((0, 0), (8, 0)), ((0, 0), (0, 8))])
@pytest.mark.parametrize("name", ["add", "maximum", "multiply"])
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int8, np.uint8])
def test_running(padding: Any, name: str, dtype: Any) -> None:
    array = RANDOM.integers(-3, 3, (3, 9)).astype(dtype)
    neutral = {"add": 0, "maximum": -np.inf if dtype == np.float32 else np.iinfo(dtype).min, "multiply": 1}[name]
    function: Any = {"add": np.add, "maximum": np.maximum, "multiply": np.multiply}[name]
    wanted = function.accumulate(array[:, ::-1], 1)[:, ::-1] if padding[1][1] else function.accumulate(array, 1)
    attributes = {"window_dimensions": (1, 9), "padding": np.array(padding)}
    wanted = wanted.astype(dtype)
    # Signs of zeros of products are exact, too.
    check("reduce_window", [array, dtype(neutral)], wanted, attributes, [body(element_of(array), name)], known=[(1,), (0, 1)])


@pytest.mark.parametrize("size", [5, 6, 31, 100])
def test_any_body_over_long_windows(size: int) -> None:
    slopes, offsets = RANDOM.integers(-1, 2, (2, size, 2)).astype(np.int32)
    attributes = {"window_dimensions": (size, 1), "padding": np.array([[size - 1, 0], [0, 0]])}
    initial = [np.int32(1), np.int32(0)]
    wanted = reduce_windows([slopes, offsets], initial, attributes, lambda one, other: (one[0] * other[0], one[1] * other[0] + other[1]))
    check("reduce_window", [slopes, offsets, *initial], wanted, attributes, [affine("i32")])


def test_any_body_over_planes() -> None:
    slopes, offsets = RANDOM.integers(-1, 2, (2, 7, 9)).astype(np.int32)
    attributes = {"window_dimensions": (3, 7), "window_strides": (2, 1), "window_dilations": (2, 1), "padding": np.array([[1, 0], [2, 2]])}
    initial = [np.int32(1), np.int32(0)]
    wanted = reduce_windows([slopes, offsets], initial, attributes, lambda one, other: (one[0] * other[0], one[1] * other[0] + other[1]))
    check("reduce_window", [slopes, offsets, *initial], wanted, attributes, [affine("i32")])


def test_a_window_without_a_place() -> None:
    module = program("reduce_window", [np.zeros((2, 3), np.float32), np.float32(0)], [TensorType(shape=(0, 3), element="f32")],
                     {"window_dimensions": (4, 1)}, [body("f32", "add")])  # fmt: skip
    assert "without elements" in _reason(module)


def _reason(module: Any) -> str:
    import webnn.stablehlo

    _, report = webnn.stablehlo.survey(module, webnn.stablehlo.Settings())
    return report.refusals[0].reason


@pytest.mark.parametrize(
    ("shape", "attributes", "name", "wanted"),
    [
        ((2, 8, 8, 3), {"window_dimensions": (1, 2, 2, 1), "window_strides": (1, 2, 2, 1)}, "maximum", ["maxPool2d"]),
        ((2, 3, 8, 8), {"window_dimensions": (1, 1, 2, 2), "window_strides": (1, 1, 2, 2)}, "maximum", ["maxPool2d"]),
        ((2, 3, 8, 8), {"window_dimensions": (1, 1, 2, 2)}, "minimum", ["neg", "maxPool2d", "neg"]),
        ((2, 8, 8, 3), {"window_dimensions": (1, 2, 2, 1)}, "add", ["averagePool2d", "mul"]),
        ((2, 8, 3), {"window_dimensions": (1, 3, 1)}, "maximum", ["reshape", "maxPool2d", "reshape"]),
        ((8, 3), {"window_dimensions": (8, 1), "padding": np.array([[7, 0], [0, 0]])}, "add", ["cumulativeSum"]),
    ],
)
def test_operators(shape: tuple[int, ...], attributes: dict[str, Any], name: str, wanted: list[str]) -> None:
    array = np.zeros(shape, np.float32)
    initial = np.float32({"maximum": -np.inf, "minimum": np.inf, "add": 0}[name])
    (result,) = reduce_windows([array], [initial], attributes, lambda one, _: one)
    module = program("reduce_window", [array, initial], [type_of(result)], attributes, [body("f32", name)])
    assert operators(module, {"arg1": initial}) == wanted


def scatter_chosen(array: Array, source: Array, initial: Any, attributes: dict[str, Any], *, is_max: bool = True) -> Array:
    """Add each element of a source to the first extreme element of its window."""
    _, (windows, _) = windows_of(array, 0, attributes)
    padding = np.reshape(attributes.get("padding", np.zeros((array.ndim, 2), int)), (array.ndim, 2))
    result = np.full(array.shape, initial, array.dtype)
    for window, value in zip(windows, source.reshape(-1), strict=True):
        places = [tuple(int(i - low) for i, (low, _) in zip(index, padding, strict=True)) for index in window]
        inside = [place for place in places if all(0 <= i < size for i, size in zip(place, array.shape, strict=True))]
        best = inside[0]
        for place in inside[1:]:
            if not (array[best] >= array[place] if is_max else array[best] <= array[place]):
                best = place
        result[best] += value
    return result


@pytest.mark.parametrize(
    "attributes",
    [
        {"window_dimensions": (2, 3), "window_strides": (2, 3)},
        {"window_dimensions": (3, 3), "window_strides": (2, 2), "padding": np.array([[1, 1], [0, 1]])},
        {"window_dimensions": (3, 2), "window_strides": (1, 2), "padding": np.array([[2, 0], [0, 0]])},
        {"window_dimensions": (2, 1), "window_strides": (3, 2)},
        {"window_dimensions": (6, 6)},
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
@pytest.mark.parametrize("direction", ["GE", "LE"])
def test_select_and_scatter(attributes: dict[str, Any], dtype: Any, direction: str) -> None:
    array = RANDOM.integers(-4, 4, (6, 6)).astype(dtype)
    _, (_, sizes) = windows_of(array, 0, attributes)
    source = RANDOM.integers(1, 9, sizes).astype(dtype)
    wanted = scatter_chosen(array, source, 3, attributes, is_max=direction == "GE")
    element = element_of(array)
    regions = [compare(element, direction), body(element, "add")]
    check("select_and_scatter", [array, source, dtype(3)], wanted, attributes, regions, known=[(), (2,), (0, 1, 2)])


ZERO = np.float32(0)
SQUARE = TensorType(shape=(5, 5), element="f32")


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"window_dimensions": (2,)}, "window_dimensions must have 2 numbers of at least 1, got"),
        ({"window_dimensions": (0, 2)}, "window_dimensions must have 2 numbers of at least 1, got"),
        ({"window_dimensions": (2, 2), "window_strides": (1, -1)}, "window_strides must have 2 numbers of at least 1, got"),
        ({"window_dimensions": (2, 2), "padding": (1, 1)}, "padding must have 2 numbers for each of 2 dimensions, got"),
        ({"window_dimensions": (3, 2)}, r"the results must have the shape \[4, 5\], got \[5, 5\]"),
    ],
)
def test_refusals(attributes: dict[str, Any], message: str) -> None:
    reason = refusal("reduce_window", [np.zeros((6, 6), np.float32), ZERO], [SQUARE], attributes, [body("f32", "add")])
    assert re.search(message, reason)


@pytest.mark.parametrize(
    ("source", "attributes", "message"),
    [
        ((3, 3), {"window_dimensions": (2, 2), "base_dilations": (2, 2)}, "select_and_scatter must not have dilations"),
        ((3, 3), {"window_dimensions": (2, 2)}, r"the source must have the shape \[4, 4\]"),
    ],
)
def test_refusals_of_select_and_scatter(source: tuple[int, ...], attributes: dict[str, Any], message: str) -> None:
    regions = [compare("f32", "GE"), body("f32", "add")]
    operands = [np.zeros((5, 5), np.float32), np.zeros(source, np.float32), ZERO]
    assert re.search(message, refusal("select_and_scatter", operands, [SQUARE], attributes, regions))
