"""Graphs whose session a device refuses: on a stand-in for the engine, and on a real device where there is one."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
import onnx
import pytest

from tests.context.devices.inventories import WEBGPU_DISCRETE, make_inventory
from tests.context.engine import runtimes
from tests.context.engine.runtimes import Options, Runtime, Session
from webnn import ML, MLContext, MLGraph, MLGraphBuilder, OperationError
from webnn.context.devices.selection import CPU, QNN, WEBGPU
from webnn.context.engine import discovery, trials
from webnn.context.engine.cache import digest

GPU = replace(WEBGPU_DISCRETE, handle=runtimes.listed(WEBGPU, "GPU", "NVIDIA"))
NPU = replace(GPU, provider=QNN, type="npu", handle=runtimes.listed(QNN, "NPU", "Qualcomm"))
Types = Sequence[str]


@dataclass
class Assigned(Session):
    """A session that has given nodes to a device."""

    given: tuple[str, ...] = ()
    left: tuple[str, ...] = ()

    def get_provider_graph_assignment_info(self) -> list[Any]:
        groups = {self.started[0]: self.given, CPU: self.left}
        return [
            SimpleNamespace(ep_name=provider, get_nodes=lambda names=names: [SimpleNamespace(name=name) for name in names])
            for provider, names in groups.items()
        ]


@dataclass
class Refusing(Runtime):
    """An engine with a device that refuses sessions with some nodes.

    Attributes:
        refuses: Says whether the device refuses a session with nodes of these ONNX operators.
    """

    refuses: Callable[[Types], bool] = lambda _: False

    def start(self, model: bytes, options: Options, **arguments: Any) -> Session:
        session = super().start(model, options, **arguments)
        if not options.selected:
            return session
        graph = onnx.ModelProto.FromString(model).graph
        [(_, settings)] = options.selected
        # The WebGPU provider is told which nodes it must not get; the QNN provider takes none with values of unknown shapes.
        left = set(settings.get("forceCpuNodeNames", "").split("\n"))
        unknown = {each.name for each in graph.initializer} & {each.name for each in graph.input}
        dynamic: set[str] = set()
        for node in graph.node:
            if unknown.intersection(node.input) or dynamic.intersection(node.input):
                left.add(node.name)
                dynamic.update({*node.output} - {each.name for each in (*graph.value_info, *graph.output)})
        given = [node for node in graph.node if node.name not in left]
        if self.refuses([node.op_type for node in given]):
            raise RuntimeError("[ONNXRuntimeError] : 11 : EP_FAIL : no memory")
        names = tuple(node.name for node in given)
        made = Assigned(session.options, session.arguments, session.started, names, tuple(left & {node.name for node in graph.node}))
        self.sessions[-1] = made
        return made


@pytest.fixture(autouse=True)
def _forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin without forms, and without probes of types."""
    monkeypatch.setattr(trials, "_known", functools.cache(trials._known.__wrapped__))
    monkeypatch.setattr("webnn.context.engine_backend.measure_types", lambda *_: {})
    monkeypatch.setattr("webnn.context.engine_backend.find_failure", lambda *_: "")
    monkeypatch.setattr("importlib.metadata.version", lambda _: "1.0")


def context(
    monkeypatch: pytest.MonkeyPatch, runtime: Runtime, deviceType: Literal["gpu", "npu"], policy: Any = "silent", **more: Any
) -> MLContext:
    runtimes.install(monkeypatch, runtime)
    monkeypatch.setattr(discovery, "discover", lambda **_: make_inventory(GPU, NPU))
    return ML(fallback=policy, **more).createContextSync(deviceType=deviceType)


def build(context: MLContext) -> MLGraph:
    """Build a chain of six operators."""
    b = MLGraphBuilder(context)
    value = b.abs(b.input("x", dataType="float32", shape=[2, 3]))
    value = b.cos(b.exp(b.neg(value), label="one"))
    return b.buildSync({"y": b.tanh(b.exp(value, label="two"))})


def left(graph: MLGraph) -> list[str]:
    return [each.label or each.operation for each in graph.placement.strays]


def has(*names: str) -> Callable[[Types], bool]:
    return lambda types: {*names} <= {*types}


