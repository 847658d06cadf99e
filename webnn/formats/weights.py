"""Weights beside a graph's file: the safetensors format, by the library of that name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from webnn.builder.description import ConstantDescription
from webnn.formats import files

__all__ = ["weights_path", "write_weights"]

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
