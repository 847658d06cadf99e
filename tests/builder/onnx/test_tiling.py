"""The values of ``reverse`` and ``tile``, against the NumPy reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support import CURRENT, Case, check_cases, compute_directly, each_row, run, shared_context
from webnn import MLGraphBuilder, MLOperand
from webnn.builder.onnx.translate import translate
from webnn.reference.operations import REFERENCE_NEWEST
from webnn.validation.descriptor import DATA_TYPES

Array = np.ndarray[Any, np.dtype[Any]]

RNG = np.random.default_rng(0)

#: Shapes of all ranks with axes: all of them, none, some in any order.
REVERSED: list[tuple[list[int], list[int] | None]] = [
    ([], None),
    ([], []),
    ([1], None),
    ([7], [0]),
    ([3, 5], []),
    ([3, 5], [1]),
    ([3, 5], [0]),
    ([4, 3, 5], None),
    ([4, 3, 5], [2, 0]),
    ([2, 1, 4, 5], [1, 3]),
    ([2, 1, 4, 5], [1]),
    ([2, 1, 3, 2, 3], [4, 2, 3]),
    ([2, 1, 2, 2, 1, 3], None),
    ([2, 1, 2, 2, 1, 2, 3], [6, 0]),
    ([2, 1, 2, 2, 1, 2, 1, 2], None),
    ([2, 1, 2, 2, 1, 2, 1, 2], [7, 0, 3]),
]

#: Shapes of all ranks with repetitions: none, along axes of size 1 only, along longer ones, and along both.
TILED: list[tuple[list[int], list[int]]] = [
    ([], []),
    ([1], [1]),
    ([1], [300]),
    ([3], [4]),
    ([3, 5], [1, 1]),
    ([3, 1], [1, 9]),
    ([1, 5], [9, 1]),
    ([3, 1], [2, 9]),
    ([1, 2, 3, 4], [1, 2, 3, 4]),
    ([2, 1, 3, 2, 3], [1, 4, 1, 1, 2]),
    ([2, 1, 2, 2, 1, 3], [1, 3, 1, 1, 2, 1]),
    ([2, 1, 2, 2, 1, 2, 3], [2, 1, 1, 2, 1, 1, 2]),
    ([2, 1, 2, 2, 1, 2, 1, 2], [2, 3, 1, 1, 2, 2, 2, 1]),
]
#: An operation of a shape, and the nodes that it becomes; "Identity" stands between an input and an output that are the same.
NODES: list[tuple[str, list[int], tuple[Any, ...], dict[str, Any], list[str]]] = [
    ("reverse", [], (), {}, ["Identity"]),
    ("reverse", [3, 5], (), {"axes": []}, ["Identity"]),
    ("reverse", [1, 1, 5], (), {"axes": [0, 1]}, ["Identity"]),
    ("reverse", [3, 5], (), {}, ["Slice"]),
    ("tile", [], ([],), {}, ["Identity"]),
    ("tile", [3, 5], ([1, 1],), {}, ["Identity"]),
    ("tile", [3, 1], ([1, 2],), {}, ["Expand"]),
    ("tile", [3, 1], ([2, 2],), {}, ["Tile"]),
]
#: Values that are copied bit for bit.
SPECIAL = [0.0, -0.0, np.nan, np.inf, -np.inf, 1e-7, 6.1e-5, 65504]


def values(dataType: str, shape: list[int]) -> Array:
    """Return random values of the whole range of a type, with the special ones of floats."""
    dtype = np.dtype(dataType)
    if dtype.kind == "f":
        return np.asarray(RNG.choice(np.array([*SPECIAL, *RNG.uniform(-4, 4, 8)], dtype), shape))
    limits = np.iinfo(dataType)
    return np.asarray(RNG.integers(limits.min, limits.max, shape, dtype, endpoint=True))


def compare(_: Case, actual: Array, expected: Array) -> None:
    np.testing.assert_array_equal(actual, expected, strict=True)
    if actual.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(actual), np.signbit(expected))


@pytest.mark.parametrize("dataType", DATA_TYPES)
def test_reverse(dataType: str) -> None:
    check_cases([Case("reverse", values(dataType, shape), axes=axes) for shape, axes in REVERSED], compare, revision=CURRENT)


@pytest.mark.parametrize("dataType", DATA_TYPES)
def test_tile(dataType: str) -> None:
    check_cases([Case("tile", values(dataType, shape), repetitions) for shape, repetitions in TILED], compare, revision=CURRENT)


@pytest.mark.parametrize("size", [1, 3])
def test_many_repetitions(size: int) -> None:
    elements = values("int8", [size])
    [actual] = run("tile", elements, [5_000_000], revision=CURRENT)
    assert actual.dtype == np.int8
    assert actual.shape == (size * 5_000_000,)
    assert (actual.reshape(-1, size) == elements).all()


def node_types(builder: MLGraphBuilder, output: MLOperand) -> list[str]:
    return [node.op_type for node in translate(builder._collect({"output": output})).proto.graph.node]


@each_row(("name", "shape", "arguments", "options", "expected"), NODES)
def test_nodes(name: str, shape: list[int], arguments: tuple[Any, ...], options: dict[str, Any], expected: list[str]) -> None:
    builder = MLGraphBuilder(shared_context(CURRENT))
    x = builder.input("x", dataType="float32", shape=shape)
    assert node_types(builder, getattr(builder, name)(x, *arguments, options)) == expected


@pytest.mark.parametrize("permutation", [[0, 1, 2], [2, 0, 1], [1, 2, 0]])
@pytest.mark.parametrize(
    ("name", "arguments", "options"),
    [("reverse", (), {"axes": [0, 2]}), ("tile", ([3, 1, 2],), {}), ("cumulativeSum", (2,), {"exclusive": True})],
)
def test_between_transposes(name: str, arguments: tuple[Any, ...], options: dict[str, Any], permutation: list[int]) -> None:
    input = values("int32", [4, 3, 5])

    def connect() -> tuple[MLGraphBuilder, MLOperand]:
        builder = MLGraphBuilder(shared_context(CURRENT))
        x = builder.transpose(builder.input("x", dataType="int32", shape=[4, 3, 5]), permutation=permutation)
        return builder, builder.transpose(getattr(builder, name)(x, *arguments, options), permutation=np.argsort(permutation).tolist())

    builder, y = connect()
    # The transpose behind undoes the one before.
    assert len(node_types(builder, y)) == 1
    builder, y = connect()
    [actual] = compute_directly(builder.buildSync({"y": y}), {"x": input})
    expected = np.asarray(REFERENCE_NEWEST[name](input.transpose(permutation), *arguments, **options))
    np.testing.assert_array_equal(actual, expected.transpose(np.argsort(permutation)), strict=True)
