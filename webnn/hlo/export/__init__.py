"""WebNN graphs as StableHLO programs: `export`."""

from __future__ import annotations

from webnn.hlo.export.graph import export
from webnn.hlo.export.rule import RuleError

__all__ = ["RuleError", "export"]
