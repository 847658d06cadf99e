"""Two graphs beside each other."""

from __future__ import annotations

import json

import numpy as np

import webnn
from tests.webnn.formats.networks import builder, encoder
from webnn.viewer import describe_two


def network(axis: int, weight: float, extra: bool = False) -> webnn.GraphDescription:
    b = builder()
    x = b.input("x", dataType="float32", shape=[2, 2])
    x = b.matmul(x, b.constant({"dataType": "float32", "shape": [2, 2]}, np.full((2, 2), weight, np.float32)), label="product")
    x = b.relu(x) if extra else x
    return webnn.describe({"y": b.softmax(x, axis)})


def test_what_differs() -> None:
    document = describe_two(network(0, 1), network(1, 2, extra=True), titles=("before", "after"))
    assert document["title"] == "before and after"
    first, second = document["graphs"]
    names = [each["name"] for each in first["colourings"][0]["classes"]]
    found = [[names[place] for place in graph["colourings"][0]["of"] if place >= 0] for graph in (first, second)]
    assert found == [["other weights", "removed"], ["other weights", "added", "added"]]
    # Inputs come before operators.
    assert document["pairs"] == [[1, 1]]
    kinds = {each["kind"]: each["nodes"] for each in document["differences"]}
    assert kinds["other weights"] == [1, 1]
    assert kinds["removed"] == [2, None]
    assert document["count"] == len(document["differences"])
    json.dumps(document, allow_nan=False)


def test_equal_graphs() -> None:
    document = describe_two(encoder(2), encoder(2))
    assert (document["count"], document["differences"]) == (0, [])
    assert len(document["pairs"]) == len(encoder(2).operators)
    assert document["graphs"][0]["colourings"][0]["name"] == "difference"
