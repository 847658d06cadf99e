"""Equal steps, which become one node: the same bits as those of the steps one by one, and when there is that node."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnxruntime
import pytest

from tests.support import CURRENT, shared_context
from webnn import MLGraphBuilder, MLOperand
from webnn.builder.graph import collect
from webnn.builder.numerics import Numerics
from webnn.builder.onnx.translate import OnnxModel, translate
from webnn.builder.onnx_names import session_entries

STEPS, SIZE = 12, 5
Step = Callable[["Network", int, MLOperand], MLOperand]


class Network:
    """A network of some steps, with what its steps take."""

    def __init__(self) -> None:
        self.builder = builder = MLGraphBuilder(shared_context(CURRENT))
        rng = np.random.default_rng(0)

        def constant(*shape: int) -> MLOperand:
            return builder.constant({"dataType": "float32", "shape": list(shape)}, rng.standard_normal(shape).astype(np.float32))

        self.x = builder.input("x", dataType="float32", shape=[STEPS, SIZE])
        self.state = builder.input("state", dataType="float32", shape=[1, SIZE])
        self.weights, self.bias, self.square = constant(SIZE, SIZE), constant(1, SIZE), constant(SIZE, SIZE)
        self.rows = builder.split(self.x, STEPS)
        self.halves = builder.split(self.x, STEPS // 2)
        self.columns = builder.split(builder.transpose(self.x), STEPS, axis=1)
        self.turned = builder.transpose(self.square)
        self.before = self.state

    def number(self, value: int) -> MLOperand:
        """Return an index."""
        return self.builder.constant({"dataType": "int32", "shape": [1]}, np.array([value], np.int32))

    def cell(self, fed: MLOperand, state: MLOperand) -> MLOperand:
        """Return the state after a step that takes a row."""
        builder = self.builder
        mixed = builder.tanh(builder.add(builder.matmul(state, self.weights), builder.add(fed, self.bias)))
        gate = builder.sigmoid(builder.mul(mixed, state))
        return builder.add(builder.mul(gate, mixed), builder.mul(builder.sub(builder.constant("float32", 1), gate), state))


def _forward(network: Network, number: int, state: MLOperand) -> MLOperand:
    return network.cell(network.rows[number], state)


def _backward(network: Network, number: int, state: MLOperand) -> MLOperand:
    return network.cell(network.rows[-1 - number], state)


def _late(network: Network, number: int, state: MLOperand) -> MLOperand:
    fed = network.rows[number]
    return network.cell(network.builder.abs(fed) if number < 2 else fed, state)


def _stuck(network: Network, number: int, state: MLOperand) -> MLOperand:
    return network.cell(network.rows[min(number + 1, STEPS - 1)], state)


def _gathered(network: Network, number: int, state: MLOperand) -> MLOperand:
    # In another order than that of the rows.
    return network.cell(network.builder.gather(network.x, network.number((number * 5) % STEPS)), state)


def _transposed(network: Network, number: int, state: MLOperand) -> MLOperand:
    return network.cell(network.builder.matmul(network.rows[number], network.turned), state)


def _turning(network: Network, number: int, state: MLOperand) -> MLOperand:
    builder = network.builder
    turned = builder.transpose(builder.matmul(builder.transpose(network.square), builder.transpose(network.rows[number])))
    return network.cell(turned, state)


def _halved(network: Network, number: int, state: MLOperand) -> MLOperand:
    fed = network.builder.reduceSum(network.halves[number // 2], axes=[0], keepDimensions=True)
    return network.cell(fed, state)


def _column(network: Network, number: int, state: MLOperand) -> MLOperand:
    return network.cell(network.builder.transpose(network.columns[number]), state)


def _older(network: Network, number: int, state: MLOperand) -> MLOperand:
    before, network.before = network.before, state
    return network.builder.add(network.cell(network.rows[number], state), before)


def _varied(network: Network, number: int, state: MLOperand) -> MLOperand:
    fed = network.rows[number]
    return network.cell(network.builder.leakyRelu(fed, alpha=1 / (1 + number)), state)


def make(step: Step, *, stacked: bool = True) -> dict[str, MLOperand]:
    """Return the outputs of a network: the last state, and that after each step."""
    network = Network()
    state, states = network.state, []
    for number in range(STEPS):
        state = step(network, number, state)
        states.append(state)
    builder = network.builder
    return {"last": builder.identity(state), **({"all": builder.concat(states, 0)} if stacked else {"some": builder.neg(states[3])})}


def nodes_of(model: OnnxModel) -> list[str]:
    return [node.op_type for node in model.proto.graph.node]


def compute(model: OnnxModel) -> list[bytes]:
    """Compute a model; return the bytes of its outputs."""
    options = onnxruntime.SessionOptions()
    for name, value in session_entries(model.numerics).items():
        options.add_session_config_entry(name, value)
    session = onnxruntime.InferenceSession(model.serialize(), options, providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(1)
    inputs = {name: rng.standard_normal(each.dimensions).astype(np.float32) for name, each in model.inputs.values()}
    return [each.tobytes() for each in session.run([name for name, _ in model.outputs.values()], inputs)]


@pytest.mark.parametrize(
    ("step", "isLoop"),
    [
        (_forward, True),
        (_backward, True),
        (_late, True),
        (_gathered, True),
        (_transposed, True),
        (_turning, True),
        (_stuck, False),
        (_halved, False),
        (_column, False),
        (_older, False),
        (_varied, False),
    ],
)
@pytest.mark.parametrize("stacked", [True, False])
@pytest.mark.parametrize("numerics", ["exact", "fast"])
def test_equal_steps_are_one_node_with_the_same_bits(step: Step, isLoop: bool, stacked: bool, numerics: Numerics) -> None:
    graph = collect(make(step, stacked=stacked))
    rolled, plain = (translate(graph, numerics, contributed=True, rolls=rolls) for rolls in (True, False))
    assert ("Scan" in nodes_of(rolled)) == isLoop
    assert "Scan" not in nodes_of(plain)
    assert compute(rolled) == compute(plain)
