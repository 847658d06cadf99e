"""The families of operations, and the table of all operations, each with its row of the first draft that has the operation.

The changes of a later draft are in that draft's module, below `webnn.validation.drafts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType

from webnn.validation.operation import Operation

__all__ = ["FAMILIES", "OPERATIONS"]

#: The families: each is a module of this name here, in `webnn.builder.ops`, in `webnn.builder.onnx` and in `webnn.reference`.
FAMILIES = (
    "activation",
    "binary",
    "conv",
    "gather_scatter",
    "logical",
    "matmul",
    "movement",
    "normalization",
    "pooling",
    "quantization",
    "recurrent",
    "reduction",
    "resample",
    "tiling",
    "unary",
)
#: Every operation by its name.
OPERATIONS: Mapping[str, Operation] = MappingProxyType(
    {row.name: row for family in FAMILIES for row in import_module(f"webnn.validation.{family}").OPERATIONS}
)
