"""Machines that this one is not: inventories whose devices start or fail as a test says, and what a request gets on each."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any

import pytest

from webnn.context.devices.choice import Inventory
from webnn.context.devices.selection import CPU, CUDA, DIRECTML, OPENVINO, WEBGPU, Device, Selection

CPU_DEVICE = Device(provider=CPU, type="cpu", vendor="Intel")
CUDA_GPU = Device(provider=CUDA, type="gpu", discrete=True, vendor="NVIDIA")
DIRECTML_DEVICES = tuple(Device(provider=DIRECTML, type=each, options=MappingProxyType({"device_filter": each})) for each in ("gpu", "npu"))
OPENVINO_DEVICES = tuple(
    Device(provider=OPENVINO, type=each, options=MappingProxyType({"device_type": each.upper()})) for each in ("cpu", "gpu", "npu")
)
WEBGPU_DISCRETE = Device(provider=WEBGPU, type="gpu", discrete=True, vendor="NVIDIA", plugin=True, handle="discrete")
WEBGPU_INTEGRATED = Device(provider=WEBGPU, type="gpu", discrete=False, vendor="Intel", plugin=True, handle="integrated")
OPENVINO_PLUGIN = tuple(
    Device(provider=OPENVINO, type=each, discrete={"gpu": False}.get(each), vendor="Intel", plugin=True, handle=each)
    for each in ("cpu", "gpu", "npu")
)

NO_DEVICE = "is registered, but it found no device"
NO_LIBRARY = "does not load: libcublasLt.so.13: cannot open shared object file"
NOT_HERE = "does not start with device_type"


def make_inventory(
    *devices: Device,
    broken: Mapping[Device, str] | None = None,
    missing: Mapping[str, str] | None = None,
    built_in: Collection[str] = (),
    system: str = "Linux",
) -> Inventory:
    """Make an inventory of these devices and the CPU, in which those in `broken` do not start."""
    failures = broken or {}
    return Inventory(
        [*devices, CPU_DEVICE],
        verify=lambda device: failures.get(device, ""),
        missing=missing or {},
        built_in=[CPU, *built_in],
        system=system,
    )


INVENTORIES: dict[str, Inventory] = {
    "none": make_inventory(),
    "none, Windows": make_inventory(system="Windows"),
    "CUDA": make_inventory(CUDA_GPU),
    "CUDA, Windows": make_inventory(CUDA_GPU, system="Windows"),
    "CUDA is broken": make_inventory(CUDA_GPU, broken={CUDA_GPU: NO_LIBRARY}),
    "DirectML": make_inventory(*DIRECTML_DEVICES, system="Windows"),
    "DirectML without an NPU": make_inventory(*DIRECTML_DEVICES, broken={DIRECTML_DEVICES[1]: "does not start"}, system="Windows"),
    "OpenVINO, CPU only": make_inventory(*OPENVINO_DEVICES, broken={each: f"{NOT_HERE} {each.type}" for each in OPENVINO_DEVICES[1:]}),
    "OpenVINO": make_inventory(*OPENVINO_DEVICES),
    "WebGPU": make_inventory(WEBGPU_INTEGRATED),
    "WebGPU, CUDA is broken": make_inventory(WEBGPU_INTEGRATED, CUDA_GPU, broken={CUDA_GPU: NO_LIBRARY}),
    "WebGPU, two GPUs": make_inventory(WEBGPU_INTEGRATED, WEBGPU_DISCRETE, system="Windows"),
    "OpenVINO plug-in": make_inventory(*OPENVINO_PLUGIN),
    "OpenVINO plug-in, CPU only": make_inventory(OPENVINO_PLUGIN[0]),
    "WebGPU, OpenVINO plug-in, CPU only": make_inventory(OPENVINO_PLUGIN[0], WEBGPU_DISCRETE),
    "WebGPU, OpenVINO": make_inventory(OPENVINO_DEVICES[0], WEBGPU_DISCRETE),
    "plug-ins without a device": make_inventory(missing={WEBGPU: NO_DEVICE, OPENVINO: NO_DEVICE}),
    "CUDA, plug-ins": make_inventory(*OPENVINO_PLUGIN, WEBGPU_INTEGRATED, WEBGPU_DISCRETE, CUDA_GPU, system="Windows"),
}

PREFERENCES = ("default", "high-performance", "low-power")
DIRECTML_GPU = tuple(
    f"gpu: Dml[device_filter=gpu performance_preference={each}], CPU" for each in ("default", "high_performance", "minimum_power")
)
DIRECTML_NPU = tuple(
    f"npu: Dml[device_filter=npu performance_preference={each}], CPU" for each in ("default", "high_performance", "minimum_power")
)
#: On a machine of ten cores.
OPENVINO_CPU = tuple(f"cpu: OpenVINO[device_type=CPU{each}], CPU" for each in ("", " num_of_threads=10", " num_of_threads=2"))

#: Inventory, deviceType, and what each powerPreference gets; one text if it is the same for all.
SELECTIONS: list[tuple[str, str, str | tuple[str, ...]]] = [
    ("none", "cpu", "cpu: CPU"),
    ("none", "gpu", "cpu: CPU"),
    ("none", "npu", "cpu: CPU"),
    ("none, Windows", "cpu", "cpu: CPU"),
    ("none, Windows", "gpu", "cpu: CPU"),
    ("none, Windows", "npu", "cpu: CPU"),
    ("CUDA", "cpu", "cpu: CPU"),
    ("CUDA", "gpu", "gpu: CUDA[use_tf32=0], CPU"),
    ("CUDA", "npu", "gpu: CUDA[use_tf32=0], CPU"),
    ("CUDA, Windows", "cpu", "cpu: CPU"),
    ("CUDA, Windows", "gpu", "gpu: CUDA[use_tf32=0], CPU"),
    ("CUDA, Windows", "npu", "gpu: CUDA[use_tf32=0], CPU"),
    ("CUDA is broken", "cpu", "cpu: CPU"),
    ("CUDA is broken", "gpu", "cpu: CPU"),
    ("CUDA is broken", "npu", "cpu: CPU"),
    ("DirectML", "cpu", "cpu: CPU"),
    ("DirectML", "gpu", DIRECTML_GPU),
    ("DirectML", "npu", DIRECTML_NPU),
    ("DirectML without an NPU", "cpu", "cpu: CPU"),
    ("DirectML without an NPU", "gpu", DIRECTML_GPU),
    ("DirectML without an NPU", "npu", DIRECTML_GPU),
    ("OpenVINO, CPU only", "cpu", OPENVINO_CPU),
    ("OpenVINO, CPU only", "gpu", OPENVINO_CPU),
    ("OpenVINO, CPU only", "npu", OPENVINO_CPU),
    ("OpenVINO", "cpu", OPENVINO_CPU),
    ("OpenVINO", "gpu", "gpu: OpenVINO[device_type=GPU], CPU"),
    ("OpenVINO", "npu", "npu: OpenVINO[device_type=NPU], CPU"),
    ("WebGPU", "cpu", "cpu: CPU"),
    ("WebGPU", "gpu", "gpu: WebGpu[integrated], CPU"),
    ("WebGPU", "npu", "gpu: WebGpu[integrated], CPU"),
    ("WebGPU, CUDA is broken", "cpu", "cpu: CPU"),
    ("WebGPU, CUDA is broken", "gpu", "gpu: WebGpu[integrated], CPU"),
    ("WebGPU, CUDA is broken", "npu", "gpu: WebGpu[integrated], CPU"),
    ("WebGPU, two GPUs", "cpu", "cpu: CPU"),
    ("WebGPU, two GPUs", "gpu", ("gpu: WebGpu[discrete], CPU", "gpu: WebGpu[discrete], CPU", "gpu: WebGpu[integrated], CPU")),
    ("WebGPU, two GPUs", "npu", ("gpu: WebGpu[discrete], CPU", "gpu: WebGpu[discrete], CPU", "gpu: WebGpu[integrated], CPU")),
    ("OpenVINO plug-in", "cpu", "cpu: OpenVINO[cpu], CPU"),
    ("OpenVINO plug-in", "gpu", "gpu: OpenVINO[gpu], CPU"),
    ("OpenVINO plug-in", "npu", "npu: OpenVINO[npu], CPU"),
    ("OpenVINO plug-in, CPU only", "cpu", "cpu: OpenVINO[cpu], CPU"),
    ("OpenVINO plug-in, CPU only", "gpu", "cpu: OpenVINO[cpu], CPU"),
    ("OpenVINO plug-in, CPU only", "npu", "cpu: OpenVINO[cpu], CPU"),
    ("WebGPU, OpenVINO plug-in, CPU only", "cpu", "cpu: OpenVINO[cpu], CPU"),
    ("WebGPU, OpenVINO plug-in, CPU only", "gpu", "gpu: WebGpu[discrete], OpenVINO[cpu], CPU"),
    ("WebGPU, OpenVINO plug-in, CPU only", "npu", "gpu: WebGpu[discrete], OpenVINO[cpu], CPU"),
    # A session has plug-ins or providers of the engine's own, beside the default CPU provider.
    ("WebGPU, OpenVINO", "cpu", OPENVINO_CPU),
    ("WebGPU, OpenVINO", "gpu", "gpu: WebGpu[discrete], CPU"),
    ("WebGPU, OpenVINO", "npu", "gpu: WebGpu[discrete], CPU"),
    ("plug-ins without a device", "cpu", "cpu: CPU"),
    ("plug-ins without a device", "gpu", "cpu: CPU"),
    ("plug-ins without a device", "npu", "cpu: CPU"),
    ("CUDA, plug-ins", "cpu", "cpu: OpenVINO[cpu], CPU"),
    # OpenVINO's integrated GPU comes before WebGPU's.
    ("CUDA, plug-ins", "gpu", ("gpu: CUDA[use_tf32=0], CPU", "gpu: CUDA[use_tf32=0], CPU", "gpu: OpenVINO[gpu], CPU")),
    ("CUDA, plug-ins", "npu", "npu: OpenVINO[npu], CPU"),
]


def install(monkeypatch: pytest.MonkeyPatch, inventory: Inventory) -> None:
    """Make contexts on this inventory, in this process: another one does not have its devices."""
    monkeypatch.setenv("WEBNN_ISOLATE", "0")
    monkeypatch.setattr("webnn.context.engine.discovery.discover", lambda **_: inventory)


def outline(selection: Selection) -> str:
    """Write down what a request got: the device type, the providers with the options, and the handle of a plug-in's device."""
    return f"{selection.device}: {', '.join(_provider(*each) for each in zip(selection.devices, selection.providers, strict=True))}"


def _provider(device: Device, provider: tuple[str, Mapping[str, Any]]) -> str:
    name, options = provider
    assert name == device.provider
    details = [*_handle(device), *(f"{key}={value}" for key, value in options.items())]
    return name.removesuffix("ExecutionProvider") + (f"[{' '.join(details)}]" if details else "")


def _handle(device: Device) -> Iterable[str]:
    return () if device.handle is None else (device.handle,)
