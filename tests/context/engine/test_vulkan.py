"""Where software drivers of Vulkan lie, and the names of its devices."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import Any

import pytest

from webnn.context.engine import vulkan

LAVAPIPE, CHROMIUM = "share/vulkan/icd.d/lvp_icd.{}.json", ".cache/ms-playwright/chromium-{}/chrome-linux/vk_swiftshader_icd.json"

#: The files that there are, and the one that is chosen.
DRIVERS = [
    ([], ""),
    (["share/vulkan/icd.d/intel_icd.json"], ""),
    ([LAVAPIPE.format("x86_64"), "share/vulkan/icd.d/intel_icd.json"], LAVAPIPE.format("x86_64")),
    ([CHROMIUM.format(1148), CHROMIUM.format(1200)], CHROMIUM.format(1200)),
    ([CHROMIUM.format(1148), LAVAPIPE.format("x86_64")], LAVAPIPE.format("x86_64")),
    ([f"own/{LAVAPIPE.format('i686').removeprefix('share/')}"], f"own/{LAVAPIPE.format('i686').removeprefix('share/')}"),
]


@pytest.mark.parametrize(("files", "chosen"), DRIVERS)
def test_find_software_driver(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, files: list[str], chosen: str) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(vulkan, "FOLDERS", (str(tmp_path / "share/vulkan/icd.d"),))
    monkeypatch.setattr(vulkan, "_BESIDE_CHROMIUM", (f"{tmp_path}/.cache/ms-playwright/chromium*/*/vk_swiftshader_icd.json",))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "own"))
    for name in files:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    assert vulkan.find_software_driver() == (tmp_path / chosen if chosen else None)


@pytest.mark.parametrize("platform", ["win32", "darwin"])
def test_other_systems_need_no_driver(monkeypatch: pytest.MonkeyPatch, platform: str) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    assert vulkan.find_software_driver() is None


class Loader:
    """A stand-in for Vulkan's loader, with two devices."""

    names = ("llvmpipe (LLVM 19)", "\u00e9" * 127)

    def __init__(self, result: int) -> None:
        self.result = result
        self.destroyed = 0

    def vkCreateInstance(self, info: Any, _: None, instance: Any) -> int:
        assert info._obj.sType == 1
        instance._obj.value = 77
        return self.result

    def vkEnumeratePhysicalDevices(self, instance: Any, count: Any, devices: Any) -> int:
        assert instance.value == 77
        count._obj.value = len(self.names)
        if devices is not None:
            devices[:] = range(1, len(self.names) + 1)
        return 0

    def vkGetPhysicalDeviceProperties(self, device: Any, properties: Any) -> None:
        name = self.names[device.value - 1].encode()
        ctypes.memmove(ctypes.addressof(properties) + 20, name, len(name))

    def vkDestroyInstance(self, instance: Any, _: None) -> None:
        self.destroyed += 1


@pytest.mark.parametrize(("result", "names"), [(0, list(Loader.names)), (-9, [])])
def test_names(monkeypatch: pytest.MonkeyPatch, result: int, names: list[str]) -> None:
    loader = Loader(result)
    monkeypatch.setattr(ctypes, "CDLL", lambda _: loader)
    assert vulkan.adapter_names() == names
    assert loader.destroyed == (result == 0)


def test_no_loader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vulkan, "_LOADER", "/not/there/libvulkan.so")
    assert vulkan.adapter_names() == []
