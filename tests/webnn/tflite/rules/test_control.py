from __future__ import annotations

import numpy as np
import pytest

import webnn.tflite
from tests.webnn.tflite.cases import CASES, FAMILIES
from tests.webnn.tflite.makers import b, f, i, ints, q
from tests.webnn.tflite.models import Graph, Op, T, write
from tests.webnn.tflite.support import check, compute, refusals


@pytest.mark.parametrize("name", FAMILIES["control"])
def test_results(name: str) -> None:
    check(name)


def test_a_loop_that_depends_on_data() -> None:
    condition = Graph([i(), ints(3), b()], [Op("LESS", [0, 1], [2])], [0], [2], "less")
    step = Graph([i(), ints(1), i()], [Op("ADD", [0, 1], [2], ("AddOptions", {}))], [0], [2], "step")
    loop = Op("WHILE", [0], [1], ("WhileOptions", {"CondSubgraphIndex": 1, "BodySubgraphIndex": 2}))
    model = write(Graph([i(name="n"), i()], [loop], [0], [1]), condition, step)
    assert refusals(model) == [
        ("WHILE", "the condition of each step must be one number that is known at import, but it is computed from data")
    ]
    assert compute(model, {}, constants={"n": 1})["t1"].tolist() == 3


def test_a_subgraph_that_is_not_there() -> None:
    call = Op("CALL", [0], [1], ("CallOptions", {"Subgraph": 7}))
    assert refusals(write(Graph([f(2), f(2)], [call], [0], [1]))) == [("CALL", "subgraph must be one of 1 subgraphs, got 7")]


# Variables: inputs, and outputs with their next values.

HANDLE = ("VarHandleOptions", {"SharedName": "v"})
RESOURCE = T(type="RESOURCE")


def _counter(*, assign: bool) -> bytes:
    """Write a model that adds its input to a variable, which begins with ones."""
    steps = [
        Op("CALL_ONCE", [], [], ("CallOnceOptions", {"InitSubgraphIndex": 1})),
        Op("VAR_HANDLE", [], [1], HANDLE),
        Op("READ_VARIABLE", [1], [2]),
        Op("ADD", [0, 2], [3], ("AddOptions", {})),
    ]
    main = Graph(
        [f(2, name="x"), RESOURCE, f(2), f(2, name="y")], [*steps, *([Op("ASSIGN_VARIABLE", [1, 3], [])] if assign else [])], [0], [3]
    )
    first = Graph([RESOURCE, T(np.ones(2, np.float32))], [Op("VAR_HANDLE", [], [0], HANDLE), Op("ASSIGN_VARIABLE", [0, 1], [])], [], [])
    return write(main, first)


def test_a_variable_that_changes() -> None:
    model = _counter(assign=True)
    imported = webnn.tflite.load(model)
    assert [*imported.inputs] == ["x", "v"]
    assert imported.report.notes == ("the variable 'v' is an input, and its next value an output; it begins with 1.0 everywhere",)
    found = compute(model, {"x": np.array([1, 2]), "v": np.array([10, 20])})
    assert {name: each.tolist() for name, each in found.items()} == {"y": [11, 22], "v.next": [11, 22]}


def test_a_variable_that_does_not_change_is_known() -> None:
    model = _counter(assign=False)
    assert [*webnn.tflite.load(model).inputs] == ["x"]
    assert compute(model, {"x": np.array([1, 2])})["y"].tolist() == [2, 3]


def test_the_state_of_a_network() -> None:
    imported = webnn.tflite.load(CASES["lstm"])
    assert [*imported.inputs] == ["t0", "h", "cell"]
    assert [*imported.description.outputs][1:] == ["h.next", "cell.next"]


def test_single_steps_are_the_whole_sequence() -> None:
    x = np.random.default_rng(0).normal(size=(2, 5, 3)).astype(np.float32)
    whole = compute(CASES["lstm"], {"t0": x})
    state: dict[str, np.ndarray] = {}
    for step in range(5):
        found = compute(CASES["lstm step"], {"t0": x[:, step], **state})
        state = {"h": found["h.next"], "cell": found["cell.next"]}
    np.testing.assert_allclose(state["h"], whole["h.next"], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(state["cell"], whole["cell.next"], rtol=1e-5, atol=1e-6)


def test_a_variable_of_quantized_integers() -> None:
    """It keeps the integers, which the next run takes as they are."""
    steps = [Op("VAR_HANDLE", [], [1], HANDLE), Op("READ_VARIABLE", [1], [2]), Op("ADD", [0, 2], [3], ("AddOptions", {}), version=2)]
    graph = Graph([q(2), RESOURCE, q(2), q(2)], [*steps, Op("ASSIGN_VARIABLE", [1, 3], [])], [0], [3])
    imported = webnn.tflite.load(write(graph))
    known = imported.description.descriptors()
    assert imported.inputs["v"] == known[imported.description.outputs["v.next"]]
    assert imported.inputs["v"].dataType == "int8"


def test_a_handle_is_the_result_of_an_operator() -> None:
    model = write(Graph([i(), f(2)], [Op("READ_VARIABLE", [0], [1])], [0], [1]))
    assert refusals(model) == [("READ_VARIABLE", "the variable must be the result of VAR_HANDLE")]
