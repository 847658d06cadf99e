"""PyTorch programs, which can only be read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription

__all__ = ["read"]


def read(path: Path) -> GraphDescription:
    """Import a PyTorch program that leaves nothing open; see `webnn.torch.load`."""
    from webnn.torch import load  # noqa: PLC0415 (graphs of other formats are read more often)

    return load(path).description
