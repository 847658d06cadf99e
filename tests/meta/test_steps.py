"""Each step that can throw is cited by the code and reached by a test, or there is a reason why not; docs/spec-coverage.md says so."""

from __future__ import annotations

import re

from tests.shared import ROOT
from tools import spec_coverage
from tools.steps import cited, reach
from webnn.validation.drafts import DRAFTS_WITH_TEXT


def test_each_step_is_cited_or_has_a_reason() -> None:
    assert list(cited.problems()) == []


def test_each_cited_step_is_reached_by_a_test() -> None:
    """`python -m tools.spec_coverage --measure -n auto --no-samples` finds out which test it is."""
    assert list(spec_coverage.unreached(reach.load())) == []


def test_the_page_is_up_to_date() -> None:
    """`python -m tools.spec_coverage` writes it."""
    assert spec_coverage.main(["--check"]) == 0


def test_the_tests_exist() -> None:
    missing = []
    for test in sorted(set(reach.load().values())):
        path, *_, name = test.split("::")
        if not re.search(rf"^\s*(async )?def {name}\(", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE):
            missing.append(test)
    assert missing == []


def test_the_amount() -> None:
    """A suite that is green because nothing is cited is the worst outcome."""
    found = cited.citations()
    assert sum(key[0] == "2024-06" for key in found) >= 280
    assert sum(key[0] == "2026-06" for key in found) >= 424
    assert {key[0] for key in found} == set(DRAFTS_WITH_TEXT)
    assert sum(len(each.tags) for each in cited.functions()) > 290
    assert len(cited.reasons()[0]) >= 13
