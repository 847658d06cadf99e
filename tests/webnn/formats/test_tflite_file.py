from __future__ import annotations

from pathlib import Path

import pytest

import webnn
from tests.webnn.tflite.cases import CASES


def test_a_model_is_loaded_by_its_suffix(tmp_path: Path) -> None:
    path = tmp_path / "m.TFLite"
    path.write_bytes(CASES["RELU"])
    assert [each.operation for each in webnn.load(path).operators] == ["relu"]


def test_it_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(CASES["RELU"])
    with pytest.raises(ValueError, match=r"\.tflite"):
        webnn.load(path).save(path)
