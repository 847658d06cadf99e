"""Python modules: what they look like, that they describe the same graphs, and that they run no label."""

from __future__ import annotations

import ast
import importlib.util
import os
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

import webnn
from tests.support import make_context
from tests.webnn.formats.examples import LABELS, capture, hostile
from tests.webnn.formats.numbers import ELEMENTS, constant_of, numbers_of
from tests.webnn.formats.recorded import recorded


def rebuild(description: webnn.GraphDescription, folder: Path) -> webnn.GraphDescription:
    """Export a graph, import the module, build it, and describe what it builds."""
    path = folder / "model.py"
    description.save(path)
    spec = importlib.util.spec_from_file_location("model", path)
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert {name: webnn.OperandDescriptor(*map(_plain, each.values())) for name, each in module.INPUTS.items()} == description.inputs
    known = description.descriptors()
    outputs = {name: known[value] for name, value in description.outputs.items()}
    assert {name: webnn.OperandDescriptor(*map(_plain, each.values())) for name, each in module.OUTPUTS.items()} == outputs
    weights = load_file(module.WEIGHTS) if hasattr(module, "WEIGHTS") else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = module.build(webnn.ML(revision=module.DRAFT).createContextSync(), weights)
    found: webnn.GraphDescription = graph.description
    return replace(found, name=description.name)


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


@pytest.mark.parametrize("level", ["2024-06", "2025-03"])
def test_some_recorded_graphs(level: str, tmp_path: Path) -> None:
    for name, description in recorded(level, 67):
        assert rebuild(description, tmp_path) == description, name


@pytest.mark.slow
@pytest.mark.parametrize(("level", "count"), [("2024-06", 958), ("2025-03", 1715)])
def test_recorded_graphs(level: str, count: int, tmp_path: Path) -> None:
    graphs = list(recorded(level))
    assert len(graphs) == count
    for name, description in graphs:
        assert rebuild(description, tmp_path) == description, name


@pytest.mark.parametrize("example", ["transformer_block", "int8_graph", "activations_and_gru", "gather_pad_triangular"])
def test_examples(example: str, tmp_path: Path) -> None:
    description, _ = capture(example)
    assert rebuild(description, tmp_path) == description


@pytest.mark.parametrize("draft", ["2024-06", "2026-06+browsers"])
def test_numbers(draft: str, tmp_path: Path) -> None:
    description = numbers_of(draft)
    assert rebuild(description, tmp_path) == description


@pytest.mark.parametrize(("dataType", "elements", "_", "python"), ELEMENTS)
def test_constants(dataType: Any, elements: Any, _: str, python: str, tmp_path: Path) -> None:
    constant_of(dataType, elements).save(tmp_path / "model.py")
    assert f"= builder.constant({python})\n" in (tmp_path / "model.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("label", LABELS)
def test_labels_of_any_kind(label: str, tmp_path: Path) -> None:
    description = hostile(label)
    environment = dict(os.environ)
    assert rebuild(description, tmp_path) == description
    assert dict(os.environ) == environment
    harmless = "a"
    hostile(harmless).save(tmp_path / "harmless.py")
    trees = [ast.parse((tmp_path / name).read_bytes()) for name in ("model.py", "harmless.py")]
    # The same program but for names and texts: what a label says is nowhere code.
    assert [type(node) for node in ast.walk(trees[0])] == [type(node) for node in ast.walk(trees[1])]
    assert label in {node.value for node in ast.walk(trees[0]) if isinstance(node, ast.Constant)}


def test_what_it_looks_like(tmp_path: Path) -> None:
    builder = webnn.MLGraphBuilder(make_context("2024-06"))
    x = builder.input("x", dataType="float32", dimensions=[1, 2])
    weights = builder.constant({"dataType": "float32", "dimensions": [9, 2]}, np.ones((9, 2), np.float32))
    again = builder.constant({"dataType": "float32", "dimensions": [9, 3]}, np.ones((9, 3), np.float32))
    state = builder.constant({"dataType": "float32", "dimensions": [1, 3]}, np.zeros((1, 3), np.float32))
    y = builder.gruCell(x, weights, again, state, 3, activations=[builder.hardSigmoid(alpha=0.5), builder.tanh()], label="lambda")
    webnn.describe({"y": y}, name="cell").save(tmp_path / "model.py")
    text = (tmp_path / "model.py").read_text(encoding="utf-8")
    assert text.startswith(
        f'"""A graph of the Web Neural Network API, draft 2024-06. Written by webnn {webnn.__version__}."""\n\n'
        "from pathlib import Path\n\nimport numpy as np\nfrom safetensors.numpy import load_file\n\nimport webnn\n\n"
        'NAME = "cell"\nDRAFT = "2024-06"\nINPUTS = {\n    "x": {"dataType": "float32", "dimensions": [1, 2]},\n}\n'
    )
    assert (
        "    y = builder.gruCell(\n"
        "        x, lambda_weight, lambda_recurrentWeight, lambda_hiddenState, 3,\n"
        '        activations=[builder.hardSigmoid(alpha=0.5), builder.tanh()], label="lambda",\n'
        "    )\n"
        '    return builder.buildSync({"y": y})\n'
    ) in text


@pytest.mark.processes
def test_it_prints_what_it_is(tmp_path: Path) -> None:
    capture("transformer_block")[0].save(tmp_path / "block.py")
    done = subprocess.run([sys.executable, str(tmp_path / "block.py")], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert "inputs   tokens  int64 8" in done.stdout
    assert "inputs: {'tokens': {'dataType': 'int64', 'shape': [8]}}\n" in done.stdout
    assert done.stdout.endswith("outputs: {'output': {'dataType': 'float32', 'shape': [8, 32]}}\n")
