"""Weights beside a graph's file, in the safetensors format: the library of that name writes them, `tensors` reads them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from webnn.builder.description import ConstantDescription, FormatError
from webnn.formats import files
from webnn.formats.exchange import HEADER_TYPES, Array, Problem
from webnn.formats.tensors import TensorsFile
from webnn.validation import webidl
from webnn.validation.descriptor import NUMPY_DTYPES, SMALL_TYPES

if TYPE_CHECKING:
    from webnn.validation.descriptor import OperandDescriptor

__all__ = ["Weights", "weights_path", "write_weights"]

#: In the metadata: data of int4 and uint4 are uint8 tensors with two elements in a byte, the first one in the low bits.
_PACKED = {"rustnn.webnn.packed4": "1"}


def weights_path(path: Path, suffix: str) -> Path:
    """Return the file of weights that belongs to a graph's file: ``model.webnn.json`` has ``model.safetensors``."""
    return path.with_name(f"{path.name[: -len(suffix)]}.safetensors")


def write_weights(constants: Mapping[str, ConstantDescription], path: Path) -> None:
    """Write constants, under their names. The elements of int4 and uint4 stay packed, as flat uint8."""
    from safetensors.numpy import save  # noqa: PLC0415 (loaded when used)

    small = any(constant.value.shape != constant.descriptor.shape for constant in constants.values())
    tensors = {name: np.ascontiguousarray(constant.value).reshape(constant.value.shape) for name, constant in constants.items()}
    files.write(path, save(tensors, metadata=_PACKED if small else None))


class Weights:
    """The weights of a graph's file. The first tensor that is needed opens them; the end of the `with` block closes them."""

    def __init__(self, path: Path, suffix: str) -> None:
        self._graph = path
        self._stem = path.name[: -len(suffix)]
        self._file: TensorsFile | None = None
        self._path = path
        #: Constants may share a tensor.
        self._read: dict[str, Array] = {}

    def __enter__(self) -> Weights:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def read(self, name: str, descriptor: OperandDescriptor) -> Array:
        """Return the data of a tensor.

        Raises:
            Problem: There is no such tensor, or it has another type or shape.
            FormatError: There is no file of weights, or it is not valid.
            OSError: It cannot be read.
        """
        if self._file is None:
            self._path = self._find()
            self._file = TensorsFile(self._path)
        tensor = self._file.find(name)
        if tensor is None:
            raise Problem(f"{self._path.name} has no tensor {webidl.describe(name)}")
        if descriptor.dataType in SMALL_TYPES:
            if not _PACKED.items() <= self._file.metadata.items():
                [(key, value)] = _PACKED.items()
                raise Problem(f"{self._path.name} must have the metadata {key}={value} for {descriptor.dataType}")
            wanted = list(descriptor.array_shape)
        else:
            wanted = list(descriptor.dimensions)
        if tensor.dtype != HEADER_TYPES[descriptor.dataType] or tensor.shape != wanted:
            given = f"{tensor.dtype} {webidl.describe(tensor.shape)}"
            raise Problem(
                f"{self._path.name} must have {HEADER_TYPES[descriptor.dataType]} {wanted} for {webidl.describe(name)}, got {given}"
            )
        array = self._read.get(name)
        if array is None:
            # In an object of bytes, which the builder uses in place.
            data = self._file.read(tensor)
            array = self._read[name] = np.frombuffer(data, NUMPY_DTYPES[descriptor.dataType]).reshape(wanted)
        return array

    def _find(self) -> Path:
        """Return the file of weights, in the community's order."""
        tried = [f"{stem}.{suffix}" for stem in dict.fromkeys((self._stem, "model")) for suffix in ("safetensors", "weights")]
        for name in tried:
            path = self._graph.with_name(name)
            # A link that leads nowhere is an error of its own.
            if not path.exists() and not path.is_symlink():
                continue
            # Links may lead to where the graph's own link leads.
            if path.resolve().parent not in (path.parent.resolve(), self._graph.resolve().parent):
                raise FormatError("must not be a link to another folder", path)
            if path.suffix == ".weights":
                raise FormatError("weights in this format are not supported: convert them to safetensors", path)
            return path
        raise FormatError(f"needs weights in a file beside it: {' or '.join(tried)}", self._graph)
