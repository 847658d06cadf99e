"""The table of all operations."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from webnn.validation import (
    activation,
    binary,
    conv,
    gather_scatter,
    logical,
    matmul,
    normalization,
    pooling,
    recurrent,
    reduction,
    resample,
    tensor,
    unary,
)
from webnn.validation.operation import Operation

__all__ = ["OPERATIONS"]

_FAMILIES = (
    activation,
    binary,
    conv,
    gather_scatter,
    logical,
    matmul,
    normalization,
    pooling,
    recurrent,
    reduction,
    resample,
    tensor,
    unary,
)

#: Every operation by its name.
OPERATIONS: Mapping[str, Operation] = MappingProxyType(
    {operation.name: operation for family in _FAMILIES for operation in family.OPERATIONS}
)
