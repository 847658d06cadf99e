"""The memory of this process grows with what it holds."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from tests.support import each_row
from webnn.processes import resident


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells both")
def test_memory_that_is_held() -> None:
    before = resident.resident_bytes(os.getpid())
    held = np.ones(1 << 24, np.uint8)
    after, peak = resident.resident_bytes(), resident.peak_bytes()
    assert before is not None
    assert after is not None
    assert peak is not None
    assert peak >= after > before
    assert held.nbytes > 0


@each_row("status", ["", "Name: python\n"])
def test_systems_without_the_file(status: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if status:
        for process in ("self", "7"):
            (tmp_path / process).mkdir()
            (tmp_path / process / "status").write_text(status)
    monkeypatch.setattr(resident, "_PROCESSES", tmp_path)
    assert resident.resident_bytes() is None
    assert resident.resident_bytes(7) is None
    peak = resident.peak_bytes()
    assert peak is None or peak > 1 << 20
