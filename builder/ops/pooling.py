"""TEMP."""

from __future__ import annotations

from webnn.builder.base import BuilderBase

__all__ = ["PoolingOps"]


class PoolingOps(BuilderBase):
    """TEMP."""

    __slots__ = ()
