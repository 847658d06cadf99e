"""The IDL that the binding interprets: the project's own data, taken from the draft."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

__all__ = ["BindingIdl", "load_idl"]


@dataclass(frozen=True, slots=True)
class BindingIdl:
    """The IDL of a revision, for both sides of the border.

    Attributes:
        text: The IDL as JSON, for JavaScript.
        members: The operations and attributes of each interface, ``"constructor"`` among them: what JavaScript may call.
    """

    text: str
    members: dict[str, frozenset[str]]


@cache
def load_idl(revision: str, profile: str | None = None) -> BindingIdl:
    """Read the IDL of a revision of the draft, for example ``"2024-06"``.

    Args:
        revision: The revision.
        profile: What browsers had beside it: the name of a file in `profiles`, which says why. `legacy` does what it adds.

    Raises:
        ValueError: There is none of that name.
    """
    file = resources.files("webnn.validation.idl") / f"{revision}.json"
    if not file.is_file():
        raise ValueError(f"there is no IDL of a revision {revision!r} here")
    # The anchors are for people's eyes, and longer than all the rest.
    idl = {name: value for name, value in json.loads(file.read_text(encoding="utf-8")).items() if name != "anchors"}
    if profile is not None:
        _merge(idl, _load_profile(profile))
    members = {
        name: frozenset(
            [each["name"] for each in (*interface.get("operations", ()), *interface.get("attributes", ()))]
            + ["constructor"] * bool(interface.get("constructors"))
        )
        for name, interface in idl["interfaces"].items()
    }
    return BindingIdl(json.dumps(idl), members)


def _load_profile(name: str) -> dict[str, Any]:
    profiles = {
        file.name.removesuffix(".json"): file
        for file in (resources.files("webnn.wpt_runner.javascript") / "profiles").iterdir()
        if file.name.endswith(".json")
    }
    if name not in profiles:
        raise ValueError(f"the profile must be one of {', '.join(sorted(profiles))}, got {name!r}")
    profile: dict[str, Any] = json.loads(profiles[name].read_text(encoding="utf-8"))
    return profile


def _merge(idl: dict[str, Any], profile: dict[str, Any]) -> None:
    """Add the operations of a profile as overloads, and its members to dictionaries; what is there already is replaced."""
    for name, interface in profile.get("interfaces", {}).items():
        _replace(idl["interfaces"][name]["operations"], interface["operations"], _signature)
    for name, dictionary in profile.get("dictionaries", {}).items():
        _replace(idl["dictionaries"][name]["members"], dictionary["members"], lambda member: str(member["name"]))


def _replace(present: list[dict[str, Any]], new: list[dict[str, Any]], key: Callable[[dict[str, Any]], str]) -> None:
    replaced = {key(each) for each in new}
    present[:] = [each for each in present if key(each) not in replaced] + new


def _signature(operation: dict[str, Any]) -> str:
    return json.dumps([operation["name"], *(argument["type"] for argument in operation["arguments"])])
