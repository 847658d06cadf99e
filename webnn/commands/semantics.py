"""``webnn semantics``: the switches of the semantics where backends differ."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.text import Text

from webnn.builder.semantics import SWITCHES, Switch, find_switches
from webnn.commands.failure import failure
from webnn.commands.rows import make_console, print_hanging
from webnn.context.profiles import PROFILES, load_profile

__all__ = ["command", "find_profiles"]


def command(
    operations: Annotated[
        list[str] | None, typer.Argument(metavar="OPERATION", help="Only the switches that are about these.", show_default=False)
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print them as JSON.")] = False,
) -> None:
    """Show the switches for results in which devices differ.

    Each has its values, and the devices that have them.

    A switch is set by a device profile, by webnn run --semantics, or by ML(semantics=...).
    """
    found = find_switches(operations) if operations else list(SWITCHES.values())
    if not found:
        known = sorted({each for switch in SWITCHES.values() for each in switch.operations})
        raise failure(f"no switch is about {', '.join(operations or ())}; there are some about {', '.join(known)}", 2)
    told = {switch.name: _tell(switch) for switch in found}
    if as_json:
        typer.echo(json.dumps(told, indent=1))
        return
    console = make_console()
    for switch in found:
        about = f"{', '.join(switch.operations)}: {switch.about}"
        print_hanging(console, Text(f"{switch.name}  ", "bold cyan"), Text(about))
        for value, meaning in switch.values.items():
            profiles = [name for name, chosen in told[switch.name]["profiles"].items() if chosen == value]
            names = ", ".join([*(["the default"] if value == switch.default else []), *profiles])
            print_hanging(console, Text(f"  {value}  ", "bold"), Text.assemble(meaning, (names and f"  ({names})", "yellow")))
        for source in switch.sources:
            print_hanging(console, Text("  "), Text(f"{source.name}: {source.says}", "dim"))


def _tell(switch: Switch) -> dict[str, Any]:
    """Return what a machine reads of a switch."""
    return {
        "about": switch.about,
        "operations": list(switch.operations),
        "values": dict(switch.values),
        "default": switch.default,
        "profiles": find_profiles(switch),
        "sources": [{"name": each.name, "says": each.says, "url": each.url} for each in switch.sources],
    }


def find_profiles(switch: Switch) -> dict[str, str]:
    """Return the shipped profiles that give a switch a value, with that value."""
    found = {name: dict(load_profile(name).semantics).get(switch.name) for name in PROFILES}
    return {name: chosen for name, chosen in found.items() if chosen is not None}
