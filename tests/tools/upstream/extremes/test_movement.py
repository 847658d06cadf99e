"""The rows of the table movement: results that anybody can check by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tools.upstream.extremes import movement

ROWS: list[tuple[str, str, Any]] = [
    ("pad", "int8 the largest value", [127, 0, 127]),
    ("pad", "float16 overflow of the value", [np.inf, 1, np.inf]),
    ("triangular", "NaN and infinities leave nothing behind", [[np.nan, np.inf], [0, np.nan]]),
    ("slice", "a stride that is longer than the slice", [-0.0]),
    ("gather", "a scalar index", 0.0),
    ("scatterND", "the only element", [-np.inf]),
    ("expand", "a scalar to itself", -0.0),
]


@pytest.mark.parametrize(("operation", "about", "wanted"), ROWS)
def test_results(operation: str, about: str, wanted: Any) -> None:
    row = next(row for row in movement.rows() if (row.operation, row.about) == (operation, about))
    found = row.case().expected["output"]
    np.testing.assert_array_equal(found, np.array(wanted, found.dtype).reshape(found.shape))
    np.testing.assert_array_equal(np.signbit(found), np.signbit(np.array(wanted, found.dtype).reshape(found.shape)))


def test_elements_are_moved_and_not_computed() -> None:
    for row in movement.rows():
        if row.operation not in ("resample2d", "triangular"):
            assert row.signed, row.about
