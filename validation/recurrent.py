"""Recurrent networks: `#api-mlgraphbuilder-gru`, `#api-mlgraphbuilder-lstm` and the cells of both."""

from __future__ import annotations

from typing import Annotated, Literal

from webnn.validation import webidl
from webnn.validation.descriptor import OperandDescriptor, Shape, is_valid_dimension
from webnn.validation.dictionary import Activations, Boolean, Dictionary, Enumeration, Operand
from webnn.validation.interfaces import Activation
from webnn.validation.operation import Argument, Call, Operation

__all__ = ["OPERATIONS", "GruCellOptions", "GruOptions", "LstmCellOptions", "LstmOptions", "gru", "gruCell", "lstm", "lstmCell"]

GruWeightLayout = Annotated[Literal["zrn", "rzn"], Enumeration("MLGruWeightLayout")]
LstmWeightLayout = Annotated[Literal["iofg", "ifgo"], Enumeration("MLLstmWeightLayout")]
Direction = Annotated[Literal["forward", "backward", "both"], Enumeration("MLRecurrentNetworkDirection")]

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


class GruCellOptions(Dictionary):
    """``MLGruCellOptions``, `#dictdef-mlgrucelloptions`."""

    bias: Operand | None = None
    recurrentBias: Operand | None = None
    resetAfter: Boolean = True
    layout: GruWeightLayout = "zrn"
    activations: Activations | None = None


class LstmOptions(Dictionary):
    """``MLLstmOptions``, `#dictdef-mllstmoptions`."""

    bias: Operand | None = None
    recurrentBias: Operand | None = None
    peepholeWeight: Operand | None = None
    initialHiddenState: Operand | None = None
    initialCellState: Operand | None = None
    returnSequence: Boolean = False
    direction: Direction = "forward"
    layout: LstmWeightLayout = "iofg"
    activations: Activations | None = None


class LstmCellOptions(Dictionary):
    """``MLLstmCellOptions``, `#dictdef-mllstmcelloptions`."""

    bias: Operand | None = None
    recurrentBias: Operand | None = None
    peepholeWeight: Operand | None = None
    layout: LstmWeightLayout = "iofg"
    activations: Activations | None = None


def _check_same_types(call: Call, input: OperandDescriptor, **operands: OperandDescriptor) -> None:
    """Check that the other operands have the input's type."""
    for argument, operand in operands.items():
        call.check_same_type(argument, operand, "input", input)


def _check_steps(call: Call, input: OperandDescriptor, steps: int) -> None:
    """Check that the input has as many steps as the call says; it has one or more."""
    if input.dimensions[0] != steps:
        raise call.error("steps", f"must be the first dimension of input, {input.dimensions[0]}", steps, rule="shape")


def _check_hidden_size(call: Call, hiddenSize: int, factor: int) -> None:
    """Check that a bias that joins both biases of all gates would still have a valid dimension."""
    largest = call.revision.max_dimension
    if not is_valid_dimension(hiddenSize * factor, largest):
        raise call.error("hiddenSize", f"times {factor} must be from 1 to {largest}", hiddenSize)


def _check_activations(call: Call, activations: tuple[Activation, ...] | None, count: int) -> None:
    """Check the number of activation functions, if any were given."""
    if activations is not None and len(activations) != count:
        raise call.error("options.activations", f"must have {count} elements", len(activations), rule="length")


def _check_option(call: Call, member: str, operand: OperandDescriptor | None, input: OperandDescriptor, shape: Shape) -> None:
    """Check an operand among the options, if it was given. These two steps are the same for each of them."""
    if operand is not None:
        # [a] Each operand among the options has the input's type.
        call.check_same_type(f"options.{member}", operand, "input", input)
        # [b] Each operand among the options has the one shape that fits.
        call.check_shape(f"options.{member}", operand, shape)


