"""Steps that are made like earlier ones, compared with those that the rules make."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from onnx import helper

import webnn.onnx
from tests.webnn.onnx.models import make
from webnn.builder.graph_builder import LabellingBuilder
from webnn.builder.operand import MLOperand
from webnn.importing.driver import make_builder
from webnn.importing.repetition import Repetition

STEPS, BATCH, INPUTS, HIDDEN = 6, 2, 3, 4
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
#: Networks that WebNN has no operation for, so that they are unrolled.
NETWORKS: dict[str, tuple[str, dict[str, Any]]] = {
    "LSTM": ("LSTM", {"activations": ["HardSigmoid", "Tanh", "Tanh"]}),
    "LSTM both ways": ("LSTM", {"direction": "bidirectional", "activations": ["HardSigmoid", "Tanh", "Tanh"] * 2}),
    "GRU": ("GRU", {"activations": ["HardSigmoid", "Tanh"]}),
    "GRU that resets after the product": ("GRU", {"activations": ["HardSigmoid", "Tanh"], "linear_before_reset": 1}),
    "GRU backward": ("GRU", {"direction": "reverse", "activations": ["HardSigmoid", "Tanh"]}),
    "RNN": ("RNN", {}),
}


def load(network: str, steps: int = STEPS, given: str = "") -> webnn.onnx.Imported:
    operator, attributes = NETWORKS[network]
    directions = 2 if attributes.get("direction") == "bidirectional" else 1
    width = GATES[operator] * HIDDEN
    shapes = {
        "X": [steps, BATCH, INPUTS],
        "W": [directions, width, INPUTS],
        "R": [directions, width, HIDDEN],
        "H": [directions, BATCH, HIDDEN],
    }
    feeds = {name: np.ones(shapes[name], np.float32) for name in f"XWR{given}"}
    inputs = ["X", "W", "R", "", "", "H"] if given else ["X", "W", "R"]
    return webnn.onnx.load(make(helper.make_node(operator, inputs, ["y", "h"], hidden_size=HIDDEN, **attributes), feeds, 14))


@pytest.mark.parametrize("given", ["", "H"])
@pytest.mark.parametrize("network", NETWORKS)
def test_the_graph_is_that_of_the_rules(monkeypatch: pytest.MonkeyPatch, network: str, given: str) -> None:
    learn, learned = Repetition._learn, list[bool]()

    def note(self: Repetition) -> Any:
        found = learn(self)
        learned.append(found is not None)
        return found

    monkeypatch.setattr(Repetition, "_learn", note)
    repeated = load(network, given=given)
    assert learned
    assert all(learned)
    monkeypatch.setattr(Repetition, "_learn", lambda self: None)
    plain = load(network, given=given)
    assert repeated.description == plain.description
    assert [each.index for each in repeated.description.operators] == [each.index for each in plain.description.operators]
    assert repeated.report == plain.report


@pytest.mark.parametrize("steps", [1, 2, 3, 4])
def test_few_steps(monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
    repeated = load("LSTM", steps)
    monkeypatch.setattr(Repetition, "_learn", lambda self: None)
    assert repeated.description == load("LSTM", steps).description


def run(compute: Callable[[LabellingBuilder, int, MLOperand, MLOperand], MLOperand], steps: int = 8) -> list[str]:
    """Run steps of one state, each with its number; return the steps that the rule made, and the operators with their numbers."""
    builder = make_builder(has_small_integers=False)
    builder.label = "r"
    rows = builder.split(builder.input("x", dataType="float32", shape=[steps, 2]), steps)
    repetition = Repetition(builder, [builder.constant({"dataType": "float32", "shape": [1, 2]}, np.zeros((1, 2), np.float32))])
    made: list[str] = []
    for number, row in enumerate(rows):

        def make_step(row: MLOperand, states: Sequence[MLOperand], number: int = number) -> list[MLOperand]:
            made.append(str(number))
            return [compute(builder, number, row, states[0])]

        state = repetition.run(row, make_step)
    graph = webnn.describe({"y": state})
    return [" ".join(made), *[f"{each.index} {each.operation}" for each in graph.operators[-2:]]]


def test_steps_are_made_like_the_third_one() -> None:
    assert run(lambda builder, number, row, state: builder.add(row, state))[0] == "0 1 2"


def test_steps_that_differ_are_not() -> None:
    everything = "0 1 2 3 4 5 6 7"
    assert run(lambda builder, number, row, state: (builder.add if number % 2 else builder.mul)(row, state))[0] == everything
    # The third step takes the result of the first one.
    kept: list[MLOperand] = []

    def skip(builder: LabellingBuilder, number: int, row: MLOperand, state: MLOperand) -> MLOperand:
        kept.append(builder.add(row, state))
        return builder.add(kept[-1], kept[max(0, number - 2)])

    assert run(skip)[0] == everything


def test_operators_that_no_state_needs_keep_their_numbers() -> None:
    def compute(builder: LabellingBuilder, number: int, row: MLOperand, state: MLOperand) -> MLOperand:
        builder.mul(row, row)
        return builder.add(row, state)

    # The split, and two for each step.
    assert run(compute) == ["0 1 2", "15 add", "17 add"]
