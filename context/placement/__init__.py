"""Placement: what of a graph runs where, what it costs to carry between devices, and why something left the device that was asked for.

`assign` makes placements; it is imported when one is made.
"""

from __future__ import annotations

from webnn.context.placement.placements import OperatorPlacement, Partition, Placement, Transfer

__all__ = ["OperatorPlacement", "Partition", "Placement", "Transfer"]
