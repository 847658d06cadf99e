"""Regions on scalars that are applied to whole tensors: all elements at once."""

from __future__ import annotations

from collections.abc import Sequence

from webnn.hlo.ir import Operation, Region
from webnn.hlo.ir import Value as HloValue
from webnn.hlo.types import TensorType, TupleType, Type
from webnn.importing.values import Refused, Value
from webnn.stablehlo.comparators import uses
from webnn.stablehlo.node import Item
from webnn.stablehlo.rules import bits, control, elementwise, functions, quantization

__all__ = ["check_scalars", "is_spread"]

#: Operations that compute each element by itself, or run regions and functions that do.
_POINTWISE = frozenset({*elementwise.RULES, *functions.RULES, *bits.RULES, *control.RULES, *quantization.RULES})


def is_spread(region: Region, items: Sequence[Item | None]) -> bool:
    """Tell whether a tensor of several elements is given for a scalar argument."""
    return any(
        isinstance(item, Value) and item.shape and isinstance(argument.type, TensorType) and not argument.type.shape
        for argument, item in zip(region.arguments, items, strict=True)
    )


def check_scalars(region: Region) -> None:
    """Refuse a region if an operation that depends on its arguments makes or takes a tensor, or mixes elements."""
    found = _find(region, {*region.arguments})
    if found is not None:
        types = ", ".join(sorted({str(each.type) for each in (*found.operands, *found.results)}))
        raise Refused(
            "a program on scalars that is applied to tensors must compute each element by itself, "
            f"got {found.name} of {types}, which depends on its arguments"
        )


def _find(region: Region, dependent: set[HloValue]) -> Operation | None:
    """Return the first operation that depends on some values, to which it adds, and does not compute scalars from scalars."""
    for operation in region.operations:
        if dependent.isdisjoint(uses(operation)):
            continue
        is_end = operation is region.operations[-1]
        types = [each.type for each in (*operation.operands, *operation.results)]
        if not is_end and (operation.name not in _POINTWISE or not all(map(_is_scalar, types))):
            return operation
        for inner in operation.regions:
            dependent.update(inner.arguments)
            found = _find(inner, dependent)
            if found is not None:
                return found
        dependent.update(operation.results)
    return None


def _is_scalar(type: Type) -> bool:
    if isinstance(type, TupleType):
        return all(map(_is_scalar, type.types))
    return not isinstance(type, TensorType) or not type.shape
