"""The tables of extremes: every operation has rows, and the names of rows and files are unique."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tools.upstream.extremes.write import all_rows, file_name, write_extremes
from webnn.validation.drafts import find_revision


def test_the_operations_have_rows() -> None:
    rows = all_rows()
    assert set(rows) <= set(find_revision("2026-06").operations)
    assert len(rows) >= 95
    for operation, found in rows.items():
        assert len(found) >= 2, operation
        assert max(Counter(row.about for row in found).values()) == 1, operation


@pytest.mark.parametrize(
    ("operation", "name"),
    [
        ("reduceL1", "reduce_l1"),
        ("isNaN", "is_nan"),
        ("conv2d", "conv2d"),
        ("gatherND", "gather_nd"),
        ("convTranspose2d", "conv_transpose2d"),
    ],
)
def test_names(operation: str, name: str) -> None:
    assert file_name(operation) == name


def test_files() -> None:
    texts = dict(write_extremes())
    assert len(texts) == len(all_rows())
    identity = texts["conformance_tests/identity-extremes.https.any.js"]
    assert "'use strict'" in identity
    assert "signedZero: true" in identity
    assert "webnn_values_test(identityExtremesTests);" in identity


def test_no_row_has_a_subnormal_number() -> None:
    """Devices may flush these to zero."""
    for rows in all_rows().values():
        for row in rows:
            for value in (*row.case().inputs.values(), *row.case().expected.values()):
                if value.dtype.kind == "f":
                    tiny = np.finfo(value.dtype).smallest_normal
                    assert not np.any((np.abs(value) < tiny) & (value != 0)), (row.operation, row.about)
