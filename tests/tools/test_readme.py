"""README.md with absolute links."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.shared import ROOT
from tools import readme

BASE = "https://git.test/some/name/blob/v1"
FILES = "https://git.test/some/name/raw/v1"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a](docs/a.md)", f"[a]({BASE}/docs/a.md)"),
        ("[a](docs/a.md#part)", f"[a]({BASE}/docs/a.md#part)"),
        ("[examples/](examples/)", f"[examples/]({BASE}/examples/)"),
        ("[`code`](docs/a.md)", f"[`code`]({BASE}/docs/a.md)"),
        ("[a [b] c](docs/a.md)", f"[a [b] c]({BASE}/docs/a.md)"),
        ("![a](docs/a.svg) [b](b.md)", f"![a]({FILES}/docs/a.svg) [b]({BASE}/b.md)"),
        ("[![a](docs/a.svg)](b.md)", f"[![a]({FILES}/docs/a.svg)]({BASE}/b.md)"),
        ("[here](#part) [there](https://a.test/b)", "[here](#part) [there](https://a.test/b)"),
        ("`x[0](a.md)` [a](a.md)", f"`x[0](a.md)` [a]({BASE}/a.md)"),
        ("```python\nx[0](a)\n```\n[a](a.md)", f"```python\nx[0](a)\n```\n[a]({BASE}/a.md)"),
        ("", ""),
    ],
)
def test_rewrite(text: str, expected: str) -> None:
    assert readme.rewrite(text, BASE) == expected
    assert readme.rewrite(text, BASE + "/") == expected
    assert readme.rewrite(expected, BASE) == expected


@pytest.mark.parametrize(
    "base", ["", "git.test/name", "http://git.test/name", "https://", "https://git.test/name?a", "https://git.test/name#a"]
)
def test_a_wrong_base(base: str) -> None:
    with pytest.raises(ValueError, match=f"base must be an https address without query and fragment, got {re.escape(repr(base))}"):
        readme.rewrite("", base)


def test_no_relative_link_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = tmp_path / "README.md"
    copy.write_bytes((ROOT / "README.md").read_bytes())
    monkeypatch.setattr(readme, "_README", copy)
    monkeypatch.setattr(sys, "argv", ["readme", BASE])
    readme.main()
    prose = re.sub(r"^```.*?^```$", "", copy.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    targets = re.findall(r"\]\(([^)\s]+)\)|(?:href|src|srcset)=\"([^\"]+)\"", prose)
    assert len(targets) > 20
    assert [target for pair in targets for target in pair if target and not target.startswith(("https://", "#"))] == []


def test_a_wrong_call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    before = (ROOT / "README.md").read_bytes()
    monkeypatch.setattr(sys, "argv", ["readme", "ftp://git.test"])
    with pytest.raises(SystemExit, match="2"):
        readme.main()
    assert "got 'ftp://git.test'" in capsys.readouterr().err
    assert (ROOT / "README.md").read_bytes() == before
