"""dynamic-shapes: graphs as files, pictures, pickles, and for the reference."""

from __future__ import annotations

import json
import pickle
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file
from typer.testing import CliRunner

import webnn
from tests.support import each_row
from tests.webnn.proposals.test_dynamic_shapes import REVISION, constant, dispatch, make_builder, matrix, sizes
from webnn import FormatError, GraphDescription, NotSupportedError, WebNNTypeError
from webnn.commands.main import app
from webnn.context.ml import plain_context
from webnn.proposals.dynamic_shapes.static import give_sizes
from webnn.reference import compute


def make_graph(builder: Any) -> Any:
    """Build a graph with names, computed shapes, and an operand of unknown rank."""
    x = matrix(builder, "x", "rows", 4)
    w = constant(builder, np.arange(16, dtype=np.float32).reshape(4, 4))
    product = builder.reshapeDynamic(builder.matmul(x, w), builder.shape(x))
    parts = builder.splitDynamic(product, constant(builder, sizes(1, 3)), axis=1, label="parts")
    (whole,) = builder.splitDynamic(parts[1], constant(builder, sizes(3)), axis=1)
    return builder.buildSync({"y": builder.squeeze(parts[0]), "z": whole})


FEEDS = {"x": np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4)}


def check(graph: Any) -> None:
    """Check that a graph computes what the first one computes."""
    expected = dispatch(make_graph(make_builder()), FEEDS)
    found = dispatch(graph, FEEDS, plain_context(graph._state))
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value, strict=True)


def _context_of(graph: Any) -> Any:
    from webnn.context.ml import plain_context  # the tests of pickles alone need it

    return plain_context(graph._state)


@pytest.mark.parametrize("suffix", [".webnn", ".webnn.json"])
def test_files(tmp_path: Path, suffix: str) -> None:
    description = make_graph(make_builder()).description
    description.save(tmp_path / f"net{suffix}")
    loaded = webnn.load(tmp_path / f"net{suffix}")
    assert loaded.draft == REVISION
    assert str(loaded.inputs["x"]) == "float32 ['rows', 4]"
    assert loaded.digest() == description.digest()
    builder = make_builder()
    check(builder.buildSync(loaded.build(builder)))
    text = (tmp_path / f"net{suffix}").read_text(encoding="utf-8")
    assert ('dyn("rows", 2147483647)' if suffix == ".webnn" else '{"name": "rows", "maxSize": 2147483647}') in text


def test_a_program_in_python(tmp_path: Path) -> None:
    make_graph(make_builder()).description.save(tmp_path / "net.py")
    module = runpy.run_path(str(tmp_path / "net.py"))
    assert module["INPUTS"]["x"]["shape"] == ["rows", 4]
    context = webnn.ML(revision=REVISION).createContextSync()
    weights = {"w": np.arange(16, dtype=np.float32).reshape(4, 4)}
    graph = module["build"](context, {name: weights.get(name, value) for name, value in _weights(tmp_path / "net.safetensors").items()})
    check(graph)


def _weights(path: Path) -> Any:

    return load_file(path)


@each_row("suffix", [".dot", ".mjs", ".mmd", ".svg"])
def test_what_shows_names(tmp_path_factory: pytest.TempPathFactory, suffix: str) -> None:
    path = tmp_path_factory.mktemp("shown") / f"net{suffix}"
    make_graph(make_builder()).description.save(path)
    assert "rows" in path.read_text(encoding="utf-8")


def test_tables_and_pictures() -> None:
    builder = make_builder()
    graph = make_graph(builder)
    assert "x  float32 rowsx4" in str(graph.description)
    for shown in (graph, graph.description, matrix(make_builder(), "x", "rows", 4)):
        assert "rows" in shown._repr_html_()


@each_row("suffix", [".onnx", ".mlir"])
def test_formats_that_have_sizes(tmp_path_factory: pytest.TempPathFactory, suffix: str) -> None:
    path = tmp_path_factory.mktemp("refused") / f"net{suffix}"
    with pytest.raises(FormatError, match=f"a graph with the name 'rows' in a shape cannot be written as {suffix}: give it a size"):
        make_graph(make_builder()).description.save(path)
    assert not path.exists()


@each_row(("suffix", "message"), [(".onnx", "squeeze: the operation becomes one of the draft"), (".mlir", "squeeze has no counterpart")])
def test_new_operations_in_formats_that_do_not_have_them(tmp_path_factory: pytest.TempPathFactory, suffix: str, message: str) -> None:
    builder = make_builder()
    graph = builder.buildSync({"y": builder.squeeze(matrix(builder, "x", 1, 2))})
    with pytest.raises((FormatError, NotSupportedError), match=message):
        graph.description.save(tmp_path_factory.mktemp("refused") / f"net{suffix}")


def test_hooks_see_the_graph_and_those_of_its_shapes() -> None:
    built: list[GraphDescription] = []
    with webnn.emulate(on_build=lambda description, graph: built.append(description)):
        context = webnn.ML(revision=REVISION).createContextSync()
        builder = webnn.MLGraphBuilder(context)
        graph = make_graph(builder)
        dispatch(graph, FEEDS, context)
        dispatch(graph, FEEDS, context)
        static: Any = webnn.MLGraphBuilder(context)
        static.buildSync({"y": static.relu(matrix(static, "x", 2, 2))})
    assert [str(each.inputs["x"]) for each in built] == ["float32 ['rows', 4]", "float32 [2, 4]", "float32 [2, 2]"]


