"""The ways are those of the tool's parts."""

from __future__ import annotations

from tests.support import each_row
from tools.evidence.language_models.decoder import FORMS
from tools.evidence.language_models.ways import WAYS, Way
from webnn.validation.drafts import find_revision


@each_row("way", WAYS.values())
def test_a_way(way: Way) -> None:
    assert way.form in FORMS
    assert find_revision(way.revision).tensors
    # A cache grows where lengths have names.
    assert (way.cache == "growing") == ("dynamic-shapes" in way.revision)
    assert list(way.lengths) == sorted(way.lengths)
