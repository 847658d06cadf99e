"""Element-wise unary operations: `#api-mlgraphbuilder-unary`."""

from __future__ import annotations

from webnn.validation.descriptor import OperandDescriptor
from webnn.validation.operation import Call, Operation

__all__ = ["OPERATIONS", "unary"]


def unary(call: Call, input: OperandDescriptor) -> OperandDescriptor:
    """*Create element-wise unary operation*, `#api-mlgraphbuilder-unary`."""
    # [3; 2026-06: 4] The input's data type is one of those that the operation allows.
    call.check_type("input", input)
    return input


def _operation(name: str) -> Operation:
    return Operation(name=name, anchor="#api-mlgraphbuilder-unary", operands=("input",), infer=unary)


OPERATIONS = tuple(
    _operation(name)
    for name in (
        "abs",
        "ceil",
        "cos",
        "erf",
        "exp",
        "floor",
        "identity",
        "log",
        "neg",
        "reciprocal",
        "roundEven",
        "sign",
        "sin",
        "sqrt",
        "tan",
    )
)
