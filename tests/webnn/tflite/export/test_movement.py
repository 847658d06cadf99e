"""The operators of operations that move elements or change their type."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.support import each_row
from tests.webnn.tflite.export.litert import check, describe, ramp
from webnn.tflite.export import export

X = ramp(2, 3)


@each_row(
    ("make", "x", "made"),
    [
        (lambda b, x: b.cast(x, "int8"), np.array([-300, -1.5, 1.5, 300], np.float32), ["CAST"]),
        (lambda b, x: b.cast(x, "float16"), ramp(4, dtype=np.int32), ["CAST", "CAST"]),
        (lambda b, x: b.expand(x, [4, 2, 3]), X, ["BROADCAST_TO"]),
        (lambda b, x: b.pad(x, [1, 0], [0, 2]), X, ["PAD"]),
        (lambda b, x: b.pad(x, [1, 0], [0, 2], value=3), X, ["PADV2"]),
        (lambda b, x: b.pad(x, [1, 0], [0, 2], value=3), ramp(2, 3, dtype=np.uint32), ["CAST", "PADV2", "CAST"]),
        (lambda b, x: b.pad(x, [1, 0], [0, 2], mode="reflection"), X, ["MIRROR_PAD"]),
        (lambda b, x: b.pad(x, [1, 0], [0, 2], mode="edge"), X, ["GATHER", "CONCATENATION", "GATHER", "CONCATENATION"]),
        (lambda b, x: b.tile(x, [2, 1]), X, ["TILE"]),
        (lambda b, x: b.triangular(x), X, ["SELECT_V2"]),
        # A mask that is multiplied would make NaN of infinity.
        (lambda b, x: b.triangular(x, upper=False, diagonal=-1), np.full((2, 2), np.inf, np.float32), ["SELECT_V2"]),
        (lambda b, x: b.where(b.cast(b.abs(x), "uint8"), x, b.neg(x)), X, ["ABS", "CAST", "NEG", "CAST", "SELECT_V2"]),
        (lambda b, x: b.transpose(x), X, ["TRANSPOSE"]),
        (lambda b, x: b.reshape(x, [3, 2]), ramp(2, 3, dtype=np.uint64), ["RESHAPE"]),
    ],
)
def test_operators(make: Any, x: Any, made: list[str]) -> None:
    assert check(make, x) == made


def test_the_file_says_what_nan_becomes() -> None:
    assert any("NaN" in each for each in export(describe(lambda b, x: b.cast(x, "int32"), X)[0]).notes)
    assert not export(describe(lambda b, x: b.cast(x, "float16"), X)[0]).notes
