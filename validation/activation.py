"""Activation functions and their kin: operations that keep their input's descriptor."""

from __future__ import annotations

from webnn.validation.descriptor import OperandDescriptor
from webnn.validation.operation import Call, Operation

__all__ = ["OPERATIONS", "same_as_input"]


def same_as_input(call: Call, input: OperandDescriptor, options: object = None) -> OperandDescriptor:
    """Validate an operation of one operand whose only step is the check of its data type.

    Args:
        call: The call.
        input: The operand, of a type that the revision's table allows and any shape.
        options: The converted options; no step restricts them.

    Returns:
        The input's descriptor.

    Raises:
        WebNNTypeError: The data type is not allowed.
    """
    # 2. The input's data type is one of those that the operation allows.
    call.check_type("input", input)
    return input


OPERATIONS = (
    Operation(
        name="relu",
        anchor="#api-mlgraphbuilder-relu-method",
        operands=("input",),
        infer=same_as_input,
        activation=True,
    ),
)
