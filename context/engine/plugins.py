"""Plug-ins of the engine: packages that bring execution providers, and what they have in software.

A plug-in offers the devices that the engine finds. Two plug-ins also offer something on the processor: WebGPU a software adapter, QNN the
simulator of an NPU. Such a device is a simulator. It counts only where the program asks for simulators.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType, ModuleType

from webnn.context.devices.selection import OPENVINO, QNN, WEBGPU, Device, Options, Selection
from webnn.context.engine import runtime, vulkan
from webnn.context.engine.runtime import one_line

__all__ = [
    "PLUGINS",
    "UNWANTED",
    "Plugin",
    "choose_simulated",
    "find_plugin",
    "is_installed",
    "list_plugin",
    "name_cpu_nodes",
    "register",
    "takes_names",
]

_NONE: Mapping[str, str] = MappingProxyType({})
#: Why a plug-in has no device without simulators.
UNWANTED = "has a simulator only, which no program gets without simulators=True"
#: The engine takes no longer value of an option.
_LONGEST_VALUE = 8192


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """A package that brings a provider.

    Attributes:
        provider: The provider's name.
        module: The module to import. Its ``get_library_path()``, or ``library_path()``, says what to register.
        simulates: The type of the device that it has in software; empty if it has none.
        describe: Returns the vendor and the name of that device.
        options: Returns the provider options that choose that device.
        cpu_nodes: The provider option that takes the names of nodes that stay on the CPU, one on each line; empty if it has none.
        fixed_shapes: The provider leaves nodes to the CPU whose shapes are not known when the session is made.
        names: A session on its devices may compute many sizes: dimensions may have names.
        variable: The environment variable that makes the plug-in offer that device; it is read when the library is registered.
    """

    provider: str
    module: str
    simulates: str = ""
    describe: Callable[[], tuple[str, str]] = lambda: ("", "")
    options: Callable[[ModuleType], Options] = lambda _: _NONE
    cpu_nodes: str = ""
    fixed_shapes: bool = False
    names: bool = False
    variable: str = ""


def _software_adapter() -> tuple[str, str]:
    """Return the vendor and the name of the adapter that the WebGPU plug-in computes with."""
    if sys.platform == "win32":
        return "Microsoft", "WARP"
    name = next(iter(vulkan.adapter_names()), "software adapter")
    makers = {"llvmpipe": "Mesa", "SwiftShader": "Google"}
    return next((maker for start, maker in makers.items() if name.startswith(start)), ""), name


#: The plug-ins that are used where they are installed, by their providers.
PLUGINS: Mapping[str, Plugin] = MappingProxyType(
    {
        each.provider: each
        for each in (
            Plugin(
                provider=WEBGPU,
                module="onnxruntime_ep_webgpu",
                simulates="gpu",
                describe=_software_adapter,
                cpu_nodes="forceCpuNodeNames",
                names=True,
                variable="ORT_WEBGPU_EP_ALLOW_SOFTWARE_ADAPTER",
            ),
            Plugin(provider=OPENVINO, module="onnxruntime_ep_openvino"),
            Plugin(
                provider=QNN,
                module="onnxruntime_qnn",
                simulates="npu",
                describe=lambda: ("Qualcomm", "Hexagon simulator"),
                options=lambda module: MappingProxyType({"backend_path": str(module.get_qnn_htp_path())}),
                fixed_shapes=True,
            ),
        )
    }
)


def is_installed(plugin: Plugin) -> bool:
    """Tell whether the package of a plug-in is installed. Nothing of it is loaded."""
    try:
        return importlib.util.find_spec(plugin.module) is not None
    except ValueError:  # a module without a specification
        return False


def find_plugin(package: str) -> Plugin | str:
    """Return a plug-in that is named by its package or its module, whoever wrote it; or why there is none, worded to follow the name."""
    module = package.replace("-", "_")
    known = next((each for each in PLUGINS.values() if each.module == module), None)
    try:
        if importlib.util.find_spec(module) is None:
            return "is not installed"
        if known is not None:
            return known
        imported = importlib.import_module(module)
        names = imported.get_ep_names() if hasattr(imported, "get_ep_names") else [getattr(imported, "EP_NAME", module)]
        if not hasattr(imported, "get_library_path") and not hasattr(imported, "library_path"):
            return "is not a plug-in of ONNX Runtime: it has neither get_library_path() nor library_path()"
        return Plugin(provider=str(names[0]), module=module)
    except (Exception, SystemExit) as error:  # whatever a package does when it is imported
        return f"cannot be imported: {one_line(error)}"


def register(plugin: Plugin, *, simulators: bool) -> str:
    """Register a plug-in if it is installed.

    Args:
        plugin: The plug-in.
        simulators: Its devices in software are wanted, too.

    Returns:
        The reason to report if no device of it is listed; an empty string if it is not installed.
    """
    try:
        if not is_installed(plugin):
            return ""
        module = importlib.import_module(plugin.module)
        path = str((getattr(module, "get_library_path", None) or module.library_path)())
        if simulators and plugin.variable:
            _choose_driver()
            with _variable(plugin.variable):
                # The plug-in may have been registered without the variable.
                runtime.register_library(f"{plugin.provider}.software", path)
        else:
            runtime.register_library(plugin.provider, path)
    except (Exception, SystemExit) as error:  # whatever a plug-in does, the other providers work
        return f"does not register: {one_line(error)}"
    return "is registered, but it found no device"


def list_plugin(plugin: Plugin, *, simulators: bool) -> tuple[list[Device], str]:
    """Register a plug-in; return its devices, or why it has none. The arguments are those of `register`."""
    reason = register(plugin, simulators=simulators)
    listed = [device for device in runtime.list_devices() if device.provider == plugin.provider]
    found = [chosen for device in listed if (chosen := choose_simulated(device, simulators=simulators)) is not None]
    return found, "" if found else UNWANTED if listed else reason


def _choose_driver() -> None:
    """Have Vulkan load a software driver, unless the user chose drivers. Drivers of hardware that is absent print much."""
    driver = None if vulkan.chosen_drivers() else vulkan.find_software_driver()
    if driver is not None:
        for name in vulkan.VARIABLES:
            os.environ[name] = str(driver)


def takes_names(selection: Selection) -> bool:
    """Tell whether a session on some devices may compute many sizes. The default CPU provider takes names."""
    accelerators = [PLUGINS.get(device.provider) if device.plugin else None for device in selection.devices[:-1]]
    return all(plugin is not None and plugin.names for plugin in accelerators)


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
    vendor, name = plugin.describe()
    options = plugin.options(importlib.import_module(plugin.module))
    discrete = False if plugin.simulates == "gpu" else None
    return replace(device, type=plugin.simulates, discrete=discrete, vendor=vendor, name=name, options=options, simulated=True)
