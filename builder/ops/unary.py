"""TEMP."""

from __future__ import annotations

from webnn.builder.base import BuilderBase

__all__ = ["UnaryOps"]


class UnaryOps(BuilderBase):
    """TEMP."""

    __slots__ = ()
