from __future__ import annotations

import pytest

from tests.webnn.tflite.cases import FAMILIES
from tests.webnn.tflite.makers import b, f, i, ints, one
from tests.webnn.tflite.support import check, refusals

_LARGEST = 2**31 - 1


@pytest.mark.parametrize("name", FAMILIES["indexing"])
def test_results(name: str) -> None:
    check(name)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (one("GATHER", [f(3), ints([3])], [f()], "GatherOptions"), "the indices must be from -3 to 2, got some from 3 to 3"),
        (one("GATHER", [f(2, 3), ints([[0], [1]])], [f()], "GatherOptions", BatchDims=1), "BatchDims must be at most the axis, 0, got 1"),
        (one("SCATTER_ND", [ints([[0]]), f(1), ints([1 << 30])], [f()]), "must have from 1 to 16777216 elements"),
        (one("SCATTER_ND", [ints([[0]]), f(1), ints([0, *[_LARGEST] * 3])], [f()]), "at most 32 dimensions and 2147483647 bytes"),
        (one("ONE_HOT", [i(2), ints([0]), f(), f()], [f()], "OneHotOptions"), "the depth must be from 1 to 16777216, got 0"),
        (one("RANGE", [ints(0), ints(9), ints(0)], [i()]), "the range must have an increment other than 0"),
        (one("RANGE", [ints(0), ints(2**30), ints(1)], [i()]), "at most 16 MiB"),
        (one("WHERE", [b(2)], [i(type="INT64")]), "the condition, which gives the result its shape, must be known at import"),
        (one("UNSORTED_SEGMENT_MAX", [b(2), ints(0, 1), ints(2)], [b()]), "the data must be numbers, got bool"),
        (one("UNSORTED_SEGMENT_MAX", [f(2), ints(0, 1, 2), ints(2)], [f()]), "the ids must have the first dimensions of [2], got [3]"),
        (one("DYNAMIC_UPDATE_SLICE", [f(2), f(3), ints([0])], [f()]), "the update must fit into [2]"),
        (one("BROADCAST_ARGS", [ints(2, 3), ints([2])], [i()]), "the shapes must broadcast, got [2, 3] and [2]"),
    ],
)
def test_refusals(model: bytes, reason: str) -> None:
    assert reason in refusals(model)[0][1]
