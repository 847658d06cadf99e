"""TEMP."""

from __future__ import annotations

from webnn.builder.base import BuilderBase

__all__ = ["ReductionOps"]


class ReductionOps(BuilderBase):
    """TEMP."""

    __slots__ = ()
