"""LiteRT as an engine: in the process of a context, and in this one."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import webnn
from tests.support import BROWSERS, CURRENT, modules_after, refused
from webnn.commands.main import app
from webnn.context.devices.selection import threads, usable_cores
from webnn.context.ml import ML
from webnn.tflite import engine
from webnn.tflite.engine import LiteModel, LiteSession
from webnn.validation.descriptor import OperandDescriptor

pytest.importorskip("ai_edge_litert", reason="LiteRT is not installed")

A, B = np.float32([[1, -2], [3, 4]]), np.float32([1, 1])
ISOLATED = [pytest.param(None, marks=pytest.mark.processes), False]


def context(isolate: bool | None = False, **settings: Any) -> webnn.MLContext:
    return ML(engine="litert", revision=CURRENT, isolate=isolate, **settings).createContextSync()


def build(own: webnn.MLContext) -> webnn.MLGraph:
    builder = webnn.MLGraphBuilder(own)
    b, a = builder.input("b", dataType="float32", shape=[2]), builder.input("a", dataType="float32", shape=[2, 2])
    return builder.buildSync({"relu": builder.relu(builder.add(a, b, label="total")), "difference": builder.sub(b, a)})


@pytest.mark.parametrize("isolate", ISOLATED)
def test_it_computes(isolate: bool | None) -> None:
    own = context(isolate)
    graph = build(own)
    for factor in (1, 2):
        found = graph.run(a=factor * A, b=B)
        np.testing.assert_array_equal(found["relu"], np.maximum(factor * A + B, 0))
        np.testing.assert_array_equal(found["difference"], B - factor * A)
    assert graph.devices == ["cpu"]
    assert "litert" in repr(own)
    assert {each.providers for each in graph.placement.operators} == {("litert",)}


@pytest.mark.parametrize("isolate", ISOLATED)
def test_tensors(isolate: bool | None) -> None:
    own = context(isolate)
    graph = build(own)
    inputs = {
        name: own.createTensorSync(dataType="float32", shape=list(array.shape), writable=True) for name, array in (("a", A), ("b", B))
    }
    outputs = {name: own.createTensorSync(dataType="float32", shape=[2, 2], readable=True) for name in ("relu", "difference")}
    own.writeTensor(inputs["b"], B)
    for factor in (1, 3, 5):
        own.writeTensor(inputs["a"], factor * A)
        own.dispatch(graph, inputs, outputs)
        np.testing.assert_array_equal(own.readTensorSync(outputs["difference"]), B - factor * A)


def test_memory_that_stays_bound() -> None:
    """A dispatch is repeated as it is bound until its tensors are others, or are destroyed; an error of LiteRT does not unbind them."""
    own = context()
    graph = build(own)
    session: Any = graph._implementation
    session.took(0)

    def make(name: str, array: Any) -> webnn.MLTensor:
        tensor = own.createTensorSync(dataType="float32", shape=list(array.shape), writable=True, readable=True)
        own.writeTensor(tensor, array)
        return tensor

    first, second = ({"a": make("a", factor * A), "b": make("b", B)} for factor in (1, 2))
    outputs = {name: make(name, A) for name in ("relu", "difference")}
    for inputs, factor in ((first, 1), (first, 1), (second, 2), (first, 1), (second, 2), (second, 2)):
        own.writeTensor(outputs["difference"], A)
        own.dispatch(graph, inputs, outputs)
        np.testing.assert_array_equal(own.readTensorSync(outputs["difference"]), B - factor * A)
    second["a"].destroy()
    own.readTensorSync(outputs["relu"])
    assert session.last is None
    with pytest.raises(TypeError, match="destroyed"):
        own.dispatch(graph, second, outputs)
    with refused(webnn.OperationError, rule="engine", said="has not run with this memory"):
        session.repeat()


@pytest.mark.parametrize("isolate", ISOLATED)
def test_inside_of_graphs(isolate: bool | None) -> None:
    graph = build(context(isolate))
    [total] = [each for each in graph.trace({"a": A, "b": B}, "total").values if each.label == "total"]
    np.testing.assert_array_equal(total.value, A + B)
    assert len(graph.accuracy({"a": A, "b": B}).operators) == 3


@pytest.mark.parametrize("isolate", ISOLATED)
def test_times(isolate: bool | None) -> None:
    """Each operator runs alone: none is merged with another one, and the numbers flow from one to the next."""
    profile = build(context(isolate)).profile({"a": A, "b": B}, runs=3)
    assert [(each.operation, each.label, each.kernels, each.merged) for each in profile.operators] == [
        ("add", "total", ("ADD",), ()),
        ("relu", "", ("RELU",), ()),
        ("sub", "", ("SUB",), ()),
    ]
    assert profile.runs == 3
    assert profile.engine == 0


def test_large_tensors() -> None:
    """The copies of large tensors are views."""
    builder = webnn.MLGraphBuilder(context())
    x = builder.input("x", dataType="float32", shape=[64, 128])
    graph = builder.buildSync({"y": builder.neg(x)})
    for factor in (1, 2):
        value = np.arange(64 * 128, dtype=np.float32).reshape(64, 128) * factor
        np.testing.assert_array_equal(graph.run(x=value)["y"], -value)


@pytest.mark.parametrize(("dataType", "ends"), [("int4", [0xF8, 0x17]), ("uint4", [0x00, 0x1F])])
@pytest.mark.parametrize("isolate", ISOLATED)
def test_elements_that_share_a_byte(isolate: bool | None, dataType: Any, ends: list[int]) -> None:
    """LiteRT gets and returns a byte for each."""
    given = ML(engine="litert", revision=BROWSERS, isolate=isolate).createContextSync()
    builder = webnn.MLGraphBuilder(given)
    x, small = (builder.input(name, dataType=kind, shape=[4]) for name, kind in (("x", "float32"), ("small", dataType)))
    scale = builder.constant({"dataType": "float32", "shape": [1]}, np.ones(1, np.float32))
    zero = builder.constant({"dataType": dataType, "shape": [1]}, np.uint8([0]))
    outputs = {"y": builder.quantizeLinear(x, scale, zero), "z": builder.dequantizeLinear(small, scale, zero)}
    graph = builder.buildSync(outputs)
    numbers = {"x": np.float32([-99, -1, 99, 1]) * np.float32([1, ends[0] != 0, 1, 1]), "small": np.uint8([0x21, 0x43])}
    found = graph.run(**numbers)
    assert found["y"].tolist() == ends
    assert found["z"].tolist() == [1, 2, 3, 4]
    assert [each.operation for each in graph.profile(numbers).operators] == ["quantizeLinear", "dequantizeLinear"]


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Return a profile that names the engine."""
    file = tmp_path / "own.json"
    file.write_text('{"_extends": "tflite", "_engine": "litert"}')
    return file


