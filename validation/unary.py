"""TEMP."""

from __future__ import annotations

from webnn.validation.operation import Operation

__all__ = ["OPERATIONS"]

OPERATIONS: tuple[Operation, ...] = ()
