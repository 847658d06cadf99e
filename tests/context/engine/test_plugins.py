"""Plug-ins by name, and their devices in software."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from tests.context.engine.runtimes import Runtime, install, install_plugins, listed
from webnn.context.devices.selection import CPU, OPENVINO, QNN, WEBGPU, Device, Options, Selection
from webnn.context.engine import discovery, plugins, runtime, vulkan
from webnn.context.engine.plugins import PLUGINS, choose_simulated, find_plugin, takes_names
from webnn.validation.errors import NotSupportedError

SOFTWARE = "ORT_WEBGPU_EP_ALLOW_SOFTWARE_ADAPTER"

#: The body of a package, the name to ask for, and the provider that is found, or why there is none.
PACKAGES = [
    ("EP_NAME = 'ggml'\ndef library_path(): return 'ggml.so'", "plugin-of-a-test", "ggml"),
    ("EP_NAME = 'ggml'\ndef get_library_path(): return 'ggml.so'\ndef get_ep_names(): return ['one', 'two']", "plugin_of_a_test", "one"),
    ("def library_path(): return 'x.so'", "plugin-of-a-test", "plugin_of_a_test"),
    ("x = 1", "plugin-of-a-test", "is not a plug-in of ONNX Runtime: it has neither get_library_path() nor library_path()"),
    ("raise SystemExit('no licence')", "plugin-of-a-test", "cannot be imported: no licence"),
    ("x = 1", "another-one", "is not installed"),
    ("x = 1", "another.one", "cannot be imported: No module named 'another'"),
]


@pytest.mark.parametrize(("body", "name", "expected"), PACKAGES)
def test_find_plugin(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, body: str, name: str, expected: str) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "plugin_of_a_test.py").write_text(body)
    monkeypatch.delitem(sys.modules, "plugin_of_a_test", raising=False)
    found = find_plugin(name)
    assert (found if isinstance(found, str) else found.provider) == expected
    monkeypatch.delitem(sys.modules, "plugin_of_a_test", raising=False)


#: A listed device, and what it is without and with simulators: type and name.
LISTED = [
    (WEBGPU, "gpu", ("gpu", ""), ("gpu", "")),
    (WEBGPU, "cpu", None, ("gpu", "llvmpipe")),
    (QNN, "npu", ("npu", ""), ("npu", "")),
    (QNN, "cpu", None, ("npu", "Hexagon simulator")),
    ("ggml", "cpu", ("cpu", ""), ("cpu", "")),
]


@pytest.mark.parametrize(("provider", "deviceType", "plain", "simulated"), LISTED)
def test_a_device_on_the_processor_is_a_simulator(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, provider: str, deviceType: str, plain: Any, simulated: Any
) -> None:
    install_plugins(monkeypatch, tmp_path, webgpu="return 'webgpu.so'", qnn="return 'qnn.so'\ndef get_qnn_htp_path(): return 'htp.so'")
    monkeypatch.setattr(vulkan, "adapter_names", lambda: ["llvmpipe"])
    monkeypatch.setattr(sys, "platform", "linux")
    device = Device(provider=provider, type=deviceType, vendor="AMD", plugin=True, handle="handle")
    for simulators, expected in ((False, plain), (True, simulated)):
        found = choose_simulated(device, simulators=simulators)
        assert (None if found is None else (found.type, found.name)) == expected
        if found is not None:
            assert found.simulated is (found.type != deviceType)
            assert dict(found.options) == ({"backend_path": "htp.so"} if provider == QNN and found.simulated else {})
            assert found.handle == "handle"


def test_the_variable_holds_while_the_library_is_registered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seen: list[tuple[str, str | None]] = []
    monkeypatch.setattr(runtime, "register_library", lambda name, _: seen.append((name, os.environ.get(SOFTWARE))))
    monkeypatch.setattr(vulkan, "find_software_driver", lambda: tmp_path / "lvp_icd.json")
    monkeypatch.delenv(SOFTWARE, raising=False)
    for name in vulkan.VARIABLES:
        monkeypatch.setenv(name, "")
    plugin = install_plugins(monkeypatch, tmp_path, webgpu="return 'webgpu.so'")[WEBGPU]
    for simulators in (False, True):
        assert plugins.register(plugin, simulators=simulators) == "is registered, but it found no device"
    assert seen == [(WEBGPU, None), (f"{WEBGPU}.software", "1")]
    assert SOFTWARE not in os.environ
    assert vulkan.chosen_drivers() == str(tmp_path / "lvp_icd.json")


def test_drivers_that_the_user_chose_stay(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(runtime, "register_library", lambda *_: None)
    monkeypatch.setattr(vulkan, "find_software_driver", lambda: tmp_path / "lvp_icd.json")
    monkeypatch.delenv("VK_DRIVER_FILES", raising=False)
    monkeypatch.setenv("VK_ICD_FILENAMES", "mine.json")
    plugins.register(install_plugins(monkeypatch, tmp_path, webgpu="return 'webgpu.so'")[WEBGPU], simulators=True)
    assert vulkan.chosen_drivers() == "mine.json"


def test_a_simulator_counts_only_where_it_is_asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    engine = Runtime(plugins={"qnn.so": [listed(QNN, "CPU", "AMD")]})
    install(monkeypatch, engine)
    install_plugins(monkeypatch, tmp_path, qnn="return 'qnn.so'\ndef get_qnn_htp_path(): return 'htp.so'")
    without, simulated = (discovery._discover.__wrapped__(simulators) for simulators in (False, True))
    assert [device.provider for device in without.devices] == [CPU]
    assert without.missing[QNN] == "has a simulator only, which no program gets without simulators=True"
    assert [(device.provider, device.type, device.simulated) for device in simulated.devices] == [(QNN, "npu", True), (CPU, "cpu", False)]
    assert QNN not in simulated.missing


def test_a_named_package_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, Runtime())
    with pytest.raises(NotSupportedError, match=r"createContext: plugins names the package 'not_there', which is not installed"):
        discovery._discover.__wrapped__(False, ("not_there",))


def test_a_known_plugin_may_be_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    known = install_plugins(monkeypatch, tmp_path, webgpu="return 'webgpu.so'")
    assert find_plugin("webgpu-of-a-test") is known[WEBGPU]
    assert set(PLUGINS) > {WEBGPU, QNN}


@pytest.mark.parametrize(
    ("accelerators", "expected"),
    [([], True), ([WEBGPU], True), ([QNN], False), (["CUDAExecutionProvider"], False), ([WEBGPU, OPENVINO], False)],
)
def test_which_devices_take_names(accelerators: list[str], expected: bool) -> None:
    devices = [Device(provider=name, type="gpu", plugin=name != "CUDAExecutionProvider") for name in accelerators]
    devices.append(Device(provider=CPU, type="cpu"))
    providers: tuple[tuple[str, Options], ...] = tuple((each.provider, MappingProxyType({})) for each in devices)
    assert takes_names(Selection(requested="gpu", device=devices[0].type, devices=tuple(devices), providers=providers)) is expected
