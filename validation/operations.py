"""The table of all operations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
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
from webnn.validation.dictionary import convertDataType
from webnn.validation.operation import Argument, Operation
from webnn.validation.revision import CURRENT, Revision

__all__ = ["OPERATIONS", "OPERATIONS_2026", "operations_of"]

_FAMILIES = (
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


def _with_small(argument: Argument) -> Argument:
    """Let an argument that is a data type be a small integer."""
    return replace(argument, convert=partial(convertDataType, small=True)) if argument.convert is convertDataType else argument


#: Every operation of the draft of June 2024 by its name.
OPERATIONS: Mapping[str, Operation] = MappingProxyType(
    {operation.name: operation for family in _FAMILIES for operation in family.OPERATIONS}
)

#: Every operation of the current draft: the rows that a family has for it take the place of those of June 2024.
OPERATIONS_2026: Mapping[str, Operation] = MappingProxyType(
    {
        **{name: replace(operation, activation=False) for name, operation in OPERATIONS.items()},
        **{operation.name: operation for family in _FAMILIES for operation in getattr(family, "OPERATIONS_2026", ())},
    }
)


#: The same with the data types that browsers have beyond it.
_OPERATIONS_BROWSERS: Mapping[str, Operation] = MappingProxyType(
    {name: replace(operation, arguments=tuple(map(_with_small, operation.arguments))) for name, operation in OPERATIONS_2026.items()}
)


def operations_of(revision: Revision) -> Mapping[str, Operation]:
    """Return every operation of a revision by its name."""
    if revision.small_integers:
        return _OPERATIONS_BROWSERS
    return OPERATIONS_2026 if revision.draft == CURRENT else OPERATIONS
