"""The worked examples of XLA's operation semantics: those that state their values, and some that its text describes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.webnn.xla.programs import DRAFTS, Build, compute, counting_loop, scalars
from webnn.xla import F32, ComputationBuilder, ComputationDataHandle, LiteralUtil, MakeShape, Padding, ShapeUtil

#: The array v of `Collapse` and `Reshape`; in `Reshape` its dimensions are ordered 1, 2, 0, too.
_PAGES = [[10, 11, 12, 15, 16, 17], [20, 21, 22, 25, 26, 27], [30, 31, 32, 35, 36, 37], [40, 41, 42, 45, 46, 47]]
V = np.array(_PAGES, np.float32).reshape(4, 2, 3)
TURNED = [10, 20, 30, 40, 11, 21, 31, 41, 12, 22, 32, 42, 15, 25, 35, 45, 16, 26, 36, 46, 17, 27, 37, 47]
#: The values 1 to 6, four times, of `Reduce`.
SIX = np.tile(np.array([[1, 2, 3], [4, 5, 6]], np.float32), (4, 1, 1))
#: The arrays a and b of `Slice`.
ROW = np.arange(5, dtype=np.float32)
TABLE = np.arange(12, dtype=np.float32).reshape(4, 3)
V1, V2 = [1, 2, 3, 4], [100, 200, 300, 400]


def add(*dimensions: int) -> Build:
    return lambda b, x: b.Reduce(x, b.ConstantLiteral(0.0), scalars("Add", F32), dimensions)


def reshape(dimensions: list[int], sizes: list[int]) -> Build:
    return lambda b, x: b.Reshape(x, dimensions, sizes)


def reduce_window(b: ComputationBuilder, x: ComputationDataHandle) -> ComputationDataHandle:
    """The program of the page, with its names: the arguments of the call are in the order of the signature."""
    builder = ComputationBuilder("max")
    y, z = builder.Parameter(0, ShapeUtil.MakeShape(F32, []), "y"), builder.Parameter(1, ShapeUtil.MakeShape(F32, []), "x")
    builder.Max(y, z)
    greatest = builder.Build()
    least = b.ConstantLiteral(LiteralUtil.MinValue(F32))
    return b.ReduceWindow(x, least, greatest, window_dimensions=[2, 3], window_strides=[2, 3], padding=Padding.kValid)


def while_1000(b: ComputationBuilder, vector: ComputationDataHandle) -> ComputationDataHandle:
    condition, body = counting_loop(MakeShape(F32, [10]), lambda inner, x: inner.Add(x, inner.ConstantLiteral([0.5] * 10)), 1000)
    return b.GetTupleElement(b.While(condition, body, b.Tuple(b.ConstantLiteral(0), vector)), 1)


#: Programs of the page that state their values: name, program, arrays, result.
STATED: dict[str, tuple[Build, list[Any], Any]] = {
    "Broadcast": (lambda b: b.Broadcast(b.ConstantLiteral(2.0), [2, 3]), [], [[2.0] * 3] * 2),
    "Clamp": (lambda b, x: b.Clamp(x, b.ConstantLiteral(0), b.ConstantLiteral(6)), [np.int32([-1, 5, 9])], [0, 5, 6]),
    "Collapse 0 1 2": (lambda b, x: b.Collapse(x, [0, 1, 2]), [V], V.reshape(24)),
    "Collapse 0 1": (lambda b, x: b.Collapse(x, [0, 1]), [V], V.reshape(8, 3)),
    "Collapse 1 2": (lambda b, x: b.Collapse(x, [1, 2]), [V], V.reshape(4, 6)),
    "Concatenate 1-D": (
        lambda b, *x: b.Concatenate(x, 0),
        [np.int32([2, 3]), np.int32([4, 5]), np.int32([6, 7])],
        [2, 3, 4, 5, 6, 7],
    ),
    "Concatenate 2-D": (
        lambda b, *x: b.ConcatInDim(x, 0),
        [np.int32([[1, 2], [3, 4], [5, 6]]), np.int32([[7, 8]])],
        [[1, 2], [3, 4], [5, 6], [7, 8]],
    ),
    "ConvertElementType": (lambda b, x: b.ConvertElementType(x, F32), [np.int32([0, 1, 2])], np.float32([0, 1, 2])),
    "GetTupleElement": (lambda b, v, s: b.GetTupleElement(b.Tuple(v, s), 1), [np.arange(10, dtype=np.float32), np.array(5, np.int32)], 5),
    "Reduce 0": (add(0), [SIX], [[4, 8, 12], [16, 20, 24]]),
    "Reduce 2": (add(2), [SIX], [[6, 15]] * 4),
    "Reduce 0 1": (add(1, 0), [SIX], [20, 28, 36]),
    "Reduce all": (add(0, 1, 2), [SIX], 84),
    "Reshape 0 1 2 to 24": (reshape([0, 1, 2], [24]), [V], V.reshape(24)),
    "Reshape 0 1 2 to 8x3": (reshape([0, 1, 2], [8, 3]), [V], V.reshape(8, 3)),
    "Reshape 1 2 0 to 24": (reshape([1, 2, 0], [24]), [V], TURNED),
    "Reshape 1 2 0 to 8x3": (reshape([1, 2, 0], [8, 3]), [V], np.reshape(TURNED, (8, 3))),
    "Reshape 1 2 0 to 2x6x2": (reshape([1, 2, 0], [2, 6, 2]), [V], np.reshape(TURNED, (2, 6, 2))),
    "Reshape to a scalar": (reshape([0, 1], []), [np.float32([[5]])], 5),
    "Reshape of a scalar": (reshape([], [1, 1]), [np.array(5, np.float32)], [[5]]),
    "Select": (lambda b, p, x, y: b.Select(p, x, y), [np.array([True, False, False, True]), np.int32(V1), np.int32(V2)], [1, 200, 300, 4]),
    "Select of a scalar": (lambda b, p, x, y: b.Select(p, x, y), [np.array(True), np.int32(V1), np.int32(V2)], V1),
    "Slice 1-D": (lambda b, x: b.Slice(x, [2], [4]), [ROW], [2, 3]),
    "Slice 2-D": (lambda b, x: b.Slice(x, [2, 1], [4, 3]), [TABLE], [[7, 8], [10, 11]]),
    "DynamicSlice 1-D": (lambda b, x, s: b.DynamicSlice(x, s, [2]), [ROW, np.int32([2])], [2, 3]),
    "DynamicSlice 2-D": (lambda b, x, s: b.DynamicSlice(x, s, [2, 2]), [TABLE, np.int32([2, 1])], [[7, 8], [10, 11]]),
    "DynamicUpdateSlice 1-D": (
        lambda b, x, u, s: b.DynamicUpdateSlice(x, u, s),
        [ROW, np.float32([5, 6]), np.int32([2])],
        [0, 1, 5, 6, 4],
    ),
    "DynamicUpdateSlice 2-D": (
        lambda b, x, u, s: b.DynamicUpdateSlice(x, u, s),
        [TABLE, np.float32([[12, 13], [14, 15], [16, 17]]), np.int32([1, 1])],
        [[0, 1, 2], [3, 12, 13], [6, 14, 15], [9, 16, 17]],
    ),
}

#: Programs that the page only describes, and its rules.
DESCRIBED: dict[str, tuple[Build, list[Any], Any]] = {
    "ReduceWindow": (reduce_window, [np.arange(24, dtype=np.float32).reshape(4, 6)], [[8, 11], [20, 23]]),
    "While": (while_1000, [np.zeros(10, np.float32)], np.full(10, 500)),
    "ConvWithGeneralPadding": (
        lambda b, x, k: b.ConvWithGeneralPadding(x, k, [1, 1], [(1, 1), (1, 1)]),
        [np.ones((1, 1, 4, 4), np.float32), np.ones((1, 1, 3, 3), np.float32)],
        [[[[4, 6, 6, 4], [6, 9, 9, 6], [6, 9, 9, 6], [4, 6, 6, 4]]]],
    ),
    "ConvWithGeneralPadding, dilated, with negative padding": (
        lambda b, x, k: b.ConvWithGeneralPadding(x, k, [1, 1], [(-1, 1), (0, 0)], [2, 2], [1, 1]),
        [np.ones((1, 1, 4, 4), np.float32), np.ones((1, 1, 3, 3), np.float32)],
        [[[[2, 1, 2, 1, 2], [4, 2, 4, 2, 4], [2, 1, 2, 1, 2], [4, 2, 4, 2, 4], [2, 1, 2, 1, 2]]]],
    ),
    "Sort": (lambda b, x: b.Sort(x), [np.float32([3, 1, 2])], [1, 2, 3]),
    "Add with broadcast_dimensions": (
        lambda b, x, y: b.Add(x, y, [0]),
        [TABLE, np.float32([1, 2, 3, 4])],
        [[1, 2, 3], [5, 6, 7], [9, 10, 11], [13, 14, 15]],
    ),
}

EXAMPLES = {**STATED, **DESCRIBED}


def test_their_number() -> None:
    assert (len(STATED), len(DESCRIBED)) == (28, 6)


@pytest.mark.parametrize("draft", DRAFTS)
@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example(name: str, draft: str) -> None:
    build, arrays, wanted = EXAMPLES[name]
    found = compute(build, *arrays, draft=draft)
    assert found.shape == np.shape(wanted)
    assert np.array_equal(found, wanted)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_of_constants(name: str) -> None:
    build, arrays, wanted = EXAMPLES[name]
    found = compute(build, *arrays, known=True)
    assert found.shape == np.shape(wanted)
    assert np.array_equal(found, wanted)
