"""Recurrent networks step by step, in elementary nodes: for networks that the engine's own kernels lack or compute differently."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from webnn.builder.onnx import activation
from webnn.builder.onnx.emitter import Emitter, Op
from webnn.builder.operand import Operator
from webnn.validation.descriptor import OperandDescriptor
from webnn.validation.families import OPERATIONS
from webnn.validation.interfaces import Activation

__all__ = ["Multiply", "Step", "gru_step", "lstm_step", "order_gates", "run_cell", "run_sequence"]

#: Computes one step from the values of the input's part and of the states (hidden first); returns the new states.
Step = Callable[[Emitter, "Parameters", str, list[str]], list[str]]
#: Multiplies a value [rows, inner] by a transposed weight [columns, inner], and adds a value unless it is ``None``. The sizes are rows,
#: inner and columns.
Multiply = Callable[[Emitter, str, str, "str | None", tuple[int, int, int]], str]

_PARAMETERS = ("weight", "recurrentWeight", "bias", "recurrentBias", "peepholeWeight")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """The parameters of one direction, as ONNX values without a dimension for the directions.

    Attributes:
        op: The operator.
        activations: Its activation functions.
        layout: The order of the gates along the first dimension of the values.
        values: ``weight``, ``recurrentWeight``, ``bias``, ``peepholeWeight``, if they are given. The bias includes the recurrent
            bias, unless the reset gate comes between them: then ``recurrentBias`` is separate.
        multiply: Emits the products with the weights.
    """

    op: Op
    activations: Sequence[Activation]
    layout: str
    values: Mapping[str, str]
    multiply: Multiply

    def recur(self, e: Emitter, hidden: str, weight: str, addend: str | None, gates: int) -> str:
        """Multiply a hidden state by a weight of some gates, and add a value."""
        batchSize, size = self.state.dimensions
        return self.multiply(e, hidden, self.values[weight], addend, (batchSize, size, gates * size))

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
        result = activation.TRANSLATIONS[chosen.name].choose(e.numerics)(e, function)
        assert isinstance(result, str)  # an activation function has one output
        return result


def _gemm(e: Emitter, x: str, weight: str, addend: str | None, sizes: tuple[int, int, int]) -> str:
    del sizes
    return e.node("Gemm", [x, weight, addend], transB=1)


def _split(e: Emitter, value: str, counts: Sequence[int], size: int, axis: int = 1) -> list[str]:
    """Split a value into blocks; ``counts`` has the number of gates of each."""
    return e.nodes("Split", [value, e.ints([count * size for count in counts])], len(counts), axis=axis)


def gru_step(e: Emitter, parameters: Parameters, fed: str, states: list[str]) -> list[str]:
    """Emit a step of a gated recurrent unit. The update and the reset gate, which come first, are computed as one."""
    [hidden] = states
    op, values, size = parameters.op, parameters.values, parameters.state.dimensions[1]
    fedGates, fedNew = _split(e, fed, [2, 1], size)
    if op.options.resetAfter:
        recurrent = parameters.recur(e, hidden, "recurrentWeight", values.get("recurrentBias"), 3)
        recurrentGates, recurrentNew = _split(e, recurrent, [2, 1], size)
        gates = e.node("Add", [fedGates, recurrentGates])
    else:
        gates = parameters.recur(e, hidden, "recurrentWeight:gates", fedGates, 2)
    activated = dict(zip(parameters.layout, _split(e, parameters.activate(e, 0, gates), [1, 1], size), strict=False))
    update, reset = activated["z"], activated["r"]
    if op.options.resetAfter:
        new = e.node("Add", [fedNew, e.node("Mul", [reset, recurrentNew])])
    else:
        new = parameters.recur(e, e.node("Mul", [reset, hidden]), "recurrentWeight:new", fedNew, 1)
    kept = e.node("Mul", [update, hidden])
    added = e.node("Mul", [e.node("Sub", [e.scalar(1, "float32"), update]), parameters.activate(e, 1, new)])
    return [e.node("Add", [kept, added])]


def lstm_step(e: Emitter, parameters: Parameters, fed: str, states: list[str]) -> list[str]:
    """Emit a step of a long short-term memory: input, output and forget gate as one. All three peepholes see the cell state before it."""
    hidden, cell = states
    values, size = parameters.values, parameters.state.dimensions[1]
    recurrent = parameters.recur(e, hidden, "recurrentWeight", fed, 4)
    gates, candidate = _split(e, recurrent, [3, 1], size)
    if "peepholeWeight" in values:
        gates = e.node("Add", [gates, e.node("Mul", [values["peepholeWeight"], e.node("Concat", [cell] * 3, axis=1)])])
    inward, outward, forget = _split(e, parameters.activate(e, 0, gates), [1, 1, 1], size)
    kept = e.node("Mul", [forget, cell])
    added = e.node("Mul", [inward, parameters.activate(e, 1, candidate)])
    cell = e.node("Add", [kept, added])
    return [e.node("Mul", [outward, parameters.activate(e, 2, cell)]), cell]


def _parameters(e: Emitter, op: Op, activations: Sequence[Activation], direction: int | None, multiply: Multiply) -> Parameters:
    """Collect the parameters of a direction; ``None`` if they have no dimension for it."""
    values = {name: op[name] for name in _PARAMETERS if name in op.inputs}
    if direction is not None:
        values = {name: _part(e, value, direction) for name, value in values.items()}
    isGru, layout = op.name.startswith("gru"), op.options.layout
    if not isGru:
        values = {name: value if name == "peepholeWeight" else order_gates(e, value, layout, "iofg", 0) for name, value in values.items()}
        layout = "iofg"
    if "recurrentBias" in values and not (isGru and op.options.resetAfter):
        recurrentBias = values.pop("recurrentBias")
        values["bias"] = _add(e, values["bias"], recurrentBias) if "bias" in values else recurrentBias
    if isGru and not op.options.resetAfter:
        parts = _split(e, values["recurrentWeight"], [2, 1], op.arguments["hiddenSize"], axis=0)
        values["recurrentWeight:gates"], values["recurrentWeight:new"] = parts
    return Parameters(op=op, activations=activations, layout=layout, values=values, multiply=multiply)


# Of constants, the results are computed here: the engine would need a node for each.


def _part(e: Emitter, value: str, direction: int) -> str:
    """Return the part of a value that belongs to one direction: its first dimension has one for each."""
    known = e.constants.get(value)
    if known is None:
        return e.node("Gather", [value, e.scalar(direction, "int64")], axis=0)
    return e.weight(f"{value}[{direction}]", known[direction])


def _add(e: Emitter, first: str, second: str) -> str:
    """Add two biases."""
    known, more = e.constants.get(first), e.constants.get(second)
    if known is None or more is None:
        return e.node("Add", [first, second])
    with np.errstate(all="ignore"):
        return e.weight(f"{first}+{second}", known + more)


def order_gates(e: Emitter, value: str, layout: str, wanted: str, axis: int) -> str:
    """Bring the gates, which lie along an axis, into another order."""
    if layout == wanted:
        return value
    known = e.constants.get(value)
    if known is not None:
        gates = dict(zip(layout, np.split(known, len(layout), axis), strict=True))
        return e.weight(f"{value}@{wanted}", np.concatenate([gates[gate] for gate in wanted], axis))
    parts = dict(zip(layout, e.nodes("Split", [value], len(layout), axis=axis, num_outputs=len(layout)), strict=True))
    return e.node("Concat", [parts[gate] for gate in wanted], axis=axis)


def run_cell(e: Emitter, op: Op, step: Step, activations: Sequence[Activation], states: list[str], multiply: Multiply = _gemm) -> list[str]:
    """Emit one step of ``gruCell`` or ``lstmCell``; return the states after it."""
    parameters = _parameters(e, op, activations, None, multiply)
    batchSize, inputSize = op.shape("input")
    sizes = batchSize, inputSize, op.shape("weight")[0]
    fed = multiply(e, op["input"], parameters.values["weight"], parameters.values.get("bias"), sizes)
    return step(e, parameters, fed, states)


def run_sequence(
    e: Emitter, op: Op, step: Step, activations: Sequence[Activation], states: list[str | None], multiply: Multiply = _gemm
) -> list[str]:
    """Emit the steps of ``gru`` or ``lstm``: a loop for each direction, unless there is one step.

    The initial states are [numDirections, batchSize, hiddenSize], ``None`` for zeros.

    Returns:
        The last states and, if it is wanted, the sequence of hidden states, with the dimensions of the operator's outputs.
    """
    steps, batchSize, inputSize = op.shape("input")
    zeros = ""
    if None in states:
        state = e.ints(op.outputs[0].dimensions[1:])
        zeros = e.node("ConstantOfShape", [state])
    # The part that does not depend on the states is one product for all steps.
    input = e.reshape(op["input"], [steps * batchSize, inputSize])
    results: list[list[str]] = []
    for direction in range(op.outputs[0].dimensions[0]):
        parameters = _parameters(e, op, activations, direction, multiply)
        sizes = steps * batchSize, inputSize, op.shape("weight")[1]
        fed = multiply(e, input, parameters.values["weight"], parameters.values.get("bias"), sizes)
        initial = [zeros if state is None else _part(e, state, direction) for state in states]
        if steps == 1:
            # A loop would cost more than its only step.
            last = step(e, parameters, fed, initial)
            sequence = [e.node("Unsqueeze", [last[0], e.ints([0])])] if op.options.returnSequence else []
            results.append([*last, *sequence])
            continue
        fed = e.reshape(fed, [steps, batchSize, -1])
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
    with e.subgraph("step") as body:
        before = [e.declare_input(f"{fed}.state.{index}", state) for index in range(len(states))]
        gates = len(parameters.op.options.layout)
        fedStep = e.declare_input(f"{fed}.step", OperandDescriptor(state.dataType, (state.dimensions[0], gates * state.dimensions[1])))
        after = step(e, parameters, fedStep, before)
        if wanted:
            after = [*after, e.node("Identity", [after[0]])]
        for value in after:
            e.declare_output(value, state)
    return e.nodes(
        "Scan",
        [*states, fed],
        [True] * len(after),
        num_scan_inputs=1,
        scan_input_directions=[int(isBackward)],
        **({"scan_output_directions": [int(isBackward)]} if wanted else {}),
        body=body,
    )
