"""Graphs with bfloat16 and float8e4m3 in files, programs and pictures, and on the command line."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from typer.testing import CliRunner

import webnn
from tests.support import each_row, shared_context
from tests.webnn.javascript.node_support import Outcome, run
from tests.webnn.proposals.test_low_precision import BFLOAT16, FLOAT8
from tests.webnn.proposals.test_low_precision_values import REVISION, dispatch
from webnn import DescriptionError, FormatError, GraphDescription, MLGraphBuilder
from webnn.builder.describe import describe
from webnn.commands.main import app

RNG = np.random.default_rng(0)
X = RNG.standard_normal((2, 8)).astype(BFLOAT16)


def tensor(dataType: str, *shape: int) -> Any:
    return {"dataType": dataType, "shape": list(shape)}


def network(columns: int = 4) -> GraphDescription:
    """Describe a graph with large and small constants, scalars, and options of both types."""
    builder = MLGraphBuilder(shared_context(REVISION))
    x = builder.input("x", tensor("bfloat16", 2, 8))
    weight = builder.constant(tensor("bfloat16", 8, columns), RNG.standard_normal((8, columns)).astype(BFLOAT16))
    packed = builder.constant(tensor("float8e4m3", 1, columns), RNG.standard_normal((1, columns)).astype(FLOAT8))
    bias = builder.dequantizeLinear(packed, builder.constant(tensor("bfloat16", 1, 1), np.array([[0.1]], BFLOAT16)), zero(builder))
    y = builder.clamp(builder.add(builder.matmul(x, weight), bias), minValue=-0.3, maxValue=100)
    scaled = builder.mul(y, builder.constant("bfloat16", 0.7), label="scaled")
    return describe({"y": scaled, "f8": builder.cast(builder.neg(scaled), "float8e4m3")}, name="low")


def zero(builder: MLGraphBuilder) -> Any:
    return builder.constant(tensor("float8e4m3", 1, 1), np.array([[0.5]], FLOAT8))


def same(one: Any, other: Any) -> None:
    assert list(one) == list(other)
    for name, array in one.items():
        assert array.tobytes() == other[name].tobytes(), name
        assert array.dtype == other[name].dtype


@each_row("suffix", [".webnn", ".webnn.json"])
@each_row("columns", [4, 40])
def test_round_trips(tmp_path: Path, suffix: str, columns: int) -> None:
    graph = network(columns)
    path = tmp_path / f"low{suffix}"
    graph.save(path)
    loaded = webnn.load(path)
    assert (loaded.draft, loaded.digest()) == (REVISION, graph.digest())
    assert {str(each.descriptor) for each in loaded.constants.values()} == {str(each.descriptor) for each in graph.constants.values()}
    same(dispatch(loaded, {"x": X}), dispatch(graph, {"x": X}))
    if columns == 40:
        header = (tmp_path / "low.safetensors").read_bytes()
        types = {each["dtype"] for each in json.loads(header[8 : 8 + int.from_bytes(header[:8], "little")]).values()}
        assert types == {"BF16", "F8_E4M3"}


TEXTS = [
    # the draft, the type of a constant of one element, its initial value, and the message
    (REVISION, "bf16", "@scalar(1.5)", ""),
    (REVISION, "f8e4m3", "@scalar(448)", ""),
    (REVISION, "f8e4m3", "@bytes([126])", ""),
    (REVISION, "f8e4m3", "@scalar(449)", "must fit into float8e4m3, got 449"),
    (REVISION, "bf16", "@scalar(1e39)", r"must fit into bfloat16, got 1e\+39"),
    (REVISION, "bf16", "@bytes([1])", r"must be the 2 bytes of bfloat16 \[1\], got 1"),
    ("2026-06", "bf16", "@scalar(1)", r"must be one of float32, .* uint4, got 'bfloat16'"),
]


@each_row(("draft", "type", "initial", "message"), TEXTS)
def test_texts(tmp_path: Path, draft: str, type: str, initial: str, message: str) -> None:
    path = tmp_path / "graph.webnn"
    path.write_text(
        f'webnn_graph "g" v2 @draft("{draft}") {{ consts {{ c: {type}[1] {initial}; }} nodes {{ y = identity(c); }} outputs {{ y; }} }}'
    )
    if message:
        with pytest.raises(FormatError, match=message):
            webnn.load(path)
    else:
        [constant] = webnn.load(path).constants.values()
        assert float(constant.value[0]) in (1.5, 448)


def test_a_text_with_another_type(tmp_path: Path) -> None:
    path = tmp_path / "graph.webnn"
    path.write_text('webnn_graph "g" v2 { consts { c: f8[1] @scalar(1); } }')
    with pytest.raises(FormatError, match="one of f32, f16, i32, u32, i64, u64, i8, u8, i4, u4, got"):
        webnn.load(path)


@each_row("columns", [4, 40])
def test_python(tmp_path: Path, columns: int) -> None:
    graph = network(columns)
    graph.save(tmp_path / "low.py")
    spec = importlib.util.spec_from_file_location("low", tmp_path / "low.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    built = module.build(shared_context(module.DRAFT), module.load_file(module.WEIGHTS))
    same(dispatch(built.description, {"x": X}), dispatch(graph, {"x": X}))


@pytest.mark.processes
@each_row("columns", [4, 40])
def test_javascript(tmp_path: Path, columns: int) -> None:
    graph = network(columns)
    graph.save(tmp_path / "low.mjs")
    bits = ", ".join(map(str, X.view(np.uint16).ravel()))
    program = f"""
    import {{build, inputs, outputs}} from './low.mjs';
    const context = await navigator.ml.createContext();
    const weights = await (await fetch('./low.safetensors')).arrayBuffer();
    const graph = await build(context, weights), results = {{}};
    const x = await context.createTensor({{...inputs.x, writable: true}});
    context.writeTensor(x, new Uint16Array([{bits}]));
    for (const name in outputs) results[name] = await context.createTensor({{...outputs[name], readable: true}});
    context.dispatch(graph, {{x}}, results);
    for (const name in results) console.log(name, [...new Uint8Array(await context.readTensor(results[name]))].join());
    """
    expected = dispatch(graph, {"x": X})
    lines = [f"{name} {','.join(map(str, array.tobytes()))}\n" for name, array in expected.items()]
    assert run(tmp_path, program, revision=REVISION) == Outcome(0, "".join(lines), "")


@each_row("columns", [4, 40])
def test_onnx(tmp_path: Path, columns: int) -> None:
    graph = network(columns)
    graph.save(tmp_path / "low.onnx")
    onnx.checker.check_model(tmp_path / "low.onnx", full_check=True)
    session = onnxruntime.InferenceSession(tmp_path / "low.onnx", providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    binding.bind_input("x", "cpu", 0, onnx.TensorProto.BFLOAT16, X.shape, X.ctypes.data)
    expected = dispatch(graph, {"x": X})
    found = {name: np.zeros_like(array) for name, array in expected.items()}
    for name, dataType in (("y", onnx.TensorProto.BFLOAT16), ("f8", onnx.TensorProto.FLOAT8E4M3FN)):
        binding.bind_output(name, "cpu", 0, dataType, found[name].shape, found[name].ctypes.data)
    session.run_with_iobinding(binding)
    same(found, expected)


def test_refused_formats(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="a graph with values of bfloat16 or float8e4m3 cannot be exported to StableHLO"):
        network().save(tmp_path / "low.mlir")
    with pytest.raises(DescriptionError, match="2024-06"):
        network().lower("2024-06")


@each_row("suffix", [".svg", ".dot", ".mmd"])
def test_pictures(tmp_path: Path, suffix: str) -> None:
    pytest.importorskip("graphlay")
    network().save(tmp_path / f"low{suffix}")
    assert "low" in (tmp_path / f"low{suffix}").read_text()


def test_summaries() -> None:
    graph = network()
    assert "bfloat16 2x4" in str(graph)
    assert "float8e4m3 2x4" in str(graph)


def test_commands(tmp_path: Path) -> None:
    graph = network()
    graph.save(tmp_path / "low.webnn")
    np.save(tmp_path / "x.npy", X.view(np.uint16))
    runner = CliRunner()
    result = runner.invoke(
        app, ["run", str(tmp_path / "low.webnn"), "--input", f"x={tmp_path / 'x.npy'}", "--output", f"y={tmp_path / 'y.npy'}"]
    )
    assert result.exit_code == 0, result.output
    assert "f8: float8e4m3 [2, 4]: from " in result.output
    assert np.load(tmp_path / "y.npy").tobytes() == dispatch(graph, {"x": X})["y"].tobytes()
    result = runner.invoke(app, ["diff", str(tmp_path / "low.webnn"), str(tmp_path / "low.webnn")])
    assert result.exit_code == 0, result.output
    result = runner.invoke(app, ["show", str(tmp_path / "low.webnn")])
    assert result.exit_code == 0, result.output
    assert "bfloat16" in result.output
