from __future__ import annotations

import zipfile
from pathlib import Path

from tests.webnn.tflite.cases import CASES
from tools.evidence.tflite_models.files import PACKAGES, find_models


def test_the_files_of_a_wheel(tmp_path: Path) -> None:
    folder = tmp_path / "basic-pitch"
    folder.mkdir()
    with zipfile.ZipFile(folder / "basic_pitch-1-py3-none-any.whl", "w") as archive:
        archive.writestr("a/b.tflite", CASES["RELU"])
        archive.writestr("a/not.tflite", b"something else")
    assert find_models("basic-pitch", tmp_path) == {"b.tflite": CASES["RELU"]}
    assert {registry for registry, _ in PACKAGES.values()} == {"pypi", "npm"}
