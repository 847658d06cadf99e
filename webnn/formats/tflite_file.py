"""TFLite models, which can be read only."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from webnn.tflite import load

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription

__all__ = ["read"]


def read(path: Path) -> GraphDescription:
    """Import a TFLite model; see `webnn.tflite.load`."""
    return load(path).description
