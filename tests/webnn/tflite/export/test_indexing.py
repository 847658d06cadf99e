"""Elements that are picked or replaced by index, also by indices outside of the axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.support import each_row
from tests.webnn.tflite.export.litert import check, constant, describe, ramp
from webnn.tflite.export import export

X = ramp(4, 3)
FAR = np.array([[0, -1], [9, -9]], np.int32)
WIDE = np.array([[0, -1, 9], [1, -9, -9]], np.int32)


@each_row(
    ("make", "inputs"),
    [
        (lambda b, x, i: b.gather(x, i, axis=1), [X, FAR]),
        (lambda b, x, i: b.gather(x, i, axis=0), [X, FAR.astype(np.int64)]),
        (lambda b, x, i: b.gather(x, i, axis=0), [X, np.array([3, 2**32 - 1], np.uint32)]),
        (lambda b, x, i: b.gather(x, i), [ramp(4, 3, dtype=np.uint64), FAR]),
        (lambda b, x, i: b.gatherElements(x, i, axis=0), [X, WIDE]),
        (lambda b, x, i: b.gatherND(x, i), [X, FAR]),
        (lambda b, x, i: b.gatherND(x, i), [X, FAR[:, :1].copy()]),
        (lambda b, x, i, u: b.scatterElements(x, i, u, axis=0), [X, WIDE, ramp(2, 3) + 9]),
        (lambda b, x, i, u: b.scatterND(x, i, u), [X, FAR, ramp(2) + 9]),
        (lambda b, x, i, u: b.scatterND(x, i, u), [X, FAR[:1, :1].copy(), ramp(1, 3) + 9]),
        (lambda b, x, i, u: b.scatterND(x, i, u), [X.astype(np.float16), FAR, ramp(2, dtype=np.float16)]),
        (lambda b, x, i, u: b.scatterND(x, i, u), [ramp(4, 3, dtype=np.uint32), FAR, ramp(2, dtype=np.uint32)]),
        # Of several known updates of one element the last one counts.
        (lambda b, x, u: b.scatterND(x, constant(b, np.array([[1], [2], [1]], np.int32)), u), [X, ramp(3, 3) + 9]),
    ],
)
def test_indices(make: Any, inputs: Any) -> None:
    check(make, *inputs)


def test_the_file_says_that_updates_are_added() -> None:
    def known(b: Any, x: Any) -> Any:
        return b.scatterND(x, constant(b, FAR), constant(b, ramp(2)))

    assert not export(describe(known, X)[0]).notes
    [note] = export(describe(lambda b, x, i, u: b.scatterND(x, i, u), X, FAR, ramp(2))[0]).notes
    assert "added up" in note
