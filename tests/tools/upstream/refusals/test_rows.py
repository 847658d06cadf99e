"""The table of refused calls: each is refused under its draft, and its condition is named once."""

from __future__ import annotations

from collections import Counter

import pytest

from tools.upstream.refusals.rows import REFUSALS
from tools.upstream.refusals.write import _call
from webnn import ML, MLGraphBuilder
from webnn.validation.drafts import DRAFTS
from webnn.validation.errors import WebNNTypeError


@pytest.mark.parametrize("draft", REFUSALS)
def test_each_call_is_refused_at_a_step(draft: str) -> None:
    assert draft in DRAFTS
    context = ML(revision=draft).createContextSync()
    for row in REFUSALS[draft]:
        with pytest.raises(WebNNTypeError) as raised:
            _call(row, draft, MLGraphBuilder(context))
        assert raised.value.operation == row.operation
        assert raised.value.draft == draft
        assert raised.value.rule != "conversion", row
    assert max(Counter((row.operation, row.about) for row in REFUSALS[draft]).values()) == 1
