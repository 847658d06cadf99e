"""Builds on several devices: what becomes of a graph that a provider refuses, or runs in parts."""

from __future__ import annotations

import gc
import warnings
from typing import Any

import pytest

from tests.context.devices import inventories
from tests.context.devices.inventories import CUDA_GPU, OPENVINO_DEVICES, make_inventory
from tests.context.engine import runtimes
from tests.context.engine.runtimes import Runtime
from tests.support import make_context, refused
from webnn import ML, InvalidStateError, MLGraph, MLGraphBuilder, NotSupportedError, OperationError, describe
from webnn.context.devices.selection import CPU, CUDA, OPENVINO, DeviceFallbackWarning, FallbackPolicy

REFUSAL = "[ONNXRuntimeError] : 1 : FAIL : This is an invalid model."
REASON = "refused the graph: This is an invalid model."


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Make a machine whose devices start when they are tried, with an engine that does as the test says."""

    def install(runtime: Runtime) -> None:
        inventories.install(monkeypatch, make_inventory(CUDA_GPU, OPENVINO_DEVICES[0]))
        runtimes.install(monkeypatch, runtime)
        # Its sessions compute nothing.
        monkeypatch.setattr("webnn.context.engine_backend.measure_types", lambda *_: {})

    return install


def build(deviceType: str, fallback: FallbackPolicy = "allow", **settings: Any) -> MLGraph:
    context = ML(revision="2024-06", fallback=fallback, **settings).createContextSync(deviceType=deviceType)
    builder = MLGraphBuilder(context)
    x = builder.input("x", dataType="float32", dimensions=[2])
    return builder.buildSync({"y": builder.add(builder.relu(x), x)})


@pytest.mark.parametrize("policy", ["allow", "silent"])
def test_a_provider_that_refuses_the_graph(machine: Any, policy: FallbackPolicy) -> None:
    runtime = Runtime(providers=[CUDA, OPENVINO, CPU], failing={CUDA: RuntimeError(REFUSAL)})
    machine(runtime)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        graph = build("gpu", policy)
    placement = graph.placement
    assert (placement.requested, placement.device, graph.devices) == ("gpu", "gpu", ["cpu"])
    assert [(each.operation, each.device, each.providers, each.reason) for each in placement.strays] == [
        (operation, "cpu", (CPU,), f"{CUDA} {REASON}") for operation in ("relu", "add")
    ]
    assert runtime.sessions[-1].arguments["providers"] == [CPU]
    expected = f'build: 2 operators run elsewhere in a graph for deviceType "gpu": relu on the CPU; add on the CPU: {CUDA} {REASON}'
    assert [str(each.message) for each in caught] == ([expected] if policy == "allow" else [])


def test_a_provider_of_the_cpu_that_refuses_the_graph(machine: Any) -> None:
    """The device is the one that was asked for: nothing fell back, but the placement says why."""
    machine(Runtime(providers=[OPENVINO, CPU], failing={OPENVINO: RuntimeError(REFUSAL)}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        placement = build("cpu").placement
    assert (placement.devices, placement.fallbacks, placement.strays) == (["cpu"], (), ())
    assert placement.reason == f"{OPENVINO} {REASON}"


@pytest.mark.parametrize("deviceType", ["cpu", "gpu"])
def test_a_refusal_is_an_error_where_nothing_may_fall_back(machine: Any, deviceType: str) -> None:
    refused = RuntimeError(REFUSAL)
    machine(Runtime(providers=[CUDA, OPENVINO, CPU], failing={CUDA: refused, OPENVINO: refused}))
    with pytest.raises(OperationError, match="build: the engine refused the graph"):
        build(deviceType, "deny")


@pytest.mark.parametrize("policy", ["allow", "silent", "deny"])
@pytest.mark.parametrize(("deviceType", "provider"), [("cpu", OPENVINO), ("gpu", CUDA)])
def test_a_refusal_of_the_options_is_an_error(machine: Any, deviceType: str, provider: str, policy: FallbackPolicy) -> None:
    """The program asked for them: they are not the provider's fault."""
    machine(Runtime(providers=[CUDA, OPENVINO, CPU], unknown="nonsense"))
    assert build(deviceType, policy, providerOptions={provider: {"device_id": 0}})._implementation is not None
    with pytest.raises(OperationError, match="build: the engine refused the graph: there is no option nonsense"):
        build(deviceType, policy, providerOptions={provider: {"nonsense": 1}})


