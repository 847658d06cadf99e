"""TEMP."""

from __future__ import annotations

from webnn.builder.base import BuilderBase

__all__ = ["GatherScatterOps"]


class GatherScatterOps(BuilderBase):
    """TEMP."""

    __slots__ = ()
