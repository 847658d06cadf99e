"""The files of packages, and the verdict about one; LiteRT is there on some machines only."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tests.webnn.tflite.cases import CASES
from tests.webnn.tflite.makers import f, one
from tools.evidence.tflite_models.files import PACKAGES, find_models


def test_the_files_of_a_wheel(tmp_path: Path) -> None:
    folder = tmp_path / "basic-pitch"
    folder.mkdir()
    with zipfile.ZipFile(folder / "basic_pitch-1-py3-none-any.whl", "w") as archive:
        archive.writestr("a/b.tflite", CASES["RELU"])
        archive.writestr("a/not.tflite", b"something else")
    assert find_models("basic-pitch", tmp_path) == {"b.tflite": CASES["RELU"]}
    assert {registry for registry, _ in PACKAGES.values()} == {"pypi", "npm"}


def test_verdicts() -> None:
    pytest.importorskip("ai_edge_litert", reason="LiteRT, the judge, is not installed")
    from tools.evidence.tflite_models.__main__ import check

    assert check("p", "f", CASES["conv 0 0 2 1"], 0).status == "ok"
    assert check("p", "f", CASES["conv int8"], 0).status == "ok"
    found = check("p", "f", one("FlexErf", [f(2)], [f()]), 0)
    assert (found.status, found.message) == ("refused", "CUSTOM.FlexErf: there is no rule for the operator CUSTOM.FlexErf")
