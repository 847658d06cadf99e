"""``webnn devices``: what is installed, and what each device type runs on."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Sequence
from importlib import metadata
from importlib.util import find_spec
from types import MappingProxyType
from typing import Annotated, Any

import typer
from rich.text import Text

import webnn
from webnn._extras import pip_command
from webnn.commands.choices import Device, IsolateOption, PluginOption, SimulatorsOption, set_devices
from webnn.commands.failure import failure
from webnn.commands.progress import show_progress
from webnn.commands.rows import Row, make_console, print_rows
from webnn.commands.text import show_controls
from webnn.context.devices import choice
from webnn.context.devices import selection as device_selection
from webnn.context.devices.choice import Inventory
from webnn.context.emulation import ambient
from webnn.context.engine.plugins import PLUGINS
from webnn.context.engine.remote.scout import scout
from webnn.context.ml import find_inventory
from webnn.processes.walls.table import IN_PLACE, describe

__all__ = ["command"]

_ENGINE = "onnxruntime"


_DEBIAN = "sudo apt-get install mesa-vulkan-drivers"
#: The commands that install a software driver of Vulkan, by the system.
_LAVAPIPE = MappingProxyType(
    {
        "Debian, Ubuntu": _DEBIAN,
        "Debian 12": f"{_DEBIAN.replace('install', 'install -t bookworm-backports')}  (with the suite bookworm-backports)",
        "Fedora": "sudo dnf install mesa-vulkan-drivers",
    }
)


def command(
    *,
    simulators: SimulatorsOption = None,
    isolate: IsolateOption = None,
    plugins: PluginOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Print walls, and what drivers write, on the standard error.")] = False,
) -> None:
    """Show what is installed, and what each deviceType runs on.

    With --simulators it says how to install those that are missing.
    """
    set_devices(simulators, plugins, isolate)
    settings = ambient()
    console = make_console()
    flavours = sorted(set(metadata.packages_distributions().get(_ENGINE, [])))
    rows = [
        ("webnn", webnn.__version__, ""),
        ("python", platform.python_version(), f"{platform.system()} {platform.machine()}"),
        *((package, _version(package), "") for package in ("numpy", "onnx", *(flavours or [_ENGINE]))),
    ]
    with show_progress("looking for devices"):
        inventory = find_inventory(settings)
        selections = [choice.select(device, inventory) for device in Device]
    if as_json:
        packages = {name: {"version": version, "remark": remark} for name, version, remark in rows}
        told = {"packages": packages, "providers": _tell_providers(inventory), "deviceTypes": _tell_selections(selections)}
        typer.echo(json.dumps(told, indent=1))
    else:
        print_rows(console, rows)
        console.print()
        print_rows(console, [row for provider in inventory.providers for row in _describe_provider(provider, inventory)])
        console.print()
        print_rows(console, [row for selection in selections for row in _describe_selection(selection)])
        if settings.simulators and (missing := list(_missing_simulators(inventory))):
            console.print()
            print_rows(console, missing, wrap=False)
        elif not settings.simulators and any(each.fallback for each in selections):
            console.print("\nwebnn devices --simulators has a software GPU and a simulated NPU.", soft_wrap=True)
    if verbose:
        walls = scout().missing_walls()
        for line in () if walls is None else describe(walls, IN_PLACE):
            typer.echo(line, err=True)
        for line in Text.from_ansi(scout().noise()).plain.splitlines():
            typer.echo(show_controls(line), err=True)
    if len(flavours) > 1:
        if not as_json:
            console.print()
        raise failure(f"{' and '.join(flavours)} overwrite each other's files: uninstall all of them, then install one", 1)


def _describe_provider(provider: str, inventory: Inventory) -> Iterator[Row]:
    """Yield what a provider can be used for, and why not for more."""
    devices = [device for device in inventory.devices if device.provider == provider]
    failures = [(device, failure) for device in devices if (failure := inventory.failure(device))]
    failed = [device for device, _ in failures]
    remarks = [failure if len(devices) == 1 else f"{device.type}: {failure}" for device, failure in failures]
    if provider in inventory.missing:
        remarks.append(inventory.missing[provider])
    value = ", ".join(_describe_device(device) for device in devices if device not in failed)
    if not devices and not remarks:
        remarks.append("used only if an order names it")
    yield provider, value or "-", remarks[0] if remarks else ""
    yield from (("", "", remark) for remark in remarks[1:])


def _describe_device(device: device_selection.Device) -> str:
    kinds = {True: "discrete", False: "integrated", None: ""}
    if device.simulated:
        return f"{device.type} ({device.name}, simulator)"
    facts = [fact for fact in (device.vendor, kinds[device.discrete], "plug-in" if device.plugin else "") if fact]
    return f"{device.type} ({', '.join(facts)})" if facts else device.type


def _describe_selection(selection: device_selection.Selection) -> Iterator[Row]:
    """Yield what a device type runs on, and the reason if that is a device of another type."""
    providers = ", ".join(name for name, _ in selection.providers)
    yield selection.requested, providers, f"falls back to the {selection.device.upper()}:" if selection.fallback else ""
    if selection.fallback:
        yield from (("", "", reason) for reason in selection.reasons)


def _tell_providers(inventory: Inventory) -> dict[str, Any]:
    """Return what a machine reads of the providers."""
    told: dict[str, Any] = {}
    for provider in inventory.providers:
        devices = [
            {
                "type": device.type,
                "vendor": device.vendor,
                "name": device.name,
                "discrete": device.discrete,
                "plugin": device.plugin,
                "simulated": device.simulated,
                "failure": inventory.failure(device),
            }
            for device in inventory.devices
            if device.provider == provider
        ]
        told[provider] = {"devices": devices, "missing": inventory.missing.get(provider, "")}
    return told


def _tell_selections(selections: Sequence[device_selection.Selection]) -> dict[str, Any]:
    """Return what a machine reads of what each device type runs on."""
    return {
        each.requested: {"device": each.device, "providers": [name for name, _ in each.providers], "reasons": list(each.reasons)}
        for each in selections
    }


def _missing_simulators(inventory: Inventory) -> Iterator[Row]:
    """Yield the commands that install what the simulators lack on this system."""
    starting = {device.provider for device in inventory.devices if not inventory.failure(device)}
    if device_selection.WEBGPU not in starting:
        if not find_spec(PLUGINS[device_selection.WEBGPU].module):
            yield "software GPU", "install the plug-in:", pip_command("onnxruntime-ep-webgpu")
        elif inventory.system == "Linux":
            name = "software GPU"
            for system, line in _LAVAPIPE.items():
                yield name, f"install a driver ({system}):", line
                name = ""
        elif inventory.system == "Darwin":
            yield "software GPU", "does not exist for macOS,", "whose GPUs the plug-in uses by Metal"
    if device_selection.QNN not in starting and not find_spec(PLUGINS[device_selection.QNN].module):
        if inventory.system == "Darwin" or platform.machine() not in {"x86_64", "AMD64"}:
            yield "simulated NPU", "exists for x86-64 only,", "on Linux and Windows"
        else:
            yield "simulated NPU", "install the plug-in:", pip_command("--no-deps", "onnxruntime-qnn")


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
