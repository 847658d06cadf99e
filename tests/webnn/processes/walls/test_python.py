"""The files of drivers that a process behind walls reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from webnn.processes.walls import python


@pytest.mark.parametrize(
    ("described", "library"),
    [
        ('{"ICD": {"library_path": "./libx.so"}}', "libx.so"),
        ('{"ICD": {"library_path": "/opt/libx.so"}}', "/opt/libx.so"),
        ('{"ICD": {"library_path": "libx.so"}}', None),  # the system finds it
        ('{"ICD": {"library_path": 3}}', None),
        ('{"ICD": []}', None),
        ("[", None),
        (None, None),
    ],
)
def test_drivers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, described: str | None, library: str | None) -> None:
    """The description and its library only: the folder around them may be a home folder."""
    path = tmp_path / "icd.json"
    if described is not None:
        path.write_text(described, encoding="utf-8")
    monkeypatch.setenv("VK_ICD_FILENAMES", str(path))
    monkeypatch.delenv("VK_DRIVER_FILES", raising=False)
    found = [Path(each) for each in python._drivers()]
    assert found == [path, *([] if library is None else [tmp_path / library])]
