"""The page of the catalogue."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.evidence.models import __main__ as command
from tools.evidence.models.catalog import load_catalog
from tools.evidence.models.page import PAGE, keep_results, make_page
from tools.evidence.models.result import Place, Result, Times


def test_the_page_shows_the_results(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--check"]) == 0, capsys.readouterr().err


def test_rows_of_the_page(tmp_path: Path) -> None:
    models = load_catalog()
    places = (Place(profile="", verdict="builds"), Place(profile="qnn-htp", verdict="builds", operators=9, left={"cast": 2, "gather": 1}))
    results = [
        Result(
            name="silero",
            status="ok",
            difference=2e-7,
            fast=0.0,
            spread=1e-6,
            bytes=2_330_000,
            nodes=5,
            operators=1039,
            times=Times(load=2, build=1, run=1, fast=1, session=4, reference=2),
            places=(*places, Place(profile="webgpu-dawn", verdict="refused", why="a | b")),
            profiles=16,
            refusals={"webgpu-dawn": "a | b"},
        ),
        Result(name="silero-op15", status="sensitive", message="y differs", difference=2e-5, fast=0.0, ours=1e-5, theirs=3e-5),
        Result(name="voicefilter", status="refused", message="DynamicQuantizeLSTM: no", nodes=7),
    ]
    keep_results(tmp_path / "r.json", results, models, 0)
    lines = make_page(models, tmp_path / "r.json").splitlines()
    what = models["silero"].what
    assert (
        f"| `silero` | {what} | silero-vad 6.2.3 | 2.33 | right | 5 | 1,039 | 2.0e-07 | 1.0e-06 | 0 | 0.50 | 0.50 of 2e+03 ms | 0.50 |"
        in lines
    )
    assert "| `silero` | 15 of 16, not webgpu-dawn | builds | refused: a \\| b | 3 of 9 leave: cast, gather |" in lines
    assert any("| 0.00 | refused: DynamicQuantizeLSTM: no | 7 |" in line for line in lines)
    assert any("| as near to float64: 1e-05, the judge 3e-05 |" in line for line in lines)
    assert "1 of 3 are right, and 1 more are as near to float64 as the judge. The judge is ONNX Runtime." in lines
    assert "webnn check silero.onnx --shape=input=1,576 --shape=state=2,1,128 --constant=sr=16000" in lines
    assert "Import and build together take 0.75 times a session of the judge in the median of 1" in lines
    assert "models, and 0.8 times at most (`silero`)." in lines
    assert PAGE.read_text(encoding="utf-8").splitlines()[0] == lines[0]
