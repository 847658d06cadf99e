"""Recurrent networks, compared with ONNX Runtime."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, helper

import webnn.onnx
from tests.webnn.onnx.contrib import floats, load
from tests.webnn.onnx.models import check, compute, make, operations, run_onnx

Array = np.ndarray[Any, np.dtype[Any]]
STEPS, BATCH, INPUTS, HIDDEN = 5, 2, 3, 4
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
OUTPUTS = {"LSTM": ["y", "h", "c"], "GRU": ["y", "h"], "RNN": ["y", "h"]}


def build(operator: str, given: str = "", outputs: str = "yhc", **attributes: Any) -> tuple[ModelProto, Mapping[str, Array]]:
    """Make a network and its inputs.

    Args:
        operator: The operator.
        given: The optional inputs: B bias, L lengths, H and C initial states, P peepholes.
        outputs: The outputs.
        attributes: The attributes other than hidden_size.
    """
    random = np.random.default_rng(len(given))
    directions = 2 if attributes.get("direction") == "bidirectional" else 1
    width = GATES[operator] * HIDDEN
    batched = attributes.get("layout") == 1
    state = [BATCH, directions, HIDDEN] if batched else [directions, BATCH, HIDDEN]
    shapes = {
        "X": [BATCH, STEPS, INPUTS] if batched else [STEPS, BATCH, INPUTS],
        "W": [directions, width, INPUTS],
        "R": [directions, width, HIDDEN],
        "B": [directions, 2 * width],
        "L": [BATCH],
        "H": state,
        "C": state,
        "P": [directions, 3 * HIDDEN],
    }
    feeds = {name: random.uniform(-1, 1, shapes[name]).astype(np.float32) for name in f"XWR{given}"}
    if "L" in given:
        feeds["L"] = np.full(BATCH, STEPS, np.int32)
    order = "XWRBLHCP" if operator == "LSTM" else "XWRBLH"
    names = [name if name in feeds else "" for name in order]
    wanted = [name if name in outputs else "" for name in OUTPUTS[operator]]
    node = helper.make_node(operator, names, wanted, hidden_size=HIDDEN, **attributes)
    return make(node, feeds, 14), feeds


BOTH = {"direction": "bidirectional"}
#: The operator, the optional inputs, the attributes.
NETWORKS: dict[str, tuple[str, str, dict[str, Any]]] = {
    **{f"{operator} plain": (operator, "", {}) for operator in GATES},
    **{f"{operator} biases": (operator, "B", {"direction": "forward"}) for operator in GATES},
    **{f"{operator} backward": (operator, "BLH", {"direction": "reverse"}) for operator in GATES},
    **{f"{operator} both": (operator, "BH", BOTH) for operator in GATES},
    "LSTM states": ("LSTM", "BLHC", BOTH),
    "LSTM peepholes": ("LSTM", "BHCP", BOTH),
    "LSTM peepholes only": ("LSTM", "P", {"direction": "reverse"}),
    "LSTM activations": ("LSTM", "B", {"activations": ["Sigmoid", "Relu", "Tanh"]}),
    "LSTM activations of both": ("LSTM", "BH", {**BOTH, "activations": ["Sigmoid", "Relu", "Tanh", "Sigmoid", "Tanh", "Tanh"]}),
    "LSTM other activations": (
        "LSTM",
        "B",
        {"activations": ["HardSigmoid", "ScaledTanh", "Softsign"], "activation_alpha": [0.3, 0.9], "activation_beta": [0.4, 1.1]},
    ),
    "GRU reset after": ("GRU", "BH", {**BOTH, "linear_before_reset": 1}),
    "GRU activations": ("GRU", "B", {"activations": ["Sigmoid", "Relu"]}),
    "GRU other activations": ("GRU", "BH", {"activations": ["HardSigmoid", "Softsign"], "direction": "reverse"}),
    "GRU other activations, reset after": (
        "GRU",
        "B",
        {"activations": ["HardSigmoid", "Elu"], "linear_before_reset": 1, "activation_alpha": [0.3, 0.7]},
    ),
    **{
        f"RNN {name}": ("RNN", "BH", {"activations": [name], "activation_alpha": [0.7], "activation_beta": [0.2]})
        for name in (
            "Relu",
            "Affine",
            "Elu",
            "HardSigmoid",
            "LeakyRelu",
            "ScaledTanh",
            "Sigmoid",
            "Softplus",
            "Softsign",
            "ThresholdedRelu",
        )
    },
    "RNN activations of both": (
        "RNN",
        "B",
        {**BOTH, "activations": ["LeakyRelu", "Affine"], "activation_alpha": [0.3, 0.5], "activation_beta": [0.1]},
    ),
}


@pytest.mark.parametrize("constants", ["", "WRBLP", "XWRBLHCP"])
@pytest.mark.parametrize("case", NETWORKS)
def test_networks(case: str, constants: str) -> None:
    operator, given, attributes = NETWORKS[case]
    model, feeds = build(operator, given, **attributes)
    check(model, feeds, 2e-6, constants=[name for name in (constants or "L") if name in feeds])


@pytest.mark.parametrize("operator", GATES)
def test_the_batch_in_front(operator: str) -> None:
    """ONNX Runtime computes the other layout only."""
    given = "BHCP" if operator == "LSTM" else "BH"
    for each in (given, given.replace("P", "")):
        model, feeds = build(operator, each, layout=1, **BOTH)
        actual = compute(model, feeds)
        other, _ = build(operator, each, **BOTH)
        turned = {name: array.transpose(1, 0, 2) if name in "XHC" else array for name, array in feeds.items()}
        for name, wanted in run_onnx(other, turned).items():
            np.testing.assert_allclose(actual[name], wanted.transpose([2, 0, 1, 3] if name == "y" else [1, 0, 2]), atol=2e-6)


@pytest.mark.parametrize("outputs", ["y", "h", "c", "yc", "hc"])
@pytest.mark.parametrize("given", ["B", "BP"])
def test_outputs_that_are_not_used(outputs: str, given: str) -> None:
    model, feeds = build("LSTM", given, outputs)
    assert check(model, feeds, 2e-6).keys() == {*outputs}


def test_which_networks_are_one_operator() -> None:
    for case, (operator, given, attributes) in NETWORKS.items():
        model, feeds = build(operator, given, **attributes)
        found = {*operations(model, **{name: array for name, array in feeds.items() if name not in "XHC"})}
        native = "P" not in given and case not in ("LSTM activations of both",) and "other" not in case and operator != "RNN"
        assert found <= {operator.lower(), "identity"} if native else operator.lower() not in found, case


REFUSED: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "clip": ("GRU", "", {"clip": 1.0}, "clip is not supported"),
    "input_forget": ("LSTM", "", {"input_forget": 1}, "input_forget must be 0"),
    "direction": ("RNN", "", {"direction": "up"}, "must be one of forward, reverse, bidirectional, got 'up'"),
    "activation": ("RNN", "", {"activations": ["Sine"]}, "activations must be some of .*, got 'sine'"),
    "number of activations": ("GRU", "", {"activations": ["Relu"]}, "activations must be 2 names, got 1"),
    "alpha": ("RNN", "", {"activations": ["Affine"], "activation_alpha": [1.0]}, "affine must have activation_alpha and activation_beta"),
    "unknown lengths": ("LSTM", "BL", {}, "sequence_lens must be known at import, got the value 'L'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str) -> None:
    operator, given, attributes, reason = REFUSED[case]
    model, _ = build(operator, given, **attributes)
    with pytest.raises(webnn.onnx.RefusedModelError, match=reason):
        webnn.onnx.load(model)


def test_shorter_sequences_are_refused() -> None:
    model, _ = build("GRU", "BL")
    with pytest.raises(webnn.onnx.RefusedModelError, match=r"sequence_lens must all be the number of steps, 5, got \[5, 4\]"):
        webnn.onnx.load(model, constants={"L": np.array([5, 4], np.int32)})


@pytest.mark.parametrize(
    ("name", "shape", "reason"),
    [
        ("X", [5, 6], "the sequence and the recurrent weights must have 3 dimensions"),
        ("W", [1, 16, 2], r"the weights must have the shape \[1, 16, 3\], got \[1, 16, 2\]"),
        ("R", [1, 12, 4], r"the recurrent weights must have the shape \[1, 16, 4\], got \[1, 12, 4\]"),
        ("R", [1, 16, 5], "hidden_size must be that of the recurrent weights, 5, got 4"),
        ("B", [1, 16], r"the bias must have the shape \[1, 32\], got \[1, 16\]"),
        ("H", [2, 2, 4], r"the initial state must have the shape \[1, 2, 4\], got \[2, 2, 4\]"),
        ("P", [12], r"the peepholes must have the shape \[1, 12\], got \[12\]"),
    ],
)
def test_shapes(name: str, shape: list[int], reason: str) -> None:
    model, feeds = build("LSTM", "BHCP")
    with pytest.raises(webnn.onnx.RefusedModelError, match=reason):
        webnn.onnx.load(make(model.graph.node[0], {**feeds, name: np.zeros(shape, np.float32)}, 14))


@pytest.mark.parametrize("start", ["", "zeros", "given"])
def test_products_of_a_quantized_network(start: str) -> None:
    """A state that is 0 is not multiplied; weights that are known stay integers."""
    integers = np.ones((2, HIDDEN, 4 * HIDDEN), np.int8)
    scale, zero = np.full((2, 4 * HIDDEN), 0.01, np.float32), np.zeros((2, 4 * HIDDEN), np.int8)
    state = {"": None, "zeros": np.zeros((2, BATCH, HIDDEN), np.float32), "given": floats(2, BATCH, HIDDEN)}[start]
    inputs = {"x": floats(STEPS, BATCH, HIDDEN), "w": integers, "r": integers, "b": None, "l": None, "h": state, "c": None, "p": None}
    inputs |= {"s": scale, "z": zero, "t": scale, "u": zero}
    found = load("DynamicQuantizeLSTM", inputs, {"hidden_size": HIDDEN, "direction": "bidirectional"}, ["y"], "wrstuzh")
    assert found.count("matmul") == 2 * (1 + STEPS - (start != "given"))
    assert "transpose" not in found
