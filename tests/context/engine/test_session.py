"""The engine's failures in our words."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import parser

from tests.context.devices.inventories import CUDA_GPU, DIRECTML_DEVICES, OPENVINO_PLUGIN, WEBGPU_DISCRETE, make_inventory
from tests.context.engine import runtimes
from tests.context.engine.runtimes import Runtime, Session
from tests.support import make_context
from webnn import ML, MLContext, MLGraphBuilder, NotSupportedError, OperationError
from webnn.builder.onnx import translate
from webnn.builder.onnx.emitter import Emitter, Op, Translation
from webnn.context.devices.choice import convert_provider_options, select
from webnn.context.devices.selection import CPU, CUDA, DIRECTML, Device, SessionSettings
from webnn.context.engine import discovery, session
from webnn.context.engine import runtime as engine
from webnn.context.engine.session import CompiledGraph


def compute(context: MLContext) -> Any:
    builder = MLGraphBuilder(context)
    x = builder.input("x", dataType="float32", dimensions=[2, 3])
    graph = builder.buildSync({"y": builder.relu(builder.add(x, x), label="mine")})
    return context.computeSync(graph, {"x": np.ones((2, 3), np.float32)}, {"y": np.zeros((2, 3), np.float32)})["outputs"]["y"]


FAILURES: list[tuple[str, Callable[[Emitter, Op], str], str]] = [
    ("unknown operator", lambda e, op: e.node("NoSuchOperator", [op["input"]]), "build: the engine refused the graph at relu"),
    ("wrong type", lambda e, op: e.node("Relu", [e.cast(op["input"], "int64")]), "build: the engine refused the graph at relu"),
    ("wrong attribute", lambda e, op: e.node("Relu", [op["input"]], axis=1), "build: the engine refused the graph at relu"),
    ("run time", lambda e, op: e.node("Reshape", [op["input"], e.ints([7])]), "compute: the engine failed in the graph at relu"),
]


@pytest.mark.parametrize(("emit", "message"), [case[1:] for case in FAILURES], ids=[case[0] for case in FAILURES])
def test_failures_name_the_operator(monkeypatch: pytest.MonkeyPatch, emit: Callable[[Emitter, Op], str], message: str) -> None:
    context = make_context()
    with monkeypatch.context() as patch:
        patch.setattr(translate, "TRANSLATIONS", {**translate.TRANSLATIONS, "relu": Translation(emit=emit)})
        with pytest.raises(OperationError) as caught:
            compute(context)
    assert str(caught.value).startswith(f"[mine] {message}: ")
    assert (caught.value.name, caught.value.operation, caught.value.label) == ("OperationError", "relu", "mine")
    assert caught.value.__cause__ is not None
    # The context goes on.
    assert compute(context).tolist() == [[2.0] * 3] * 2


def test_an_engine_without_the_core_of_a_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that keeps the core elsewhere is run in the documented way."""
    calls = []

    class Documented:
        """A session with public attributes only."""

        def __init__(self, *args: Any, **options: Any) -> None:
            self._hidden = onnxruntime.InferenceSession(*args, **options)

        def get_providers(self) -> list[str]:
            return list(self._hidden.get_providers())

        def io_binding(self) -> Any:
            return self._hidden.io_binding()

        def run_with_iobinding(self, binding: Any) -> None:
            calls.append(binding)
            self._hidden.run_with_iobinding(binding)

    context = make_context()
    monkeypatch.setattr(session, "start", lambda model, options, *_: Documented(model, options, providers=[CPU]))
    assert compute(context).tolist() == [[2.0] * 3] * 2
    assert len(calls) == 1


async def test_failures_reject_the_future(monkeypatch: pytest.MonkeyPatch) -> None:
    context = make_context()
    bad = Translation(emit=lambda e, op: e.node("NoSuchOperator", [op["input"]]))
    monkeypatch.setattr(translate, "TRANSLATIONS", {**translate.TRANSLATIONS, "relu": bad})
    builder = MLGraphBuilder(context)
    future = builder.build({"y": builder.relu(builder.input("x", dataType="float32"))})
    with pytest.raises(OperationError, match="refused the graph at relu"):
        await future


def test_the_engine_reports_itself() -> None:
    assert engine.version()
    assert "CPUExecutionProvider" in engine.available_providers()


def test_no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    engine.load.cache_clear()
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    try:
        with pytest.raises(NotSupportedError, match="install onnxruntime"):
            engine.version()
    finally:
        engine.load.cache_clear()


# The options of a session, on an engine with other providers.


