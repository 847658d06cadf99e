"""The module ``onnxruntime``: its import, its version and what it offers.

It is imported at the first use: ``import webnn`` stays light. Any variant of the package works (``onnxruntime``, ``onnxruntime-gpu``,
``onnxruntime-directml``, ``onnxruntime-openvino``).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from types import MappingProxyType, ModuleType
from typing import Any

from webnn.context.engine import requirement
from webnn.context.engine.requirement import one_line
from webnn.context.selection import Device
from webnn.validation.errors import NotSupportedError

__all__ = ["available_providers", "list_devices", "load", "register_library", "version"]

_DEVICE_TYPES: Mapping[str, str] = MappingProxyType({"CPU": "cpu", "GPU": "gpu", "NPU": "npu"})


@functools.cache
def load() -> ModuleType:
    """Return the module.

    Raises:
        NotSupportedError: There is none, or it is broken or too old.
    """
    try:
        import onnxruntime  # noqa: PLC0415 (loaded at the first use)

        # Removing one of two flavours leaves an empty folder, which imports without an error.
        _ = onnxruntime.InferenceSession
        module: ModuleType = onnxruntime
        old = requirement.too_old(str(module.__version__))
    except Exception as error:  # whatever the import of an extension module raises
        absent = isinstance(error, ModuleNotFoundError) and error.name == "onnxruntime"
        raise NotSupportedError(requirement.missing() if absent else requirement.broken(one_line(error))) from error
    if old:
        raise NotSupportedError(old)
    return module


def version() -> str:
    """Return the engine's version."""
    return str(load().__version__)


def available_providers() -> list[str]:
    """Return the names of the execution providers that the installed engine offers, in its own order."""
    return list(load().get_available_providers())


def register_library(name: str, path: str) -> None:
    """Register the library of a plug-in, for this process.

    Args:
        name: A name for it.
        path: The file.

    Raises:
        Exception: The engine refuses it. A library that is registered already is not an error.
    """
    try:
        load().register_execution_provider_library(name, path)
    except Exception as error:  # the engine's exceptions have no common class
        if "already registered" not in str(error):
            raise


def list_devices() -> list[Device]:
    """Return the devices that the engine lists: of plug-ins, and of some of its own providers. An engine without plug-ins lists none."""
    read = getattr(load(), "get_ep_devices", None)
    return [] if read is None else [_device(each) for each in read() if each.device.type.name in _DEVICE_TYPES]


def _device(listed: Any) -> Device:
    deviceType = _DEVICE_TYPES[listed.device.type.name]
    discrete = dict(listed.device.metadata).get("Discrete") if deviceType == "gpu" else None
    return Device(
        provider=listed.ep_name,
        type=deviceType,
        discrete=None if discrete is None else discrete == "1",
        vendor=listed.device.vendor or listed.ep_vendor,
        plugin=True,
        handle=listed,
    )
