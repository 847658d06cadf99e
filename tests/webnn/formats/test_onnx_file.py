"""ONNX files: names, metadata, external data, and the numbers of a plain session."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import webnn
from tests.support import Array, make_context
from tests.webnn.formats.examples import LABELS, capture
from tests.webnn.formats.recorded import recorded
from tools.evidence.browser.emulator import values_for
from webnn.builder.onnx_names import SESSION_ENTRIES
from webnn.formats.onnx_file import INLINE_BYTES


def save(description: webnn.GraphDescription, folder: Path) -> tuple[Path, Any]:
    """Save a graph, check the file, and return it with what it holds."""
    path = folder / "graph.onnx"
    description.save(path)
    onnx.checker.check_model(str(path), full_check=True)
    return path, onnx.load(str(path), load_external_data=False)


def run(path: Path, inputs: Mapping[str, Array], entries: Mapping[str, str] | None = None) -> dict[str, Array]:
    """Run a file in a session of its own: a plain one, or one with entries of its configuration."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    for name, value in (entries or {}).items():
        options.add_session_config_entry(name, value)
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, dict(inputs)), strict=True))


def emulate(graph: webnn.MLGraph, inputs: Mapping[str, Array]) -> dict[str, Array]:
    implementation = graph._implementation
    feeds = {slot.value: inputs[name] for name, slot in implementation.inputs.items()}
    found = implementation._session.run([slot.value for slot in implementation.outputs.values()], feeds)
    return dict(zip(implementation.outputs, found, strict=True))


def metadata(entries: Any) -> dict[str, str]:
    return {entry.key: entry.value for entry in entries}


def small(label: str = "dense", input: str = "x", output: str = "y") -> webnn.GraphDescription:
    builder = webnn.MLGraphBuilder(make_context("2026-06"))
    x = builder.input(input, dataType="float32", shape=[1, 4])
    weights = builder.constant({"dataType": "float32", "shape": [4, 2]}, np.ones((4, 2), np.float32))
    return webnn.describe({output: builder.softmax(builder.gemm(x, weights, label=label), 1)}, name="classifier")


@pytest.mark.parametrize(
    "example",
    [pytest.param("squeezenet", marks=pytest.mark.shared), "transformer_block", "int8_graph", "activations_and_gru"],
)
def test_plain_sessions_compute_the_same(example: str, tmp_path: Path) -> None:
    description, graph = capture(example)
    path, model = save(description, tmp_path)
    inputs = values_for(description)
    found, expected = run(path, inputs), emulate(graph, inputs)
    assert found.keys() == expected.keys() == description.outputs.keys()
    for name in expected:
        np.testing.assert_array_equal(found[name], expected[name])
    labels = {metadata(node.metadata_props).get("webnn.label", "") for node in model.graph.node}
    assert labels >= {operator.label for operator in description.operators}
    operations = {metadata(node.metadata_props)["webnn.operation"] for node in model.graph.node}
    # Two transposes in a row become one.
    assert operations | {"transpose"} >= {operator.operation for operator in description.operators} >= operations


def test_names_and_metadata(tmp_path: Path) -> None:
    _, model = save(small(), tmp_path)
    assert [each.name for each in model.graph.input] == ["x"]
    assert [each.name for each in model.graph.output] == ["y"]
    assert [each.name for each in model.graph.initializer] == ["dense_b"]
    assert [node.name for node in model.graph.node] == ["dense", "y"]
    assert [list(node.input) for node in model.graph.node] == [["x", "dense_b"], ["dense"]]
    assert metadata(model.graph.node[0].metadata_props) == {"webnn.operation": "gemm", "webnn.label": "dense"}
    assert metadata(model.graph.node[1].metadata_props) == {"webnn.operation": "softmax"}
    (shape,) = model.graph.value_info
    assert (shape.name, [size.dim_value for size in shape.type.tensor_type.shape.dim]) == ("dense", [1, 2])
    assert (model.graph.name, model.producer_name, model.producer_version) == ("classifier", "webnn", webnn.__version__)
    entries = metadata(model.metadata_props)
    assert entries["webnn.draft"] == "2026-06"
    assert entries["webnn.numerics"] == "exact"
    assert json.loads(entries["webnn.session"]) == dict(SESSION_ENTRIES)


