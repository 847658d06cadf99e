"""The table of all operations, each with its row of the first draft that has the operation.

The changes of a later draft are in that draft's module, below `webnn.validation.drafts`.
"""

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
    quantization,
    recurrent,
    reduction,
    resample,
    tensor,
    tiling,
    unary,
)
from webnn.validation.operation import Operation

__all__ = ["OPERATIONS"]

#: Every operation by its name.
OPERATIONS: Mapping[str, Operation] = MappingProxyType(
    {
        operation.name: operation
        for family in (
            activation,
            binary,
            conv,
            gather_scatter,
            logical,
            matmul,
            normalization,
            pooling,
            quantization,
            recurrent,
            reduction,
            resample,
            tensor,
            tiling,
            unary,
        )
        for operation in family.OPERATIONS
    }
)
