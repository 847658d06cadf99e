"""Placement: what of a graph runs where, what it costs to carry between devices, and why something left the device that was asked for."""

from __future__ import annotations

from webnn.context.placement.assign import measure, simulate, uniform, unknown
from webnn.context.placement.outlines import Outline, outline
from webnn.context.placement.placements import OperatorPlacement, Partition, Placement, Transfer

__all__ = ["OperatorPlacement", "Outline", "Partition", "Placement", "Transfer", "measure", "outline", "simulate", "uniform", "unknown"]
