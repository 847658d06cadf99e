"""Recurrent networks: `#api-mlgraphbuilder-gru`, `#api-mlgraphbuilder-grucell` and the LSTM pair."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import PlainValidator

from webnn.validation import webidl
from webnn.validation.descriptor import OperandDescriptor, Shape, is_valid_dimension
from webnn.validation.dictionary import Activations, Boolean, Dictionary, Operand
from webnn.validation.operation import Argument, Call, Operation

__all__ = ["OPERATIONS", "GruOptions", "gru"]

GruWeightLayout = Annotated[Literal["zrn", "rzn"], PlainValidator(webidl.enumeration("MLGruWeightLayout", ("zrn", "rzn")))]
Direction = Annotated[
    Literal["forward", "backward", "both"],
    PlainValidator(webidl.enumeration("MLRecurrentNetworkDirection", ("forward", "backward", "both"))),
]

_STEPS = Argument("steps", webidl.enforceRangeUnsignedLong)
_HIDDEN_SIZE = Argument("hiddenSize", webidl.enforceRangeUnsignedLong)


class GruOptions(Dictionary):
    """``MLGruOptions``, `#dictdef-mlgruoptions`."""

    bias: Operand | None = None
    recurrentBias: Operand | None = None
    initialHiddenState: Operand | None = None
    resetAfter: Boolean = True
    returnSequence: Boolean = False
    direction: Direction = "forward"
    layout: GruWeightLayout = "zrn"
    activations: Activations | None = None


def _check_state(call: Call, argument: str, operand: OperandDescriptor | None, input: OperandDescriptor, shape: Shape) -> None:
    """Check an operand that may be missing: the input's type, and one shape."""
    if operand is not None:
        call.check_same_type(argument, operand, "input", input)
        call.check_shape(argument, operand, shape)


def _check_hidden_size(call: Call, hiddenSize: int, factor: int) -> None:
    """Check that a bias that joins both biases of all gates would still have a valid dimension."""
    if not is_valid_dimension(hiddenSize * factor):
        raise call.error("hiddenSize", f"times {factor} must be from 1 to 4294967295", hiddenSize)


def gru(
    call: Call,
    input: OperandDescriptor,
    weight: OperandDescriptor,
    recurrentWeight: OperandDescriptor,
    steps: int,
    hiddenSize: int,
    options: GruOptions,
) -> tuple[OperandDescriptor, ...]:
    """Validate ``gru``, `#api-mlgraphbuilder-gru`.

    Args:
        call: The call.
        input: The input, [steps, batchSize, inputSize].
        weight: The input weights, [numDirections, 3 * hiddenSize, inputSize].
        recurrentWeight: The recurrent weights, [numDirections, 3 * hiddenSize, hiddenSize].
        steps: The number of time steps.
        hiddenSize: The number of features in the hidden state.
        options: The converted options.

    Returns:
        The last hidden state, [numDirections, batchSize, hiddenSize]; with ``returnSequence`` also all of them,
        [steps, numDirections, batchSize, hiddenSize].

    Raises:
        WebNNTypeError: A step fails.
    """
    # 3. The input is of a floating-point type.
    call.check_type("input", input)
    # 4. The input is 3-D.
    call.check_rank("input", input)
    # 5. Both weights have the input's type.
    call.check_same_type("weight", weight, "input", input)
    call.check_same_type("recurrentWeight", recurrentWeight, "input", input)
    # 6. The input has as many steps as the call says.
    if input.dimensions[0] != steps:
        raise call.error("steps", f"must be the first dimension of input, {input.dimensions[0]}", steps)
    # 7.-9. The sizes.
    _, batchSize, inputSize = input.dimensions
    numDirections = 2 if options.direction == "both" else 1
    # 10. The shape of the weights.
    call.check_shape("weight", weight, (numDirections, 3 * hiddenSize, inputSize))
    # 11. The shape of the recurrent weights.
    call.check_shape("recurrentWeight", recurrentWeight, (numDirections, 3 * hiddenSize, hiddenSize))
    # 12. Both biases together have a valid size.
    _check_hidden_size(call, hiddenSize, 6)
    # 13. The bias.
    _check_state(call, "options.bias", options.bias, input, (numDirections, 3 * hiddenSize))
    # 14. The recurrent bias.
    _check_state(call, "options.recurrentBias", options.recurrentBias, input, (numDirections, 3 * hiddenSize))
    # 15. The initial hidden state.
    state = (numDirections, batchSize, hiddenSize)
    _check_state(call, "options.initialHiddenState", options.initialHiddenState, input, state)
    # 16. There are two activations, if any.
    if options.activations is not None:
        call.check_size("options.activations", options.activations, 2)
    # 17. The validation steps of this draft's activations accept every descriptor.
    # 18. The outputs' shapes.
    last = call.output(input.dataType, state)
    if not options.returnSequence:
        return (last,)
    return last, call.output(input.dataType, (steps, *state))


OPERATIONS = (
    Operation(
        name="gru",
        anchor="#api-mlgraphbuilder-gru",
        operands=("input", "weight", "recurrentWeight"),
        arguments=(_STEPS, _HIDDEN_SIZE),
        infer=gru,
        options=GruOptions,
        members=("bias", "recurrentBias", "initialHiddenState"),
    ),
)
