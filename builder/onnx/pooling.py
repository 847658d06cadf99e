"""TEMP."""

from __future__ import annotations

from webnn.builder.onnx.emitter import Translation

__all__ = ["TRANSLATIONS"]

TRANSLATIONS: dict[str, Translation] = {}
