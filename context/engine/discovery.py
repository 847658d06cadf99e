"""Discovery: the devices that the engine of this machine offers, by its own providers and by plug-ins, and whether each starts."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import FunctionType, MappingProxyType
from typing import TYPE_CHECKING

from webnn.context.devices.choice import Inventory
from webnn.context.devices.selection import CPU, CUDA, DIRECTML, OPENVINO, Device, Options, session_settings
from webnn.context.engine import runtime
from webnn.context.engine.plugins import PLUGINS, UNWANTED, Plugin, choose_simulated, find_plugin, is_installed, register
from webnn.context.engine.runtime import one_line
from webnn.context.engine.session import SILENT, session_options, start
from webnn.validation.errors import NotSupportedError

if TYPE_CHECKING:
    from webnn.context.engine.remote.scout import Scout

__all__ = ["discover", "end_search", "find_failure"]

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
#: The default severity of the engine's log. The engine has no function that returns the severity in use.
_WARNINGS = 2
#: A model of one Identity, to try a provider. It is stored as bytes because making it would load onnx before the first build.
_SMALLEST_MODEL = (
    b'\x08\n::\n\x13\n\x01x\x12\x01y\x1a\x01n"\x08Identity\x12\x01g'
    b"Z\x0f\n\x01x\x12\n\n\x08\x08\x01\x12\x04\n\x02\x08\x01b\x0f\n\x01y\x12\n\n\x08\x08\x01\x12\x04\n\x02\x08\x01B\x04\n\x00\x10\x15"
)
_LIBRARIES = {"win32": "onnxruntime_providers_{}.dll", "darwin": "libonnxruntime_providers_{}.dylib"}


def discover(*, simulators: bool = False, plugins: tuple[str, ...] = (), isolated: bool = False) -> Inventory:
    """Return what exists on this machine. The first call of a process registers the plug-ins that are installed.

    Args:
        simulators: Devices in software count, too: a software GPU, the simulator of an NPU.
        plugins: Packages of further plug-ins, whose devices come first.
        isolated: Another process registers the plug-ins and tries the devices, each when a context may need it. Only other plug-ins, which
            the program registered itself, are used in this process.

    Raises:
        NotSupportedError: No engine is installed, or a package is not one of a plug-in.
    """
    with _LOCK:
        return (_discover_elsewhere if isolated else _discover)(simulators, plugins)


@functools.cache
def _discover(simulators: bool, packages: tuple[str, ...] = ()) -> Inventory:
    built_in = runtime.available_providers()
    named = [_find_named(package) for package in packages]
    # Plug-ins that the program registered itself are listed already.
    before = {device.provider for device in runtime.list_devices()}
    every = {**PLUGINS, **{each.provider: each for each in named}}
    missing = {
        each.provider: reason
        for each in every.values()
        if each.provider not in before and (reason := register(each, simulators=simulators))
    }
    listed = runtime.list_devices()
    chosen = {device: choose_simulated(device, simulators=simulators) for device in listed if device.provider not in _BY_NAME}
    plugins = [device for device in chosen.values() if device is not None]
    # A plug-in that has a simulator only.
    missing |= {device.provider: UNWANTED for device, each in chosen.items() if each is None}
    devices = _with_built_in(plugins, built_in, listed)
    found = {device.provider for device in devices}
    return Inventory(
        devices,
        verify=find_failure,
        missing=MappingProxyType({provider: reason for provider, reason in missing.items() if provider not in found}),
        named=[each.provider for each in named],
        built_in=built_in,
    )


def _find_named(package: str) -> Plugin:
    found = find_plugin(package)
    if isinstance(found, str):
        raise NotSupportedError(
            f"createContext: plugins names the package {package!r}, which {found}", operation="createContext", rule="engine"
        )
    return found


@functools.cache
def _discover_elsewhere(simulators: bool, packages: tuple[str, ...] = ()) -> Inventory:
    built_in = runtime.available_providers()
    listed = runtime.list_devices()
    named = [_find_named(package) for package in packages]
    others = {each.provider for each in (*PLUGINS.values(), *named) if is_installed(each)}
    own = [device for device in listed if device.provider not in (_BY_NAME | others)]
    return Inventory(
        _with_built_in(own, built_in, listed),
        verify=functools.partial(_find_failure_elsewhere, packages),
        named=[each.provider for each in named],
        built_in=built_in,
        later={provider: functools.partial(_list_elsewhere, packages, provider, simulators) for provider in others},
    )


def _with_built_in(plugins: list[Device], built_in: list[str], listed: list[Device]) -> list[Device]:
    """Return the devices of plug-ins, those of the engine's own providers, and the CPU provider's."""
    # A provider that is there in both ways is used as a plug-in: that one knows its devices.
    known = {device.provider for device in plugins}
    cpu = next((Device(provider=CPU, type="cpu", vendor=device.vendor) for device in listed if device.provider == CPU), None)
    return [
        *plugins,
        *(device for device in _BUILT_IN if device.provider in built_in and device.provider not in known),
        Device(provider=CPU, type="cpu") if cpu is None else cpu,
    ]


def _list_elsewhere(packages: tuple[str, ...], provider: str, simulators: bool) -> tuple[Sequence[Device], str]:
    return _scout().list_devices(packages, provider, simulators)


def _find_failure_elsewhere(packages: tuple[str, ...], device: Device) -> str:
    # This process has the device if the program registered its plug-in.
    return _scout().find_failure(packages, device) if device.handle is None else find_failure(device)


@functools.cache
def _scout() -> Scout:
    # Imported lazily; few programs have other devices.
    from webnn.context.engine.remote.scout import scout  # noqa: PLC0415

    return scout()


def end_search() -> None:
    """End the process that looked for devices, if there is one: the context needs none."""
    if _scout.cache_info().currsize and _scout().host is not None:
        _scout().take()


def find_failure(device: Device, settings: Options | None = None) -> str:
    """Try whether a session with a device starts, by default with only the options that choose the device.

    Returns:
        Why it does not start, worded to follow the provider's name; an empty string if it starts.
    """
    ort = runtime.load()
    settings = device.options if settings is None else settings
    if not device.plugin:
        _preload()
    # If a provider of its own does not start, the engine logs the reason to standard error and goes on without it.
    ort.set_default_logger_severity(SILENT)
    try:
        options = session_options(session_settings([device], "default"))
        session = start(_SMALLEST_MODEL, options, [device], [(device.provider, settings)])
        if device.provider in session.get_providers():
            return ""
    except Exception as error:  # the engine's exceptions have no common class
        return f"does not start: {one_line(error)}"
    finally:
        ort.set_default_logger_severity(_WARNINGS)
    told = ", ".join(f"{name} {value}" for name, value in settings.items())
    return _loading_failure(device.provider) or ("does not start" + (f" with {told}" if told else ""))


@functools.cache
def _preload() -> None:
    """Load the CUDA libraries of Python packages, where the engine is built for CUDA."""
    preload = getattr(runtime.load(), "preload_dlls", None)
    if preload is None:
        return
    # The function prints which libraries it does not find. A copy with its own `print` is silent, and leaves the engine's module and
    # sys.stdout unchanged.
    namespace = {**preload.__globals__, "print": lambda *_, **__: None}
    silent = FunctionType(preload.__code__, namespace, preload.__name__, preload.__defaults__, preload.__closure__)
    # Missing libraries are reported when the provider is tried.
    with contextlib.suppress(Exception):
        silent()


def _loading_failure(provider: str) -> str:
    """Return why the library of a provider does not load: the engine only logs that.

    Call it only after the engine tried the library: nothing else may load the library before the engine does.
    """
    stem = provider.removesuffix("ExecutionProvider").lower()
    name = _LIBRARIES.get(sys.platform, "libonnxruntime_providers_{}.so").format(stem)
    library = Path(str(runtime.load().__file__)).parent / "capi" / name
    if library.exists():
        try:
            ctypes.CDLL(str(library))
        except OSError as error:
            return f"does not load: {one_line(error)}"
    return ""
