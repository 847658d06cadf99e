"""Profiles of devices: what leaves a device becomes rules, and a driver that ends its process ends no recording."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import webnn
from webnn.browser import command_record, device_record
from webnn.browser.device_record import Placed, make_graph, place_all, place_graph, record_device
from webnn.browser.profile_calls import Call
from webnn.commands import main as cli
from webnn.context.limits import op_support_limits
from webnn.context.placement.assign import simulate
from webnn.context.profiles import Profile, make_profile
from webnn.processes.pool import StartError
from webnn.validation.drafts import for_devices

LIMITS = op_support_limits(for_devices())
#: The operations of the toy device, and what it runs itself.
OPERATIONS = ("relu", "add", "softmax", "resample2d", "cast")
RULES: Mapping[str, Any] = {
    "add": [{"must": {"a": {"dataTypes": ["float32", "float16", "int32"]}}}],
    "resample2d": [{"must": {"mode": {"equals": "nearest-neighbor"}}}],
    "relu": [{"must": {"input": {"rankRange": {"min": 0, "max": 3}}}, "when": {"input": {"dataTypes": ["int32"]}}}],
}


def toy(**members: Any) -> Profile:
    kept = {name: value for name, value in LIMITS.items() if name in OPERATIONS or "dataTypes" in str(name) or name[0].islower()}
    return make_profile("toy", {**kept, "_native": ["relu", "add", "resample2d", "cast"], "_nativeRules": RULES, **members})


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Profile:
    """Make the device a simulated one: the probes get what a profile says."""
    profile = toy()
    context = webnn.ML(revision=for_devices(), fallback="silent").createContextSync()

    def place(deviceType: str, make: Callable[[Call, webnn.MLGraphBuilder], Any], items: Sequence[Call]) -> Iterator[Placed]:
        for item in items:
            graph = webnn.describe(make(item, webnn.MLGraphBuilder(context)))
            yield Placed(graph, simulate(graph, profile, deviceType))

    monkeypatch.setattr(device_record, "place_all", place)
    limits = {name: value for name, value in LIMITS.items() if name in OPERATIONS or name not in webnn.MLGraphBuilder.__dict__ or name in ("input", "constant")}
    monkeypatch.setattr(device_record, "op_support_limits", lambda _: limits)
    return profile


def test_the_rules_of_a_device_are_found(device: Profile) -> None:
    told: list[str] = []
    recorded = record_device("npu", {"summary": "a toy"}, probes=200, tell=told.append)
    assert recorded.unexplained == {}
    assert recorded.probes == 200 * len(OPERATIONS) * len(told)
    assert recorded.data["_native"] == [name for name in LIMITS if name in OPERATIONS and name != "softmax"]
    found = recorded.data["_nativeRules"]
    assert found["add"] == RULES["add"]
    assert found["resample2d"] == RULES["resample2d"]
    [rule] = found["relu"]
    assert rule["must"]["input"]["rankRange"]["max"] == 3
    assert recorded.data["_devices"] == {"cpu": "cpu", "gpu": "cpu", "npu": "npu"}
    # It is a profile.
    assert make_profile("recorded", recorded.data).native_rules.keys() == found.keys()


def relu_or_end(item: str, builder: webnn.MLGraphBuilder) -> Mapping[str, webnn.MLOperand]:
    x = builder.input("x", dataType="float32", shape=[2])
    if item == "refused":
        return {"y": builder.reshape(x, [3])}
    y = builder.relu(x, label=item)
    if item == "dies":
        object.__setattr__(builder, "buildSync", lambda _: os._exit(3))
    return {"y": y}


class Dying(webnn.MLGraphBuilder):
    """A builder whose driver ends the process."""

    def buildSync(self, outputs: Any) -> Any:
        os._exit(3)


@pytest.mark.processes
def test_a_driver_that_ends_its_process_ends_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    items = ["one", "dies", "two", "refused", "three", "dies", "dies", "four"]
    placed = list(place_all("cpu", end_or_relu, items))
    assert len(placed) == len(items)
    named = {each.graph.operators[0].label: each.placement for each in placed if each is not None and each.placement is not None}
    assert sorted(named) == ["four", "one", "three", "two"]
    assert sum(each is None for each in placed) == 1
    assert sum(each is not None and each.placement is None for each in placed) == 3


def end_or_relu(item: str, builder: webnn.MLGraphBuilder) -> Mapping[str, webnn.MLOperand]:
    if item == "dies":
        builder.__class__ = Dying
    return relu_or_end(item if item != "dies" else "one", builder)


@pytest.mark.processes
def test_no_such_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBNN_SIMULATORS", "0")
    with pytest.raises(StartError, match="NotSupportedError"):
        list(place_all("npu", missing, ["x"]))


def missing(item: str, builder: webnn.MLGraphBuilder) -> Mapping[str, webnn.MLOperand]:
    raise AssertionError("no context is made")


def test_graphs_of_earlier_drafts_are_lifted() -> None:
    old = webnn.MLGraphBuilder(webnn.ML(revision="2024-06").createContextSync())
    graph = webnn.describe({"y": old.relu(old.input("x", dataType="float32", dimensions=[2]))})
    notes: list[Any] = []
    context = webnn.ML(revision=for_devices()).createContextSync(deviceType="cpu")
    place_graph(context, lambda builder: make_graph(graph, builder), notes.append)
    assert notes[1].placement.devices == ["cpu"]
    assert notes[0] == notes[1].graph


def test_the_command_writes_a_profile(device: Profile, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(device_record, "describe_device", lambda deviceType: f"A toy {deviceType}")
    file = tmp_path / "toy.json"
    result = CliRunner().invoke(cli.app, ["profiles", "record", "--device", "gpu", "--probes", "60", "-o", str(file)])
    assert result.exit_code == 0, result.output
    assert "4 native operations" in result.stderr
    profile = webnn.context.profiles.load_profile(file)
    assert profile.summary == "A toy gpu, measured"
    assert profile.devices == {"cpu": "cpu", "gpu": "gpu", "npu": "gpu"}
    assert command_record.command.__doc__ is not None
