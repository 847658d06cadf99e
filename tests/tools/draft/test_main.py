"""The command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.shared import ROOT
from tests.tools.draft.sources import IDL, text
from tests.validation.drafts.test_idl_text import written
from webnn.validation.drafts import find_revision
from webnn.validation.drafts.idl_text import write_definitions

DRAFTS = ROOT / "validation" / "drafts"
#: `write_definitions` leaves this out.
MIXIN = """interface mixin NavigatorML { [SecureContext, SameObject] readonly attribute ML ml; };
Navigator includes NavigatorML; WorkerNavigator includes NavigatorML;"""
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


def test_an_idl_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The draft 2026-09 was written in this way, with the IDL that its data file has."""
    monkeypatch.setattr(main, "ROOT", tmp_path)
    monkeypatch.setattr(main, "FOLDER", tmp_path / "validation")
    (tmp_path / "validation").mkdir()
    (tmp_path / "docs").mkdir()
    idl = find_revision("2026-09").idl()
    definitions = write_definitions(idl)
    exposed = "[SecureContext, Exposed=(Window, Worker)] "
    lines = [f"// Source: {idl['source']['title']} ({idl['source']['url']})", MIXIN]
    lines += [exposed * head.startswith("interface") + written(head, members) for head, members in definitions.items()]
    (tmp_path / "new.idl").write_text("\n".join(lines), encoding="utf-8")
    assert main.main([str(tmp_path / "new.idl"), "2026-09", "--write"]) == 0
    printed = capsys.readouterr().out
    assert [line for line in printed.splitlines() if line.startswith(("+", "-"))] == [
        "+   Promise<MLTensor> createExportableTensor(MLTensorDescriptor descriptor, GPUDevice gpuDevice);",
        "+   GPUBuffer exportToGPU(MLTensor tensor);",
    ]
    assert "0 decisions. Only the IDL is known" in printed
    data, known = (json.loads((folder / "2026-09.idl.json").read_text(encoding="utf-8")) for folder in (tmp_path / "validation", DRAFTS))
    assert data == known
    assert {path.name for path in (tmp_path / "validation").iterdir()} == {"2026-09.idl.json", "draft_2026_09.py"}
    module = (tmp_path / "validation/draft_2026_09.py").read_text(encoding="utf-8")
    assert '"MLContext": {"createExportableTensor": "", "exportToGPU": ""}' in module
    assert module.endswith("    context_only=True,\n    provisional=True,\n)\n")


def test_too_many_sources(sources: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main.main([*sources, *sources, "2030-01"])
    assert ended.value.code == 2
    assert "there must be one source or two, got 4" in capsys.readouterr().err


def test_a_file_that_is_missing(sources: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main.main([sources[0], "missing.bs", "2030-01"])
    assert ended.value.code == 2
    assert "missing.bs" in capsys.readouterr().err
