"""Elements in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import webnn.stablehlo
from tests.webnn.stablehlo.programs import Array, body, check, compare, compute, operators, program, refusal, type_of
from webnn.hlo import Function, Module, RegionBuilder
from webnn.hlo.attributes import Symbol
from webnn.hlo.ir import Region, Value
from webnn.hlo.types import TensorType
from webnn.importing import ordering

RANDOM = np.random.default_rng(7)
NAN = np.float32(np.nan)


@pytest.fixture(params=["comparisons", "network"])
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put elements in order in both ways, however many there are."""
    if request.param == "network":
        monkeypatch.setattr(ordering, "_MOST_COMPARED", 0)


@pytest.mark.usefixtures("_way")
@pytest.mark.parametrize("shape", [(7,), (2, 8), (3, 5, 2), (1, 1), (33,)])
@pytest.mark.parametrize("direction", ["LT", "LE", "GT", "GE"])
def test_sort(shape: tuple[int, ...], direction: str) -> None:
    """Equal elements keep their order."""
    x = RANDOM.integers(-3, 4, shape).astype(np.int32)
    y = np.arange(x.size, dtype=np.float32).reshape(shape)
    for axis in range(-1, len(shape)):
        order = np.argsort(x if direction in ("LT", "LE") else -x, axis=axis, kind="stable")
        wanted = [np.take_along_axis(each, order, axis) for each in (x, y)]
        check(
            "sort", [x, y], wanted, {"dimension": axis, "is_stable": True}, [compare(["i32", "f32"], direction)], known=[(), (1,), (0, 1)]
        )


@pytest.mark.usefixtures("_way")
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64, np.float16, np.float32, np.bool_])
def test_types(dtype: Any) -> None:
    limits = (
        [0, 1]
        if dtype == np.bool_
        else [np.finfo(dtype).min, np.finfo(dtype).max]
        if np.issubdtype(dtype, np.floating)
        else [np.iinfo(dtype).min, np.iinfo(dtype).max]
    )
    x = np.array([limits[1], 1, 0, limits[0], 1, limits[1], 0], dtype)
    element = type_of(x).element
    assert isinstance(element, str)
    check("sort", [x], np.sort(x), {}, [compare(element, "LT")])
    check("sort", [x], np.sort(x)[::-1], {}, [compare(element, "GT")])


@pytest.mark.usefixtures("_way")
def test_total_order() -> None:
    x = np.array([np.inf, NAN, 0.0, -0.0, -1, NAN, 0.0, -np.inf, 1e-45, -1e-45, np.inf], np.float32)
    places = np.arange(x.size, dtype=np.int32)
    order = np.array([7, 4, 9, 3, 2, 6, 8, 0, 10, 1, 5])
    check("sort", [x, places], [x[order], places[order]], {}, [compare(["f32", "i32"], "LT", "TOTALORDER")])
    order = np.array([1, 5, 0, 10, 8, 2, 6, 3, 9, 4, 7])
    check("sort", [x, places], [x[order], places[order]], {}, [compare(["f32", "i32"], "GT", "TOTALORDER")])


def test_the_sign_of_nan() -> None:
    """It counts where elements are known, as StableHLO has it."""
    x = np.array([np.inf, NAN, -NAN, 3], np.float32)
    check("sort", [x], x[[2, 3, 0, 1]], {}, [compare("f32", "LT", "TOTALORDER")], known=[(0,)])


@pytest.mark.usefixtures("_way")
def test_numbers_that_do_not_compare() -> None:
    """Without a total order NaN may be anywhere, but the others must be in order."""
    x = np.array([3, NAN, 1, -0.0, NAN, 2, 0.0], np.float32)
    for known in ((), (0,)):
        (found,) = compute(program("sort", [x], [type_of(x)], {}, [compare("f32", "LT")]), [x], known)
        np.testing.assert_array_equal(found[~np.isnan(found)], [-0.0, 0.0, 1, 2, 3])
        assert np.isnan(found).sum() == 2


def _by_two_keys() -> Region:
    """Return a comparator as JAX has it: the first key, then the second one, and zeros are one zero."""
    flag = TensorType(shape=(), element="i1")
    types = [TensorType(shape=(), element=element) for element in ("f32", "f32", "i32", "i32")]
    region = RegionBuilder(types)
    (zero,) = region.append("stablehlo.constant", [], [types[0]], {"value": np.zeros((), np.float32)})
    clean: list[Value] = []
    for value in region.arguments[:2]:
        (is_zero,) = region.append("stablehlo.compare", [value, zero], [flag], {"comparison_direction": "EQ", "compare_type": "FLOAT"})
        clean += region.append("stablehlo.select", [is_zero, zero, value], [types[0]])
    (second,) = region.append("stablehlo.compare", region.arguments[2:], [flag], {"comparison_direction": "GT"})
    (same,) = region.append("stablehlo.compare", clean, [flag], {"comparison_direction": "EQ"})
    (both,) = region.append("stablehlo.multiply", [same, second], [flag])
    (first,) = region.append("stablehlo.compare", clean, [flag], {"comparison_direction": "LT"})
    (less,) = region.append("stablehlo.add", [first, both], [flag])
    region.append("stablehlo.return", [less])
    return region.build()


