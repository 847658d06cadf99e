"""``webnn devices``: what is installed, and what each device type runs on."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Sequence
from importlib import metadata
from typing import Annotated, Any

import typer

import webnn
from webnn.commands.choices import Device
from webnn.commands.failure import failure
from webnn.commands.rows import Row, make_console, print_rows
from webnn.context.devices import choice
from webnn.context.devices import selection as device_selection
from webnn.context.devices.choice import Inventory
from webnn.context.engine import discovery

__all__ = ["command"]

_ENGINE = "onnxruntime"


def command(*, as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False) -> None:
    """Show what is installed, and what each deviceType runs on here."""
    console = make_console()
    flavours = sorted(set(metadata.packages_distributions().get(_ENGINE, [])))
    rows = [
        ("webnn", webnn.__version__, ""),
        ("python", platform.python_version(), f"{platform.system()} {platform.machine()}"),
        *((package, _version(package), "") for package in ("numpy", "onnx", *(flavours or [_ENGINE]))),
    ]
    inventory = discovery.discover()
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
                "discrete": device.discrete,
                "plugin": device.plugin,
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


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
