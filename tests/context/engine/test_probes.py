"""Which types a device computes, and where graphs of others run: on a stand-in for the engine, and on a real device where there is one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnx
import pytest

from tests.context.devices.inventories import WEBGPU_DISCRETE, WEBGPU_INTEGRATED, make_inventory
from tests.context.engine import runtimes
from tests.context.engine.runtimes import Options, Runtime, Session
from webnn import ML, MLContext, MLGraph, MLGraphBuilder, OperationError
from webnn.context.devices.selection import CPU, WEBGPU, Device
from webnn.context.engine import discovery, probes
from webnn.context.engine.cache import digest
from webnn.context.engine.cache.folder import Folder
from webnn.context.engine.cache.models import ModelCache

HANDLE = runtimes.listed(WEBGPU, "GPU", "NVIDIA")
GPU = replace(WEBGPU_DISCRETE, handle=HANDLE)
NUMBERS: dict[int, str] = {onnx.TensorProto.FLOAT: "float32", onnx.TensorProto.FLOAT16: "float16", onnx.TensorProto.INT64: "int64"}
MESSAGE = (
    "[ONNXRuntimeError] : 1 : FAIL : Non-zero status code returned while running Add node. Name:'probe#0.0' "
    "Status Message: shader_helper.cc:416 GenerateSourceCode Program Add requires f16 but the device does not support it."
)


@dataclass
class Computing(Session):
    """A session that computes sums and conversions, and assigns its nodes as a plug-in does."""

    model: onnx.ModelProto = field(kw_only=True)
    fails: Callable[[str, str], str] = field(kw_only=True)
    adds: str = field(default="", kw_only=True)

    def run(self, names: None, inputs: dict[str, np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
        [node], [output] = self.model.graph.node, self.model.graph.output
        dataType = NUMBERS[output.type.tensor_type.elem_type]
        if why := self.fails(node.op_type, dataType):
            raise RuntimeError(why)
        return [(inputs["x"] * (2 if node.op_type == "Add" else 1)).astype(dataType)]

    def get_provider_graph_assignment_info(self) -> list[Any]:
        kept = self.options.selected[0][1].get("forceCpuNodeNames", "").split("\n") if self.options.selected else []
        names = [node.name for node in self.model.graph.node]
        groups = {WEBGPU: [name for name in names if name not in kept], CPU: [name for name in names if name in kept]}
        groups[WEBGPU] += [self.adds] if self.adds else []
        return [
            SimpleNamespace(ep_name=provider, get_nodes=lambda found=found: [SimpleNamespace(name=name) for name in found])
            for provider, found in groups.items()
        ]


@dataclass
class Device16(Runtime):
    """An engine with a GPU.

    Attributes:
        fails: Says why a node of an operator and a type fails when it runs.
        lacks: The operators and types without a kernel.
        adds: A node that the engine makes itself and gives to the GPU.
    """

    fails: Callable[[str, str], str] = lambda _, dataType: MESSAGE if dataType == "float16" else ""
    lacks: tuple[tuple[str, str], ...] = ()
    adds: str = ""

    def start(self, model: bytes, options: Options, **arguments: Any) -> Session:
        session = super().start(model, options, **arguments)
        proto = onnx.ModelProto.FromString(model)
        if "session.disable_cpu_ep_fallback" in options.entries:
            found = proto.graph.node[0].op_type, NUMBERS[proto.graph.output[0].type.tensor_type.elem_type]
            if found in self.lacks:
                raise RuntimeError("This session contains graph nodes that are assigned to the default CPU EP")
        self.sessions[-1] = made = Computing(
            session.options, session.arguments, session.started, model=proto, fails=self.fails, adds=self.adds
        )
        return made


@pytest.fixture(autouse=True)
def _forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin without facts: they are kept for the process."""
    monkeypatch.setattr(probes, "_known", functools.cache(probes._known.__wrapped__))


def probed(runtime: Runtime) -> int:
    return sum("session.disable_cpu_ep_fallback" in session.options.entries for session in runtime.sessions)


