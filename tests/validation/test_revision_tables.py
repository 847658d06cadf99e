"""The tables of the drafts, beside the tests of the operations that read them."""

from __future__ import annotations

import pytest

from webnn.validation.descriptor import DATA_TYPES
from webnn.validation.drafts import DRAFTS, find_revision


@pytest.mark.parametrize("draft", DRAFTS)
def test_rows_allow_something(draft: str) -> None:
    revision = find_revision(draft)
    ranks = {(name, operand): bounds for name, row in revision.ranks.items() for operand, bounds in row.items()}
    assert ranks
    assert {key: (low, high) for key, (low, high) in ranks.items() if not 0 <= low <= high} == {}
    types = {(name, operand): allowed for name, row in revision.data_types.items() for operand, allowed in row.items()}
    assert types
    assert {key: allowed for key, allowed in types.items() if not allowed or not {*allowed} <= {*DATA_TYPES}} == {}
