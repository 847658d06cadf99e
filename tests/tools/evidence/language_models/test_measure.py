"""The figures of a way, with a small decoder."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

from tools.evidence.language_models import measure
from tools.evidence.language_models.__main__ import write_decoders
from tools.evidence.language_models.decoder import Shape
from tools.evidence.language_models.ways import WAYS

pytest.importorskip("onnxruntime")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("decoders")
    write_decoders(path, Shape(layers=1, width=96, heads=6, shared=2, inner=32, words=1000, places=128))
    return path


@pytest.mark.parametrize("name", ["static", "named", "composite"])
def test_figures(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(measure, "WAYS", MappingProxyType({name: replace(WAYS[name], lengths=(8, 70))}))
    for constant, value in (("TOKENS", 3), ("ROUNDS", 1), ("JUDGED", 8)):
        monkeypatch.setattr(measure, constant, value)
    measure.main([str(folder), name])
    found = json.loads(capsys.readouterr().out)
    assert [each["past"] for each in found["lengths"]] == [8, 70]
    assert all(each["same"] and each["token"] > 0 and each["first"] > 0 for each in found["lengths"])
    assert found["operators"] > found["nodes"] / 2
    assert found["engineNodes"] > 0
    # Both are float32's roundings.
    assert all(0 <= found[key] < 1e-5 for key in ("error", "otherError"))
    assert math.isfinite(found["loading"])
    operators, calls = found["calls"]
    assert (calls > 0) == (operators > 0) == (name == "composite")
    # One session for a token and one for a prompt, or one for each capacity.
    assert found["sessions"] == (2 if name != "static" else found["sessions"])
