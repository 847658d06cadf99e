"""Checks of the operands, results and regions of operations. MLIR checks programs that are read; a module may be built by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from webnn.hlo.ir import Operation
from webnn.hlo.types import QuantizedType, TensorType, Type
from webnn.importing.values import Refused
from webnn.stablehlo.shapes import check_size

__all__ = ["check_type", "verify"]

#: How many operands, results and regions; None for a number that the rule checks.
_Counts: TypeAlias = "tuple[int | None, int | None, int | None]"

_COUNTS: Mapping[str, _Counts] = {
    **dict.fromkeys(("broadcast_in_dim", "get_dimension_size", "get_tuple_element", "reshape", "reverse", "slice"), (1, 1, 0)),
    **dict.fromkeys(("dynamic_iota", "fft", "transpose"), (1, 1, 0)),
    **dict.fromkeys(("dynamic_broadcast_in_dim", "dynamic_reshape", "gather", "pad", "set_dimension_size"), (2, 1, 0)),
    **dict.fromkeys(("after_all", "concatenate", "dynamic_slice", "dynamic_update_slice", "tuple"), (None, 1, 0)),
    "map": (None, 1, 1),
    **dict.fromkeys(("constant", "create_token", "iota"), (0, 1, 0)),
    "case": (1, None, None),
    "dynamic_gather": (3, 1, 0),
    "dynamic_pad": (5, 1, 0),
    "if": (1, None, 2),
    "optimization_barrier": (None, None, 0),
    "real_dynamic_slice": (4, 1, 0),
    "rng_bit_generator": (1, 2, 0),
    "while": (None, None, 2),
}
_MOVED = "broadcast_in_dim concatenate dynamic_broadcast_in_dim dynamic_gather dynamic_pad dynamic_reshape dynamic_slice gather pad reshape"
_OTHERS = "cholesky dynamic_update_slice real_dynamic_slice reverse select_and_scatter set_dimension_size slice transpose triangular_solve"
_NORMALIZED = "batch_norm_grad batch_norm_inference batch_norm_training"
#: Operations whose results have the element type of the first operand.
_SAME = frozenset(f"{_MOVED} {_OTHERS} {_NORMALIZED}".split())
#: Operations whose results have the element types of the operands in their order.
_EACH = frozenset({"optimization_barrier", "reduce", "reduce_window", "scatter", "sort", "while"})


#: From which operand on the operands of operations are sizes and places: integers.
_PLACES: Mapping[str, int] = {
    **{"dynamic_iota": 0, "dynamic_broadcast_in_dim": 1, "dynamic_gather": 1, "dynamic_reshape": 1, "dynamic_slice": 1, "gather": 1},
    **{"real_dynamic_slice": 1, "set_dimension_size": 1, "dynamic_conv": 2, "dynamic_pad": 2, "dynamic_update_slice": 2},
}


def check_type(type: Type) -> None:
    """Refuse a type of tensors that cannot be."""
    if isinstance(type, TensorType):
        check_size([size for size in type.shape if size is not None])
        element = type.element
        if isinstance(element, QuantizedType) and element.axis is not None:
            axis, count = element.axis, len(element.scales)
            if not 0 <= axis < type.rank or type.shape[axis] not in (None, count):
                raise Refused(f"there must be a scale for each position of the dimension {axis} of {list(type.shape)}, got {count}")


def verify(operation: Operation) -> None:
    """Check the numbers of operands, results and regions, and the element types of results. Rules check the rest."""
    for value in (*operation.results, *(argument for region in operation.regions for argument in region.arguments)):
        check_type(value.type)
    dialect, _, name = operation.name.partition(".")
    if dialect != "stablehlo":
        return
    found = (operation.operands, operation.results, operation.regions)
    for what, count, given in zip(("operands", "results", "regions"), _COUNTS.get(name, (None, None, None)), found, strict=True):
        if count not in (None, len(given)):
            raise Refused(f"there must be {count} {what}, got {len(given)}")
    if name in _PLACES:
        for operand in operation.operands[_PLACES[name] :]:
            element = getattr(operand.type, "element", None)
            if not isinstance(element, str) or not element.startswith(("i", "ui")) or element == "i1":
                raise Refused(f"sizes and places must be integers, got {operand.type}")
    if name in ("pad", "dynamic_pad") and getattr(operation.operands[1].type, "shape", None) != ():
        raise Refused(f"the padding must be a scalar, got {operation.operands[1].type}")
    if name in _SAME or name in _EACH:
        operands = operation.operands if name in _EACH else operation.operands[:1] * len(operation.results)
        for operand, result in zip(operands, operation.results, strict=False):
            one, other = (getattr(value.type, "element", None) for value in (operand, result))
            if one != other and not isinstance(one, QuantizedType) and not isinstance(other, QuantizedType):
                raise Refused(f"a result must have the element type of its operand, {operand.type}, got {result.type}")
