"""Causes of differences of the engine LiteRT from a browser, from what LiteRT computes of the browser's model."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert", reason="LiteRT is not installed")

from tests.webnn.tflite.export.litert import describe
from tools.evidence.litert_causes import run
from tools.evidence.litert_causes.__main__ import cause_of
from webnn.tflite.export import export

ONE, OTHER = ({"y": np.float32([number, np.nan])} for number in (1, 2))


@pytest.mark.parametrize(
    ("computed", "cause"),
    [(OTHER, "mapping"), (ONE, "kernels"), ({"y": np.float32([3, np.nan])}, "both"), (None, "both")],
)
def test_causes(computed: Any, cause: str) -> None:
    assert cause_of(computed, ours=ONE, theirs=OTHER) == cause


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
