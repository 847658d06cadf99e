"""The IDL that the binding interprets: the project's own data, taken from the draft."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

__all__ = ["BindingIdl", "Members", "dialect_revision", "load_idl"]


@dataclass(frozen=True, slots=True)
class Members:
    """What JavaScript may use of an interface.

    Attributes:
        attributes: Its attributes.
        operations: Its operations, ``"constructor"`` among them.
    """

    attributes: frozenset[str]
    operations: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class BindingIdl:
    """The IDL of a revision, for both sides of the border.

    Attributes:
        text: The IDL as JSON, for JavaScript.
        members: The members of each interface.
        revision: The revision that the emulator follows: a dialect may want more than the draft's.
    """

    text: str
    members: Mapping[str, Members]
    revision: str


@cache
def load_idl(revision: str, dialect: str | None = None) -> BindingIdl:
    """Read the IDL of a revision of the draft, for example ``"2024-06"``.

    Args:
        revision: The revision.
        dialect: What browsers had beside it: the name of a file in `dialects`, which says why. `legacy` does what it adds.

    Raises:
        ValueError: There is none of that name, or the dialect is one of another revision.
    """
    file = resources.files("webnn.validation.idl") / f"{revision}.json"
    if not file.is_file():
        raise ValueError(f"there is no IDL of a revision {revision!r} here")
    # The anchors are for people's eyes, and longer than all the rest.
    idl = {name: value for name, value in json.loads(file.read_text(encoding="utf-8")).items() if name != "anchors"}
    followed = revision
    if dialect is not None:
        more = _load_dialect(dialect, revision)
        _merge(idl, more)
        followed = more.get("emulator", revision)
    members = {
        name: Members(
            attributes=frozenset(each["name"] for each in interface.get("attributes", ())),
            operations=frozenset(
                [each["name"] for each in interface.get("operations", ())] + ["constructor"] * bool(interface.get("constructors"))
            ),
        )
        for name, interface in idl["interfaces"].items()
    }
    return BindingIdl(text=json.dumps(idl), members=members, revision=followed)


def dialect_revision(name: str) -> str | None:
    """Return the revision of the draft that a dialect adds to, ``None`` if there is no such dialect."""
    dialect = dict(_dialects()).get(name)
    return None if dialect is None else str(dialect["revision"])


def _load_dialect(name: str, revision: str) -> dict[str, Any]:
    dialects = dict(_dialects())
    fitting = sorted(each for each, dialect in dialects.items() if dialect["revision"] == revision)
    if name not in fitting:
        whose = f", one of the revision {dialects[name]['revision']}" if name in dialects else ""
        raise ValueError(f"the dialect for the revision {revision} must be one of {', '.join(fitting)}, got {name!r}{whose}")
    return dialects[name]


def _dialects() -> Iterator[tuple[str, dict[str, Any]]]:
    for file in (resources.files("webnn.javascript") / "dialects").iterdir():
        if file.name.endswith(".json"):
            yield file.name.removesuffix(".json"), json.loads(file.read_text(encoding="utf-8"))


def _merge(idl: dict[str, Any], dialect: dict[str, Any]) -> None:
    """Add what a dialect has: values of enumerations, members of dictionaries, overloads of operations, attributes, namespaces.

    A member or an overload that is there already is replaced; overloads that the dialect is ``without`` go.
    """
    for name, values in dialect.get("enumerations", {}).items():
        idl["enumerations"].setdefault(name, []).extend(values)
    for name, interface in dialect.get("interfaces", {}).items():
        operations = idl["interfaces"][name]["operations"]
        gone = {json.dumps(signature) for signature in interface.get("without", ())}
        operations[:] = [each for each in operations if _signature(each) not in gone]
        _replace(operations, interface.get("operations", []), _signature)
        idl["interfaces"][name].setdefault("attributes", []).extend(interface.get("attributes", ()))
    for name, dictionary in dialect.get("dictionaries", {}).items():
        _replace(idl["dictionaries"][name]["members"], dictionary["members"], lambda member: str(member["name"]))
    idl["namespaces"] = dialect.get("namespaces", {})


def _replace(present: list[dict[str, Any]], new: list[dict[str, Any]], key: Callable[[dict[str, Any]], str]) -> None:
    replaced = {key(each) for each in new}
    present[:] = [each for each in present if key(each) not in replaced] + new


def _signature(operation: dict[str, Any]) -> str:
    return json.dumps([operation["name"], *(argument["type"] for argument in operation["arguments"])])
