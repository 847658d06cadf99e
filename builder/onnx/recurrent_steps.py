"""Recurrent networks step by step, in elementary nodes: for what the engine's own kernels lack or compute otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from onnx import AttributeProto, GraphProto

from webnn.builder.onnx import activation
from webnn.builder.onnx.emitter import Emitter, Op
from webnn.builder.operand import Operator
from webnn.validation.descriptor import OperandDescriptor
from webnn.validation.interfaces import Activation
from webnn.validation.operations import OPERATIONS

__all__ = ["Step", "gru_step", "lstm_step", "run_cell", "run_sequence"]

#: Computes one step from the values of the input's part and of the states (hidden first); returns the new states.
Step = Callable[[Emitter, "Parameters", str, list[str]], list[str]]

_PARAMETERS = ("weight", "recurrentWeight", "bias", "recurrentBias", "peepholeWeight")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """The parameters of one direction, as ONNX values without a dimension for the directions.

    Attributes:
        op: The operator.
        activations: Its activation functions.
        values: ``weight``, ``recurrentWeight`` and, where given, ``bias``, ``recurrentBias``, ``peepholeWeight``.
        blocks: Each of ``recurrentWeight``, ``recurrentBias`` and ``peepholeWeight`` by gate, for steps that need the parts.
    """

    op: Op
    activations: Sequence[Activation]
    values: Mapping[str, str]
    blocks: Mapping[str, Mapping[str, str]]

    @property
    def state(self) -> OperandDescriptor:
        """A state of one direction: [batchSize, hiddenSize]."""
        output = self.op.outputs[0]
        return OperandDescriptor(output.dataType, output.dimensions[-2:])

    def activate(self, e: Emitter, position: int, value: str) -> str:
        """Apply an activation function."""
        chosen = self.activations[position]
        model = OPERATIONS[chosen.name].options
        options = None if model is None else model.model_validate(chosen.parameters)
        function = Op(
            Operator(OPERATIONS[chosen.name], 0, "", (), (), (), options, (self.state,)),
            operands={},
            inputs={"input": value},
            outputs=(self.state,),
            carried={"input": self.state.dataType},
        )
        result = activation.TRANSLATIONS[chosen.name].emit(e, function)
        assert isinstance(result, str)  # an activation function has one output
        return result


def _blocks(e: Emitter, value: str, gates: str, axis: int = 0) -> dict[str, str]:
    """Split a value into one block for each gate."""
    return dict(zip(gates, e.nodes("Split", [value], len(gates), axis=axis, num_outputs=len(gates)), strict=True))


def gru_step(e: Emitter, parameters: Parameters, fed: str, states: list[str]) -> list[str]:
    """Emit a step of a gated recurrent unit."""
    [hidden] = states
    op, values, blocks = parameters.op, parameters.values, parameters.blocks
    fedTo = _blocks(e, fed, op.options.layout, axis=1)
    if op.options.resetAfter:
        recurrent = e.node("Gemm", [hidden, values["recurrentWeight"], values.get("recurrentBias")], transB=1)
        recurrentTo = _blocks(e, recurrent, op.options.layout, axis=1)
    else:
        recurrentTo = {gate: _recurrent(e, blocks, gate, hidden) for gate in "zr"}
    update = parameters.activate(e, 0, e.node("Add", [fedTo["z"], recurrentTo["z"]]))
    reset = parameters.activate(e, 0, e.node("Add", [fedTo["r"], recurrentTo["r"]]))
    if op.options.resetAfter:
        remembered = e.node("Mul", [reset, recurrentTo["n"]])
    else:
        remembered = _recurrent(e, blocks, "n", e.node("Mul", [reset, hidden]))
    new = parameters.activate(e, 1, e.node("Add", [fedTo["n"], remembered]))
    kept = e.node("Mul", [update, hidden])
    added = e.node("Mul", [e.node("Sub", [e.scalar(1, "float32"), update]), new])
    return [e.node("Add", [kept, added])]


def _recurrent(e: Emitter, blocks: Mapping[str, Mapping[str, str]], gate: str, hidden: str) -> str:
    """Emit the hidden state's part of one gate."""
    bias = blocks["recurrentBias"][gate] if "recurrentBias" in blocks else None
    return e.node("Gemm", [hidden, blocks["recurrentWeight"][gate], bias], transB=1)


def lstm_step(e: Emitter, parameters: Parameters, fed: str, states: list[str]) -> list[str]:
    """Emit a step of a long short-term memory. All three peepholes see the cell state before the step."""
    hidden, cell = states
    values, blocks = parameters.values, parameters.blocks
    recurrent = e.node("Gemm", [hidden, values["recurrentWeight"], values.get("recurrentBias")], transB=1)
    gates = _blocks(e, e.node("Add", [fed, recurrent]), parameters.op.options.layout, axis=1)
    for gate, peephole in blocks.get("peepholeWeight", {}).items():
        gates[gate] = e.node("Add", [gates[gate], e.node("Mul", [peephole, cell])])
    inward, outward, forget = (parameters.activate(e, 0, gates[gate]) for gate in "iof")
    kept = e.node("Mul", [forget, cell])
    added = e.node("Mul", [inward, parameters.activate(e, 1, gates["g"])])
    cell = e.node("Add", [kept, added])
    return [e.node("Mul", [outward, parameters.activate(e, 2, cell)]), cell]


