"""TEMP."""

from __future__ import annotations

from webnn.builder.base import BuilderBase

__all__ = ["NormalizationOps"]


class NormalizationOps(BuilderBase):
    """TEMP."""

    __slots__ = ()
