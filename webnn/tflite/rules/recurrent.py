"""Recurrent networks. Their states are variables of the model: inputs and outputs of the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from webnn.builder.operand import MLOperand
from webnn.importing.moving import slice_axis
from webnn.importing.steps import Result
from webnn.importing.values import Refused
from webnn.tflite.node import Node, Rules
from webnn.tflite.rules.convolution import shapes_of

__all__ = ["RULES"]

#: The activations of RNNs by their numbers, as ONNX calls them.
_ACTIVATIONS = {0: "Affine", 1: "Relu", 4: "Tanh"}
_TANH = 4


def _join(node: Node, indices: Sequence[int]) -> Any:
    """Join inputs along their first dimension, below a new one."""
    parts = [node.one("Unsqueeze", [node.value(index), [0]]) for index in indices]
    return node.one("Concat", parts, axis=1) if len(parts) > 1 else parts[0]


def _run(
    node: Node, operator: str, inputs: Sequence[Any], states: Sequence[int], *, is_reversed: bool = False, **attributes: Any
) -> MLOperand:
    """Run ONNX's network in one direction, and remember its states; return its results, in the shape of the input."""
    shape = node.value(0).shape
    if len(shape) not in (2, 3):
        raise Refused(f"the input must have 2 or 3 dimensions, got {list(shape)}")
    if any(node.value(index).rank != 2 for index in states):
        raise Refused("the states must have 2 dimensions")
    # A single step has no dimension of time.
    time_first = len(shape) == 2 or node.flag("TimeMajor")
    x = node.reshape(node.operand(0), [1, *shape]) if len(shape) == 2 else node.operand(0)
    initial = [node.one("Unsqueeze", [node.value(index), [0 if time_first else 1]]) for index in states]
    found = node.onnx(
        operator,
        [x, *inputs[:3], None, *initial, *inputs[3:]],
        outputs=1 + len(states),
        hidden_size=node.value(states[0]).shape[-1],
        layout=int(not time_first),
        direction="reverse" if is_reversed else "forward",
        **attributes,
    )
    y, *last = map(node.operand_of, found)
    for index, state in zip(states, last, strict=True):
        node.updates[index] = node.reshape(state, node.value(index).shape)
    return node.reshape(y, [*shape[:-1], y.descriptor.dimensions[-1]])


def _double(node: Node, bias: Any) -> Any:
    """Return a bias for the input, with one of zeros for the state behind it."""
    return node.one("Concat", [bias, node.one("Mul", [bias, node.scalar(0, "float32")])], axis=1)


def _lstm_direction(node: Node, first: int, states: Sequence[int], *, is_reversed: bool = False) -> MLOperand:
    """Run one direction, whose 17 inputs begin at an index: weights, peepholes, biases and projection."""
    if not node.given(first):
        raise Refused("a network that couples its input and forget gates is not supported")
    if any(node.given(index) for index in range(first + 15, first + 17)):
        raise Refused("projections are not supported")
    if node.option("CellClip", 0.0) or node.option("ProjClip", 0.0) or node.option("FusedActivationFunction", _TANH) != _TANH:
        raise Refused("CellClip and ProjClip must be 0, and the activation TANH")
    # The gates are input, forget, cell and output; ONNX has input, output, forget and cell.
    order = (0, 3, 1, 2)
    weights, recurrent, bias = (_join(node, [first + start + gate for gate in order]) for start in (0, 4, 11))
    peepholes = _join(node, [first + 8, first + 10, first + 9]) if node.given(first + 8) else None
    return _run(node, "LSTM", [weights, recurrent, _double(node, bias), peepholes], states, is_reversed=is_reversed)


def _lstm(node: Node) -> Result:
    """Map to lstm. Refused are projections, coupled gates, normalized layers, clipping, and the basic kernel, which has one matrix."""
    if node.option("KernelType", 0):
        raise Refused("the basic kernel is not supported", "convert the model again: new converters write the full one")
    if any(node.given(index) for index in range(20, 24)):
        raise Refused("layer normalization inside of a network is not supported")
    return _lstm_direction(node, 1, (18, 19))


def _merge(node: Node, auxiliary: int, forward: MLOperand, backward: MLOperand) -> list[Result]:
    """Return the results of two directions, joined if the options say so. Inputs from ``auxiliary`` on are refused."""
    if any(node.given(index) for index in range(auxiliary, len(node.inputs))):
        raise Refused("auxiliary inputs are not supported")
    if not node.flag("MergeOutputs"):
        return [forward, backward]
    return [node.builder.concat([forward, backward], forward.descriptor.rank - 1)]


def _bidirectional_lstm(node: Node) -> list[Result]:
    """Map to lstm, once for each direction."""
    return _merge(node, 39, _lstm_direction(node, 1, (35, 36)), _lstm_direction(node, 18, (37, 38), is_reversed=True))


def _rnn_direction(node: Node, first: int, *, is_reversed: bool = False) -> MLOperand:
    activation = _ACTIVATIONS.get(node.option("FusedActivationFunction", 0))
    if activation is None:
        raise Refused("the activation must be NONE, RELU or TANH")
    numbers: dict[str, Any] = {"activation_alpha": [1.0], "activation_beta": [0.0]} if activation == "Affine" else {}
    weights, recurrent, bias = (_join(node, [first + index]) for index in range(3))
    inputs = [weights, recurrent, _double(node, bias)]
    return _run(node, "RNN", inputs, [first + 3], is_reversed=is_reversed, activations=[activation], **numbers)


def _bidirectional_rnn(node: Node) -> list[Result]:
    """Unroll the steps, once for each direction."""
    return _merge(node, 9, _rnn_direction(node, 1), _rnn_direction(node, 5, is_reversed=True))


def _svdf(node: Node) -> Result:
    """Multiply by the features, put the results behind those that are remembered, and weigh these over time."""
    builder, rank = node.builder, node.integer("Rank", 1)
    (batch, _), (filters, memory) = shapes_of(node, 0, 2, 2)
    if filters % rank or node.value(4).size != batch * filters * memory:
        raise Refused(f"Rank must divide {filters} filters, and the state have {batch * filters * memory} elements, got {rank}")
    features = builder.gemm(node.operand(0), node.operand(1), bTranspose=True)
    state = node.reshape(node.operand(4), [batch, filters, memory])
    newest = node.reshape(features, [batch, filters, 1])
    if memory > 1:
        newest = builder.concat([slice_axis(node, state, 2, 1, memory - 1), newest], 2)
    node.updates[4] = node.reshape(newest, node.value(4).shape)
    weighed = builder.reduceSum(builder.mul(newest, node.operand(2)), axes=[2])
    y = builder.reduceSum(node.reshape(weighed, [batch, filters // rank, rank]), axes=[2])
    return node.activate(builder.add(y, node.operand(3)) if node.given(3) else y)


RULES: Rules = {
    "BIDIRECTIONAL_SEQUENCE_LSTM": _bidirectional_lstm,
    "BIDIRECTIONAL_SEQUENCE_RNN": _bidirectional_rnn,
    "LSTM": _lstm,
    "RNN": lambda node: _rnn_direction(node, 1),
    "SVDF": _svdf,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": _lstm,
    "UNIDIRECTIONAL_SEQUENCE_RNN": lambda node: _rnn_direction(node, 1),
}