@pytest.mark.parametrize(
    ("runtime", "reason"),
    [
        (Device16(), "Program Add requires f16 but the device does not support it"),
        (Device16(lacks=(("Add", "float16"),)), "Program Add requires f16 but the device does not support it"),
        (Device16(lacks=(("Add", "float16"), ("Cast", "float16"))), ""),
        (Device16(fails=lambda *_: ""), ""),
        (Device16(fails=lambda op_type, _: "no memory" if op_type == "Cast" else ""), "no memory"),
    ],
)
def test_a_type_fails_if_the_device_has_a_kernel_that_fails(monkeypatch: pytest.MonkeyPatch, runtime: Runtime, reason: str) -> None:
    runtimes.install(monkeypatch, runtime)
    assert probes.measure(GPU, {}, ["float16", "uint4"]) == {"float16": reason}


def test_wrong_numbers_are_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    runtimes.install(monkeypatch, Device16(fails=lambda *_: ""))
    monkeypatch.setattr(Computing, "run", lambda *_: [np.float16([2, 0])])
    assert probes.measure(GPU, {}, ["float16"]) == {"float16": "Add of ones gives [2.0, 0.0]"}


@pytest.mark.parametrize(("sum", "fails"), [(2 + 2**-22, False), (2 + 2**-9, False), (2 + 2**-7, True)])
def test_a_chip_may_compute_float32_with_the_precision_of_float16(monkeypatch: pytest.MonkeyPatch, sum: float, fails: bool) -> None:
    runtimes.install(monkeypatch, Device16(fails=lambda *_: "", lacks=(("Cast", "float32"),)))
    monkeypatch.setattr(Computing, "run", lambda *_: [np.float32([sum, sum])])
    assert bool(probes.measure(GPU, {}, ["float32"])["float32"]) is fails


def test_integers_are_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    runtimes.install(monkeypatch, Device16(fails=lambda *_: "", lacks=(("Cast", "int64"),)))
    monkeypatch.setattr(Computing, "run", lambda *_: [np.int64([2, 3])])
    assert probes.measure(GPU, {}, ["int64"]) == {"int64": "Add of ones gives [2, 3]"}


def test_each_type_of_a_device_is_probed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    runtimes.install(monkeypatch, runtime := Device16(fails=lambda *_: ""))
    probes.measure(GPU, {}, ["float16"])
    first = probed(runtime)
    assert probes.measure(GPU, {}, ["float16", "int64"]) == {"float16": "", "int64": ""}
    assert probed(runtime) == 2 * first
    probes.measure(replace(WEBGPU_INTEGRATED, handle=HANDLE), {}, ["float16"])
    assert probed(runtime) == 3 * first


def test_a_cache_keeps_the_facts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    driver = tmp_path / "driver.json"
    driver.write_text("1")
    monkeypatch.setenv("VK_ICD_FILENAMES", str(driver))
    monkeypatch.setattr(digest, "_engine", lambda: "1.99.0")
    runtimes.install(monkeypatch, runtime := Device16())

    def measure(device: Device = GPU) -> tuple[str, int]:
        """Measure as another process does; return the reason and the number of sessions."""
        probes._known.cache_clear()
        before = probed(runtime)
        cache = ModelCache(Folder(tmp_path / "cache", 10**6))
        return probes.measure(device, {}, ["float16"], cache)["float16"], probed(runtime) - before

    reason, count = measure()
    assert (bool(reason), count > 0) == (True, True)
    assert measure() == (reason, 0)
    # Another device, another driver, a damaged file.
    assert measure(replace(WEBGPU_INTEGRATED, handle=HANDLE)) == (reason, count)
    driver.write_text("22")
    assert measure() == (reason, count)
    assert measure() == (reason, 0)
    for file in (tmp_path / "cache").iterdir():
        file.write_bytes(file.read_bytes()[:-1] + b"?")
    assert measure() == (reason, count)
    # A valid file with facts that are not valid.
    monkeypatch.setattr(probes, "write_facts", lambda _: b'{"float16": 7}')
    for file in (tmp_path / "cache").iterdir():
        file.unlink()
    assert measure() == (reason, count)
    assert measure() == (reason, count)


