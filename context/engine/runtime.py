"""The module ``onnxruntime``: which version is needed, its import, what it offers, and the messages about it and about its errors.

It is imported at the first use: ``import webnn`` stays light. Any variant of the package works (``onnxruntime``, ``onnxruntime-gpu``,
``onnxruntime-directml``, ``onnxruntime-openvino``).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from types import MappingProxyType, ModuleType
from typing import Any

from webnn.context.devices.selection import Device
from webnn.validation.errors import NotSupportedError

__all__ = ["LOWEST", "available_providers", "is_older", "list_devices", "load", "one_line", "register_library", "version"]

#: The lower limit in pyproject.toml. Older versions lack functions and kernels, and compute wrong values (docs/install.md).
LOWEST = (1, 31, 0)
_NEEDED = ".".join(map(str, LOWEST))
_ONE = "onnxruntime or onnxruntime-gpu"
#: Parts to remove from messages: the engine's name for the kind of error, and what stands before and after the text of a CUDA error.
_DECORATION = re.compile(r"^.*?(?=CUDA failure \d+: )|\[ONNXRuntimeError\] : \d+ : \w+ : | ; GPU=.*")
#: A longer text is cut in its middle: it begins with places in the engine's source and ends with what happened.
_LONGEST_REASON, _BEGINNING = 300, 100

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
        old = _too_old(str(module.__version__))
    except Exception as error:  # whatever the import of an extension module raises
        absent = isinstance(error, ModuleNotFoundError) and error.name == "onnxruntime"
        raise NotSupportedError(_missing() if absent else _broken(one_line(error)), rule="engine") from error
    if old:
        raise NotSupportedError(old, rule="engine")
    return module


def version() -> str:
    """Return the engine's version."""
    return str(load().__version__)


def available_providers() -> list[str]:
    """Return the names of the execution providers that the installed engine offers, in its own order."""
    return list(load().get_available_providers())


def register_library(name: str, path: str) -> None:
    """Register the library of a plug-in under a name, for this process. A library that is registered already is not an error."""
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


def is_older(version: str, lowest: tuple[int, int, int]) -> bool:
    """Tell whether a version such as ``"1.31.0"`` is older than another one; false if it has no numbers to compare."""
    numbers = re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", version)
    return numbers is not None and tuple(int(number or 0) for number in numbers.groups()) < lowest


def one_line(error: BaseException) -> str:
    """Return the text of an exception of the engine, or of a package, on one line; its class if it has no text."""
    text = " ".join(_DECORATION.sub("", " ".join(str(error).split())).split()) or type(error).__name__
    return text if len(text) <= _LONGEST_REASON else f"{text[:_BEGINNING]}...{text[_BEGINNING - _LONGEST_REASON :]}"


def _missing() -> str:
    """Return the message for a missing module ``onnxruntime``."""
    return f"webnn needs ONNX Runtime: install {_ONE}, {_NEEDED} or newer"


def _broken(reason: str) -> str:
    """Return the message for a module that cannot be imported or is empty."""
    return (
        f"webnn needs ONNX Runtime {_NEEDED} or newer, and the one that is installed is broken ({reason}): "
        f"uninstall all its flavours, then install {_ONE}"
    )


def _too_old(version: str) -> str:
    """Return the message for a version that is too old; an empty string if it is new enough."""
    if not is_older(version, LOWEST):
        return ""
    from importlib import metadata  # noqa: PLC0415 (it loads much of the standard library)

    # Two variants overwrite each other's files, so neither name can be recommended.
    flavours = sorted(set(metadata.packages_distributions().get("onnxruntime", [])))
    name = flavours[0] if len(flavours) == 1 else "onnxruntime"
    return f"webnn needs ONNX Runtime {_NEEDED} or newer, found {name} {version}: run 'python -m pip install --upgrade {name}'"
