"""Recurrent networks: LSTM, GRU, RNN, and the LSTM of ONNX Runtime's quantizer.

`lstm` and `gru` know three activations, the same ones in both directions, and no peepholes as ONNX defines them: there the output gate sees
the cell state after the step. The other networks are unrolled, with one matrix product for the inputs of all steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, TypeAlias, cast

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.importing.moving import slice_axis
from webnn.importing.packed import Packed
from webnn.importing.repetition import Repetition
from webnn.importing.steps import Result
from webnn.importing.values import Array, Refused, Value
from webnn.onnx.node import Node
from webnn.onnx.quantized import arrange, dequantize_dynamically

__all__ = ["RULES"]

Activation: TypeAlias = "Callable[[Node, MLOperand], MLOperand]"
Native: TypeAlias = Literal["relu", "sigmoid", "tanh"]
Direction: TypeAlias = Literal["forward", "backward", "both"]

_DIRECTIONS: Mapping[str, Direction] = {"forward": "forward", "reverse": "backward", "bidirectional": "both"}
#: The activations of `lstm` and `gru`.
_NATIVE = ("relu", "sigmoid", "tanh")
#: The most steps that are unrolled.
_MOST_STEPS = 1 << 12
#: The LSTM of ONNX Runtime's quantizer.
_DYNAMIC = "DynamicQuantizeLSTM"


@dataclass(frozen=True, kw_only=True)
class _Network:
    """A network, in the layout with the steps in front; ``transposed`` tells that the model has the batch in front of the steps.

    The sequence is [steps, batch, inputs], the input weights [directions, gates * hidden, inputs], the recurrent ones [directions,
    gates * hidden, hidden], and the biases of both, if there are some, [directions, gates * hidden]. The activations of each direction are
    names in lower case, each with its alpha and beta.
    """

    x: MLOperand
    steps: int
    batch: int
    hidden: int
    direction: Direction
    weight: Value
    recurrent: Value
    biases: tuple[Value, Value] | None
    activations: list[list[tuple[str, float, float]]]
    transposed: bool

    @property
    def native(self) -> list[Native] | None:
        """The activations for `lstm` and `gru`; none if they do not take them."""
        names = [[name for name, _, _ in each] for each in self.activations]
        fits = all(each == names[0] and {*each} <= {*_NATIVE} for each in names)
        return cast("list[Native]", names[0]) if fits else None


def _read(node: Node, gates: int, defaults: Sequence[str]) -> _Network:
    """Read what the networks have in common."""
    if node.has("clip"):
        raise Refused("clip is not supported")
    if node.integer("input_forget", 0):
        raise Refused("input_forget must be 0, got another value")
    direction = _DIRECTIONS[node.choice("direction", "forward", tuple(_DIRECTIONS))]
    directions = 2 if direction == "both" else 1
    transposed = node.integer("layout", 0) == 1
    shape = node.value(0).shape
    if len(shape) != 3 or node.value(2).rank != 3:
        raise Refused(f"the sequence and the recurrent weights must have 3 dimensions, got {list(shape)} and {list(node.value(2).shape)}")
    steps, batch = (shape[1], shape[0]) if transposed else (shape[0], shape[1])
    hidden = node.value(2).shape[2]
    if node.integer("hidden_size", hidden) != hidden:
        raise Refused(f"hidden_size must be that of the recurrent weights, {hidden}, got {node.integer('hidden_size')}")
    _expect(node, 1, "the weights", [directions, gates * hidden, shape[2]])
    _expect(node, 2, "the recurrent weights", [directions, gates * hidden, hidden])
    biases = None
    if node.given(3):
        _expect(node, 3, "the bias", [directions, 2 * gates * hidden])
        biases = (_cut(node, node.value(3), 1, 0, gates * hidden), _cut(node, node.value(3), 1, gates * hidden, gates * hidden))
    if node.given(4):
        lengths = node.known_integers(4, "sequence_lens")
        if any(length != steps for length in lengths):
            raise Refused(f"sequence_lens must all be the number of steps, {steps}, got {lengths[:8]}")
    return _Network(
        x=node.transpose(node.operand(0), [1, 0, 2] if transposed else [0, 1, 2]),
        steps=steps,
        batch=batch,
        hidden=hidden,
        direction=direction,
        weight=node.value(1),
        recurrent=node.value(2),
        biases=biases,
        activations=_activations(node, directions, defaults),
        transposed=transposed,
    )


def _expect(node: Node, index: int, what: str, shape: Sequence[int]) -> None:
    given = node.value(index).shape
    if given != tuple(shape):
        raise Refused(f"{what} must have the shape {list(shape)}, got {list(given)}")


def _cut(node: Node, value: Value, axis: int, start: int, size: int) -> Value:
    """Return a part of a value along an axis; of one that is known at import."""
    array = node.find_array(value)
    if array is not None:
        return Value.known(array.take(range(start, start + size), axis))
    return node.typed(slice_axis(node, node.operand_of(value), axis, start, size), value.dtype)


def _turn(node: Node, value: Value) -> MLOperand:
    """Transpose a matrix; one that is known at import."""
    if value.packed is not None:
        return node.operand_of(Value("", value.dtype, value.shape[::-1], packed=value.packed.turn([1, 0])))
    array = node.find_array(value)
    return node.transpose(node.operand_of(value), [1, 0]) if array is None else node.constant(array.T)


def _row(node: Node, value: Value, index: int) -> Value:
    """Return an element along the first axis, which goes."""
    if value.packed is not None:
        return Value("", value.dtype, value.shape[1:], packed=value.packed.at(index))
    array = node.find_array(value)
    if array is not None:
        return Value.known(array[index])
    part = node.operand_of(_cut(node, value, 0, index, 1))
    return node.typed(node.reshape(part, value.shape[1:]), value.dtype)


def _unscale(value: Value) -> tuple[Value, Array | None]:
    """Return weights that are known integers without their scales, and these in a row; other weights as they are."""
    packed = value.packed
    if packed is None or packed.scale is None:
        return value, None
    return Value("", value.dtype, value.shape, packed=replace(packed, scale=None)), np.transpose(packed.scale)


def _multiply(node: Node, x: MLOperand, weights: MLOperand, scales: Array | None) -> MLOperand:
    """Multiply numbers by weights.

    With scales, the numbers are those of `dequantize_dynamically`. Their integers are multiplied, less the zero points, and the scales come
    last, as in ONNX Runtime.
    """
    builder = node.builder
    if scales is None:
        return builder.matmul(x, weights)
    assert x._operator is not None  # the dequantization
    integers, scale, zero = x._operator.inputs
    left = builder.dequantizeLinear(integers, node.constant(np.ones(scale.descriptor.dimensions, np.float32)), zero)
    return builder.mul(builder.matmul(left, weights), builder.mul(node.reshape(scale, []), node.constant(scales)))


# Activations.


def _plain(operation: Literal["relu", "sigmoid", "softplus", "softsign", "tanh"]) -> Callable[[Node, MLOperand, float, float], MLOperand]:
    return lambda node, x, alpha, beta: cast("MLOperand", getattr(node.builder, operation)(x))


def _affine(node: Node, x: MLOperand, alpha: float, beta: float) -> MLOperand:
    return node.builder.linear(x, alpha=alpha, beta=beta)


def _scaled_tanh(node: Node, x: MLOperand, alpha: float, beta: float) -> MLOperand:
    return node.builder.mul(node.scalar(alpha, x), node.builder.tanh(node.builder.mul(node.scalar(beta, x), x)))


def _thresholded_relu(node: Node, x: MLOperand, alpha: float, beta: float) -> MLOperand:
    return node.builder.where(node.builder.greaterOrEqual(x, node.scalar(alpha, x)), x, node.scalar(0, x))


#: How each activation is computed, with the defaults of alpha and beta. None means that it must be given.
_ACTIVATIONS: Mapping[str, tuple[Callable[[Node, MLOperand, float, float], MLOperand], tuple[float | None, ...]]] = {
    **{name: (_plain(name), ()) for name in ("relu", "sigmoid", "softplus", "softsign", "tanh")},
    "affine": (_affine, (None, None)),
    "elu": (lambda node, x, alpha, beta: node.builder.elu(x, alpha=alpha), (1.0,)),
    "hardsigmoid": (lambda node, x, alpha, beta: node.builder.hardSigmoid(x, alpha=alpha, beta=beta), (0.2, 0.5)),
    "leakyrelu": (lambda node, x, alpha, beta: node.builder.leakyRelu(x, alpha=alpha), (0.01,)),
    "scaledtanh": (_scaled_tanh, (None, None)),
    "thresholdedrelu": (_thresholded_relu, (1.0,)),
}


def _activations(node: Node, directions: int, defaults: Sequence[str]) -> list[list[tuple[str, float, float]]]:
    """Return the activations of each direction, with alpha and beta, which are given in turn to those that have them."""
    names = [name.lower() for name in node.texts("activations", list(defaults) * directions)]
    if len(names) != directions * len(defaults):
        raise Refused(f"activations must be {directions * len(defaults)} names, got {len(names)}")
    numbers = [iter(node.numbers(f"activation_{each}", [])) for each in ("alpha", "beta")]
    found: list[tuple[str, float, float]] = []
    for name in names:
        if name not in _ACTIVATIONS:
            raise Refused(f"activations must be some of {', '.join(_ACTIVATIONS)}, got {name!r}")
        chosen = [0.0, 0.0]
        for index, default in enumerate(_ACTIVATIONS[name][1]):
            number = next(numbers[index], default)
            if number is None:
                raise Refused(f"the activation {name} must have activation_alpha and activation_beta")
            chosen[index] = number
        found.append((name, chosen[0], chosen[1]))
    return [found[: len(defaults)], found[len(defaults) :]][:directions]


def _compile(activations: Sequence[tuple[str, float, float]]) -> list[Activation]:
    def compile_one(name: str, alpha: float, beta: float) -> Activation:
        compute = _ACTIVATIONS[name][0]
        return lambda node, x: compute(node, x, alpha, beta)

    return [compile_one(*each) for each in activations]


# The operators.


def _lstm(node: Node) -> list[Result]:
    """Map to lstm. With peepholes, or other activations, it is unrolled. Refused are clip, input_forget and shorter sequences."""
    network = _read(node, 4, ("Sigmoid", "Tanh", "Tanh"))
    states = [_state(node, network, index) for index in (5, 6)]
    if node.given(7) or network.native is None or node.operator == _DYNAMIC:
        if node.given(7):
            _expect(node, 7, "the peepholes", [network.weight.shape[0], 3 * network.hidden])
        return _unroll(node, network, states, _lstm_cell)
    options = _options(node, network, "iofg", states[0], ["sigmoid", "tanh", "tanh"])
    if states[1] is not None:
        options["initialCellState"] = states[1]
    weights = (node.operand_of(network.weight), node.operand_of(network.recurrent))
    hidden, cell, *sequence = node.builder.lstm(network.x, *weights, network.steps, network.hidden, options)
    return _finish(node, network, sequence[0] if sequence else None, [hidden, cell])


def _dynamic_lstm(node: Node) -> list[Result]:
    """Unroll the steps, each of which quantizes its state as ONNX Runtime does. Its weights are integers, with their inputs in rows."""
    weights: list[Value | MLOperand] = []
    for index, first in ((1, 8), (2, 10)):
        integers, scale, zero = (node.value(each) for each in (index, first, first + 1))
        if integers.rank != 3:
            raise Refused(f"the weights must have 3 dimensions, got {list(integers.shape)}")
        for value, what in ((scale, "the scale"), (zero, "the zero point")):
            if value.shape not in (integers.shape[:1], integers.shape[::2]):
                raise Refused(f"{what} must have one element for each direction, or for each of its columns, got {list(value.shape)}")
        array, scales, zeros = (node.find_array(each) for each in (integers, scale, zero))
        shapes = [[*each.shape, *[1] * (3 - each.rank)] for each in (scale, zero)]
        if array is not None and scales is not None and zeros is not None:
            # Each direction has integers of its own, of which products of integers can be made.
            turned = array.transpose(0, 2, 1)
            packed = Packed(turned, scales.reshape(shapes[0]), zeros.reshape(shapes[1]))
            weights.append(Value("", scale.dtype, turned.shape, packed=packed))
        else:
            operand = node.transpose(node.operand_of(integers), [0, 2, 1])
            weights.append(node.builder.dequantizeLinear(operand, arrange(node, scale, shapes[0]), arrange(node, zero, shapes[1])))
    x = dequantize_dynamically(node, node.operand(0))
    derived = node.derive([x, *weights, *node.inputs[3:8]])
    derived.outputs = node.outputs
    return _lstm(derived)


def _gru(node: Node) -> list[Result]:
    """Map to gru. With other activations it is unrolled. Refused are clip and shorter sequences."""
    network = _read(node, 3, ("Sigmoid", "Tanh"))
    state = _state(node, network, 5)
    if network.native is None:
        return _unroll(node, network, [state], _gru_cell)
    options = _options(node, network, "zrn", state, ["sigmoid", "tanh"])
    options["resetAfter"] = bool(node.integer("linear_before_reset", 0))
    weights = (node.operand_of(network.weight), node.operand_of(network.recurrent))
    hidden, *sequence = node.builder.gru(network.x, *weights, network.steps, network.hidden, options)
    return _finish(node, network, sequence[0] if sequence else None, [hidden])


def _options(node: Node, network: _Network, layout: str, state: MLOperand | None, usual: Sequence[str]) -> Any:
    """Return the options that `lstm` and `gru` share."""
    options: dict[str, Any] = {"direction": network.direction, "layout": layout, "returnSequence": bool(node.outputs[0])}
    if network.biases is not None:
        options["bias"], options["recurrentBias"] = (node.operand_of(each) for each in network.biases)
    if state is not None:
        options["initialHiddenState"] = state
    if network.native != usual:
        options["activations"] = network.native
    return options


def _rnn(node: Node) -> list[Result]:
    """Unroll the steps. Refused are clip and shorter sequences."""
    network = _read(node, 1, ("Tanh",))
    return _unroll(node, network, [_state(node, network, 5)], _rnn_cell)


def _state(node: Node, network: _Network, index: int) -> MLOperand | None:
    """Return an initial state: [directions, batch, hidden]."""
    if not node.given(index):
        return None
    directions, batch = network.weight.shape[0], network.batch
    head = [batch, directions] if network.transposed else [directions, batch]
    _expect(node, index, "the initial state", [*head, network.hidden])
    return node.transpose(node.operand(index), [1, 0, 2] if network.transposed else [0, 1, 2])


def _finish(node: Node, network: _Network, sequence: MLOperand | None, states: Sequence[MLOperand]) -> list[Result]:
    """Return the outputs in the layout of the model."""
    used = [bool(name) for name in node.outputs[1:]]
    if not network.transposed:
        return [sequence, *[state if wanted else None for state, wanted in zip(states, used, strict=False)]]
    turned = [node.transpose(state, [1, 0, 2]) if wanted else None for state, wanted in zip(states, used, strict=False)]
    return [None if sequence is None else node.transpose(sequence, [2, 0, 1, 3]), *turned]


# Unrolled networks.


@dataclass(frozen=True, kw_only=True)
class _Cell:
    """The values for a step of one direction, whose state has ``hidden`` features.

    The recurrent weights are [hidden, gates * hidden]; of a GRU that resets before the product, those of the new gate come by themselves. A
    GRU has the recurrent bias, [gates * hidden], where it is not a part of the inputs. Peepholes are those of input, output and forget
    gate. Recurrent weights that are known integers come without their scales, [1, gates * hidden] or [1, 1].
    """

    node: Node
    hidden: int
    recurrent: Sequence[MLOperand]
    bias: MLOperand | None
    activations: Sequence[Activation]
    peepholes: Sequence[MLOperand] | None
    scales: Array | None

    def parts(self, operand: MLOperand) -> list[MLOperand]:
        """Split an operand into its gates."""
        count = operand.descriptor.dimensions[-1] // self.hidden
        return self.node.builder.split(operand, count, axis=len(operand.descriptor.dimensions) - 1)


#: Returns the states after a step, from the inputs of the gates, [batch, gates * hidden], and the states before it, [batch, hidden] each.
Step: TypeAlias = "Callable[[_Cell, MLOperand, Sequence[MLOperand]], list[MLOperand]]"


def _rnn_cell(cell: _Cell, inputs: MLOperand, states: Sequence[MLOperand]) -> list[MLOperand]:
    builder = cell.node.builder
    return [cell.activations[0](cell.node, builder.add(inputs, builder.matmul(states[0], cell.recurrent[0])))]


def _lstm_cell(cell: _Cell, inputs: MLOperand, states: Sequence[MLOperand]) -> list[MLOperand]:
    builder, node = cell.node.builder, cell.node
    gate, new, out = cell.activations
    state = states[1]
    start = states[0]._value
    if cell.scales is not None and start is not None and not start.any() and np.isfinite(cell.scales).all():
        product = node.constant(np.zeros(inputs.descriptor.dimensions, np.float32))
    else:
        hidden = dequantize_dynamically(node, states[0]) if node.operator == _DYNAMIC else states[0]
        product = _multiply(node, hidden, cell.recurrent[0], cell.scales)
    sums = builder.add(inputs, product)
    if cell.peepholes is None:
        # One activation of three gates is fewer operators than three.
        gates, c = builder.split(sums, [3 * cell.hidden, cell.hidden], axis=1)
        i, o, f = cell.parts(gate(node, gates))
        state = builder.add(builder.mul(f, state), builder.mul(i, new(node, c)))
        return [builder.mul(o, out(node, state)), state]
    i, o, f, c = cell.parts(sums)
    i = gate(node, builder.add(i, builder.mul(cell.peepholes[0], state)))
    f = gate(node, builder.add(f, builder.mul(cell.peepholes[2], state)))
    state = builder.add(builder.mul(f, state), builder.mul(i, new(node, c)))
    o = gate(node, builder.add(o, builder.mul(cell.peepholes[1], state)))
    return [builder.mul(o, out(node, state)), state]


def _gru_cell(cell: _Cell, inputs: MLOperand, states: Sequence[MLOperand]) -> list[MLOperand]:
    builder, node = cell.node.builder, cell.node
    gate, new = cell.activations
    state = states[0]
    z, r, h = cell.parts(inputs)
    if node.integer("linear_before_reset", 0):
        products = builder.matmul(state, cell.recurrent[0])
        z_state, r_state, h_state = cell.parts(products if cell.bias is None else builder.add(products, cell.bias))
        update, reset = gate(node, builder.add(z, z_state)), gate(node, builder.add(r, r_state))
        candidate = new(node, builder.add(h, builder.mul(reset, h_state)))
    else:
        z_state, r_state = cell.parts(builder.matmul(state, cell.recurrent[0]))
        update, reset = gate(node, builder.add(z, z_state)), gate(node, builder.add(r, r_state))
        candidate = new(node, builder.add(h, builder.matmul(builder.mul(reset, state), cell.recurrent[1])))
    # (1 - update) * candidate + update * state
    return [builder.add(candidate, builder.mul(update, builder.sub(state, candidate)))]


def _unroll(node: Node, network: _Network, initial: Sequence[MLOperand | None], step: Step) -> list[Result]:
    """Compute a network step by step."""
    if network.steps > _MOST_STEPS:
        raise Refused(f"a network that is unrolled must have at most {_MOST_STEPS} steps, got {network.steps}")
    builder, hidden, batch = node.builder, network.hidden, network.batch
    sequences, finals = [], []
    for index in range(network.weight.shape[0]):
        backward = network.direction == "backward" or index == 1
        cell, inputs = _prepare(node, network, index)
        states = [
            node.constant(np.zeros((batch, hidden), network.weight.dtype))
            if state is None
            else node.constant(state._value[index])
            if state._value is not None
            else node.reshape(builder.slice(state, [index, 0, 0], [1, batch, hidden]), [batch, hidden])
            for state in initial
        ]
        found = {}
        repetition = Repetition(builder, states)
        for number in reversed(range(network.steps)) if backward else range(network.steps):
            found[number] = repetition.run(inputs[number], partial(step, cell))
        if node.outputs[0]:
            rows = _concat(node, [found[number] for number in range(network.steps)], 0)
            sequences.append(node.reshape(rows, [network.steps, 1, batch, hidden]))
        finals.append([node.reshape(state, [1, batch, hidden]) for state in repetition.states])
    lasts = [_concat(node, parts, 0) for parts in zip(*finals, strict=True)]
    return _finish(node, network, _concat(node, sequences, 1) if sequences else None, lasts)


def _concat(node: Node, parts: Sequence[MLOperand], axis: int) -> MLOperand:
    return parts[0] if len(parts) == 1 else node.builder.concat(list(parts), axis)


def _prepare(node: Node, network: _Network, index: int) -> tuple[_Cell, list[MLOperand]]:
    """Return the cell of a direction, and the inputs of its gates in each step: [batch, gates * hidden]."""
    builder, hidden = node.builder, network.hidden
    resets_after = node.operator == "GRU" and bool(node.integer("linear_before_reset", 0))
    weight, scales = _unscale(_row(node, network.weight, index))
    inputs = _multiply(node, network.x, _turn(node, weight), scales)
    row, scales = _unscale(_row(node, network.recurrent, index))
    recurrent = [row]
    if node.operator == "GRU" and not resets_after:
        recurrent = [_cut(node, row, 0, 0, 2 * hidden), _cut(node, row, 0, 2 * hidden, hidden)]
    bias = None
    if network.biases is not None:
        first, second = (node.operand_of(_row(node, value, index)) for value in network.biases)
        inputs = builder.add(inputs, first)
        if resets_after:
            bias = second
        else:
            inputs = builder.add(inputs, second)
    peepholes = None
    if node.operator in ("LSTM", _DYNAMIC) and node.given(7):
        row = _row(node, node.value(7), index)
        peepholes = [node.operand_of(_cut(node, row, 0, gate * hidden, hidden)) for gate in range(3)]
    cell = _Cell(
        node=node,
        hidden=hidden,
        recurrent=[_turn(node, each) for each in recurrent],
        bias=bias,
        activations=_compile(network.activations[index]),
        peepholes=peepholes,
        scales=scales,
    )
    rows = node.reshape(inputs, [network.steps * network.batch, inputs.descriptor.dimensions[-1]])
    return cell, [rows] if network.steps == 1 else builder.split(rows, network.steps, axis=0)


RULES: Mapping[str, Callable[[Node], list[Result]]] = {"GRU": _gru, "LSTM": _lstm, "RNN": _rnn, f"com.microsoft.{_DYNAMIC}": _dynamic_lstm}
