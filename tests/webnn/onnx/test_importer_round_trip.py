"""Graphs that are exported as ONNX models and imported again compute the same bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import webnn
from tests.webnn.formats.examples import capture
from webnn.commands.feeds import build, compute, seeded_inputs

EXAMPLES = ["add_and_multiply", "gather_pad_triangular", "int8_graph", "several_outputs", "transformer_block"]


def results(description: webnn.GraphDescription) -> dict[str, np.ndarray]:
    context, graph = build(description)
    return compute(context, graph, seeded_inputs(description.inputs, 1))


@pytest.mark.parametrize("example", [*EXAMPLES, pytest.param("squeezenet", marks=pytest.mark.shared)])
def test_the_same_bits(example: str, tmp_path: Path) -> None:
    description, _ = capture(example)
    path = tmp_path / "graph.onnx"
    description.save(path)
    imported = webnn.load(path)
    assert imported.inputs == description.inputs
    expected = results(description)
    found = results(imported)
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)
