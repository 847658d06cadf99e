"""The command."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.draft.sources import IDL, text

main = pytest.importorskip("tools.draft.__main__", reason="widlparser is not installed")


@pytest.fixture
def sources(tmp_path: Path) -> list[str]:
    files = [tmp_path / "old.bs", tmp_path / "new.bs"]
    for file, idl in zip(files, (IDL, IDL.replace("float alpha", "double alpha")), strict=True):
        file.write_text(text(idl), encoding="utf-8")
    return list(map(str, files))


def test_it_prints(sources: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main([*sources, "2030-01"]) == 0
    assert "+   double alpha = 1;" in capsys.readouterr().out


def test_it_writes(sources: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(main, "ROOT", tmp_path)
    monkeypatch.setattr(main, "FOLDER", tmp_path / "validation")
    (tmp_path / "validation").mkdir()
    (tmp_path / "docs").mkdir()
    assert main.main([*sources, "2030-01", "--write"]) == 0
    written = {line.removeprefix("wrote ") for line in capsys.readouterr().out.splitlines() if line.startswith("wrote ")}
    expected = {"draft_2030_01.py", "2030-01.idl.json", "2030-01.steps.json"}
    assert written == {f"validation/{name}" for name in expected} | {"docs/drafts/2030-01.md"}
    assert 'retyped(draft_2026_06.DRAFT.changed["elu"]["options"], alpha=Double)' in (tmp_path / "validation/draft_2030_01.py").read_text()


def test_a_file_that_is_missing(sources: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main.main([sources[0], "missing.bs", "2030-01"])
    assert ended.value.code == 2
    assert "missing.bs" in capsys.readouterr().err
