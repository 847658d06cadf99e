"""Placement: where each operator of a graph runs, the cost of transfers between devices, and why operators left the requested device.

`assign` makes placements; it is imported when one is made.
"""

from __future__ import annotations

from webnn.context.placement.placements import OperatorPlacement, Partition, Placement, Transfer

__all__ = ["OperatorPlacement", "Partition", "Placement", "Transfer"]
