"""The rows of the table elementwise: results that anybody can check by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tools.upstream.extremes import elementwise

INF, NAN = np.inf, np.nan

ROWS: list[tuple[str, str, list[Any]]] = [
    ("exp", "float32 zeros, infinities and limits", [1, 1, np.float32(np.e), INF, 0, NAN, INF, 0]),
    ("sqrt", "float32 zeros, infinities and limits", [0, 0, 1, NAN, 0.5, INF, NAN, NAN, np.sqrt(np.finfo(np.float32).max)]),
    ("logicalNot", "every number but 0 is true", [1, 0, 0, 0, 0]),
    ("equal", "float32 NaN, infinities and zeros", [0, 0, 1, 0, 0, 0, 1]),
    ("cast", "float32 to float16: ties to even, overflow", [2048, 2052, -2048, 65504, INF, -INF, INF, -INF, NAN, 0, 0]),
    ("quantizeLinear", "int8 ties to even, saturation", [0, 2, 2, 0, -2, -2, 126, 127, 127, -128, 127, -128, 0]),
    ("dequantizeLinear", "int8 the largest zero point", [-127.5, 0, -63.5, -63]),
]


@pytest.mark.parametrize(("operation", "about", "wanted"), ROWS)
def test_results(operation: str, about: str, wanted: list[Any]) -> None:
    row = next(row for row in elementwise.rows() if (row.operation, row.about) == (operation, about))
    np.testing.assert_array_equal(row.case().expected["output"], np.array(wanted, row.case().expected["output"].dtype))
