"""The page of what differs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.draft.sources import IDL, STEPS, read, text
from webnn.validation.drafts import draft_2024_06

plan = pytest.importorskip("tools.draft.plan", reason="widlparser is not installed")


def write(tmp_path: Path, before: str, after: str) -> str:
    from tools.draft.page import write_page  # as above

    old, new = read(tmp_path, before, "2029-01"), read(tmp_path, after, "2030-01")
    page: str = write_page(old, new, plan.make_plan(old, new, plan.Chain(revision=draft_2024_06.DRAFT)))
    return page


def test_the_page(tmp_path: Path) -> None:
    more = "1. If |input| is a | b, then [=exception/throw=] a {{RangeError}}."
    page = write(tmp_path, text(), text(IDL.replace("undefined compute();", "boolean compute();"), [more, *STEPS]))
    assert page.startswith("# The draft 2030-01, after 2029-01\n\n1 decisions, and 1 steps to read: 1 new, 0 changed, 0 gone. 1 steps have")
    assert "- MLContext.compute is boolean compute(), before undefined compute()" in page
    assert "- 2029-01: limits: the source has no tables of limits" in page
    assert "```diff\n  interface MLContext {\n-   undefined compute();\n+   boolean compute();\n  };\n```" in page
    assert "| MLGraphBuilder.relu(input) | 1 | new | RangeError |  |  |" in page
    assert "| MLGraphBuilder.relu(input) | 1 -> 2 | moved | TypeError |" in page


def test_no_difference(tmp_path: Path) -> None:
    page = write(tmp_path, text(), text())
    assert "0 decisions, and 0 steps to read" in page
    assert "## Interfaces" not in page
    assert "## Steps" not in page
