"""The answers at the top of the page about a graph."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.webnn.inspect.graphs import build, float_input
from webnn import MLGraphBuilder, MLOperand
from webnn.context.inspections import GraphProfile, OperatorTime
from webnn.context.placement import Placement
from webnn.context.placement.placements import OperatorPlacement
from webnn.display.table import Cell, Table
from webnn.inspect.answers import answer, find_shades, link_rows


def profile(*times: float, nodes: int = 1) -> GraphProfile:
    operators = [
        OperatorTime(index=index, operation="relu", label=f"<{index}>", seconds=each, nodes=nodes) for index, each in enumerate(times, 1)
    ]
    return GraphProfile(operators=tuple(operators), runs=1, plain=0.25, profiled=0.5, engine=0.0, outside=0.0, building=0.1)


def logarithm(builder: MLGraphBuilder) -> dict[str, MLOperand]:
    x = float_input(builder, "x", 4)
    return {"y": builder.exp(builder.log(builder.neg(x), label="bad"))}


def answers(table: Table) -> list[list[str]]:
    return [[str(cell) for cell in row] for row in table.rows]


def test_the_slowest_operators_come_first() -> None:
    graph = build(logarithm)
    found = answers(answer(graph.description, profile=profile(0.1, 0.4, 0.0, 0.2, 0.3, 0.05, 0.01)))
    assert [row[1] for row in found] == ["2", "5", "4", "1", "6"]
    assert found[0][:4] == ["slowest", "2", "relu", "<2>"]
    assert found[0][4] == "400 ms, 38% of the operators"
    # Only its first row names the question.
    assert {row[0] for row in found[1:]} == {""}


def test_what_did_not_run_has_no_time() -> None:
    assert not answer(build(logarithm).description, profile=profile(0.0, 0.0, nodes=0)).rows


def test_nan_and_accuracy() -> None:
    graph = build(logarithm)
    inputs = {"x": np.ones(4, np.float32)}
    found = answers(answer(graph.description, nan=graph.firstNaN(inputs), accuracy=graph.accuracy({"x": np.full(4, -2.5, np.float32)})))
    by_question = {row[0]: row for row in found}
    bad = next(str(each.index) for each in graph.description.operators if each.label == "bad")
    assert by_question["first NaN"][1:] == [bad, "log", "bad", "4 of 4 elements"]
    assert "ULP" in by_question["least accurate"][4]


def test_what_left_the_device() -> None:
    strays = [OperatorPlacement(index=index, operation="relu", label="", device="cpu", reason="no kernel") for index in range(1, 9)]
    placement = Placement(requested="gpu", device="cpu", operators=tuple(strays), partitions=(), transfers=())
    table = answer(build(logarithm).description, placement=placement)
    assert answers(table)[0] == ["left the device", "1", "relu", "", "runs on the cpu: no kernel"]
    assert answers(table)[-1] == ["", "", "", "", "and 3 more"]
    assert "0 bytes cross between devices in each run" in table.facts[0]


def test_the_cost() -> None:
    (fact,) = answer(build(logarithm).description, profile=profile(0.1)).facts
    assert fact == "one run takes 250 ms; 0 parameters; 0 multiply-adds"


def test_links() -> None:
    table = Table(title="", columns=("#", "name"), rows=[[Cell("3", 3), "x"], [Cell("", 0), "y"], ["4", "z"]])
    cells: list[Any] = [row[0] for row in link_rows(table, "operator-1-").rows]
    assert cells[0].link == "operator-1-3"
    # An input has no number, and a text is not one.
    assert (cells[1].link, cells[2]) == ("", "4")
    other = Table(title="", columns=("name",), rows=[["x"]])
    assert link_rows(other, "operator-1-") is other


@pytest.mark.parametrize(
    ("times", "shades"),
    [([1.0, 0.1, 0.01], [1, 2 / 3, 1 / 3]), ([1.0, 0.001, 1e-9], [1, 0, 0]), ([0.0, 0.0], [0, 0]), ([5.0], [1])],
)
def test_heat_is_logarithmic(times: list[float], shades: list[float]) -> None:
    found = find_shades(profile(*times))
    assert [*found] == [*range(1, len(times) + 1)]
    assert all(math.isclose(one, other, abs_tol=1e-12) for one, other in zip(found.values(), shades, strict=True))
    assert all(0 <= each <= 1 for each in found.values())