@pytest.mark.usefixtures("_way")
@pytest.mark.parametrize("shape", [(9,), (3, 16), (20, 2)])
def test_two_keys(shape: tuple[int, ...]) -> None:
    x = RANDOM.choice(np.array([-0.0, 0.0, 1, -1], np.float32), shape)
    y = RANDOM.integers(0, 3, shape).astype(np.int32)
    order = np.lexsort((-y, x), 0)
    wanted = [np.take_along_axis(each, order, 0) for each in (x, y)]
    check("sort", [x, y], wanted, {"dimension": 0}, [_by_two_keys()], known=[(), (1,), (0, 1)])


def _difference() -> Region:
    """Return a comparator that is not made of keys: whether a - b is negative."""
    scalar, flag = TensorType(shape=(), element="i32"), TensorType(shape=(), element="i1")
    region = RegionBuilder([scalar, scalar])
    (difference,) = region.append("stablehlo.subtract", region.arguments, [scalar])
    (zero,) = region.append("stablehlo.constant", [], [scalar], {"value": np.zeros((), np.int32)})
    (less,) = region.append("stablehlo.compare", [difference, zero], [flag], {"comparison_direction": "LT"})
    region.append("stablehlo.return", [less])
    return region.build()


@pytest.mark.usefixtures("_way")
def test_a_comparator_without_keys() -> None:
    x = RANDOM.integers(-9, 9, (13, 2)).astype(np.int32)
    check("sort", [x], np.sort(x, 0), {"dimension": 0}, [_difference()])


def test_many_elements() -> None:
    """A network of 12 * 11 / 2 stages."""
    x = RANDOM.normal(size=1500).astype(np.float32)
    check("sort", [x], np.sort(x), {}, [compare("f32", "LT", "TOTALORDER")])
    used = operators(program("sort", [x], [type_of(x)], {}, [compare("f32", "LT", "TOTALORDER")]))
    # The keys of the last stage are not used.
    assert used.count("concat") == 66 * 2 - 1
    assert len(used) < 66 * 16 + 20


def test_what_stays() -> None:
    """Positions in order are the order."""
    x, places = np.arange(9, dtype=np.float32), np.arange(9, dtype=np.int32)
    module = program("sort", [x, places], [type_of(x), type_of(places)], {}, [compare(["f32", "i32"], "LT")])
    assert operators(module, {"arg1": places}).count("gather") == 1


# The greatest elements.


def _top_k(x: Any, count: int, *, is_custom: bool = False, largest: bool = True) -> Module:
    row = type_of(x)
    shape = (*row.shape[:-1], count)
    results = [TensorType(shape=shape, element=row.element), TensorType(shape=shape, element="i32")]
    main = RegionBuilder([row])
    attributes: dict[str, Any] = {"k": count} if largest else {"k": count, "largest": False}
    if is_custom:
        found = main.append(
            "stablehlo.custom_call", main.arguments, results, {"call_target_name": "mhlo.topk", "mhlo.attributes": attributes}
        )
        main.append("func.return", found)
        return Module(functions=(Function(name="main", body=main.build()),))
    name = {"name": "chlo.top_k", "composite_attributes": attributes, "decomposition": Symbol("top_k")}
    main.append("func.return", main.append("stablehlo.composite", main.arguments, results, name))
    inner = RegionBuilder([row])
    places = TensorType(shape=row.shape, element="i32")
    last = len(row.shape) - 1
    (numbers,) = inner.append("stablehlo.iota", [], [places], {"iota_dimension": last})
    order = {"dimension": last, "is_stable": True}
    assert isinstance(row.element, str)
    both = inner.append(
        "stablehlo.sort", [inner.arguments[0], numbers], [row, places], order, [compare([row.element, "i32"], "GT", "TOTALORDER")]
    )
    ends: dict[str, Any] = {"start_indices": (0,) * len(shape), "limit_indices": shape, "strides": (1,) * len(shape)}
    inner.append(
        "func.return", [inner.append("stablehlo.slice", [each], [type], ends)[0] for each, type in zip(both, results, strict=True)]
    )
    return Module(functions=(Function(name="main", body=main.build()), Function(name="top_k", body=inner.build(), public=False)))


