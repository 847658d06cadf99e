"""The rows of the table sums: results that anybody can check by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tools.upstream.extremes import sums

INF, NAN = np.inf, np.nan

ROWS: list[tuple[str, str, list[Any]]] = [
    ("reduceSum", "float16 overflow", [INF, -INF, 0]),
    ("reduceProduct", "float32 an infinity and 0", [NAN, INF, 0]),
    ("softmax", "float32 numbers far apart", [[0.5, 0, 0, 0.5], [0, 0.5, 0, 0.5]]),
    ("cumulativeSum", "float32 infinities of both signs", [INF, INF, NAN, NAN]),
    ("matmul", "float32 infinities and 0", [[NAN, INF], [NAN, -INF], [NAN, NAN]]),
    ("conv2d", "float32 strides that are larger than the input", [[[[2]]]]),
    ("averagePool2d", "float32 padding does not count", [[[[8]]]]),
    ("batchNormalization", "float32 variance is 0", [[0], [1]]),
    ("argMax", "int8 neighbours at the limits", [0, 1]),
    ("gruCell", "float32 one step, one unit, no weights", [[0.5]]),
]


@pytest.mark.parametrize(("operation", "about", "wanted"), ROWS)
def test_results(operation: str, about: str, wanted: Any) -> None:
    row = next(row for row in sums.rows() if (row.operation, row.about) == (operation, about))
    found = next(iter(row.case().expected.values()))
    np.testing.assert_array_equal(found, np.array(wanted, found.dtype).reshape(found.shape))