def gru(
    call: Call,
    input: OperandDescriptor,
    weight: OperandDescriptor,
    recurrentWeight: OperandDescriptor,
    steps: int,
    hiddenSize: int,
    options: GruOptions,
) -> tuple[OperandDescriptor, ...]:
    """Validate ``gru``, `#api-mlgraphbuilder-gru`."""
    # [3] The input is of a floating-point type.
    call.check_type("input", input)
    # [4] The input is 3-D.
    call.check_rank("input", input)
    # [5; 2026-06: 3] Both weights have the input's type.
    _check_same_types(call, input, weight=weight, recurrentWeight=recurrentWeight)
    # [6; 2026-06: 5] The input has as many steps as the call says.
    _check_steps(call, input, steps)
    # 7.-9. The sizes.
    _, batchSize, inputSize = input.dimensions
    numDirections = 2 if options.direction == "both" else 1
    # [12; 2026-06: 11] Both biases together have a valid size; before the shapes that depend on it, for the better message.
    _check_hidden_size(call, hiddenSize, 6)
    # [10; 2026-06: 9] The weights have the one shape that fits.
    call.check_shape("weight", weight, (numDirections, 3 * hiddenSize, inputSize))
    # [11; 2026-06: 10] The recurrent weights have the one shape that fits.
    call.check_shape("recurrentWeight", recurrentWeight, (numDirections, 3 * hiddenSize, hiddenSize))
    # [13.1, 13.2; 2026-06: 12.1, 12.2] The bias.
    _check_option(call, "bias", options.bias, input, (numDirections, 3 * hiddenSize))
    # [14.1, 14.2; 2026-06: 13.1, 13.2] The recurrent bias.
    _check_option(call, "recurrentBias", options.recurrentBias, input, (numDirections, 3 * hiddenSize))
    # [15.1, 15.2; 2026-06: 14.1, 14.2] The initial hidden state.
    state = (numDirections, batchSize, hiddenSize)
    _check_option(call, "initialHiddenState", options.initialHiddenState, input, state)
    # [16; 2026-06: 15.1] There are two activations, if any.
    _check_activations(call, options.activations, 2)
    # 17. The validation steps of this draft's activations accept every descriptor.
    # 18. The outputs' shapes.
    last = call.output(input.dataType, state)
    if not options.returnSequence:
        return (last,)
    return last, call.output(input.dataType, (steps, *state))


def gruCell(
    call: Call,
    input: OperandDescriptor,
    weight: OperandDescriptor,
    recurrentWeight: OperandDescriptor,
    hiddenState: OperandDescriptor,
    hiddenSize: int,
    options: GruCellOptions,
) -> OperandDescriptor:
    """Validate ``gruCell``, `#api-mlgraphbuilder-grucell`."""
    # [3] The input is of a floating-point type.
    call.check_type("input", input)
    # [4] The input is 2-D.
    call.check_rank("input", input)
    # 5.-6. The sizes.
    batchSize, inputSize = input.dimensions
    # [7; 2026-06: 3] The weights and the state have the input's type.
    _check_same_types(call, input, weight=weight, recurrentWeight=recurrentWeight, hiddenState=hiddenState)
    # [11; 2026-06: 10] Both biases together have a valid size; before the shapes that depend on it, for the better message.
    _check_hidden_size(call, hiddenSize, 6)
    # [8; 2026-06: 7] The weights have the one shape that fits.
    call.check_shape("weight", weight, (3 * hiddenSize, inputSize))
    # [9; 2026-06: 8] The recurrent weights have the one shape that fits.
    call.check_shape("recurrentWeight", recurrentWeight, (3 * hiddenSize, hiddenSize))
    # [10; 2026-06: 9] The hidden state has the one shape that fits.
    call.check_shape("hiddenState", hiddenState, (batchSize, hiddenSize))
    # [12.1, 12.2; 2026-06: 11.1, 11.2] The bias.
    _check_option(call, "bias", options.bias, input, (3 * hiddenSize,))
    # [13.1, 13.2; 2026-06: 12.1, 12.2] The recurrent bias.
    _check_option(call, "recurrentBias", options.recurrentBias, input, (3 * hiddenSize,))
    # [14; 2026-06: 13.1] There are two activations, if any.
    _check_activations(call, options.activations, 2)
    # 15.-17. The output's descriptor; 18. the validation steps of this draft's activations accept it, as they accept every other.
    return call.output(input.dataType, (batchSize, hiddenSize))


def lstm(
    call: Call,
    input: OperandDescriptor,
    weight: OperandDescriptor,
    recurrentWeight: OperandDescriptor,
    steps: int,
    hiddenSize: int,
    options: LstmOptions,
) -> tuple[OperandDescriptor, ...]:
    """Validate ``lstm``, `#api-mlgraphbuilder-lstm`."""
    # 3. The number of directions.
    numDirections = 2 if options.direction == "both" else 1
    # [4] The input is of a floating-point type.
    call.check_type("input", input)
    # [5] The input is 3-D.
    call.check_rank("input", input)
    # [6; 2026-06: 7, 6] The input has as many steps as the call says.
    _check_steps(call, input, steps)
    # [7, 10; 2026-06: 4] Both weights have the input's type.
    _check_same_types(call, input, weight=weight, recurrentWeight=recurrentWeight)
    # 8.-9. The sizes.
    _, batchSize, inputSize = input.dimensions
    # [13; 2026-06: 12] Both biases together have a valid size; before the shapes that depend on it, for the better message.
    _check_hidden_size(call, hiddenSize, 8)
    # [11; 2026-06: 10] The weights have the one shape that fits.
    call.check_shape("weight", weight, (numDirections, 4 * hiddenSize, inputSize))
    # [12; 2026-06: 11] The recurrent weights have the one shape that fits.
    call.check_shape("recurrentWeight", recurrentWeight, (numDirections, 4 * hiddenSize, hiddenSize))
    # [14.1, 14.2; 2026-06: 13.1, 13.2] The bias.
    _check_option(call, "bias", options.bias, input, (numDirections, 4 * hiddenSize))
    # [15.1, 15.2; 2026-06: 14.1, 14.2] The recurrent bias.
    _check_option(call, "recurrentBias", options.recurrentBias, input, (numDirections, 4 * hiddenSize))
    # [16.1, 16.2; 2026-06: 15.1, 15.2] The peephole weights, of three gates only.
    _check_option(call, "peepholeWeight", options.peepholeWeight, input, (numDirections, 3 * hiddenSize))
    # [17.1, 17.2; 2026-06: 16.1, 16.2] The initial hidden state.
    state = (numDirections, batchSize, hiddenSize)
    _check_option(call, "initialHiddenState", options.initialHiddenState, input, state)
    # [18.1, 18.2; 2026-06: 17.1, 17.2] The initial cell state.
    _check_option(call, "initialCellState", options.initialCellState, input, state)
    # [19.1; 2026-06: 18.1] There are three activations, if any.
    # 19.2.-5. Their validation steps accept every descriptor.
    _check_activations(call, options.activations, 3)
    # 20. The outputs' shapes.
    last = call.output(input.dataType, state)
    if not options.returnSequence:
        return last, last
    return last, last, call.output(input.dataType, (steps, *state))


