"""Element-wise logical operations: `#api-mlgraphbuilder-logical`."""

from __future__ import annotations

from webnn.validation.descriptor import OperandDescriptor, is_float
from webnn.validation.operation import Call, Operation
from webnn.validation.shapes import bidirectionally_broadcast

__all__ = ["OPERATIONS", "logical"]

_CLASSES = ("isInfinite", "isNaN")


def logical(call: Call, a: OperandDescriptor, b: OperandDescriptor | None = None) -> OperandDescriptor:
    """*Create element-wise logical operation*, `#api-mlgraphbuilder-logical`."""
    # [2026-06: 5.1] Only floating-point numbers can be NaN or infinite. (Its table of limits allows all types.)
    if call.operation in _CLASSES and not is_float(a.dataType):
        raise call.error("a", f"must have a data type of {list(filter(is_float, call.revision.types))}", a.dataType, rule="type")
    if b is None:
        # [2.2; 2026-06: 4.1] What is negated is uint8.
        call.check_type("a", a)
        # 2.3. The shape stays.
        outputShape = a.dimensions
    else:
        # [3.2; 2026-06: 6.2] Both operands have one data type.
        call.check_same_type("b", b, "a", a)
        # [3.3; 2026-06: 6.3] The shapes broadcast in both directions.
        broadcast = bidirectionally_broadcast(a.dimensions, b.dimensions)
        if broadcast is None:
            raise call.error("b", f"must broadcast with the shape of a, {list(a.dimensions)}", list(b.dimensions), rule="broadcast")
        outputShape = broadcast
    # 4.-6. The result is uint8, whatever was compared.
    return call.output("uint8", outputShape)


def _operation(name: str, *operands: str) -> Operation:
    return Operation(name=name, anchor="#api-mlgraphbuilder-logical", operands=operands, infer=logical)


OPERATIONS = (
    *(_operation(name, "a", "b") for name in ("equal", "greater", "greaterOrEqual", "lesser", "lesserOrEqual", "notEqual")),
    *(_operation(name, "a", "b") for name in ("logicalAnd", "logicalOr", "logicalXor")),
    *(_operation(name, "a") for name in ("logicalNot", *_CLASSES)),
)
