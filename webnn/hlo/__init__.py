"""StableHLO programs in a neutral form of plain dataclasses, and the reader that makes it: `read`.

>>> import webnn.hlo
>>> module = webnn.hlo.read("model.mlir")
>>> print(webnn.hlo.print_module(module))
"""

from __future__ import annotations

from webnn.hlo.ir import Function, Module, Operation, Region, RegionBuilder, Value
from webnn.hlo.printer import print_module
from webnn.hlo.reader import StableHLOMissingError, read

__all__ = ["Function", "Module", "Operation", "Region", "RegionBuilder", "StableHLOMissingError", "Value", "print_module", "read"]
