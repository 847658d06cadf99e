"""The devices that tests and recorded cases run on."""

from __future__ import annotations

from typing import Literal

import pytest

import webnn
from webnn.context.devices.selection import CPU
from webnn.wpt_runner.devices import find_device, select_device


@pytest.fixture(autouse=True)
def without_simulators(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBNN_SIMULATORS", "0")


def test_the_cpu() -> None:
    found = find_device("cpu")
    assert (found.device.provider, found.profile, found.notes) == (CPU, "", ())


def test_a_device_of_a_profile() -> None:
    """The CPU computes; a fallback is that of the profile."""
    with webnn.emulate(profile="coreml"):
        found = find_device("npu")
    assert (found.device.provider, found.profile) == (CPU, "coreml")
    assert found.notes == ()


def test_a_device_that_is_not_there() -> None:
    [note] = find_device("npu").notes
    assert 'deviceType "npu" runs on' in note
    with webnn.emulate(fallback="deny"), pytest.raises(webnn.NotSupportedError):
        find_device("npu")
    # Nothing is refused here: expectations only ask which provider they are about.
    with webnn.emulate(fallback="deny"):
        assert select_device("npu") == find_device("cpu").device


@pytest.mark.parametrize("deviceType", [pytest.param(each, marks=pytest.mark.simulators(each)) for each in ("gpu", "npu")])
def test_a_simulator(deviceType: Literal["gpu", "npu"]) -> None:
    with webnn.emulate(simulators=True):
        found = find_device(deviceType)
    assert (found.device.type, found.device.simulated, found.notes) == (deviceType, True, ())
    assert found.device.name
