"""Every operation in slow, obvious NumPy, in float64: the judge of devices.

`compute` runs a graph and `evaluate` one operator, with results that are rounded to the operands' types or not; `ulp_distance` compares a
device's numbers with them. ``ML(reference=True)`` makes a device of it. docs/reference.md.
"""

from __future__ import annotations

from webnn.reference.computation import Program, compute, evaluate
from webnn.reference.ulp import ulp_distance
from webnn.validation.descriptor import pack, unpack

__all__ = ["Program", "compute", "evaluate", "pack", "ulp_distance", "unpack"]