def compile(
    monkeypatch: pytest.MonkeyPatch, runtime: Runtime, *devices: Device, deviceType: str, options: Any = None, **arguments: Any
) -> tuple[CompiledGraph, Session]:
    builder = MLGraphBuilder(make_context())
    model = translate.translate(builder._collect({"y": builder.relu(builder.input("x", dataType="float32"))}))
    providerOptions = convert_provider_options(options or {})
    selection = select(deviceType, make_inventory(*devices, system="Windows"), providerOptions=providerOptions, **arguments)
    with monkeypatch.context() as patch:
        runtimes.install(patch, runtime)
        graph = CompiledGraph(model, selection)
    return graph, runtime.sessions[-1]


def test_the_cpu_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, session = compile(monkeypatch, Runtime(), deviceType="cpu")
    assert session.arguments == {"providers": [CPU], "provider_options": [{}], "enable_fallback": 0}
    optimizers = session.options.entries.pop("optimization.disable_specified_optimizers").split(";")
    assert {"NoopElimination", "MatMulScaleFusion", "SkipLayerNormFusion"} <= set(optimizers)
    assert session.options.entries == {
        "session.disable_quant_qdq": "1",
        "session.disable_double_qdq_remover": "1",
        "session.intra_op.spin_duration_us": "1000",
    }
    assert session.options.selected == []
    assert (session.options.intra_op_num_threads, session.options.enable_mem_pattern) == (1, True)
    assert session.options.execution_mode == "not set"
    assert graph.assignments() is None


@pytest.mark.parametrize(
    ("deviceType", "powerPreference", "preference"),
    [("gpu", "default", "default"), ("gpu", "high-performance", "high_performance"), ("npu", "low-power", "minimum_power")],
)
def test_directml(monkeypatch: pytest.MonkeyPatch, deviceType: str, powerPreference: str, preference: str) -> None:
    """DirectML demands operators one after the other, and no memory pattern."""
    runtime = Runtime(providers=[DIRECTML, CPU])
    graph, session = compile(monkeypatch, runtime, *DIRECTML_DEVICES, deviceType=deviceType, powerPreference=powerPreference)
    assert session.arguments == {
        "providers": [DIRECTML, CPU],
        "provider_options": [{"device_filter": deviceType, "performance_preference": preference}, {}],
        "enable_fallback": 0,
    }
    assert session.options.execution_mode == "sequential"
    assert session.options.enable_mem_pattern is False
    assert session.options.entries["session.record_ep_graph_assignment_info"] == "1"
    assert graph.providers == [DIRECTML, CPU]
    assert graph.assignments() == [(DIRECTML, ["relu#0.0", "add#1.0"])]


def test_directml_is_tried_with_its_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = Runtime(providers=[DIRECTML, CPU])
    runtimes.install(monkeypatch, runtime)
    assert discovery.find_failure(DIRECTML_DEVICES[1]) == ""
    [session] = runtime.sessions
    assert session.arguments["provider_options"] == [{"device_filter": "npu"}]
    assert (session.options.execution_mode, session.options.enable_mem_pattern) == ("sequential", False)


def test_plugins_are_asked_for_by_their_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    webgpu = replace(WEBGPU_DISCRETE, handle=runtimes.listed("WebGpuExecutionProvider", "GPU"))
    openvino = replace(OPENVINO_PLUGIN[0], handle=runtimes.listed("OpenVINOExecutionProvider", "CPU"))
    options = {"OpenVINOExecutionProvider": {"num_streams": 2}}
    graph, session = compile(monkeypatch, Runtime(), webgpu, openvino, deviceType="gpu", options=options)
    assert session.arguments == {"enable_fallback": 0}
    assert session.options.selected == [([webgpu.handle], {}), ([openvino.handle], {"num_streams": "2"})]
    assert graph.providers == ["WebGpuExecutionProvider", "OpenVINOExecutionProvider", CPU]


@pytest.mark.parametrize(("preference", "threads", "spin"), [("default", 1, "1000"), ("high-performance", 10, None), ("low-power", 2, "0")])
def test_threads(monkeypatch: pytest.MonkeyPatch, preference: str, threads: int, spin: str | None) -> None:
    monkeypatch.setattr("webnn.context.devices.selection.usable_cores", lambda: 10)
    _, session = compile(monkeypatch, Runtime(), deviceType="cpu", powerPreference=preference)
    assert session.options.intra_op_num_threads == threads
    assert session.options.entries.get("session.intra_op.spin_duration_us") == spin


