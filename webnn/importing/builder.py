"""The builder of an import."""

from __future__ import annotations

from webnn.builder.sketch import LabellingBuilder

__all__ = ["LabellingBuilder"]
