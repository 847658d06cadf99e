"""Devices of WebGPU: the core's own one, those of extras, and those for which an extra makes one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import webnn
from tests.support import refused
from webnn.context.gpu import find_device
from webnn.validation import extras

#: A package with devices of its own, and the extra that makes one of ours for each.
MODULE = """
from webnn.context.gpu import GPUDevice

class Device:
    pass

class Adapted(GPUDevice):
    __slots__ = ("native",)

    def __init__(self, native):
        super().__init__("adapted")
        self.native = native

    def __eq__(self, other):
        return isinstance(other, Adapted) and other.native is self.native

    def __hash__(self):
        return hash(id(self.native))

def adapt(value):
    return Adapted(value) if isinstance(value, Device) else None
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    (tmp_path / "othergpu.py").write_text(MODULE)
    info = tmp_path / "othergpu-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: othergpu\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[webnn.gpus]\nothergpu = othergpu:adapt\n")
    monkeypatch.syspath_prepend(tmp_path)
    extras.find.cache_clear()
    import othergpu  # type: ignore[import-not-found]

    yield othergpu
    extras.find.cache_clear()
    sys.modules.pop("othergpu", None)


def test_its_own_device() -> None:
    device = webnn.GPUDevice("mine")
    assert find_device(device) is device
    context: Any = webnn.ML(revision="2026-09").createContextSync(device)
    with refused(rule="usage", operation="createExportableTensor", argument="gpuDevice"):
        context.createExportableTensorSync({"dataType": "float32", "shape": [1]}, device)
    with pytest.raises(TypeError, match="this GPUDevice has no buffers"):
        device._export(None, print)  # type: ignore[arg-type]  # it looks at nothing


@pytest.mark.parametrize("value", [None, {}, {"accelerated": True}, "gpu", 1, object(), Path()])
def test_anything_else(value: object) -> None:
    assert find_device(value) is None


def test_a_device_of_another_package(package: Any) -> None:
    device, other = package.Device(), package.Device()
    assert find_device(device) == find_device(device) != find_device(other)
    assert find_device(package.adapt) is None
    context: Any = webnn.ML(revision="2026-09").createContextSync(device)
    assert context._state.contextType == "webgpu"
    descriptor = {"dataType": "float32", "shape": [1]}
    # It has no buffers; a device that the context was not made from is refused for that reason.
    with refused(rule="usage", argument="gpuDevice"):
        context.createExportableTensorSync(descriptor, device)
    with refused(rule="conversion", argument="gpuDevice"):
        context.createExportableTensorSync(descriptor, package.adapt)


def test_members_beside_a_device(package: Any) -> None:
    with refused(rule="once", operation="createContext", argument="gpuDevice"):
        webnn.ML().createContextSync(package.Device(), accelerated=True)