def context(monkeypatch: pytest.MonkeyPatch, runtime: Runtime, policy: Any) -> MLContext:
    runtimes.install(monkeypatch, runtime)
    monkeypatch.setattr(discovery, "discover", lambda **_: make_inventory(GPU))
    return ML(fallback=policy).createContextSync(deviceType="gpu")


def build(context: MLContext) -> MLGraph:
    """Build a graph with float16 in its middle."""
    b = MLGraphBuilder(context)
    half = b.cast(b.abs(b.input("x", dataType="float32", shape=[2])), "float16")
    return b.buildSync({"y": b.neg(b.cast(b.relu(half, label="half"), "float32"))})


def test_operators_of_a_failing_type_run_on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    placement = build(context(monkeypatch, Device16(), "silent")).placement
    assert [each.device for each in placement.operators] == ["gpu", "cpu", "cpu", "cpu", "gpu"]
    assert all("does not compute float16 here: Program Add" in each.reason for each in placement.strays)


@pytest.mark.parametrize(
    ("runtime", "limit"),
    [(Device16(adds="Transpose_token_3"), 8192), (Device16(), 20)],
    ids=["the engine makes a node of its own", "too many nodes for the option"],
)
def test_a_graph_whose_nodes_cannot_be_kept_runs_on_the_cpu(monkeypatch: pytest.MonkeyPatch, runtime: Runtime, limit: int) -> None:
    monkeypatch.setattr("webnn.context.engine.plugins._LONGEST_VALUE", limit)
    graph = build(context(monkeypatch, runtime, "silent"))
    assert (graph.devices, len(graph.placement.strays)) == (["cpu"], 5)
    assert "does not compute float16 here" in graph.placement.reason
    assert "Program Add" in str(graph.placement)
    assert runtime.sessions[-1].arguments["providers"] == [CPU]


def test_a_graph_of_nothing_else_needs_no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    made = context(monkeypatch, runtime := Device16(), "silent")
    b = MLGraphBuilder(made)
    graph = b.buildSync({"y": b.relu(b.input("x", dataType="float16", shape=[2]))})
    assert graph.devices == ["cpu"]
    assert len(runtime.sessions) == probed(runtime) + 1


def test_the_policy_deny_refuses_the_operator_and_its_type(monkeypatch: pytest.MonkeyPatch) -> None:
    made = context(monkeypatch, runtime := Device16(), "deny")
    with pytest.raises(OperationError, match='build: cast takes or makes float16, and the fallback policy "deny" refuses') as info:
        build(made)
    assert (info.value.operation, info.value.rule) == ("cast", "device")
    assert len(runtime.sessions) == probed(runtime)


@pytest.mark.parametrize(("policy", "found"), [("deny", False), ("silent", True)])
def test_limits_have_the_types_that_something_computes(monkeypatch: pytest.MonkeyPatch, policy: str, found: bool) -> None:
    monkeypatch.setattr(probes, "measure", None)
    runtime = Device16(fails=lambda _, dataType: MESSAGE if dataType == "float16" else "", lacks=(("Add", "int8"),))
    monkeypatch.setattr("webnn.context.engine_backend.measure_types", lambda *_: {"float32": "", "float16": "no f16"})
    limits = context(monkeypatch, runtime, policy).opSupportLimits()
    rows = [limits["input"], limits["relu"]["input"], limits["where"]["output"]]
    assert ["float16" in row["dataTypes"] for row in rows] == [found] * 3
    assert all("float32" in row["dataTypes"] for row in rows)


@pytest.mark.processes
@pytest.mark.simulators("gpu")
def test_a_real_device_computes_float16_or_leaves_it() -> None:
    # The probes need the engine's own object for the device, which only the process with the sessions has.
    made = ML(simulators=True, isolate=False, fallback="silent").createContextSync(deviceType="gpu")
    graph = build(made)
    devices = {each.device for each in graph.placement.operators[1:4]}
    facts = probes.measure(made._state.selection.devices[0], {}, ["float16"])
    assert devices == ({"cpu"} if facts["float16"] else {"gpu"})
    assert graph.run(x=np.float32([-3, 2]))["y"].tolist() == [-3, -2]
