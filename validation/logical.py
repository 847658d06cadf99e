"""Element-wise logical operations: `#api-mlgraphbuilder-logical`."""

from __future__ import annotations

from webnn.validation.descriptor import OperandDescriptor
from webnn.validation.operation import Call, Operation
from webnn.validation.shapes import bidirectionally_broadcast

__all__ = ["OPERATIONS", "logical"]


def logical(call: Call, a: OperandDescriptor, b: OperandDescriptor | None = None) -> OperandDescriptor:
    """*Create element-wise logical operation*, `#api-mlgraphbuilder-logical`.

    Args:
        call: The call.
        a: The first operand, of any type and shape; uint8 for ``logicalNot``.
        b: The second operand, of the same type and a shape that broadcasts with the first one's; ``None`` for ``logicalNot``.

    Returns:
        The broadcast shape in uint8.

    Raises:
        WebNNTypeError: A type is not allowed, the types differ, or the shapes do not broadcast.
    """
    if b is None:
        # 2.2. What is negated is uint8.
        call.check_type("a", a)
        # 2.3. The shape stays.
        outputShape = a.dimensions
    else:
        # 3.2. Both operands have one data type.
        call.check_same_type("b", b, "a", a)
        # 3.3. The shapes broadcast in both directions.
        broadcast = bidirectionally_broadcast(a.dimensions, b.dimensions)
        if broadcast is None:
            raise call.error("b", f"must broadcast with the shape of a, {list(a.dimensions)}", list(b.dimensions))
        outputShape = broadcast
    # 4.-6. The result is uint8, whatever was compared.
    return call.output("uint8", outputShape)


OPERATIONS = (
    *(
        Operation(name=name, anchor="#api-mlgraphbuilder-logical", operands=("a", "b"), infer=logical)
        for name in ("equal", "greater", "greaterOrEqual", "lesser", "lesserOrEqual")
    ),
    Operation(name="logicalNot", anchor="#api-mlgraphbuilder-logical", operands=("a",), infer=logical),
)
