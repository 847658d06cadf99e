"""The command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tools.evidence.language_models import __main__ as command
from tools.evidence.language_models.decoder import Shape


def test_a_way_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(["sideways"])
    assert ended.value.code == 2
    assert "there is no way 'sideways'" in capsys.readouterr().err


def test_decoders_are_folders_of_a_language_model(tmp_path: Path) -> None:
    command.write_decoders(tmp_path, Shape(layers=1, width=32, heads=2, shared=1, inner=16, words=10, places=16))
    assert {each.name for each in tmp_path.iterdir()} == {"operators", "composite"}
    assert json.loads((tmp_path / "operators" / "config.json").read_text())["max_position_embeddings"] == 16


@pytest.mark.parametrize(("returncode", "status"), [(0, 0), (1, 1)])
def test_a_way_that_fails_is_told(
    returncode: int, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(words: Any, **_: Any) -> Any:
        assert words[-1] == "named"
        return command.subprocess.CompletedProcess(words, returncode, '{"way": "named"}')  # type: ignore[attr-defined]  # it imports it

    monkeypatch.setattr(command.subprocess, "run", run)  # type: ignore[attr-defined]  # likewise
    monkeypatch.setattr(command, "Shape", lambda: Shape(layers=1, width=32, heads=2, shared=1, inner=16, words=10, places=16))
    assert command.main(["named"]) == status
    printed = capsys.readouterr()
    assert json.loads(printed.out) == {"ways": {} if status else {"named": {"way": "named"}}, "pages": []}
    assert ("named failed" in printed.err) == bool(status)
