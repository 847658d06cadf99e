"""``webnn profiles show``: the device profiles."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from webnn._extras import install_command
from webnn.builder.semantics import merge_semantics
from webnn.commands.completion import complete_profile
from webnn.commands.failure import failing
from webnn.commands.rows import Row, make_console, print_rows
from webnn.context.engines import ONNX_RUNTIME, find_engine
from webnn.context.limits import show_limits
from webnn.context.profiles import PROFILES, Profile, ProfileError, load_profile
from webnn.context.profiles.profile import operand_names

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
    """Show the device profiles: limits, and how sure they are.

    Without a name, every profile that is shipped; with one, also its limits: data types and ranks of the operands of each operation. It
    checks files, too: the exit status is 2 if one is not a profile.
    """
    with failing(ProfileError, 2):
        found = [load_profile(name) for name in names or PROFILES]
    if as_json:
        typer.echo(json.dumps({profile.name: _tell(profile) for profile in found}, indent=1))
        return
    console = make_console()
    print_rows(console, [(profile.name, profile.summary, _describe(profile, every=bool(names))) for profile in found])
    for profile in found if names else ():
        console.print()
        if len(found) > 1:
            console.print(f"{profile.name}:", markup=False)
        print_rows(console, list(_limits(profile)))


def _limits(profile: Profile) -> Iterator[Row]:
    """Yield what a profile accepts: a row for operands of an operation with the same types and ranks, and one for each rule."""
    members = profile.limits()
    for member, value in members.items():
        if not isinstance(value, dict):
            yield member, f"{value:,}" if isinstance(value, int) else value, ""
            continue
        operands = {"": value} if "dataTypes" in value else value
        alike: dict[tuple[str, str], list[str]] = {}
        for operand, limits in operands.items():
            alike.setdefault(show_limits(limits), []).append(operand)
        for number, ((ranks, types), named) in enumerate(alike.items()):
            lead = "" if named == [""] else f"{', '.join(named)}: "
            yield "" if number else member, f"{lead}{ranks}-D {types or 'no data type'}", ""
        for rule in profile.rules.get(member, ()):
            where = "the call" if rule.at == "call" else "build()"
            yield "", "", f"{where}: {rule.sentence}{f' ({rule.change})' if rule.change else ''}"
    if profile.engine:
        yield "engine", profile.engine, _missing(profile.engine)
    if profile.native is not None:
        yield (
            "native",
            ", ".join(sorted(profile.native)),
            "the rest runs on the CPU" if profile.cpu_fallback else "build() refuses the rest",
        )
    lacking = sorted(operand_names().keys() - members.keys())
    if lacking:
        yield "lacks", ", ".join(lacking), ""
    for topic, note in profile.source.items():
        if topic != "summary":
            yield f"source: {topic}", " ".join(str(note).split()), ""


def _missing(engine: str) -> str:
    """Say what computes in place of an engine that is not installed, and how to install it; nothing if it is installed."""
    try:
        if find_engine(engine).is_installed():
            return ""
    except KeyError:
        return f"unknown here, so {ONNX_RUNTIME} computes"
    return f"not installed, so {ONNX_RUNTIME} computes; {install_command(engine)} changes that"


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
        "engine": profile.engine,
        "semantics": dict(profile.semantics),
        "maxTensorByteLength": profile.max_byte_length,
    }