@pytest.mark.parametrize(
    ("settings", "provider"),
    [
        ({}, "litert"),
        ({"engine": "onnxruntime"}, "CPUExecutionProvider"),
        ({"semantics": {"clampNaN": "nan"}}, "CPUExecutionProvider"),
        ({"numerics": "fast"}, "CPUExecutionProvider"),
        ({"profile": "tflite"}, "litert"),
        ({"profile": "tflite-chromium147"}, "litert"),
        ({"profile": "coreml"}, "CPUExecutionProvider"),
    ],
)
def test_the_engine_of_a_profile(own: Path, settings: Any, provider: str) -> None:
    assert provider in repr(ML(isolate=False, **{"profile": own, **settings}).createContextSync())


def test_a_profile_without_its_engine(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A profile computes with ONNX Runtime where its engine is not installed."""
    monkeypatch.setattr(type(engine.ENGINE), "is_installed", lambda _: False)
    context = ML(profile=own, revision=CURRENT).createContextSync()
    assert "CPUExecutionProvider" in repr(context)
    assert build(context).run(a=A, b=B)["difference"].tolist() == (B - A).tolist()


@pytest.mark.parametrize(("installed", "said"), [(True, r"engine +litert *$"), (False, r"engine +litert +not installed, so onnxruntime")])
def test_a_profile_tells_its_engine(monkeypatch: pytest.MonkeyPatch, installed: bool, said: str) -> None:
    monkeypatch.setattr(type(engine.ENGINE), "is_installed", lambda _: installed)
    shown = CliRunner().invoke(app, ["profiles", "tflite"]).stdout
    assert re.search(said, shown, re.MULTILINE)


def test_a_profile_with_an_unknown_engine(tmp_path: Path) -> None:
    file = tmp_path / "own.json"
    file.write_text('{"_extends": "tflite", "_engine": "none"}')
    assert "CPUExecutionProvider" in repr(ML(profile=file).createContextSync())


def numbers(name: str, x: Any, dataType: str = "float32", **settings: Any) -> Any:
    builder = webnn.MLGraphBuilder(context(**settings))
    value = builder.input("x", dataType=dataType, shape=list(x.shape))
    return builder.buildSync({"y": getattr(builder, name)(value)}).run(x=x)["y"]


@pytest.mark.parametrize(
    ("name", "x", "browser"),
    # The logarithm of Infinity is 88.376 in the kernel of LiteRT for AVX2, and Infinity in that for AVX512.
    [("softplus", -20, [0]), ("reduceLogSumExp", 100, [88.376, math.inf])],
    ids=["softplus", "reduceLogSumExp"],
)
def test_the_mapping_of_the_browser(name: str, x: float, browser: Sequence[float]) -> None:
    """Chromium computes some functions as they stand; without its profile they are exact."""
    value = np.float32([x])
    found = numbers(name, value, profile="tflite")
    assert any(found == pytest.approx(each, abs=0.001) for each in browser)
    exact = np.logaddexp(0, x) if name == "softplus" else x
    assert numbers(name, value) == pytest.approx(exact, rel=1e-5)


def test_erf_of_the_browser() -> None:
    values = [-1.0, 0.0, 1e-3, 2.0]
    expected = [math.erf(each) for each in values]
    assert numbers("erf", np.float32(values), profile="tflite") == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("name", "b"), [("div", [1, 0]), ("pow", [2, -1])])
def test_a_kernel_that_fails(name: str, b: list[int]) -> None:
    """The browser leaves the whole result as it was if one element makes the kernel fail."""
    builder = webnn.MLGraphBuilder(context(profile="tflite"))
    operands = [builder.input(each, dataType="int32", shape=[2]) for each in "ab"]
    graph = builder.buildSync({"y": getattr(builder, name)(*operands)})
    assert graph.run(a=np.int32([6, 7]), b=np.int32(b))["y"].tolist() == [0, 0]
    assert graph.run(a=np.int32([6, 7]), b=np.int32([1, 1]))["y"].tolist() == [6, 7]


def test_blocks_along_five_axes() -> None:
    """LiteRT has at most 8 dimensions."""
    builder = webnn.MLGraphBuilder(context())
    x = builder.input("x", dataType="int8", shape=[2] * 5)
    scale = builder.constant({"dataType": "float32", "shape": [1] * 5}, np.float32([0.5]))
    zero = builder.constant({"dataType": "int8", "shape": [1] * 5}, np.int8([1]))
    whole = np.arange(32, dtype=np.int8).reshape([2] * 5)
    found = builder.buildSync({"y": builder.dequantizeLinear(x, scale, zero)}).run(x=whole)["y"]
    np.testing.assert_array_equal(found, (whole.astype(np.float32) - 1) / 2)


@pytest.mark.parametrize("isolate", ISOLATED)
def test_an_operator_without_counterpart_is_refused(isolate: bool | None) -> None:
    builder = webnn.MLGraphBuilder(context(isolate))
    x = builder.input("x", dataType="int64", shape=[2])
    with refused(webnn.OperationError, rule="device", operation="build", said="[half] div needs DIV"):
        builder.buildSync({"y": builder.div(x, x, label="half")})


def test_the_limits_of_a_profile() -> None:
    builder = webnn.MLGraphBuilder(context(profile="tflite"))
    x = builder.input("x", dataType="float32", shape=[2])
    assert builder.buildSync({"y": builder.neg(x)}).run(x=B)["y"].tolist() == [-1, -1]
    # The padding counts, as in the browser.
    own = webnn.MLGraphBuilder(context(profile="tflite"))
    pooled = own.averagePool2d(own.input("x", dataType="float32", shape=[1, 1, 2, 2]), windowDimensions=[2, 2], padding=[1, 0, 0, 0])
    assert own.buildSync({"y": pooled}).run(x=np.ones((1, 1, 2, 2), np.float32))["y"].reshape(-1).tolist() == [0.5, 1]
    other = webnn.MLGraphBuilder(context(profile="tflite"))
    with pytest.raises(webnn.WebNNTypeError, match="at most 5 dimensions"):
        other.pow(*[other.input(name, dataType="float32", shape=[1] * 6) for name in "ab"])


@pytest.mark.parametrize(("setting", "value"), [("semantics", {"clampNaN": "ignore"}), ("numerics", "fast")])
def test_settings_of_the_other_engine(setting: str, value: Any) -> None:
    with refused(webnn.NotSupportedError, rule="device", operation="createContext", said=f"{setting} cannot be chosen"):
        context(**{setting: value})


def test_other_devices_are_the_cpu() -> None:
    with pytest.warns(webnn.DeviceFallbackWarning, match="litert computes on the CPU"):
        own = ML(engine="litert", revision=CURRENT, isolate=False).createContextSync(deviceType="gpu")
    assert build(own).devices == ["cpu"]


def test_names_of_engines() -> None:
    with pytest.raises(ValueError, match="engine must be one of 'onnxruntime', 'litert', got 'tflite'"):
        ML(engine="tflite")
    with pytest.raises(TypeError, match="engine must be the name of an engine, got 1"):
        ML(engine=1)  # type: ignore[arg-type]
    assert "CPUExecutionProvider" in repr(ML(engine="onnxruntime").createContextSync())


def test_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in Chromium: half of the cores, at most 4; a context with low power has as many as with the other engine."""
    given: list[int] = []
    plain = engine._load()
    monkeypatch.setattr(engine, "_load", lambda: lambda **options: given.append(options["num_threads"]) or plain(**options))
    build(context())
    assert given == [min(4, (usable_cores() + 1) // 2)]
    build(ML(engine="litert", revision=CURRENT, isolate=False).createContextSync(powerPreference="low-power"))
    assert given[1] == (threads("low-power") or given[0])


def test_a_session_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = build(context())

    def fail(self: Any) -> None:
        raise RuntimeError("no memory")

    monkeypatch.setattr(engine._load(), "invoke", fail)
    with refused(webnn.OperationError, rule="engine", said="no memory"):
        graph.run(a=A, b=B)


def test_a_file_that_it_refuses() -> None:
    own = context()
    model = LiteModel(content=b"TFL3", inputs={}, outputs={}, operators=[("add", 1, "sum")], largest=4)
    assert (model.serialize(), model.node_types(), model.find_operator("")) == (b"TFL3", [("", "add")], ("", ""))
    with pytest.raises((RuntimeError, ValueError)):
        LiteSession(model.content, {"x": ("x", OperandDescriptor("float32", (1,)))}, {}, own._state.selection)


@pytest.mark.processes
def test_nothing_loads_unless_it_is_asked_for() -> None:
    found = modules_after("import webnn\nwebnn.ML().createContextSync()")
    assert not {"ai_edge_litert", "webnn.tflite", "tflite", "flatbuffers"} & found


@pytest.mark.processes
def test_without_the_package_one_sentence_says_what_to_install() -> None:
    code = """
import sys
sys.modules["ai_edge_litert"] = None
import webnn
builder = webnn.MLGraphBuilder(webnn.ML(engine="litert", isolate=False).createContextSync())
x = builder.input("x", dataType="float32", shape=[2])
try:
    builder.buildSync({"y": builder.relu(x)})
except webnn.NotSupportedError as error:
    print(error)
"""
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert "the engine litert needs the package ai-edge-litert: " in said
    assert said.count("\n") == 1