def lstmCell(
    call: Call,
    input: OperandDescriptor,
    weight: OperandDescriptor,
    recurrentWeight: OperandDescriptor,
    hiddenState: OperandDescriptor,
    cellState: OperandDescriptor,
    hiddenSize: int,
    options: LstmCellOptions,
) -> tuple[OperandDescriptor, ...]:
    """Validate ``lstmCell``, `#api-mlgraphbuilder-lstmcell`."""
    # [3] The input is of a floating-point type.
    call.check_type("input", input)
    # [4] The input is 2-D.
    call.check_rank("input", input)
    # [5; 2026-06: 3] The weights and the states have the input's type.
    _check_same_types(call, input, weight=weight, recurrentWeight=recurrentWeight, hiddenState=hiddenState, cellState=cellState)
    # 6.-7. The sizes.
    batchSize, inputSize = input.dimensions
    # [12; 2026-06: 11] Both biases together have a valid size; before the shapes that depend on it, for the better message.
    _check_hidden_size(call, hiddenSize, 8)
    # [8; 2026-06: 7] The weights have the one shape that fits.
    call.check_shape("weight", weight, (4 * hiddenSize, inputSize))
    # [9; 2026-06: 8] The recurrent weights have the one shape that fits.
    call.check_shape("recurrentWeight", recurrentWeight, (4 * hiddenSize, hiddenSize))
    # [10; 2026-06: 9] The hidden state has the one shape that fits.
    call.check_shape("hiddenState", hiddenState, (batchSize, hiddenSize))
    # [11; 2026-06: 10] The cell state has the one shape that fits.
    call.check_shape("cellState", cellState, (batchSize, hiddenSize))
    # [13.1, 13.2; 2026-06: 12.1, 12.2] The bias.
    _check_option(call, "bias", options.bias, input, (4 * hiddenSize,))
    # [14.1, 14.2; 2026-06: 13.1, 13.2] The recurrent bias.
    _check_option(call, "recurrentBias", options.recurrentBias, input, (4 * hiddenSize,))
    # [15.1, 15.2; 2026-06: 14.1, 14.2] The peephole weights, of three gates only.
    _check_option(call, "peepholeWeight", options.peepholeWeight, input, (3 * hiddenSize,))
    # [16.1; 2026-06: 15.1] There are three activations, if any.
    _check_activations(call, options.activations, 3)
    # 17.-19. The outputs' descriptor; 20. the validation steps of this draft's activations accept it, as they accept every other.
    state = call.output(input.dataType, (batchSize, hiddenSize))
    return state, state


OPERATIONS = (
    Operation(
        name="gru",
        anchor="#api-mlgraphbuilder-gru",
        operands=("input", "weight", "recurrentWeight"),
        arguments=(_STEPS, _HIDDEN_SIZE),
        infer=gru,
        options=GruOptions,
    ),
    Operation(
        name="gruCell",
        anchor="#api-mlgraphbuilder-grucell",
        operands=("input", "weight", "recurrentWeight", "hiddenState"),
        arguments=(_HIDDEN_SIZE,),
        infer=gruCell,
        options=GruCellOptions,
    ),
    Operation(
        name="lstm",
        anchor="#api-mlgraphbuilder-lstm",
        operands=("input", "weight", "recurrentWeight"),
        arguments=(_STEPS, _HIDDEN_SIZE),
        infer=lstm,
        options=LstmOptions,
    ),
    Operation(
        name="lstmCell",
        anchor="#api-mlgraphbuilder-lstmcell",
        operands=("input", "weight", "recurrentWeight", "hiddenState", "cellState"),
        arguments=(_HIDDEN_SIZE,),
        infer=lstmCell,
        options=LstmCellOptions,
    ),
)
