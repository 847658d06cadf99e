"""Profiles of devices: what leaves a device becomes rules, and a driver that ends its process ends no recording."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import webnn
from webnn.browser import device_record
from webnn.browser.device_record import Placed, make_graph, place_all, place_graph, record_device
from webnn.browser.profile_calls import Call
from webnn.commands import main as cli
from webnn.context.limits import CONTEXT, op_support_limits
from webnn.context.placement.assign import simulate
from webnn.context.profiles import Profile, load_profile, make_profile
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
    return make_profile("toy", {**LIMITS, "_native": ["relu", "add", "resample2d", "cast"], "_nativeRules": RULES, **members})


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Profile:
    """Make the device a simulated one: the probes get what a profile says."""
    profile = toy()
    context = webnn.ML(revision=for_devices(), fallback="silent").createContextSync()

    def place(deviceType: str, make: Callable[[Call, webnn.MLGraphBuilder], Any], items: Sequence[Call], _: object) -> Iterator[Placed]:
        for item in items:
            graph = webnn.describe(make(item, webnn.MLGraphBuilder(context)))
            yield Placed(graph, simulate(graph, profile, deviceType))

    monkeypatch.setattr(device_record, "place_all", place)
    limits = {name: value for name, value in LIMITS.items() if name in (*OPERATIONS, *CONTEXT)}
    monkeypatch.setattr(device_record, "op_support_limits", lambda _: limits)
    return profile


def test_the_rules_of_a_device_are_found(device: Profile) -> None:
    told: list[str] = []
    recorded = record_device("npu", {"summary": "a toy"}, probes=200, tell=told.append)
    assert recorded.unexplained == {}
    assert recorded.probes == 200 * (len(OPERATIONS) + 3) * len(told)
    assert recorded.data["_native"] == [name for name in LIMITS if name in OPERATIONS and name != "softmax"]
    found = recorded.data["_nativeRules"]
    assert found["add"] == RULES["add"]
    assert found["resample2d"] == RULES["resample2d"]
    [rule] = found["relu"]
    assert rule["must"]["input"]["rankRange"]["max"] == 3
    assert recorded.data["_devices"] == {"cpu": "cpu", "gpu": "cpu", "npu": "npu"}
    # It is a profile.
    assert make_profile("recorded", recorded.data).native_rules.keys() == found.keys()


def _end(*_: object) -> Any:
    """End the process as a driver does."""
    os._exit(3)


def make(item: str, builder: webnn.MLGraphBuilder) -> Mapping[str, webnn.MLOperand]:
    """Make a graph; or one that is refused, or ends the process, or end the process at once, or fail."""
    if item == "ends":
        os._exit(3)
    if item == "fails":
        raise AssertionError("a fault")
    x = builder.input("x", dataType="float32", shape=[2])
    if item == "refused":
        return {"y": builder.reshape(x, [3])}
    if item == "dies":
        webnn.MLGraphBuilder.buildSync = _end  # type: ignore[assignment, method-assign]  # in a process that ends now
    return {"y": builder.relu(x, label=item)}


@pytest.mark.processes
def test_a_driver_that_ends_its_process_ends_nothing_else() -> None:
    items = ["one", "dies", "two", "refused", "ends", "three", "dies", "dies", "four"]
    placed = list(place_all("cpu", make, items))
    assert len(placed) == len(items)
    built = [each for each in placed if each is not None]
    assert sorted(each.graph.operators[0].label for each in built if each.placement is not None) == ["four", "one", "three", "two"]
    assert [each.graph.operators[0].label for each in built if each.placement is None] == ["dies"] * 3


@pytest.mark.processes
def test_a_fault_is_not_the_driver_s() -> None:
    with pytest.raises(RuntimeError, match="a fault"):
        list(place_all("cpu", make, ["one", "fails"]))


def test_graphs_of_earlier_drafts_are_lifted() -> None:
    old = webnn.MLGraphBuilder(webnn.ML(revision="2024-06").createContextSync())
    graph = webnn.describe({"y": old.relu(old.input("x", dataType="float32", dimensions=[2]))})
    notes: list[Any] = []
    context = webnn.ML(revision=for_devices()).createContextSync(deviceType="cpu")
    place_graph(context, lambda builder: make_graph(graph, builder), notes.append)
    assert notes[1].placement.devices == ["cpu"]
    assert notes[0] == notes[1].graph


def test_the_command_writes_a_profile(device: Profile, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(device_record, "describe_device", lambda deviceType, options: f"A toy {deviceType}, {options}")
    file = tmp_path / "toy.json"
    command = ["profiles", "record", "--device", "gpu", "--provider-option", "Toy:chip=60", "--probes", "60", "-o", str(file)]
    result = CliRunner().invoke(cli.app, command)
    assert result.exit_code == 0, result.output
    assert "4 native operations" in result.stderr
    profile = load_profile(file)
    assert profile.summary == "A toy gpu, {'Toy': {'chip': '60'}}, measured"
    assert profile.devices == {"cpu": "cpu", "gpu": "gpu", "npu": "gpu"}


@pytest.mark.parametrize("text", ["", "Toy", "Toy:chip", "chip=60", "Toy chip=60"])
def test_an_option_for_a_provider_has_three_parts(text: str) -> None:
    result = CliRunner().invoke(cli.app, ["profiles", "record", "--device", "gpu", "--provider-option", text])
    assert result.exit_code == 2
    assert "PROVIDER:NAME=VALUE" in result.output
