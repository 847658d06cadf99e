"""Discovery: the devices that the engine of this machine offers, by its own providers and by plug-ins."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import threading
from collections.abc import Mapping
from types import MappingProxyType

from webnn.context.devices.inventory import Inventory
from webnn.context.engine import probe, runtime
from webnn.context.engine.requirement import one_line
from webnn.context.selection import CPU, CUDA, DIRECTML, OPENVINO, WEBGPU, Device

__all__ = ["PLUGINS", "discover"]

#: Plug-ins: the provider that each brings, and its package, whose ``get_library_path()`` says what to register.
PLUGINS: Mapping[str, str] = MappingProxyType({WEBGPU: "onnxruntime_ep_webgpu", OPENVINO: "onnxruntime_ep_openvino"})
#: The devices that providers built into the engine may have. Only a try shows whether a device exists.
_BUILT_IN = (
    Device(provider=CUDA, type="gpu", discrete=True, vendor="NVIDIA"),
    Device(provider=OPENVINO, type="cpu", options=MappingProxyType({"device_type": "CPU"})),
    Device(provider=OPENVINO, type="gpu", options=MappingProxyType({"device_type": "GPU"}), vendor="Intel"),
    Device(provider=OPENVINO, type="npu", options=MappingProxyType({"device_type": "NPU"}), vendor="Intel"),
    Device(provider=DIRECTML, type="gpu", options=MappingProxyType({"device_filter": "gpu"})),
    Device(provider=DIRECTML, type="npu", options=MappingProxyType({"device_filter": "npu"})),
)
#: Providers whose devices the engine lists, but which are chosen by their names.
_BY_NAME = {CPU, DIRECTML}
_LOCK = threading.Lock()


def discover() -> Inventory:
    """Return what exists on this machine. The first call of a process registers the plug-ins that are installed.

    Raises:
        NotSupportedError: No engine is installed.
    """
    with _LOCK:
        return _discover()


@functools.cache
def _discover() -> Inventory:
    built_in = runtime.available_providers()
    # Plug-ins that the program registered itself are listed already.
    before = {device.provider for device in runtime.list_devices()}
    missing = {provider: reason for provider in PLUGINS if provider not in before and (reason := _register(provider))}
    listed = runtime.list_devices()
    plugins = [device for device in listed if device.provider not in _BY_NAME]
    # A provider that is there in both ways is used as a plug-in: that one knows its devices.
    known = {device.provider for device in plugins}
    cpu = next((Device(provider=CPU, type="cpu", vendor=device.vendor) for device in listed if device.provider == CPU), None)
    devices = [
        *plugins,
        *(device for device in _BUILT_IN if device.provider in built_in and device.provider not in known),
        Device(provider=CPU, type="cpu") if cpu is None else cpu,
    ]
    found = {device.provider for device in devices}
    return Inventory(
        devices,
        verify=probe.find_failure,
        missing=MappingProxyType({provider: reason for provider, reason in missing.items() if provider not in found}),
        built_in=built_in,
    )


def _register(provider: str) -> str:
    """Register a plug-in if it is installed.

    Returns:
        The reason to report if no device of it is listed; an empty string if it is not installed.
    """
    package = PLUGINS[provider]
    try:
        if importlib.util.find_spec(package) is None:
            return ""
        runtime.register_library(provider, str(importlib.import_module(package).get_library_path()))
    except (Exception, SystemExit) as error:  # whatever a plug-in does, the other providers work
        return f"does not register: {one_line(error)}"
    return "is registered, but it found no device"
