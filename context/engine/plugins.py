"""Plug-ins of the engine: packages that bring execution providers, and what they have in software.

A plug-in offers the devices that the engine finds. Two plug-ins also offer something on the processor: WebGPU a software adapter, QNN the
simulator of an NPU. Such a device is a simulator. It counts only where the program asks for simulators.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType, ModuleType

from webnn.context.devices.selection import OPENVINO, QNN, WEBGPU, Device, Options, Selection
from webnn.context.engine import runtime
from webnn.context.engine.runtime import one_line

__all__ = ["PLUGINS", "Plugin", "choose_simulated", "name_cpu_nodes", "register"]

_NONE: Mapping[str, str] = MappingProxyType({})
#: The engine takes no longer value of an option.
_LONGEST_VALUE = 8192


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """A package that brings a provider.

    Attributes:
        provider: The provider's name.
        module: The module to import; its ``get_library_path()`` says what to register.
        simulates: The type of the device that it has in software; empty if it has none.
        vendor: The vendor of that device.
        options: Returns the provider options that choose that device.
        cpu_nodes: The provider option that takes the names of nodes that stay on the CPU, one on each line; empty if it has none.
        variable: The environment variable that makes the plug-in offer that device; it is read when the library is registered.
    """

    provider: str
    module: str
    simulates: str = ""
    vendor: str = ""
    options: Callable[[ModuleType], Options] = lambda _: _NONE
    cpu_nodes: str = ""
    variable: str = ""


#: The plug-ins that are used where they are installed, by their providers.
PLUGINS: Mapping[str, Plugin] = MappingProxyType(
    {
        each.provider: each
        for each in (
            Plugin(
                provider=WEBGPU,
                module="onnxruntime_ep_webgpu",
                simulates="gpu",
                vendor="software",
                cpu_nodes="forceCpuNodeNames",
                variable="ORT_WEBGPU_EP_ALLOW_SOFTWARE_ADAPTER",
            ),
            Plugin(provider=OPENVINO, module="onnxruntime_ep_openvino"),
            Plugin(
                provider=QNN,
                module="onnxruntime_qnn",
                simulates="npu",
                vendor="Qualcomm",
                options=lambda module: MappingProxyType({"backend_path": str(module.get_qnn_htp_path())}),
            ),
        )
    }
)


def register(plugin: Plugin, *, simulators: bool) -> str:
    """Register a plug-in if it is installed.

    Args:
        plugin: The plug-in.
        simulators: Its devices in software are wanted, too.

    Returns:
        The reason to report if no device of it is listed; an empty string if it is not installed.
    """
    try:
        if importlib.util.find_spec(plugin.module) is None:
            return ""
        path = str(importlib.import_module(plugin.module).get_library_path())
        if simulators and plugin.variable:
            with _variable(plugin.variable):
                # The plug-in may have been registered without the variable.
                runtime.register_library(f"{plugin.provider}.software", path)
        else:
            runtime.register_library(plugin.provider, path)
    except (Exception, SystemExit) as error:  # whatever a plug-in does, the other providers work
        return f"does not register: {one_line(error)}"
    return "is registered, but it found no device"


def name_cpu_nodes(selection: Selection, names: Sequence[str]) -> Selection | None:
    """Return a selection whose best provider leaves some nodes to the CPU; ``None`` if it has no option for that, or they are too many."""
    provider, settings = selection.providers[0]
    option = PLUGINS[provider].cpu_nodes if provider in PLUGINS else ""
    lines = "\n".join(filter(None, (settings.get(option, ""), *names)))
    if not option or len(lines) > _LONGEST_VALUE:
        return None
    return replace(selection, providers=((provider, MappingProxyType({**settings, option: lines})), *selection.providers[1:]))


@contextlib.contextmanager
def _variable(name: str) -> Iterator[None]:
    """Set an environment variable to 1 for a while."""
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def choose_simulated(device: Device, *, simulators: bool) -> Device | None:
    """Return a listed device as what it is: a simulator if its plug-in offers it on the processor; ``None`` if nobody asked for one."""
    plugin = PLUGINS.get(device.provider)
    if plugin is None or not plugin.simulates or device.type != "cpu":
        return device
    if not simulators:
        return None
    options = plugin.options(importlib.import_module(plugin.module))
    return replace(
        device,
        type=plugin.simulates,
        discrete=False if plugin.simulates == "gpu" else None,
        vendor=plugin.vendor,
        options=options,
        simulated=True,
    )
