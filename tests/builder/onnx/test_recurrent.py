"""The values of recurrent networks, against the NumPy reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.support import Act, Arguments, Array, Case, check_cases, each_row, make_context, near, run
from webnn import MLGraphBuilder
from webnn.builder.graph import collect
from webnn.builder.onnx.translate import translate
from webnn.context.engine.session import CompiledGraph

STEPS, BATCH, INPUT, HIDDEN = 4, 3, 2, 5
ACTIVATIONS = ["elu", "gelu", "hardSigmoid", "hardSwish", "leakyRelu", "linear", "relu", "sigmoid", "softplus", "softsign", "tanh"]
HARD = Act("hardSigmoid", {"alpha": 0.3, "beta": 0.4})
LEAKY, ELU, LINEAR = Act("leakyRelu", {"alpha": 0.3}), Act("elu", {"alpha": 0.6}), Act("linear", {"alpha": 0.8, "beta": 0.1})
SIGMOID, TANH, GELU = Act("sigmoid"), Act("tanh"), Act("gelu")

ALL_GRU = ("bias", "recurrentBias", "initialHiddenState")
ALL_LSTM = (*ALL_GRU, "initialCellState", "peepholeWeight")
BIASES = ("bias", "recurrentBias")
CELL = (*BIASES, "peepholeWeight")

CASES: list[tuple[str, tuple[str, ...], dict[str, Any]]] = [
    # operation, optional operands, other options
    ("gru", (), {}),
    ("gru", (), {"resetAfter": False}),
    ("gru", ("bias",), {"layout": "rzn"}),
    ("gru", ("recurrentBias",), {"returnSequence": True}),
    ("gru", ("recurrentBias",), {"layout": "rzn", "resetAfter": False}),
    ("gru", ALL_GRU, {"direction": "backward", "returnSequence": True}),
    ("gru", ALL_GRU, {"direction": "both", "returnSequence": True, "layout": "rzn"}),
    ("gru", ALL_GRU, {"direction": "both", "activations": [HARD, LEAKY]}),
    ("gru", ALL_GRU, {"direction": "both", "activations": [Act("hardSigmoid"), ELU]}),
    ("gru", ALL_GRU, {"direction": "both", "returnSequence": True, "layout": "rzn", "activations": [HARD, GELU]}),
    ("gru", ALL_GRU, {"direction": "backward", "returnSequence": True, "resetAfter": False, "activations": [SIGMOID, GELU]}),
    ("gru", (), {"resetAfter": False, "layout": "rzn", "activations": [SIGMOID, Act("hardSwish")]}),
    ("gruCell", (), {}),
    ("gruCell", BIASES, {"layout": "rzn"}),
    ("gruCell", BIASES, {"layout": "rzn", "resetAfter": False}),
    ("gruCell", ("bias",), {"resetAfter": False, "activations": [HARD, LINEAR]}),
    ("gruCell", ("recurrentBias",), {"activations": [GELU, Act("softplus")]}),
    ("lstm", (), {}),
    ("lstm", ("bias",), {"layout": "ifgo", "returnSequence": True}),
    ("lstm", ("recurrentBias", "initialCellState"), {"direction": "backward", "returnSequence": True}),
    ("lstm", ("peepholeWeight", "initialHiddenState"), {"direction": "backward", "returnSequence": True}),
    ("lstm", ALL_LSTM, {"direction": "both", "layout": "ifgo", "returnSequence": True}),
    ("lstm", ALL_LSTM[:-1], {"direction": "both", "returnSequence": True, "activations": [HARD, ELU, LINEAR]}),
    ("lstm", ALL_LSTM[:-1], {"direction": "both", "layout": "ifgo", "activations": [LINEAR, Act("linear"), LEAKY]}),
    ("lstm", ALL_LSTM, {"direction": "both", "returnSequence": True, "activations": [HARD, GELU, LINEAR]}),
    ("lstm", (), {"activations": [SIGMOID, Act("hardSwish"), TANH]}),
    ("lstmCell", (), {}),
    ("lstmCell", CELL, {}),
    ("lstmCell", BIASES, {"layout": "ifgo"}),
    ("lstmCell", CELL, {"layout": "ifgo", "activations": [HARD, GELU, LINEAR]}),
    # Every activation in every place, alone and with kin.
    *[("gru", BIASES, {"activations": [Act(name), TANH]}) for name in ACTIVATIONS],
    *[("gru", BIASES, {"activations": [HARD, Act(name)]}) for name in ACTIVATIONS],
    *[("lstm", BIASES, {"activations": [Act(name), ELU, TANH]}) for name in ACTIVATIONS],
    *[("lstm", BIASES, {"activations": [SIGMOID, Act(name), LEAKY]}) for name in ACTIVATIONS],
    *[("lstm", BIASES, {"activations": [HARD, TANH, Act(name)]}) for name in ACTIVATIONS],
]


def operands(name: str, members: tuple[str, ...], options: dict[str, Any], steps: int = STEPS) -> tuple[list[Any], dict[str, Any]]:
    """Make the positional arguments and the options of a call."""
    rng = np.random.default_rng(0)
    gates = 3 if name.startswith("gru") else 4
    isCell = name.endswith("Cell")
    directions = [] if isCell else [2 if options.get("direction") == "both" else 1]
    shapes: dict[str, list[int]] = {
        "bias": [*directions, gates * HIDDEN],
        "recurrentBias": [*directions, gates * HIDDEN],
        "peepholeWeight": [*directions, 3 * HIDDEN],
        "initialHiddenState": [*directions, BATCH, HIDDEN],
        "initialCellState": [*directions, BATCH, HIDDEN],
    }

    def f32(*shape: int) -> Array:
        return rng.uniform(-0.7, 0.7, shape).astype(np.float32)

    weights = [f32(*directions, gates * HIDDEN, INPUT), f32(*directions, gates * HIDDEN, HIDDEN)]
    if isCell:
        arguments = [f32(BATCH, INPUT), *weights, *(f32(BATCH, HIDDEN) for _ in range(gates - 2)), HIDDEN]
    else:
        arguments = [f32(steps, BATCH, INPUT), *weights, steps, HIDDEN]
    return arguments, options | {member: f32(*shapes[member]) for member in members}


def check(cases: list[Case], rtol: float = 2e-6, constants: Sequence[bool] = (False,)) -> None:
    """Run operations and compare each output, in type, shape and values."""
    check_cases(cases, near(rtol, rtol), constants=constants)


def make(name: str, members: tuple[str, ...], options: dict[str, Any], steps: int = STEPS) -> Case:
    arguments, options = operands(name, members, options, steps)
    return Case(name, *arguments, **options)


@pytest.mark.parametrize("name", sorted({name for name, *_ in CASES}))
def test_values(name: str) -> None:
    check([make(*case) for case in CASES if case[0] == name], constants=[False, True])


@pytest.mark.parametrize(
    ("name", "members", "options"),
    [
        ("gru", ALL_GRU, {"direction": "both", "returnSequence": True}),
        ("gru", ALL_GRU, {"resetAfter": False, "activations": [SIGMOID, GELU]}),
        ("gruCell", BIASES, {}),
        ("lstm", ALL_LSTM, {"direction": "both", "returnSequence": True}),
        ("lstm", ALL_LSTM[:-1], {}),
        ("lstmCell", CELL, {}),
    ],
)
def test_float16_is_rounded_once(name: str, members: tuple[str, ...], options: dict[str, Any]) -> None:
    # One unit in the last place: float32 may fall on the other side of a tie.
    check([make(name, members, options).astype(np.float16)], rtol=2**-10)


@pytest.mark.parametrize("steps", [1, 500])
@pytest.mark.parametrize(
    ("name", "members", "options"),
    [
        ("gru", ALL_GRU, {"direction": "both", "returnSequence": True}),
        ("gru", ALL_GRU, {"direction": "both", "returnSequence": True, "activations": [SIGMOID, GELU]}),
        ("lstm", ALL_LSTM[:-1], {"direction": "both", "returnSequence": True}),
        ("lstm", ALL_LSTM, {"direction": "both", "returnSequence": True}),
    ],
)
def test_number_of_steps(name: str, members: tuple[str, ...], options: dict[str, Any], steps: int) -> None:
    check([make(name, members, options, steps)])


@pytest.mark.parametrize("name", ["gru", "gruCell", "lstm", "lstmCell"])
def test_softplus_of_large_numbers(name: str) -> None:
    # The engine's own Softplus is infinite there.
    softplus = [Act("softplus"), *[Act("softsign")] * (1 if name.startswith("gru") else 2)]
    arguments, options = operands(name, (), {"activations": softplus}, steps=1)
    arguments[0] *= 1000
    check([Case(name, *arguments, **options)])


@pytest.mark.parametrize(("name", "options"), [("gruCell", {}), ("lstmCell", {}), ("gru", {"activations": [GELU, TANH]})])
def test_nan_stays_in_its_row(name: str, options: dict[str, Any]) -> None:
    arguments, options = operands(name, BIASES, options)
    arguments[0][..., 1, 0] = np.nan
    for output in run(name, *arguments, **options):
        assert np.isnan(output).any(axis=-1).ravel().tolist() == np.isnan(output).all(axis=-1).ravel().tolist() == [False, True, False]
    check([Case(name, *arguments, **options)])


def test_sizes_of_one() -> None:
    one = np.ones([1, 1, 1], "f")
    check([Case(name, one, np.ones([1, gates, 1], "f"), np.ones([1, gates, 1], "f"), 1, 1) for name, gates in (("gru", 3), ("lstm", 4))])


def test_labels_reach_the_nodes_of_the_step() -> None:
    builder = MLGraphBuilder(make_context())
    arguments, options = operands("gruCell", (), {})
    converter = Arguments(builder)
    output = builder.gruCell(*(converter.convert(argument) for argument in arguments), **options, label="memory")
    model = translate(collect({"output": output}))
    assert model.find_operator(f"Non-zero status code in node {model.proto.graph.node[0].name!r}") == ("gruCell", "memory")


def has_peephole(gate: str) -> dict[str, Array]:
    """Return peephole weights that are 0 except for one gate."""
    return {"peepholeWeight": np.repeat(np.array([["i", "o", "f"]]) == gate, HIDDEN, axis=1).astype(np.float32)}


#: Activations that the engine's operators compute well.
GRU_KERNEL, LSTM_KERNEL = {"activations": [HARD, TANH]}, {"activations": [HARD, TANH, TANH]}

NODES: list[tuple[str, dict[str, Any], bool, str]] = [
    # operation, options, constants, the operator that runs the steps
    ("gru", GRU_KERNEL, False, "GRU"),
    ("gru", {"activations": [HARD, LINEAR]}, False, "GRU"),
    ("gru", {"activations": [HARD, Act("softplus")]}, False, "Scan"),
    # The engine's sigmoid is inexact.
    ("gru", {}, False, "Scan"),
    ("gru", {"activations": [TANH, SIGMOID]}, False, "Scan"),
    ("lstm", {}, False, "Scan"),
    ("lstm", LSTM_KERNEL, False, "LSTM"),
    ("lstm", {"activations": [HARD, GELU, TANH]}, False, "Scan"),
    # The engine shows the output gate's peephole another cell state than the draft.
    ("lstm", LSTM_KERNEL | has_peephole("i"), True, "LSTM"),
    ("lstm", LSTM_KERNEL | has_peephole("f"), True, "LSTM"),
    ("lstm", LSTM_KERNEL | has_peephole("o"), True, "Scan"),
    ("lstm", LSTM_KERNEL | has_peephole("i"), False, "Scan"),
]


@each_row(("name", "options", "constants", "operator"), NODES)
def test_nodes(name: str, options: dict[str, Any], operator: str, *, constants: bool) -> None:
    builder = MLGraphBuilder(make_context())
    converter = Arguments(builder, constants=constants)
    arguments, options = operands(name, (), options)
    check([Case(name, *arguments, **options)], constants=[constants])
    operation = getattr(builder, name)
    outputs = operation(*map(converter.convert, arguments), {key: converter.convert(value) for key, value in options.items()})
    nodes = translate(collect({"output": outputs[0]})).proto.graph.node
    assert {"GRU", "LSTM", "Scan"} & {node.op_type for node in nodes} == {operator}


#: Far below zero, a gate lets a small value through, but not nothing. The engine's own sigmoid is off by 4 % at -15, and 0 at -20.
CLOSED = np.array([-80, -40, -20, -18, -15, -10, -5, -1, 0, 5, 20], np.float32)


@each_row("steps", [1, 3])
@each_row("direction", ["forward", "backward", "both"])
@pytest.mark.parametrize("name", ["gru", "lstm"])
def test_gates_are_exact_far_from_zero(name: str, direction: str, steps: int) -> None:
    directions, size = 2 if direction == "both" else 1, CLOSED.size
    gates = 3 if name == "gru" else 4
    # All weights are 0: the biases alone make the gates. The new state is 0, so that the states shrink by one gate in each step.
    bias = np.concatenate([CLOSED, np.zeros((gates - 1) * size)] * directions).reshape(directions, -1).astype(np.float32)
    state = {"gru": "initialHiddenState", "lstm": "initialCellState"}[name]
    before = np.full([directions, 1, size], 1e6, np.float32)
    options = {"bias": bias, state: before, "direction": direction}
    if name == "lstm":
        # The first gate is the input gate: the forget gate, which comes third, takes its bias.
        options["bias"] = np.roll(bias.reshape(directions, gates, size), 2, axis=1).reshape(directions, -1)
    weights = [np.zeros([directions, gates * size, inner], np.float32) for inner in (1, size)]
    output = run(name, np.zeros([steps, 1, 1], np.float32), *weights, steps, size, **options)[-1]
    wanted = 1e6 / (1 + np.exp(-CLOSED.astype(np.float64))) ** steps
    normal = wanted > np.finfo(np.float32).smallest_normal
    np.testing.assert_allclose(output[..., normal], np.broadcast_to(wanted, output.shape)[..., normal], rtol=4e-6)


@pytest.mark.parametrize(("z", "wanted"), [(-20, 2.0612e-9), (-15, 3.0590e-7)])
def test_cell_state_of_a_closed_gate(z: float, wanted: float) -> None:
    bias = np.array([[z, 10, -10, 10]], np.float32)
    weight = np.zeros([1, 4, 1], np.float32)
    cell = run("lstm", np.zeros([1, 1, 1], np.float32), weight, weight, 1, 1, bias=bias)[1]
    np.testing.assert_allclose(cell.item(), wanted, rtol=1e-4)


@pytest.mark.parametrize(("name", "members"), [("gru", ALL_GRU), ("lstm", ALL_LSTM)])
def test_parameters_that_are_constants_are_not_taken_apart_by_nodes(name: str, members: tuple[str, ...]) -> None:
    layout = "rzn" if name == "gru" else "ifgo"
    arguments, options = operands(name, members, {"direction": "both", "layout": layout})
    found = []
    for isKnown in (True, False):
        context = make_context("2026-06")
        builder = MLGraphBuilder(context)

        def place(value: Any, builder: MLGraphBuilder = builder, isKnown: bool = isKnown) -> Any:
            if not isinstance(value, np.ndarray):
                return value
            operand = builder.constant({"dataType": "float32", "shape": value.shape}, value)
            # A result is not known at the translation.
            return operand if isKnown else builder.identity(operand)

        given = {key: place(value) for key, value in options.items()}
        input = builder.input("x", {"dataType": "float32", "shape": arguments[0].shape})
        outputs = getattr(builder, name)(input, *map(place, arguments[1:]), **given)
        model = translate(collect({str(each): value for each, value in enumerate(outputs)}))
        graph = CompiledGraph(model, context._state.selection)
        values = graph._session.run(None, {graph.inputs["x"].value: arguments[0]})
        found.append(({node.op_type for node in model.proto.graph.node}, [value.tobytes() for value in values]))
    (known, values), (made, same) = found
    assert "Gather" in made - known
    assert values == same
