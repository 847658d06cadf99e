"""Tests of implementations of `subgraphs`, for `webnn wpt new`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from webnn.proposals.proposal import Case

__all__ = ["TESTS"]

_PAIR = {"dataType": "float32", "shape": [2]}


def _scaled(builder: Any) -> Any:
    """Make a subgraph with two inputs and two outputs."""
    x, scale = builder.input("x", _PAIR), builder.input("scale", _PAIR)
    product = builder.mul(x, scale)
    return builder.buildSubgraph(
        {"product": product, "positive": builder.relu(product)},
        {"name": "Scaled", "inputs": {"x": x, "scale": scale}, "config": {"factor": 2, "exact": True}},
    )


def _once(builder: Any) -> Mapping[str, Any]:
    subgraph = _scaled(builder)
    outputs = builder.subgraph(subgraph, {"x": builder.input("a", _PAIR), "scale": builder.constant(_PAIR, np.array([2, 3], np.float32))})
    return dict(outputs)


def _chained(builder: Any) -> Mapping[str, Any]:
    subgraph = _scaled(builder)
    scale = builder.constant(_PAIR, np.array([2, -3], np.float32))
    first = builder.subgraph(subgraph, {"x": builder.input("a", _PAIR), "scale": scale})
    return {"y": builder.subgraph(subgraph, {"x": first["product"], "scale": scale})["product"]}


def _incomplete(builder: Any) -> None:
    builder.subgraph(_scaled(builder), {"x": builder.input("a", _PAIR)})


def _misfit(builder: Any) -> None:
    given = builder.input("a", {"dataType": "float32", "shape": [3]})
    builder.subgraph(_scaled(builder), {"x": given, "scale": given})


def _open(builder: Any) -> None:
    builder.buildSubgraph({"y": builder.relu(builder.input("x", _PAIR))}, {"name": "Open", "inputs": {}})


TESTS = (
    Case("a call computes the operators of the subgraph", _once, {"a": np.array([1, -2], np.float32)}),
    Case("calls of one subgraph can follow each other", _chained, {"a": np.array([1, -2], np.float32)}),
    Case("every input of the subgraph needs an operand", _incomplete, error="TypeError"),
    Case("operands have the shapes of the inputs", _misfit, error="TypeError"),
    Case("a subgraph needs no input of the builder that is not its own", _open, error="TypeError"),
)
