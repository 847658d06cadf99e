"""Element-wise binary operations: `#api-mlgraphbuilder-binary`."""

from __future__ import annotations

from webnn.validation.descriptor import OperandDescriptor
from webnn.validation.operation import Call, Operation
from webnn.validation.shapes import bidirectionally_broadcast

__all__ = ["OPERATIONS", "binary"]


def binary(call: Call, a: OperandDescriptor, b: OperandDescriptor) -> OperandDescriptor:
    """*Create element-wise binary operation*, `#api-mlgraphbuilder-binary`."""
    # [3; 2026-06: 4] Both operands have one data type.
    call.check_same_type("b", b, "a", a)
    # The usual case; a valid descriptor is shared.
    if a.dimensions == b.dimensions:
        return a
    # [6.1; 2026-06: 5.1] The shapes broadcast in both directions.
    dimensions = bidirectionally_broadcast(a.dimensions, b.dimensions)
    if dimensions is None:
        raise call.error("b", f"must broadcast with the shape of a, {list(a.dimensions)}", list(b.dimensions), rule="broadcast")
    return call.output(a.dataType, dimensions)


#: The draft does not restrict their data types.
OPERATIONS = tuple(
    Operation(name=name, anchor="#api-mlgraphbuilder-binary", operands=("a", "b"), infer=binary)
    for name in ("add", "sub", "mul", "div", "max", "min", "pow")
)
