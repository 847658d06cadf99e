"""The data beside the checkout: conformance vectors, the draft, a real model. The project does not need it, its full test run does."""

from __future__ import annotations

from pathlib import Path

__all__ = ["ROOT", "SHARED"]

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"