@pytest.mark.usefixtures("_way")
@pytest.mark.parametrize("count", [1, 2, 3, 8, 13, 20])
@pytest.mark.parametrize("is_custom", [False, True], ids=["composite", "custom call"])
def test_top_k(count: int, *, is_custom: bool) -> None:
    x = RANDOM.integers(-4, 4, (2, 3, 20)).astype(np.float32)
    x[0, 0, :4] = np.array([np.inf, NAN, np.inf, NAN])
    x[1, 1, :6] = np.array([-0.0, 0.0, -0.0, 0.0, 0.0, -np.inf])
    key = np.where(np.isnan(x), np.inf, x) + (np.isnan(x) * 1.0)
    order = np.lexsort((-(~np.signbit(x) & (x == 0)).astype(int), -np.isnan(x).astype(int), -key))[..., :count]
    for known in ((), (0,)):
        if not (known and is_custom):
            values, places = compute(_top_k(x, count, is_custom=is_custom), [x], known)
            np.testing.assert_array_equal(places, order)
            np.testing.assert_array_equal(values, np.take_along_axis(x, order, -1))
            assert values.dtype == np.float32
            assert places.dtype == np.int32


def test_the_least_elements() -> None:
    x = RANDOM.permutation(50).astype(np.int32)
    values, places = compute(_top_k(x, 5, is_custom=True, largest=False), [x])
    np.testing.assert_array_equal(values, np.arange(5))
    np.testing.assert_array_equal(x[places], values)


def test_few_of_many() -> None:
    """The network keeps only what may still be among them."""
    x = RANDOM.permutation(5000).astype(np.float32)
    values, places = compute(_top_k(x, 3), [x])
    np.testing.assert_array_equal(values, [4999, 4998, 4997])
    np.testing.assert_array_equal(x[places], values)
    # 3 stages order blocks of 4; then 11 times the first ones of two blocks are kept, and ordered in 2 stages.
    assert len(operators(_top_k(x, 3))) < 36 * 16


@pytest.mark.usefixtures("_way")
def test_browsers_take_it() -> None:
    """TFLite's gatherElements and scatterElements take no computed indices."""
    x = np.zeros((2, 9), np.float32)
    builder = webnn.MLGraphBuilder(webnn.ML(revision="2026-06", profile="tflite-chromium153", fallback="deny").createContextSync())
    imported = webnn.stablehlo.load(_top_k(x, 3), builder)
    assert isinstance(builder.buildSync(imported.outputs), webnn.MLGraph)


# Refusals.


@pytest.mark.parametrize(
    ("operands", "regions", "attributes", "reason"),
    [
        ([np.zeros(4, np.float32)], [compare("f32", "LT")], {"dimension": 1}, "dimension must be from -1 to 0, got 1"),
        ([np.zeros(4, np.float32), np.zeros(5, np.float32)], [compare(["f32", "f32"], "LT")], {}, "the operands must have one shape"),
        (
            [np.zeros(4, np.float32)],
            [body(["f32", "f32", "f32"], "add", "add")],
            {},
            "there must be a region of 2 arguments and one result",
        ),
    ],
)
def test_refusals(operands: Sequence[Array], regions: Sequence[Region], attributes: Mapping[str, Any], reason: str) -> None:
    for known in ((), range(len(operands))):
        assert reason in refusal("sort", operands, [type_of(each) for each in operands], attributes, regions, known=known)


def test_too_many() -> None:
    module = program(
        "sort", [np.broadcast_to(NAN, (2**20 + 1,))], [TensorType(shape=(2**20 + 1,), element="f32")], {}, [compare("f32", "LT")]
    )
    _, report = webnn.stablehlo.survey(module, webnn.stablehlo.Settings())
    assert [each.reason for each in report.refusals] == ["at most 1048576 elements can be put in order, got 1048577"]


@pytest.mark.parametrize("count", [-1, 5])
def test_refused_counts(count: int) -> None:
    main = RegionBuilder([TensorType(shape=(4,), element="f32")])
    results = [TensorType(shape=(4,), element="f32"), TensorType(shape=(4,), element="i32")]
    attributes: dict[str, Any] = {"call_target_name": "mhlo.topk", "mhlo.attributes": {"k": count}}
    main.append("func.return", main.append("stablehlo.custom_call", main.arguments, results, attributes))
    _, report = webnn.stablehlo.survey(Module(functions=(Function(name="main", body=main.build()),)), webnn.stablehlo.Settings())
    assert [each.reason for each in report.refusals] == [f"k must be from 0 to the size of the last dimension of [4], got {count}"]
