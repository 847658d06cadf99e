"""A file of weights for the graphs of harnesses."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

__all__ = ["write_weights"]


@cache
def write_weights(path: Path) -> None:
    """Write tensors with short names: one for each element type, and packed ones; once for each path."""
    # Imported when Atheris follows the package.
    from safetensors.numpy import save  # noqa: PLC0415

    tensors = {kind: np.zeros([2, 3], kind) for kind in ("float32", "float16", "int64", "int32", "uint8", "int8")}
    path.write_bytes(save({"w": np.arange(4, dtype=np.float32), "p": np.zeros(3, np.uint8), **tensors}, {"rustnn.webnn.packed4": "1"}))
