"""PyTorch programs as a format of graphs."""

from __future__ import annotations

from pathlib import Path

import pytest

import webnn
from webnn.builder.description import FormatError
from webnn.formats import pt2

DATA = Path(__file__).parents[1] / "torch" / "data"


def test_a_program_with_open_sizes_is_refused() -> None:
    pytest.importorskip("onnxscript", reason="needs PyTorch")
    with pytest.raises(webnn.NotSupportedError, match=r"inputs\['input'\]: the dimensions s31 .* must be fixed"):
        pt2.read(DATA / "mlp-dynamic.pt2")


def test_a_file_that_is_not_an_archive(tmp_path: Path) -> None:
    pytest.importorskip("onnxscript", reason="needs PyTorch")
    (tmp_path / "m.pt2").write_bytes(b"PK")
    with pytest.raises(FormatError, match=r"m\.pt2: is not an archive of torch\.export\.save"):
        webnn.load(tmp_path / "m.pt2")
