from __future__ import annotations

import pytest

from tests.webnn.tflite.cases import FAMILIES
from tests.webnn.tflite.makers import b, f, i, ints
from tests.webnn.tflite.models import Graph, Op, write
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