@pytest.mark.parametrize("label", LABELS)
def test_labels_of_any_kind(label: str, tmp_path: Path) -> None:
    path, model = save(small(label, f"in{label}", f"out{label}"), tmp_path)
    assert metadata(model.graph.node[0].metadata_props)["webnn.label"] == label
    assert list(run(path, {f"in{label}": np.ones((1, 4), np.float32)})) == [f"out{label}"]


def test_refused_names(tmp_path: Path) -> None:
    with pytest.raises(webnn.FormatError, match=r"graph\.onnx: an input and an output are both named 'x'"):
        save(small(input="x", output="x"), tmp_path)
    with pytest.raises(webnn.FormatError, match="a name must be Unicode, got"):
        save(replace(small(), name="\ud800"), tmp_path)
    assert list(tmp_path.iterdir()) == []


def constants(*sizes: int) -> webnn.GraphDescription:
    """Describe a sum of constants of these numbers of elements."""
    builder = webnn.MLGraphBuilder(make_context("2026-06"))
    parts = [builder.constant({"dataType": "uint8", "shape": [size]}, np.full(size, size % 251, np.uint8)) for size in sizes]
    return webnn.describe({"y": builder.concat([builder.input("x", dataType="uint8", shape=[1]), *parts], 0)})


def test_large_constants_stand_beside_the_model(tmp_path: Path) -> None:
    sizes = 200, 100_000, 300, INLINE_BYTES
    path, model = save(constants(*sizes), tmp_path)
    assert {each.name for each in tmp_path.iterdir()} == {"graph.onnx", "graph.onnx.data"}
    assert path.stat().st_size < 8192
    places = [metadata(tensor.external_data) for tensor in model.graph.initializer]
    assert [place["location"] for place in places] == ["graph.onnx.data"] * 4
    assert [int(place["length"]) for place in places] == list(sizes)
    assert [int(place["offset"]) % alignment for place, alignment in zip(places, (64, 4096, 64, 4096), strict=True)] == [0] * 4
    expected = np.concatenate([np.array([7], np.uint8), *(np.full(size, size % 251, np.uint8) for size in sizes)])
    np.testing.assert_array_equal(run(path, {"x": np.array([7], np.uint8)})["y"], expected)


def test_constants_up_to_the_limit_stand_inside(tmp_path: Path) -> None:
    path, _ = save(constants(INLINE_BYTES - 300, 300), tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["graph.onnx"]
    assert len(run(path, {"x": np.array([7], np.uint8)})["y"]) == INLINE_BYTES + 1


def test_an_output_that_is_a_constant(tmp_path: Path) -> None:
    builder = webnn.MLGraphBuilder(make_context("2026-06"))
    constant = builder.constant({"dataType": "float32", "shape": [2, 2]}, np.arange(4, dtype=np.float32).reshape(2, 2))
    path, _ = save(webnn.describe({"y": builder.reshape(constant, [4])}), tmp_path)
    np.testing.assert_array_equal(run(path, {})["y"], np.arange(4, dtype=np.float32))


@pytest.mark.slow
@pytest.mark.parametrize("level", ["2024-06", "2025-03"])
def test_recorded_graphs(level: str, tmp_path: Path) -> None:
    """A configured session computes what the emulator computes; a plain one where no optimization changes values."""
    count, different = 0, 0
    for name, description in recorded(level):
        if any(each.dataType in ("int4", "uint4") for each in description.descriptors().values()):
            # The engine cannot make NumPy's arrays of these.
            continue
        inputs, built = values_for(description), list[webnn.MLGraph]()
        with webnn.emulate(on_build=lambda _, graph, built=built: built.append(graph)):  # type: ignore[misc]
            builder = webnn.MLGraphBuilder(webnn.ML(revision=description.draft).createContextSync())
        builder.buildSync(description.build(builder))
        path, model = save(description, tmp_path)
        expected = emulate(built[0], inputs)
        entries = json.loads(metadata(model.metadata_props)["webnn.session"])
        for output, value in run(path, inputs, entries).items():
            np.testing.assert_array_equal(value, expected[output], err_msg=f"{name}: {output}")
        count += 1
        plain = run(path, inputs)
        different += any(not np.array_equal(plain[each], value, equal_nan=value.dtype.kind == "f") for each, value in expected.items())
    assert count > 950
    assert different <= 15
