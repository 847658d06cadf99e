"""TEMP."""

from __future__ import annotations

from webnn.builder.base import BuilderBase

__all__ = ["MatmulOps"]


class MatmulOps(BuilderBase):
    """TEMP."""

    __slots__ = ()
