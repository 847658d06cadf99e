"""Faults: failures of real browsers on demand. `faults` decides which call fails; `injection` puts that in front of the ordinary steps."""

from __future__ import annotations

from webnn.context.faults.faults import Faults

__all__ = ["Faults"]