def _parameters(e: Emitter, op: Op, activations: Sequence[Activation], direction: int | None) -> Parameters:
    """Collect the parameters of a direction; ``None`` if they have no dimension for it."""
    values = {name: value for name, value in op.inputs.items() if name in _PARAMETERS}
    if direction is not None:
        index = e.scalar(direction, "int64")
        values = {name: e.node("Gather", [value, index], axis=0) for name, value in values.items()}
    blocks: dict[str, dict[str, str]] = {}
    if "peepholeWeight" in values:
        blocks["peepholeWeight"] = _blocks(e, values["peepholeWeight"], "iof")
    if op.name.startswith("gru") and not op.options.resetAfter:
        blocks.update(
            {name: _blocks(e, values[name], op.options.layout) for name in ("recurrentWeight", "recurrentBias") if name in values}
        )
    return Parameters(op=op, activations=activations, values=values, blocks=blocks)


def run_cell(e: Emitter, op: Op, step: Step, activations: Sequence[Activation], states: list[str]) -> list[str]:
    """Emit one step.

    Args:
        e: The emitter.
        op: ``gruCell`` or ``lstmCell``.
        step: The step's emitter.
        activations: The activation functions.
        states: The states before the step.

    Returns:
        The states after it.
    """
    parameters = _parameters(e, op, activations, None)
    fed = e.node("Gemm", [op["input"], op["weight"], op.get("bias")], transB=1)
    return step(e, parameters, fed, states)


def run_sequence(e: Emitter, op: Op, step: Step, activations: Sequence[Activation], states: list[str | None]) -> list[str]:
    """Emit a loop over the steps, one for each direction.

    Args:
        e: The emitter.
        op: ``gru`` or ``lstm``.
        step: The step's emitter.
        activations: The activation functions.
        states: The initial states, [numDirections, batchSize, hiddenSize]; ``None`` for zeros.

    Returns:
        The last states and, if it is wanted, the sequence of hidden states, with the dimensions of the operator's outputs.
    """
    steps, batchSize, inputSize = op.shape("input")
    zeros = ""
    if None in states:
        state = e.ints(op.outputs[0].dimensions[1:])
        zeros = e.node("ConstantOfShape", [state])
    # What does not depend on the states is one product for all steps.
    input = e.reshape(op["input"], [steps * batchSize, inputSize])
    results: list[list[str]] = []
    for direction in range(op.outputs[0].dimensions[0]):
        parameters = _parameters(e, op, activations, direction)
        fed = e.node("Gemm", [input, parameters.values["weight"], parameters.values.get("bias")], transB=1)
        fed = e.reshape(fed, [steps, batchSize, -1])
        index = e.scalar(direction, "int64")
        initial = [zeros if state is None else e.node("Gather", [state, index], axis=0) for state in states]
        isBackward = op.options.direction == "backward" or direction == 1
        results.append(_scan(e, parameters, step, fed, initial, isBackward=isBackward))
    axes = [0] * len(states) + [1] * op.options.returnSequence
    outputs: list[str] = []
    for axis, *parts in zip(axes, *results, strict=True):
        unsqueezed = [e.node("Unsqueeze", [part, e.ints([axis])]) for part in parts]
        outputs.append(unsqueezed[0] if len(parts) == 1 else e.node("Concat", unsqueezed, axis=axis))
    return outputs


def _scan(e: Emitter, parameters: Parameters, step: Step, fed: str, states: list[str], *, isBackward: bool) -> list[str]:
    """Emit the loop of one direction: the last states and, if it is wanted, each hidden state at the index of its input."""
    state = parameters.state
    wanted = parameters.op.options.returnSequence
    body, outer = GraphProto(name="step"), e.graph
    e.graph = body
    before = [e.declare_input(f"{fed}.state.{index}", state) for index in range(len(states))]
    gates = len(parameters.op.options.layout)
    fedStep = e.declare_input(f"{fed}.step", OperandDescriptor(state.dataType, (state.dimensions[0], gates * state.dimensions[1])))
    after = step(e, parameters, fedStep, before)
    if wanted:
        after = [*after, e.node("Identity", [after[0]])]
    for value in after:
        e.declare_output(value, state)
    e.graph = outer
    # Literals are shared by the whole graph; those that the step met first belong there.
    outer.initializer.extend(body.initializer)
    body.ClearField("initializer")
    results = e.nodes(
        "Scan",
        [*states, fed],
        [True] * len(after),
        num_scan_inputs=1,
        scan_input_directions=[int(isBackward)],
        **({"scan_output_directions": [int(isBackward)]} if wanted else {}),
    )
    outer.node[-1].attribute.add(name="body", type=AttributeProto.GRAPH, g=body)
    return results
