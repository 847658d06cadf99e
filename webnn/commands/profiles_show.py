"""``webnn profiles show``: the device profiles."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from webnn.builder.semantics import merge_semantics
from webnn.commands.completion import complete_profile
from webnn.commands.failure import failure
from webnn.commands.rows import make_console, print_rows
from webnn.context.profiles import PROFILES, Profile, ProfileError, load_profile

__all__ = ["command"]

#: How many switches a line has, unless profiles are named.
_FEW = 2


def command(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME|FILE", help="Profiles, by their names or as files of yours.", autocompletion=complete_profile, show_default=False
        ),
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print them as JSON.")] = False,
) -> None:
    """Show the device profiles: whose limits they are, and what they are certain of.

    Without a name, every profile that is shipped. It also checks files: the exit status is 2 if one is no profile.
    """
    try:
        found = [load_profile(name) for name in names or PROFILES]
    except ProfileError as error:
        raise failure(str(error), 2) from None
    if as_json:
        typer.echo(json.dumps({profile.name: _tell(profile) for profile in found}, indent=1))
        return
    print_rows(make_console(), [(profile.name, profile.summary, _describe(profile, every=bool(names))) for profile in found])


def _describe(profile: Profile, *, every: bool) -> str:
    """Describe which requests a profile runs on another device, what falls back, and what it computes in its own way."""
    moved = [f"{requested} on the {device}" for requested, device in profile.devices.items() if device != requested]
    native = "" if profile.native is None else f"{len(profile.native)} native operations"
    fallback = "" if profile.cpu_fallback else "no CPU fallback"
    semantics = [f"{name}={value}" for name, value in merge_semantics(profile.semantics)]
    if not every and len(semantics) > _FEW:
        semantics = [f"{len(semantics)} switches of webnn semantics"]
    return "; ".join(filter(None, [", ".join(moved), native, fallback, ", ".join(semantics)]))


def _tell(profile: Profile) -> dict[str, Any]:
    """Return what a machine reads of a profile."""
    return {
        "summary": profile.summary,
        "devices": dict(profile.devices),
        "native": None if profile.native is None else sorted(profile.native),
        "cpuFallback": profile.cpu_fallback,
        "semantics": dict(profile.semantics),
        "maxTensorByteLength": profile.max_byte_length,
    }