@pytest.mark.parametrize("deviceType", ["gpu", "npu"])
@pytest.mark.parametrize(
    ("refuses", "expected"),
    [
        (has("Cos"), ["cos"]),
        (has("Exp"), ["one", "two"]),
        (has("Abs", "Cos"), ["cos"]),
        (has("Neg", "Tanh"), ["tanh"]),
        (lambda types: types.count("Exp") > 1, ["two"]),
        (lambda types: len(types) > 3, ["cos", "two", "tanh"]),
        (lambda types: "Cos" in types or types.count("Exp") > 1, ["cos", "two"]),
    ],
)
def test_only_the_refused_operators_leave_the_device(
    monkeypatch: pytest.MonkeyPatch, deviceType: Literal["gpu", "npu"], refuses: Callable[[Types], bool], expected: list[str]
) -> None:
    graph = build(context(monkeypatch, Refusing(refuses=refuses), deviceType))
    assert left(graph) == expected
    assert all("refused it: " in each.reason and "no memory" in each.reason for each in graph.placement.strays)
    assert graph.placement.reason == ""


@pytest.mark.parametrize("deviceType", ["gpu", "npu"])
def test_a_form_that_failed_is_not_tried_again(monkeypatch: pytest.MonkeyPatch, deviceType: Literal["gpu", "npu"]) -> None:
    made = context(monkeypatch, runtime := Refusing(refuses=has("Cos")), deviceType)
    build(made)
    assert len(runtime.sessions) > 5
    runtime.sessions.clear()
    assert left(build(made)) == ["cos"]
    assert len(runtime.sessions) == 1


def test_a_cache_keeps_the_forms(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(digest, "_engine", lambda: "1.99.0")
    runtime = Refusing(refuses=has("Cos"))

    def count() -> int:
        """Build as another process does; return the number of sessions."""
        trials._known.cache_clear()
        runtime.sessions.clear()
        assert left(build(context(monkeypatch, runtime, "npu", cache=tmp_path))) == ["cos"]
        return len(runtime.sessions)

    first = count()
    assert first > count() == 1
    for file in tmp_path.iterdir():
        file.write_bytes(file.read_bytes()[:-1] + b"?")
    assert count() == first


@pytest.mark.parametrize(
    ("deviceType", "refuses"), [("npu", lambda _: True), ("gpu", lambda _: True), ("npu", lambda types: len(types) > 1 and "Abs" in types)]
)
def test_a_device_that_refuses_too_much_gets_nothing(
    monkeypatch: pytest.MonkeyPatch, deviceType: Literal["gpu", "npu"], refuses: Callable[[Types], bool]
) -> None:
    monkeypatch.setattr(trials, "_MOST", 2)
    graph = build(context(monkeypatch, Refusing(refuses=refuses), deviceType))
    assert (graph.devices, len(left(graph))) == (["cpu"], 6)
    assert "no memory" in graph.placement.reason


def test_the_policy_deny_names_the_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    made = context(monkeypatch, Refusing(refuses=has("Cos")), "npu", "deny")
    with pytest.raises(OperationError, match=r"cos would run on the CPU .* refused it: .*no memory") as info:
        build(made)
    assert (info.value.operation, info.value.rule) == ("cos", "device")


@pytest.mark.simulators("npu")
def test_a_real_device_runs_what_it_does_not_refuse() -> None:
    b = MLGraphBuilder(ML(simulators=True, fallback="silent").createContextSync(deviceType="npu"))
    x, values = b.input("x", dataType="float32", shape=[3, 4]), np.arange(12, dtype=np.float32).reshape(3, 4)
    updates, indices = b.input("u", dataType="float32", shape=[1, 4]), b.input("i", dataType="int32", shape=[1, 4])
    graph = b.buildSync({"y": b.neg(b.scatterElements(b.abs(x), indices, updates))})
    assert [each.device for each in graph.placement.operators] == ["npu", "cpu", "npu"]
    expected = np.abs(-values)
    expected[[0, 2, 1, 0], range(4)] = 7
    found = graph.run(x=-values, u=np.full((1, 4), 7, np.float32), i=np.int32([[0, 2, 1, 0]]))["y"]
    np.testing.assert_array_equal(found, -expected)