def test_a_graph_that_every_provider_refuses(machine: Any) -> None:
    machine(Runtime(providers=[CUDA, CPU], failing={CUDA: RuntimeError("CUDA's"), CPU: RuntimeError("the CPU's")}))
    with pytest.raises(OperationError, match="build: the engine refused the graph: the CPU's"):
        build("gpu")


def test_an_operator_that_leaves_the_device(machine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    machine(Runtime(providers=[CUDA, OPENVINO, CPU]))
    assignments = [(CUDA, ["relu#1.0"]), (CPU, ["add#2.0"])]
    monkeypatch.setattr("webnn.context.engine.session.CompiledGraph.assignments", lambda _: assignments)
    message = rf'build: 1 operator runs elsewhere in a graph for deviceType "gpu": add on the CPU: {CUDA} left Add \(float32\) to {CPU}'
    with pytest.warns(DeviceFallbackWarning, match=message) as caught:
        graph = build("gpu")
    # The warning names the program's line.
    assert caught[0].filename == __file__
    assert graph.devices == ["gpu", "cpu"]
    assert [each.operation for each in graph.placement.fallbacks] == ["add"]
    # The input crosses to the GPU, and relu's result back.
    assert graph.placement.transferredBytes == 16
    with refused(OperationError, rule="device", operation="add"):
        build("gpu", "deny")


@pytest.mark.parametrize("policy", ["allow", "silent"])
def test_an_engine_that_does_not_tell(machine: Any, policy: FallbackPolicy) -> None:
    machine(Runtime(providers=[CUDA, OPENVINO, CPU], recent=False))
    graph = build("gpu", policy)
    with pytest.raises(NotSupportedError, match="placement: this version of ONNX Runtime does not tell where it runs operators"):
        _ = graph.devices


def test_nothing_is_promised_with_an_engine_that_does_not_tell(machine: Any) -> None:
    machine(Runtime(providers=[CUDA, OPENVINO, CPU], recent=False))
    with pytest.raises(NotSupportedError, match="build: this version of ONNX Runtime does not tell where it runs operators"):
        build("gpu", "deny")


def test_a_graph_describes_itself() -> None:
    """A graph keeps what it was made of, though the program drops its operands, until it is destroyed."""
    context = make_context("2026-06")
    builder = MLGraphBuilder(context)
    x = builder.input("x", dataType="float32", shape=[2])
    outputs = {"y": builder.relu(builder.add(x, x, label="sum"))}
    expected = describe(outputs)
    graph = builder.buildSync(outputs)
    del builder, x, outputs
    gc.collect()
    assert graph.description == expected
    graph.destroy()
    with refused(InvalidStateError, rule="destroyed", operation="description"):
        _ = graph.description


def test_compilations_are_counted() -> None:
    context = make_context("2026-06+dynamic-shapes")
    compilations = context._state.compilations
    for count in (1, 2):
        builder = MLGraphBuilder(context)
        builder.buildSync({"y": builder.relu(builder.input("x", dataType="float32", shape=[2]))})
        assert compilations.count == count
    assert compilations.seconds > 0
    builder = MLGraphBuilder(context)
    graph = builder.buildSync({"y": builder.relu(builder.input("x", dataType="float32", shape=["n"]))})
    assert compilations.count == 2
    for size in (3, 4):
        tensors = [context.createTensorSync(dataType="float32", shape=[size]) for _ in range(2)]
        context.dispatch(graph, {"x": tensors[0]}, {"y": tensors[1]})
    assert compilations.count == 3
