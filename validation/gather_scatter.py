"""Operations that pick elements by index: `#api-mlgraphbuilder-gather`."""

from __future__ import annotations

from webnn.validation.descriptor import OperandDescriptor
from webnn.validation.dictionary import Dictionary, UnsignedLong
from webnn.validation.operation import Call, Operation

__all__ = ["OPERATIONS", "GatherOptions", "gather"]


class GatherOptions(Dictionary):
    """``MLGatherOptions``, `#dictdef-mlgatheroptions`."""

    axis: UnsignedLong = 0


def gather(call: Call, input: OperandDescriptor, indices: OperandDescriptor, options: GatherOptions) -> OperandDescriptor:
    """Validate ``gather``, `#api-mlgraphbuilder-gather`.

    Args:
        call: The call.
        input: The input, of any type, at least 1-D.
        indices: The indices along ``options.axis``, of any shape.
        options: The converted options.

    Returns:
        The input's type and shape, with the shape of the indices in place of the axis.

    Raises:
        WebNNTypeError: A step fails.
    """
    # 2. The indices are of an integer type that the revision allows.
    call.check_type("indices", indices)
    # 3.-5. The axis, and the shapes.
    axis, shapeInput = options.axis, input.dimensions
    # 6. The axis is one of the input's.
    if axis >= len(shapeInput):
        raise call.error("options.axis", f"must be less than the rank of input, {len(shapeInput)}", axis)
    # 7.-15. What stands before the axis, the indices, what stands behind it. (The draft's loops miss the last part, and it does not
    # check the new shape: see docs/spec-issues.md.)
    return call.output(input.dataType, (*shapeInput[:axis], *indices.dimensions, *shapeInput[axis + 1 :]))


OPERATIONS = (
    Operation(
        name="gather",
        anchor="#api-mlgraphbuilder-gather",
        operands=("input", "indices"),
        infer=gather,
        options=GatherOptions,
    ),
)
