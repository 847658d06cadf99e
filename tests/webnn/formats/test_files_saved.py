"""Each graph that a format writes is read again: with the names of its inputs and outputs, in their order."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import webnn
import webnn.stablehlo
from tests.support import CURRENT, make_context
from tests.webnn.formats.examples import LABELS, capture
from tests.webnn.formats.recorded import recorded
from tests.webnn.hlo.test_reader import jaxlib
from webnn.formats import READERS, WRITERS
from webnn.hlo.export import export

EXAMPLES = (
    "activations_and_gru",
    "add_and_multiply",
    "buffers",
    "decode_loop",
    "fallback_chain",
    "gather_pad_triangular",
    "int8_graph",
    "several_outputs",
    "transformer_block",
)
#: The formats that are written and read. MLIR reads its own in a process.
SUFFIXES = sorted(READERS.keys() & WRITERS.keys())
QUICK = [suffix for suffix in SUFFIXES if suffix != ".mlir"]
STEP = 31


def check(description: webnn.GraphDescription, loaded: webnn.GraphDescription) -> None:
    assert [list(loaded.inputs), list(loaded.outputs)] == [list(description.inputs), list(description.outputs)]
    assert loaded.inputs == description.inputs


def save_and_load(description: webnn.GraphDescription, path: Path) -> bool:
    """Check that a file is read again; false if the format cannot say the graph."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", webnn.WebNNWarning)
        try:
            description.save(path)
        except webnn.FormatError:
            return False
    check(description, webnn.load(path))
    return True


def graphs(level: str, step: int) -> Iterator[webnn.GraphDescription]:
    for _, description in recorded(level, step):
        yield description


@pytest.mark.parametrize("suffix", QUICK)
@pytest.mark.parametrize("example", EXAMPLES)
def test_examples(example: str, suffix: str, tmp_path: Path) -> None:
    description, _ = capture(example)
    # In ONNX, no input and output have one name.
    shared = not description.inputs.keys().isdisjoint(description.outputs)
    assert save_and_load(description, tmp_path / f"graph{suffix}") is not (shared and suffix == ".onnx")


@pytest.mark.parametrize("suffix", QUICK)
@pytest.mark.parametrize("level", ["2024-06", "2025-03"])
@pytest.mark.parametrize("step", [STEP, pytest.param(1, marks=pytest.mark.slow)])
def test_recorded_graphs(step: int, level: str, suffix: str, tmp_path: Path) -> None:
    for description in graphs(level, step):
        assert save_and_load(description, tmp_path / f"graph{suffix}")


@pytest.mark.parametrize("level", ["2024-06", "2025-03"])
@pytest.mark.parametrize("step", [STEP, pytest.param(1, marks=pytest.mark.slow)])
def test_recorded_graphs_as_stablehlo(step: int, level: str) -> None:
    """Without MLIR between the export and the import."""
    for description in graphs(level, step):
        check(description, webnn.stablehlo.load(export(description)).description)


@jaxlib
@pytest.mark.processes
@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_as_mlir(example: str, tmp_path: Path) -> None:
    assert save_and_load(capture(example)[0], tmp_path / "graph.mlir")


@jaxlib
@pytest.mark.processes
def test_names_of_any_kind_in_mlir(tmp_path: Path) -> None:
    builder = webnn.MLGraphBuilder(make_context(CURRENT))
    names = [*LABELS, "463", "x:0", "w['c']", "result['y']", "['y']", "[0]", "result"]
    operands = [builder.input(f"{name} in", dataType="float32", shape=[size]) for size, name in enumerate(names, 1)]
    description = webnn.describe({name: builder.relu(operand) for name, operand in zip(names, operands, strict=True)})
    assert save_and_load(description, tmp_path / "graph.mlir")


def test_no_limit_of_folding_refuses_a_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    """An operator whose operands are known is computed at import, if that does not take too much memory; otherwise it stays one."""
    monkeypatch.setattr("webnn.importing.steps._MOST_BYTES", 0)
    builder = webnn.MLGraphBuilder(make_context(CURRENT))
    known = builder.constant({"dataType": "float32", "shape": [20, 20]}, np.linspace(-2, 2, 400, dtype=np.float32))
    x = builder.input("x", dataType="float32", shape=[20, 20])
    description = webnn.describe({"y": builder.matmul(x, builder.erf(builder.gelu(known)))})
    loaded = webnn.stablehlo.load(export(description)).description
    check(description, loaded)
    assert len(loaded.operators) > 1