WRONG: list[tuple[Any, str, str]] = [
    # a size of an input, the draft, and the message
    ({"name": "n", "maxSize": 8}, "2026-06", "give the graph a fixed size, because the specification has no dynamic ones"),
    (
        {"name": "", "maxSize": 8},
        REVISION,
        "and of objects with a name and maxSize, got {'name': '', 'maxSize': 8}",
    ),
    ({"name": "n"}, REVISION, "must be a list of sizes, and of objects with a name and maxSize, got {'name': 'n'}"),
    ({"name": 3, "maxSize": 8}, REVISION, "must be a text, got 3"),
    ("n", REVISION, "must be a list of sizes, got 'n'"),
]


@each_row(("size", "draft", "message"), WRONG)
def test_wrong_files(tmp_path_factory: pytest.TempPathFactory, size: Any, draft: str, message: str) -> None:
    content = {
        "format": "webnn-graph-json",
        "version": 2,
        "draft": draft,
        "inputs": {"x": {"dataType": "float32", "shape": [size, 2]}},
        "nodes": [{"id": "y", "op": "relu", "inputs": ["x"], "options": {}}],
        "outputs": {"y": "y"},
    }
    path = tmp_path_factory.mktemp("wrong") / "net.webnn.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(FormatError) as caught:
        webnn.load(path)
    assert message in str(caught.value)


def test_constants_have_sizes(tmp_path: Path) -> None:
    path = tmp_path / "net.webnn"
    sections = 'consts { c: f32[dyn("n", 8)] @scalar(1); }\n nodes { y = relu(c); }\n outputs { y; }\n'
    path.write_text(f'webnn_graph "" v2 @draft("{REVISION}") {{\n{sections}}}\n', encoding="utf-8")
    with pytest.raises(FormatError, match=r"consts\.c\.shape: must be a list of sizes"):
        webnn.load(path)


def test_pickles() -> None:
    graph = make_graph(make_builder())
    description: GraphDescription = graph.description
    assert pickle.loads(pickle.dumps(description)).digest() == description.digest()
    check(pickle.loads(pickle.dumps(graph)))


def test_the_reference_takes_the_sizes_of_the_arrays() -> None:
    description = make_graph(make_builder()).description
    found = compute(description, FEEDS)
    for name, value in dispatch(make_graph(make_builder()), FEEDS).items():
        np.testing.assert_allclose(found[name], value, rtol=1e-6, strict=True)
    with pytest.raises(WebNNTypeError, match=r"compute: inputs\['x'\] must have the shape \['rows', 4\], got \[2, 5\]"):
        compute(description, {"x": np.ones((2, 5), np.float32)})
    builder = make_builder()
    both = builder.buildSync({"y": builder.sub(matrix(builder, "a", "n", 1), matrix(builder, "b", "n", 2))}).description
    with pytest.raises(WebNNTypeError, match=r"must have the shape \['n', [12]\]"):
        compute(both, {"a": np.ones((2, 1), np.float32), "b": np.ones((3, 2), np.float32)})


# Sizes for names.


def test_sizes_for_names(tmp_path: Path) -> None:
    description = make_graph(make_builder()).description
    fixed = give_sizes(description, {"rows": 2})
    assert fixed.draft == "2026-06"
    assert str(fixed.inputs["x"]) == "float32 [2, 4]"
    assert {each.operation for each in fixed.operators} == {"matmul", "reshape", "split"}
    fixed.save(tmp_path / "net.onnx")
    found = compute(fixed, FEEDS)
    for name, value in compute(description, FEEDS).items():
        np.testing.assert_array_equal(found[name], value, strict=True)


def test_remainders_stay_in_the_proposal() -> None:
    builder = make_builder()
    x = matrix(builder, "x", "n", dtype="int32")
    description = builder.buildSync({"y": builder.modulusFloor(x, constant(builder, sizes(3)))}).description
    assert give_sizes(description, {"n": 2}).draft == REVISION


@each_row(
    ("dims", "message"),
    [
        ({}, r"^dims=\{'rows': \.\.\.\} must be given for the graph, got \[\]$"),
        ({"rows": 2, "columns": 3}, r"got \['columns', 'rows'\]$"),
        ({"rows": 0}, "must have dimensions from 1"),
    ],
)
def test_sizes_that_do_not_fit(dims: dict[str, int], message: str) -> None:
    with pytest.raises((ValueError, WebNNTypeError), match=message):
        give_sizes(make_graph(make_builder()).description, dims)
    static = make_builder()
    with pytest.raises(ValueError, match=r"the graph has no dimensions with names, .*, got \['n'\]"):
        give_sizes(static.buildSync({"y": static.relu(matrix(static, "x", 2))}).description, {"n": 2})


def test_a_product_of_sizes_that_are_not_known_has_a_table() -> None:
    builder = make_builder()
    x = matrix(builder, "x", "rows", "columns")
    graph = builder.buildSync({"y": builder.matmul(x, builder.transpose(x))})
    assert "0 multiply-adds" in str(graph.description)


def test_the_option_of_commands(tmp_path: Path) -> None:
    path = tmp_path / "net.webnn"
    make_graph(make_builder()).description.save(path)
    runner = CliRunner()
    for command, output in [
        (["convert", "--dim", "rows=2", "-o", str(tmp_path / "net.onnx"), str(path)], ""),
        (["show", "--dim", "rows=3", str(path)], "x  float32 3x4"),
        (["show", str(path)], "x  float32 rowsx4"),
    ]:
        result = runner.invoke(app, command)
        assert result.exit_code == 0, result.output
        assert output in result.output
    for dims, message in [(["rows=x"], "--dim must be NAME=SIZE"), (["row=2"], "--dim rows=... must be given for the graph, got ['row']")]:
        result = runner.invoke(app, ["show", *[part for dim in dims for part in ("--dim", dim)], str(path)])
        assert result.exit_code == 2
        assert message in result.output