def test_the_engine_knows_how_long_threads_spin(capfd: pytest.CaptureFixture[str]) -> None:
    """It passes over an entry that it does not know, and complains of a value that is not a number for one that it does."""
    entry, options = "session.intra_op.spin_duration_us", session.session_options(SessionSettings())
    assert options.get_session_config_entry(entry) == "1000"
    options.add_session_config_entry(entry, "long")
    options.log_severity_level = 2
    model = parser.parse_model('<ir_version: 10, opset_import: ["": 21]> graph (float[2] x) => (float[2] y) { y = Relu (x) }')
    onnxruntime.InferenceSession(model.SerializeToString(), options, providers=[CPU])
    assert entry in capfd.readouterr().err


def test_threads_of_the_real_engine() -> None:
    for preference in ("default", "high-performance", "low-power"):
        assert compute(ML(revision="2024-06").createContextSync(powerPreference=preference)).tolist() == [[2.0] * 3] * 2


def test_an_engine_that_cannot_tell_what_runs_where(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, session = compile(monkeypatch, Runtime(providers=[CUDA, CPU], recent=False), CUDA_GPU, deviceType="gpu")
    assert "session.record_ep_graph_assignment_info" not in session.options.entries
    assert graph.assignments() is None


def test_the_engine_does_not_fall_back_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider that started when it was tried may not start with options of the user's own, or any more."""
    runtime = Runtime(providers=[CUDA, CPU], failing={CUDA: ""})
    message = r"build: CUDAExecutionProvider did not start with the options {'use_tf32': '0', 'device_id': '7'}"
    with pytest.raises(OperationError, match=message):
        compile(monkeypatch, runtime, CUDA_GPU, deviceType="gpu", options={CUDA: {"device_id": 7}})
    runtime = Runtime(providers=[CUDA, CPU], failing={CUDA: RuntimeError("out of memory")})
    with pytest.raises(OperationError, match="build: the engine refused the graph: out of memory"):
        compile(monkeypatch, runtime, CUDA_GPU, deviceType="gpu")


def test_memory_that_is_still_bound_is_not_bound_again(monkeypatch: pytest.MonkeyPatch) -> None:
    bound = []
    bind = CompiledGraph._bind

    def counting(self: CompiledGraph, method: Callable[..., None], slot: Any, address: int) -> None:
        bound.append(slot.value)
        bind(self, method, slot, address)

    monkeypatch.setattr(CompiledGraph, "_bind", counting)
    context = make_context()
    builder = MLGraphBuilder(context)
    graph = builder.buildSync({"y": builder.relu(builder.input("x", dataType="float32", dimensions=[2]))})
    given = {"x": np.array([1, -1], np.float32)}, {"y": np.zeros(2, np.float32)}
    for _ in range(3):
        result = context.computeSync(graph, *given)
        assert result["outputs"]["y"].tolist() == [1, 0]
        given = result["inputs"], result["outputs"]
    assert len(bound) == 2


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system pins no threads")
def test_threads_that_may_not_be_pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine would complain of each thread if the number were left to it."""

    def refuse(*_: Any) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "sched_setaffinity", refuse)
    monkeypatch.setattr(session, "usable_cores", lambda: 7)
    assert session.session_options(SessionSettings()).intra_op_num_threads == 7
    assert session.session_options(SessionSettings(threads=1)).intra_op_num_threads == 1


@pytest.mark.parametrize(
    ("size", "powerPreference", "threads"),
    [(4096, "default", 1), (4097, "default", 0), (4096, "high-performance", 7), (4097, "high-performance", 7)],
)
def test_threads_of_small_graphs(monkeypatch: pytest.MonkeyPatch, size: int, powerPreference: str, threads: int) -> None:
    """A small graph has one thread, unless the program asks for another number. 0 leaves the number to the engine."""
    counts: list[int] = []
    start = session.start

    def counting(model: bytes, options: Any, *rest: Any) -> Any:
        counts.append(options.intra_op_num_threads)
        return start(model, options, *rest)

    monkeypatch.setattr(session, "start", counting)
    monkeypatch.setattr("webnn.context.devices.selection.usable_cores", lambda: 7)
    context = ML(revision="2024-06").createContextSync(powerPreference=powerPreference)
    builder = MLGraphBuilder(context)
    x = builder.input("x", dataType="float32", dimensions=[1])
    builder.buildSync({"y": builder.relu(builder.expand(x, [size]))})
    # A constant is a value, too.
    builder = MLGraphBuilder(context)
    x = builder.input("x", dataType="float32", dimensions=[1])
    weights = builder.constant({"dataType": "float32", "dimensions": [size]}, np.ones(size, np.float32))
    builder.buildSync({"y": builder.slice(builder.add(x, weights), [0], [1])})
    assert counts == [threads, threads]
