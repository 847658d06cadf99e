"""The history of a specification, which lands step by step."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tests.tools.draft.sources import IDL, text
from webnn.validation.drafts import draft_2024_06, find_revision

replay = pytest.importorskip("tools.draft.replay", reason="widlparser is not installed")


@pytest.mark.processes
@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
def test_steps_land(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    later = IDL.replace("float alpha", "double alpha")
    commits = []
    for idl in (IDL, later, later.replace("double alpha", "MLNumber alpha").replace("MLOperand relu(MLOperand input);", "")):
        (tmp_path / "index.bs").write_text(text(idl), encoding="utf-8")
        git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.org"]
        for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "a"]):
            subprocess.run([*git, *words], check=True)
        head = subprocess.run([*git, "rev-parse", "--short", "HEAD"], check=True, capture_output=True, encoding="utf-8")
        commits.append(head.stdout.strip())
    assert replay.main([str(tmp_path), *commits]) == 0
    printed = capsys.readouterr().out
    assert f"{commits[1]}: 0 operations added, 1 changed, 0 decisions, 4 files; steps: none" in printed
    assert f"{commits[2]}: 0 operations added, 1 changed, 0 decisions" in printed
    assert re.search(r"^2 steps landed in .* s, with 0 decisions and 8 files", printed, re.MULTILINE)
    # That draft has it.
    assert "  relu: only one of them has it" in printed


def test_differences() -> None:
    draft = find_revision("2026-06")
    assert list(replay.differences(draft, draft)) == []
    row = draft_2024_06.DRAFT.operations["argMin"]
    other = replace(draft, operations={**draft.operations, "argMin": row})
    assert list(replay.differences(draft, other)) == ["argMin: arguments", "argMin: options", "argMin: infer"]
