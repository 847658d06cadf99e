"""TEMP."""

from __future__ import annotations

from webnn.builder.base import BuilderBase

__all__ = ["LogicalOps"]


class LogicalOps(BuilderBase):
    """TEMP."""

    __slots__ = ()
