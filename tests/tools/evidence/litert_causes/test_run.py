"""Models that LiteRT computes in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert", reason="LiteRT is not installed")

from tests.webnn.tflite.export.litert import describe
from tools.evidence.litert_causes import run
from webnn.tflite.export import export


@pytest.mark.processes
def test_models_are_computed_in_a_process(tmp_path: Path) -> None:
    """A file that LiteRT refuses has no outputs, and the others are computed."""
    description, given = describe(lambda b, x: b.neg(x), np.float32([1, -2]))
    (tmp_path / "0.tflite").write_bytes(bytes(export(description).to_bytes()))
    (tmp_path / "1.tflite").write_bytes(b"nothing that LiteRT reads")
    for number in range(2):
        np.savez(tmp_path / f"{number}.in.npz", x0=given["x0"])
    subprocess.run([sys.executable, str(Path(run.__file__)), str(tmp_path)], check=True, capture_output=True)
    with np.load(tmp_path / "0.out.npz") as found:
        [name] = found.files
        np.testing.assert_array_equal(found[name], [-1, 2])
    assert not (tmp_path / "1.out.npz").exists()
