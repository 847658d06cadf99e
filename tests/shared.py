"""The data beside the checkout: the draft, a real model, the sources of data that the package holds. Only some tests need it."""

from __future__ import annotations

from pathlib import Path

__all__ = ["ROOT", "SHARED"]

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"
