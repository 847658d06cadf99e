"""Operations that add and multiply: reductions, products, convolutions, pooling, normalization and recurrent networks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tools.upstream.extremes.case import FLOATS, INTEGERS, Extreme, array, largest, limits, smallest

__all__ = ["rows"]

INF, NAN = np.inf, np.nan
_ONES = (1,) * 5
_FAR = 2**32 - 1

_SUMS = ("reduceSum", "reduceMean", "reduceL1", "reduceL2", "reduceSumSquare", "reduceProduct", "reduceLogSum", "reduceLogSumExp")


def _row(operation: str, about: str, operands: list[Any], *arguments: Any, **options: Any) -> Extreme:
    return Extreme(operation=operation, about=about, operands=operands, arguments=arguments, options=options)


def _reductions() -> Iterator[Extreme]:
    for kind in FLOATS:
        high = largest(kind)
        for operation in (*_SUMS, "reduceMax", "reduceMin"):
            yield _row(operation, f"{kind} a scalar", [array(kind, 1.0)])
            yield _row(operation, f"{kind} dimensions of one element", [array(kind, [2.0], _ONES)], axes=[0, 4], keepDimensions=True)
            yield _row(operation, f"{kind} an infinity", [array(kind, [[INF, 1.0], [1.0, 2.0]])], axes=[1])
        for operation in ("reduceSum", "reduceMean", "reduceProduct", "reduceL1", "reduceSumSquare"):
            yield _row(operation, f"{kind} NaN", [array(kind, [[NAN, 1.0], [1.0, 2.0]])], axes=[1])
        for operation in ("reduceSum", "reduceMean"):
            yield _row(operation, f"{kind} infinities of both signs", [array(kind, [[INF, -INF], [-INF, -INF]])], axes=[1])
        yield _row("reduceSum", f"{kind} overflow", [array(kind, [[high, high], [-high, -high], [high, -high]])], axes=[1])
        yield _row("reduceL1", f"{kind} overflow", [array(kind, [[high, -high], [high, 0.0]])], axes=[1])
        yield _row("reduceProduct", f"{kind} an infinity and 0", [array(kind, [[INF, 0.0], [high, 2.0], [high, 0.0]])], axes=[1])
        yield _row("reduceSumSquare", f"{kind} overflow", [array(kind, [[high, 1.0], [-high, 0.0]])], axes=[1])
        yield _row("reduceLogSum", f"{kind} a sum of 0", [array(kind, [[0.0, 0.0], [1.0, -1.0]])], axes=[1])
        yield _row("reduceLogSumExp", f"{kind} negative infinities", [array(kind, [[-INF, -INF], [-INF, 0.0]])], axes=[1])
        for operation in ("reduceMax", "reduceMin"):
            numbers = [[INF, -INF, high], [-INF, -INF, -high], [high, -high, 0.0]]
            yield _row(operation, f"{kind} infinities and limits", [array(kind, numbers)], axes=[1])
        for operation, numbers in (("argMax", [[-INF, -high], [INF, high]]), ("argMin", [[INF, high], [-INF, -high]])):
            yield _row(operation, f"{kind} infinities and limits", [array(kind, numbers)], 1, outputDataType="int64")
    for operation in ("argMax", "argMin"):
        for kind in INTEGERS:
            numbers = [[largest(kind), largest(kind) - 1], [smallest(kind), smallest(kind) + 1]]
            yield _row(operation, f"{kind} neighbours at the limits", [array(kind, numbers)], 1)
        one = array("float32", [INF], _ONES)
        yield _row(operation, "one element", [one], 4, keepDimensions=True, outputDataType="int32")
    for kind in INTEGERS:
        for operation in ("reduceMax", "reduceMin"):
            yield _row(operation, f"{kind} limits", [array(kind, limits(kind), (2, 4))], axes=[1])
    for kind in ("int32", "uint32", "int64", "uint64"):
        low, high = smallest(kind), largest(kind)
        yield _row("reduceSum", f"{kind} up to the limits", [array(kind, [[high - 1, 1], [low, 0], [low, high]])], axes=[1])
        yield _row("reduceProduct", f"{kind} up to the limits", [array(kind, [[high, 1], [low, 1], [high, 0]])], axes=[1])
        yield _row("reduceL1", f"{kind} up to the limit", [array(kind, [[high - 1, 1], [high, 0]])], axes=[1])
        root = 46340 if kind == "int32" else 65535
        yield _row("reduceSumSquare", f"{kind} near the limit", [array(kind, [[root, 0], [0, 1]])], axes=[1])
    yield _row("reduceL2", "float32 no axes", [array("float32", [3.0, -4.0])], axes=[])
    yield _row("reduceSum", "float32 no axes", [array("float32", [3.0, -4.0, INF, NAN])], axes=[])


def _running() -> Iterator[Extreme]:
    for kind in FLOATS:
        high = largest(kind)
        yield _row("cumulativeSum", f"{kind} an infinity stays", [array(kind, [1.0, INF, 1.0])], 0)
        yield _row("cumulativeSum", f"{kind} infinities of both signs", [array(kind, [INF, 1.0, -INF, 1.0])], 0)
        yield _row("cumulativeSum", f"{kind} overflow", [array(kind, [high, high, 1.0])], 0)
        yield _row("cumulativeSum", f"{kind} one element, exclusive", [array(kind, [high], _ONES)], 4, exclusive=True)
        yield _row("cumulativeSum", f"{kind} reversed and exclusive", [array(kind, [1.0, 2.0, high])], 0, exclusive=True, reversed=True)
        large = array(kind, [[high, -high, 0.0, high], [-INF, 0.0, -INF, 0.0]])
        yield _row("softmax", f"{kind} numbers far apart", [large], 1)
        yield _row("softmax", f"{kind} one element", [array(kind, [[high], [-high], [0.0]])], 1)
        yield _row("softmax", f"{kind} along the first of five dimensions", [array(kind, [1.0], _ONES)], 0)
    for kind in ("int32", "uint32", "int64", "uint64"):
        yield _row("cumulativeSum", f"{kind} up to the limit", [array(kind, [largest(kind) - 2, 1, 1])], 0)


def _products() -> Iterator[Extreme]:
    for kind in FLOATS:
        high = largest(kind)
        two = array(kind, [[2.0]])
        yield _row("gemm", f"{kind} one element", [two, two], c=array(kind, 1.0))
        yield _row("gemm", f"{kind} overflow", [array(kind, [[high], [-high], [1.0]]), two])
        yield _row("gemm", f"{kind} infinities and 0", [array(kind, [[INF], [-INF], [NAN]]), array(kind, [[0.0, 1.0]])])
        yield _row("gemm", f"{kind} alpha and beta are 0", [two, two], alpha=0.0, beta=0.0, c=array(kind, [1.0]))
        yield _row("matmul", f"{kind} one element", [two, two])
        yield _row("matmul", f"{kind} overflow", [array(kind, [[high], [-high], [1.0]]), two])
        yield _row("matmul", f"{kind} infinities and 0", [array(kind, [[INF], [-INF], [NAN]]), array(kind, [[0.0, 1.0]])])
        yield _row("matmul", f"{kind} batches of one", [array(kind, [2.0], (1, 1, 1, 1)), array(kind, [2.0] * 3, (3, 1, 1))])
        image, filter = array(kind, [1.0, 2.0, 3.0, 4.0], (1, 1, 2, 2)), array(kind, [2.0], (1, 1, 1, 1))
        for operation in ("conv2d", "convTranspose2d"):
            yield _row(operation, f"{kind} overflow", [array(kind, [high, -high, INF, -INF, NAN, 0.0], (1, 1, 2, 3)), filter])
            yield _row(operation, f"{kind} one element", [filter, filter], bias=array(kind, [-4.0]))
        yield _row("conv2d", f"{kind} padding that is larger than the input", [image, filter], padding=[3, 0, 0, 5])
        yield _row("conv2d", f"{kind} strides that are larger than the input", [image, filter], strides=[7, _FAR])
        yield _row("conv2d", f"{kind} the largest dilations of one element", [image, filter], dilations=[_FAR, _FAR])
        yield _row("conv2d", f"{kind} a window that is the whole input", [image, image])
        many = array(kind, [1.0, -1.0, 2.0], (1, 3, 1, 1))
        yield _row("conv2d", f"{kind} a group for each channel", [many, array(kind, [2.0, 3.0, 4.0], (3, 1, 1, 1))], groups=3)
        yield _row("convTranspose2d", f"{kind} gaps of strides", [image, filter], strides=[3, 4])
        yield _row("convTranspose2d", f"{kind} the largest output padding", [filter, filter], strides=[3, 3], outputPadding=[2, 2])
        yield _row("convTranspose2d", f"{kind} the largest dilations of one element", [image, filter], dilations=[_FAR, _FAR])


def _pooling() -> Iterator[Extreme]:
    for kind in FLOATS:
        high = largest(kind)
        image = array(kind, [3.0, 4.0, 0.0, 0.0, -3.0, -4.0, 0.0, 5.0], (1, 2, 2, 2))
        for operation in ("averagePool2d", "l2Pool2d", "maxPool2d"):
            yield _row(operation, f"{kind} the window is the whole input", [image])
            yield _row(operation, f"{kind} the largest dilations of one element", [image], windowDimensions=[1, 1], dilations=[_FAR, _FAR])
            yield _row(operation, f"{kind} the largest strides", [image], windowDimensions=[1, 1], strides=[_FAR, _FAR])
            yield _row(operation, f"{kind} one element", [array(kind, [2.0], (1, 1, 1, 1))])
            yield _row(operation, f"{kind} an infinity", [array(kind, [INF, 1.0], (1, 1, 1, 2))], windowDimensions=[1, 2])
        numbers = array(kind, [-high, -high, high, INF], (1, 1, 2, 2))
        yield _row("maxPool2d", f"{kind} limits", [numbers], windowDimensions=[1, 2])
        yield _row("maxPool2d", f"{kind} padding does not win", [array(kind, [-high], (1, 1, 1, 1))],
                   windowDimensions=[2, 2], padding=[1, 0, 1, 0])  # fmt: skip
        yield _row("averagePool2d", f"{kind} padding does not count", [array(kind, [8.0], (1, 1, 1, 1))],
                   windowDimensions=[2, 2], padding=[1, 0, 1, 0])  # fmt: skip
        yield _row("averagePool2d", f"{kind} infinities of both signs", [array(kind, [INF, -INF], (1, 1, 1, 2))])


def _normalization() -> Iterator[Extreme]:
    for kind in FLOATS:
        same = array(kind, [2.0] * 4, (1, 1, 2, 2))
        one, none = array(kind, [1.0]), array(kind, [0.0])
        for operation in ("instanceNormalization", "layerNormalization"):
            yield _row(operation, f"{kind} equal numbers", [same])
            yield _row(operation, f"{kind} dimensions of one element", [array(kind, [7.0], (1, 1, 1, 1))])
            yield _row(operation, f"{kind} epsilon is 0", [array(kind, [1.0, -1.0], (1, 1, 1, 2))], epsilon=0.0)
        yield _row("instanceNormalization", f"{kind} scale is 0", [array(kind, [1.0, -1.0], (1, 1, 1, 2))], scale=none, bias=one)
        yield _row("layerNormalization", f"{kind} no axes", [array(kind, [1.0, -2.0])], axes=[])
        yield _row("layerNormalization", f"{kind} a scalar", [array(kind, 3.0)])
        points = array(kind, [1.0, 2.0], (2, 1))
        yield _row("batchNormalization", f"{kind} variance is 0", [points, one, none], epsilon=1.0)
        yield _row("batchNormalization", f"{kind} epsilon is 0", [points, one, array(kind, [4.0])], epsilon=0.0)
        yield _row("batchNormalization", f"{kind} scale is 0", [points, one, one], scale=none, bias=array(kind, [5.0]))
        yield _row("batchNormalization", f"{kind} the only axis", [array(kind, [INF]), one, one], axis=0)


def _recurrent() -> Iterator[Extreme]:
    for kind in FLOATS:
        for operation, gates, cell, steps in (("gru", 3, 0, 1), ("gruCell", 3, 0, 0), ("lstm", 4, 0, 1), ("lstmCell", 4, 1, 0)):
            lead = (1,) * steps
            for about, weight in (("no weights", 0.0), ("saturated gates", 1000.0), ("gates saturated below", -1000.0)):
                weights = [array(kind, [weight] * gates, (*lead, gates, 1)) for _ in range(2)]
                first = [array(kind, [1.0], (*lead, 1, 1))]
                states = [array(kind, [1.0], (1, 1))] * (0 if steps else 1 + cell)
                arguments = [1, 1] if steps else [1]
                options = {"initialHiddenState": array(kind, [1.0], (1, 1, 1))} if steps else {}
                yield _row(operation, f"{kind} one step, one unit, {about}", [*first, *weights, *states], *arguments, **options)
        sequence = array(kind, [1.0, -1.0], (2, 1, 1))
        weights = [array(kind, [1.0] * 3, (1, 3, 1))] * 2
        yield _row("gru", f"{kind} relu, the sequence backward", [sequence, *weights], 2, 1,
                   activations=["relu", "relu"], direction="backward", returnSequence=True)  # fmt: skip


def rows() -> Iterator[Extreme]:
    """Yield the rows."""
    for part in (_reductions, _running, _products, _pooling, _normalization, _recurrent):
        yield from part()
