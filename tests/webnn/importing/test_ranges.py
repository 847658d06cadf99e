"""Intervals of integers, against what graphs compute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import webnn
from tests.support import CURRENT, each_row
from webnn.check.changes import prove
from webnn.check.report import Change
from webnn.commands.feeds import build, compute
from webnn.importing.ranges import Interval, find_operators, find_ranges

Make = Callable[[webnn.MLGraphBuilder, webnn.MLOperand, webnn.MLOperand], webnn.MLOperand]


def constant(builder: webnn.MLGraphBuilder, *numbers: int) -> webnn.MLOperand:
    array = np.array(numbers, np.int64)
    return builder.constant({"dataType": "int64", "shape": [len(numbers)]}, array)


#: Graphs of x, floats [2, 3], and i, positions from 0 to 2 as int64 [2]; and the limits that are proven.
TABLE: list[tuple[str, Make, tuple[int, int] | None]] = [
    ("positions", lambda b, x, i: b.identity(i), (0, 2)),
    ("sums", lambda b, x, i: b.add(i, constant(b, -5, 7)), (-5, 9)),
    ("differences", lambda b, x, i: b.sub(constant(b, 4), i), (2, 4)),
    ("products of signs", lambda b, x, i: b.mul(b.sub(i, constant(b, 1)), constant(b, -3, 2)), (-3, 3)),
    ("joined", lambda b, x, i: b.concat([i, constant(b, 9)], 0), (0, 9)),
    ("chosen", lambda b, x, i: b.where(b.greater(i, constant(b, 0)), i, constant(b, -1)), (-1, 2)),
    ("comparisons", lambda b, x, i: b.cast(b.equal(x, x), "int64"), (0, 1)),
    ("gathered", lambda b, x, i: b.gather(constant(b, 4, 8, 6), i), (4, 8)),
    ("padded", lambda b, x, i: b.pad(i, [1], [1], value=-7), (-7, 2)),
    ("sums of a dimension", lambda b, x, i: b.reduceSum(i, axes=[0]), (0, 4)),
    ("larger ones", lambda b, x, i: b.max(i, constant(b, 1)), (0, 2)),
    ("quotients", lambda b, x, i: b.div(b.sub(i, constant(b, 5)), constant(b, 2)), (-5, 0)),
    ("quotients by what may be negative", lambda b, x, i: b.div(constant(b, 4), b.sub(i, constant(b, 5))), None),
    ("clamped", lambda b, x, i: b.clamp(i, minValue=1, maxValue=9), (1, 2)),
    ("floating-point numbers", lambda b, x, i: b.cast(x, "int64"), None),
]


@each_row(("name", "make", "limits"), TABLE)
def test_limits(name: str, make: Make, limits: tuple[int, int] | None) -> None:
    context = webnn.ML(revision=CURRENT).createContextSync()
    builder = webnn.MLGraphBuilder(context)
    x = builder.input("x", dataType="float32", shape=[2, 3])
    i = builder.argMax(x, 1, outputDataType="int64")
    description = webnn.describe({"y": make(builder, x, i), "i": builder.identity(i)})
    found = find_ranges(description)
    interval = found.get(description.outputs["y"])
    assert (None if interval is None else (interval.low, interval.high)) == limits, name
    if limits is not None:
        context, graph = build(description)
        y: Any = compute(context, graph, {"x": np.array([[3, 1, 2], [1, 2, 3]], np.float32)})["y"]
        assert limits[0] <= y.min() <= y.max() <= limits[1]


def test_what_may_overflow_is_not_proven() -> None:
    builder = webnn.MLGraphBuilder(webnn.ML(revision=CURRENT).createContextSync())
    big = constant(builder, 2**62)
    description = webnn.describe({"y": builder.mul(big, constant(builder, 4))})
    assert description.outputs["y"] not in find_ranges(description)


def test_operators_with_one_label_share_an_interval() -> None:
    builder = webnn.MLGraphBuilder(webnn.ML(revision=CURRENT).createContextSync())
    x = builder.input("x", dataType="int64", shape=[2])
    y = builder.abs(builder.add(constant(builder, 1, 5), constant(builder, 2), label="n"))
    z = builder.add(constant(builder, 1), constant(builder, 90), label="n")
    found = find_operators(webnn.describe({"y": y, "z": z}))
    assert (found["add", "n"].low, found["add", "n"].high) == (1, 91)
    unknown = builder.add(x, constant(builder, 1), label="n")
    assert ("add", "n") not in find_operators(webnn.describe({"y": y, "z": z, "u": unknown}))


@each_row(
    ("interval", "text"),
    [
        (Interval(0, 9, ("positions",)), "cast it to int32 (the values are from 0 to 9: positions)"),
        (Interval(0, 2**31, ("positions",)), "cast it to int32 (values outside int32 do not fit)"),
    ],
)
def test_a_change_that_loses_nothing(interval: Interval, text: str) -> None:
    change = Change(text="cast it to int32 (values outside int32 do not fit)", data_type="int32", loses="values outside int32 do not fit")
    assert prove(change, interval).text == text
