"""How often a profile places operators as a provider does."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import webnn
from tools.evidence.provider_profiles import Agreement, random_graphs, recorded
from webnn.context.placement.assign import simulate
from webnn.context.profiles import Profile, load_profile

ORT = load_profile("ort")


def native(*names: str) -> Profile:
    return replace(ORT, native={name: {} for name in names})


def graph() -> webnn.GraphDescription:
    builder = webnn.MLGraphBuilder(webnn.ML(revision="2026-06").createContextSync())
    x = builder.input("x", dataType="float32", shape=[2])
    known = builder.abs(builder.constant({"dataType": "float32", "shape": [2]}, bytes(8)))
    return webnn.describe({"y": builder.neg(builder.add(builder.relu(x), known))})


def test_operators_that_run_elsewhere_are_counted() -> None:
    found = Agreement()
    placed = simulate(graph(), native("relu", "neg"), "gpu")
    found.add(placed, simulate(graph(), native("relu", "add"), "gpu"))
    # The operator of a constant has nothing left to run.
    assert (found.graphs, found.operators, found.stay) == (1, 3, 2)
    assert found.wrong == Counter({("neg", "stays"): 1, ("add", f"leaves: {placed.strays[0].reason}"): 1})
    found.add(placed, placed)
    assert (found.graphs, found.operators, found.wrong.total()) == (2, 6, 2)


def test_the_graphs_are_there() -> None:
    assert len(list(random_graphs(3))) == 3
    assert all(each.operators for each in recorded())
