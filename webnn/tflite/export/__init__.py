"""WebNN graphs as models of LiteRT: `export`."""

from __future__ import annotations

from webnn.hlo.export.rule import RuleError
from webnn.tflite.export.graph import export

__all__ = ["RuleError", "export"]
