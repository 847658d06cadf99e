"""The tables of docs/semantics.md."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import semantics
from webnn.builder.semantics import SWITCHES


def test_the_page_is_up_to_date() -> None:
    """`python -m tools.semantics` writes it."""
    assert semantics.main(["--check"]) == 0


def test_an_outdated_page_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "semantics.md"
    page.write_text(semantics.PAGE.read_text(encoding="utf-8").replace("### clampNaN", "### clampMaN"), encoding="utf-8")
    monkeypatch.setattr(semantics, "PAGE", page)
    assert semantics.main(["--check"]) == 1
    assert "semantics.md is outdated" in capsys.readouterr().err
    assert semantics.main([]) == 0
    text = page.read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if line.startswith("### ")] == [f"### {name}" for name in SWITCHES]
    assert text.startswith("# Semantics")
    assert text.endswith("-->\n")
    assert semantics.main([]) == 0
