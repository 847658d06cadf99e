"""The values of gatherElements, gatherND, scatterElements, scatterND: exact, bit for bit, whatever the indices."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.builder.onnx.test_gather_scatter import INDEX_TYPES, SHAPES, indices
from tests.builder.onnx.test_movement import assert_same, compare, values
from tests.support import CURRENT, Array, Case, check_cases, compute_directly, each_row, make_context
from tests.support import run as run_operation
from webnn import MLGraphBuilder, MLOperand
from webnn.builder.onnx.translate import translate
from webnn.reference.operations import REFERENCE_NEWEST
from webnn.validation.descriptor import DATA_TYPES, DataType

run = functools.partial(run_operation, revision=CURRENT)

#: Kind, input's shape, indices' shape, options. Some have more indices than the axis has elements.
PLACES: list[tuple[str, tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ("Elements", (1,), (1,), {}),
    ("Elements", (1,), (12,), {}),
    ("Elements", (5,), (17,), {}),
    ("Elements", (3, 4), (2, 4), {}),
    ("Elements", (3, 4), (5, 4), {"axis": 0}),
    ("Elements", (3, 4), (3, 9), {"axis": 1}),
    ("Elements", (2, 3, 4), (2, 5, 4), {"axis": 1}),
    ("Elements", (2, 1, 2, 1, 3, 1, 2, 3), (2, 1, 2, 1, 3, 1, 2, 7), {"axis": 7}),
    ("Elements", (2, 1, 2, 1, 3, 1, 2, 3), (2, 1, 2, 4, 3, 1, 2, 3), {"axis": 3}),
    ("ND", (5,), (1,), {}),
    ("ND", (5,), (17, 1), {}),
    ("ND", (3, 4), (2,), {}),
    ("ND", (3, 4), (9, 1), {}),
    ("ND", (3, 4), (2, 9, 2), {}),
    ("ND", (3, 3), (9, 2), {}),
    ("ND", (2, 3, 4), (2, 5, 2), {}),
    ("ND", (2, 3, 4, 1), (9, 3), {}),
    ("ND", (2, 1, 2, 1, 3, 1, 2, 3), (1, 2, 1, 2, 1, 2, 1, 8), {}),
    ("ND", (2, 1, 2, 1, 3, 1, 2, 3), (9, 1), {}),
    ("ND", (1, 2), (1, 2, 1, 2, 1, 2, 1, 2), {}),
]


def float32(numbers: Any) -> Array:
    return np.array(numbers, np.float32)


def int32(numbers: Any) -> Array:
    return np.array(numbers, np.int32)


def uint32(numbers: Any) -> Array:
    return np.array(numbers, np.uint32)


def operands(dtype: str, index_type: str, kind: str, shape: tuple[int, ...], index_shape: tuple[int, ...]) -> tuple[Array, Array, Array]:
    """Make an input, indices, and updates."""
    places = index_shape if kind == "Elements" else (*index_shape[:-1], *shape[index_shape[-1] :])
    return values(dtype, *shape), indices(index_type, *index_shape), values(dtype, *places, offset=50)


@pytest.mark.parametrize("index_type", INDEX_TYPES)
@pytest.mark.parametrize("dtype", DATA_TYPES)
def test_values(dtype: str, index_type: str) -> None:
    cases = []
    for kind, shape, index_shape, options in PLACES:
        input, wanted, updates = operands(dtype, index_type, kind, shape, index_shape)
        cases += [Case("gather" + kind, input, wanted, **options), Case("scatter" + kind, input, wanted, updates, **options)]
    check_cases(cases, compare, revision=CURRENT)


@pytest.mark.parametrize("index_type", INDEX_TYPES)
def test_gather_is_the_same_in_both_drafts(index_type: str) -> None:
    cases = [Case("gather", values("float32", *shape), indices(index_type, *index_shape), axis=axis) for shape, index_shape, axis in SHAPES]
    check_cases(cases, compare, revision=CURRENT, constants=[False])


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("index_type", INDEX_TYPES)
def test_every_index_alone(index_type: DataType, size: int) -> None:
    """One index of each kind, so that no other one is behind the limit it is compared with."""
    builder = MLGraphBuilder(make_context(CURRENT))
    x, u = builder.input("x", dataType="float32", shape=[size]), builder.input("u", dataType="float32", shape=[1])
    i = builder.input("i", dataType=index_type, shape=[1])
    graph = builder.buildSync(
        {
            "gather": builder.gather(x, i),
            "gatherElements": builder.gatherElements(x, i),
            "gatherND": builder.gatherND(x, i),
            "scatterElements": builder.scatterElements(x, i, u),
            "scatterND": builder.scatterND(x, i, builder.reshape(u, [])),
        }
    )
    input, update = values("float32", size), float32([-1])
    info = np.iinfo(index_type)
    ends = {number + offset for number in (0, 2**31, 2**32, 2**53, 2**62, 2**63) for offset in (-3, -2, -1, 0, 1, 2, 3)}
    for index in sorted(index for index in (*ends, *(-end for end in ends)) if info.min <= index <= info.max):
        wanted = np.array([index], index_type)
        picked = REFERENCE_NEWEST["gatherElements"](input, wanted)
        replaced = REFERENCE_NEWEST["scatterElements"](input, wanted, update)
        results = compute_directly(graph, {"x": input, "i": wanted, "u": update})
        assert_same(results, [picked, picked, picked.reshape(()), replaced, replaced])


def test_the_drafts_examples() -> None:
    table = float32([[0, 1, 2], [10, 11, 12], [20, 21, 22], [30, 31, 32]])
    rows = uint32([[3, 1, 1], [2, 0, 3]])
    assert run("gatherElements", table, rows)[0].tolist() == [[30, 11, 12], [20, 1, 32]]
    assert run("gatherElements", table, uint32([[2], [1], [0], [2]]), axis=1)[0].tolist() == [[2], [11], [20], [32]]
    cube = np.arange(8, dtype=np.float32).reshape(2, 2, 2)
    corners = uint32([[0, 1], [1, 0]])
    assert run("gatherND", cube, corners)[0].tolist() == [[2, 3], [4, 5]]
    line = np.arange(8, dtype=np.float32)
    assert run("scatterND", line, uint32([[4], [3], [1], [7]]), float32([-1, -2, -3, -4]))[0].tolist() == [0, -3, 2, -2, -1, 5, 6, -4]
    scattered = run("scatterND", cube, corners, float32([[-1, -2], [-3, -4]]))
    assert scattered[0].tolist() == [[[0, 1], [-1, -2]], [[-3, -4], [6, 7]]]


@pytest.mark.parametrize("constants", [False, True])
def test_the_last_update_of_a_place_wins(*, constants: bool) -> None:
    updates = float32([1, 2, 3, 4, 5])
    # 0, the last one twice, and what lies outside on both sides: the ends.
    wanted = int32([-9, 2, -1, 9, 0])
    zeros = np.zeros(3, np.float32)
    assert run("scatterElements", zeros, wanted, updates, constants=constants)[0].tolist() == [5, 0, 4]
    assert run("scatterND", zeros, wanted[:, np.newaxis], updates, constants=constants)[0].tolist() == [5, 0, 4]


#: Input's shape, and how many parts a coordinate has: elements, slices; one axis, several.
LARGE: list[tuple[tuple[int, ...], int]] = [
    ((7,), 1),
    ((300,), 1),
    ((5, 7), 2),
    ((4, 5, 1), 2),
    ((7, 3), 1),
    ((2, 3, 3, 5), 2),
    ((3, 3, 100), 2),
]


def large(shape: tuple[int, ...], parts: int, index_type: str, dtype: str) -> tuple[Array, Array, Array, Array]:
    """Make an input, coordinates in and out of range that name each slice very often, updates, and the result."""
    slices, behind = shape[:parts], shape[parts:]
    count = 2**19 // int(np.prod(behind))
    random = np.random.default_rng(count)
    wanted = random.integers(0 if index_type == "uint32" else -9, 9, (2, count // 2, parts)).astype(index_type)
    updates = random.integers(0, 100, (2, count // 2, *behind)).astype(dtype)
    expected = np.zeros(shape, dtype)
    limits = np.array(slices)
    positions = np.clip(wanted.astype(np.int64), -limits, limits - 1) % limits
    # NumPy assigns in order.
    expected[tuple(np.moveaxis(positions, -1, 0).reshape(parts, -1))] = updates.reshape(-1, *behind)
    return np.zeros(shape, dtype), wanted, updates, expected


@pytest.mark.parametrize(
    ("index_type", "dtype", "constants"), [("int64", "float32", False), ("uint32", "uint8", True), ("int32", "float16", False)]
)
@pytest.mark.parametrize(("shape", "parts"), LARGE)
def test_the_last_of_very_many_updates_wins(shape: tuple[int, ...], parts: int, index_type: str, dtype: str, *, constants: bool) -> None:
    """So many that the engine copies them with several threads."""
    input, wanted, updates, expected = large(shape, parts, index_type, dtype)
    assert_same(run("scatterND", input, wanted, updates, constants=constants), expected)


@pytest.mark.parametrize("index_type", INDEX_TYPES)
def test_many_updates_of_different_places(index_type: str) -> None:
    random = np.random.default_rng(0)
    count = 2**17
    wanted = random.permutation(count).astype(index_type)
    updates = random.random(count).astype(np.float32)
    expected = np.empty(count, np.float32)
    expected[wanted] = updates
    for constants in (False, True):
        zeros = np.zeros(count, np.float32)
        assert_same(run("scatterND", zeros, wanted[:, np.newaxis], updates, constants=constants), expected)
        assert_same(run("scatterElements", zeros, wanted, updates, constants=constants), expected)


def test_operands_that_are_one() -> None:
    """The engine may compute in place: not where an operand is still read."""
    context = make_context(CURRENT)
    builder = MLGraphBuilder(context)
    x = builder.neg(builder.input("x", {"dataType": "int32", "shape": [4]}))
    reversed_ = builder.constant({"dataType": "int32", "shape": [4]}, int32([3, 2, 1, 0]))
    outputs = {
        "elements": builder.scatterElements(x, reversed_, x),
        "nd": builder.scatterND(x, builder.reshape(reversed_, [4, 1]), x),
        "indices": builder.scatterElements(x, x, x),
        "gathered": builder.gatherElements(x, x),
        "x": x,
    }
    given = int32([-1, -2, -3, 0])
    results = compute_directly(builder.buildSync(outputs), {"x": given})
    assert [result.tolist() for result in results] == [[0, 3, 2, 1], [0, 3, 2, 1], [0, 1, 2, 3], [2, 3, 0, 1], [1, 2, 3, 0]]


def test_indices_that_are_computed() -> None:
    """A cast before the clamp is kept: it truncates."""
    context = make_context(CURRENT)
    builder = MLGraphBuilder(context)
    x = builder.input("x", {"dataType": "float32", "shape": [5]})
    wanted = [builder.cast(x, index_type) for index_type in ("int64", "int32")]
    outputs = {
        **{f"elements {number}": builder.gatherElements(x, each) for number, each in enumerate(wanted)},
        **{f"gather {number}": builder.gather(x, each) for number, each in enumerate(wanted)},
        **{f"nd {number}": builder.gatherND(x, builder.reshape(each, [5, 1])) for number, each in enumerate(wanted)},
    }
    given = float32([0.9, 1.9, -1.9, 3e9, -np.inf])
    positions = [0, 1, 4, 4, 0]
    results = compute_directly(builder.buildSync(outputs), {"x": given})
    assert [result.tolist() for result in results] == [given[positions].tolist()] * 6


def test_transposed_operands() -> None:
    context = make_context(CURRENT)
    builder = MLGraphBuilder(context)
    x = builder.input("x", {"dataType": "float32", "shape": [2, 3]})
    turned, wanted = builder.transpose(x), int32([[-1, 0], [5, 1]])
    i = builder.input("i", {"dataType": "int32", "shape": [2, 2]})
    outputs = {
        "elements": builder.gatherElements(turned, builder.transpose(i)),
        "nd": builder.gatherND(turned, builder.transpose(i)),
        "scattered": builder.scatterElements(turned, i, builder.gatherElements(turned, i)),
    }
    given = values("float32", 2, 3)
    results = compute_directly(builder.buildSync(outputs), {"x": given, "i": wanted})
    assert_same(results[:1], REFERENCE_NEWEST["gatherElements"](given.T, wanted.T))
    assert_same(results[1:2], REFERENCE_NEWEST["gatherND"](given.T, wanted.T))
    picked = REFERENCE_NEWEST["gatherElements"](given.T, wanted)
    assert_same(results[2:], REFERENCE_NEWEST["scatterElements"](given.T, wanted, picked))


#: Operation, input's shape, type of the indices, the indices' shape or, if they are constant, values; the nodes.
NODES: list[tuple[str, list[int], DataType, Any, list[str]]] = [
    *(
        case
        for name, node, shape in (("gather", "Gather", (9,)), ("gatherElements", "GatherElements", (9, 4)))
        for case in (
            (name, [3, 4], "int32", shape, ["Clip", node]),
            (name, [3, 4], "uint32", shape, ["Clip", "Cast", node]),
            (name, [3, 4], "int64", shape, ["Cast", "Clip", "Cast", node]),
            (name, [3, 4], "int32", np.full(shape, -3), [node]),
            (name, [3, 4], "uint32", np.full(shape, 2), [node]),
            (name, [3, 4], "int64", np.full(shape, 99), [node]),
        )
    ),
    ("scatterElements", [3, 4], "int32", (2, 4), ["Clip", "ScatterElements"]),
    ("scatterElements", [3, 4], "int32", np.zeros((2, 4)), ["ScatterElements"]),
    ("gatherND", [3, 3], "int32", (9, 2), ["Clip", "Cast", "GatherND"]),
    ("gatherND", [3, 4], "int32", (9, 2), ["Max", "Min", "Cast", "GatherND"]),
    ("gatherND", [3, 4], "uint32", (9, 2), ["Min", "Cast", "GatherND"]),
    ("gatherND", [3, 4], "int64", (9, 2), ["Cast", "Max", "Min", "Cast", "GatherND"]),
    ("gatherND", [3, 4], "int32", np.full((9, 2), 99), ["GatherND"]),
    ("scatterND", [3, 4], "int32", (9, 1), ["Clip", "Cast", "ScatterND"]),
    ("scatterND", [3, 2**20], "int32", (1, 1), ["Clip", "Cast", "ScatterND"]),
    ("scatterND", [2**20], "int32", (2**16, 1), ["Clip", "Cast", "Mod", "Reshape", "ScatterElements"]),
    ("scatterND", [2**20], "int32", np.arange(-(2**16), 2**16)[:, np.newaxis], ["ScatterND"]),
    ("scatterND", [2**20], "int32", np.arange(2**16)[:, np.newaxis] // 2, ["Mod", "Reshape", "ScatterElements"]),
    (
        "scatterND",
        [3, 3, 4],
        "int32",
        (2**16, 2),
        ["Clip", "Cast", "Mod", "MatMul", "Reshape", "Range", "Expand", "ScatterElements", "Gather", "Gather", "ScatterND"],
    ),
]


@each_row(("name", "shape", "index_type", "wanted", "expected"), NODES)
def test_nodes(name: str, shape: list[int], index_type: DataType, wanted: Any, expected: list[str]) -> None:
    """Indices that are known cost nothing, others as little as their type allows."""
    builder = MLGraphBuilder(make_context(CURRENT))
    x = builder.input("x", dataType="float32", shape=shape)
    places = list(wanted if isinstance(wanted, tuple) else wanted.shape)
    if isinstance(wanted, tuple):
        i = builder.input("i", dataType=index_type, shape=places)
    else:
        i = builder.constant({"dataType": index_type, "shape": places}, wanted.astype(index_type))
    operands: list[MLOperand] = [x, i]
    if name.startswith("scatter"):
        updates = places if name == "scatterElements" else [*places[:-1], *shape[places[-1] :]]
        operands.append(builder.input("u", dataType="float32", shape=updates))
    method: Callable[..., MLOperand] = getattr(builder, name)
    nodes = translate(builder._collect({"y": method(*operands)})).proto.graph.node
    assert [node.op_type for node in nodes] == expected
