"""The IDL that the binding interprets: the project's own data, taken from the draft."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

import webnn
from webnn.validation.drafts import find_revision
from webnn.validation.drafts.idl import find_interfaces, merge_idl
from webnn.validation.revision import Revision

__all__ = ["BindingIdl", "Members", "dialect_revision", "explain_members", "load_dialects", "load_idl"]


class Members(NamedTuple):
    """The members of an interface that JavaScript may use. ``"constructor"`` is one of the operations."""

    attributes: frozenset[str]
    operations: frozenset[str]


class BindingIdl(NamedTuple):
    """The IDL of a draft, for both sides of the border.

    Attributes:
        revision: The draft that the emulator follows: a dialect may need a later one than was asked for.
        classes: The classes of interfaces of other specifications, by their names.
    """

    text: str
    members: Mapping[str, Members]
    revision: Revision
    dialect: str | None
    classes: Mapping[str, type]


@cache
def load_idl(revision: str | Revision, dialect: str | None = None) -> BindingIdl:
    """Read the IDL of a draft. Raises `ValueError` if there is no such draft or dialect, or the dialect belongs to another revision.

    A dialect is a file in `dialects`, with the additions of browsers to the draft, and the reasons. `legacy` implements them. Members of
    the tests' own IDL that the draft had formerly, ``former``, are not added.
    """
    followed = revision if isinstance(revision, Revision) else find_revision(revision)
    idl = followed.idl()
    namespaces: Mapping[str, Any] = {}
    conversions: Mapping[str, Any] = {}
    classes: Mapping[str, type] = {}
    for others, found in find_interfaces(idl):
        idl, namespaces, classes = merge_idl(idl, others), {**namespaces, **others["namespaces"]}, {**classes, **found}
    if dialect is not None:
        # A dialect fits a later draft, too, if that changes contexts only.
        more = _load_dialect(dialect, followed.graph_draft)
        idl, namespaces = merge_idl(idl, more), {**namespaces, **more.get("namespaces", {})}
        conversions = more.get("conversions", {})
        followed = _extend(followed, more["emulator"]) if "emulator" in more else followed
    members = {
        name: Members(
            frozenset(each["name"] for each in interface.get("attributes", ())),
            frozenset([each["name"] for each in interface.get("operations", ())] + ["constructor"] * bool(interface.get("constructors"))),
        )
        for name, interface in idl["interfaces"].items()
    }
    # The anchors are only for readers, and longer than all the rest.
    text = json.dumps(
        {name: value for name, value in idl.items() if name != "anchors"} | {"namespaces": namespaces, "conversions": conversions}
    )
    return BindingIdl(text, members, followed, dialect, classes)


def _extend(revision: Revision, emulator: str) -> Revision:
    """Return the revision that a dialect needs, with the additions of the one that was asked for."""
    own, plus, more = emulator.partition("+")
    needed = find_revision((revision.draft if own == revision.graph_draft else own) + plus + more)
    additions = [each for each in revision.name.split("+")[1:] if each not in needed.history]
    return find_revision("+".join([needed.name, *additions])) if additions else needed


def dialect_revision(name: str) -> str | None:
    """Return the revision of the draft that a dialect adds to, ``None`` if there is no such dialect."""
    dialect = load_dialects().get(name)
    return None if dialect is None else str(dialect["revision"])


def _load_dialect(name: str, revision: str) -> dict[str, Any]:
    dialects = load_dialects()
    fitting = sorted(each for each, dialect in dialects.items() if dialect["revision"] == revision)
    if name not in fitting:
        whose = f", one of the revision {dialects[name]['revision']}" if name in dialects else ""
        raise ValueError(f"the dialect for the revision {revision} must be one of {', '.join(fitting)}, got {name!r}{whose}")
    return dialects[name]


def explain_members(idl: BindingIdl, text: str) -> list[str]:
    """Say why members of a dictionary are ignored.

    ``text`` is a JSON list: where the dictionary is, the names that were given, and those that it has. Raises `ValueError` if it is no such
    text.
    """
    match json.loads(text):
        case [str(where), [*given], [*known]] if all(isinstance(name, str) for name in [*given, *known]):
            pass
        case _:
            raise ValueError("there is no such dictionary")
    texts = _explain_lenient(idl.dialect, where, given, known)
    rest = [name for name in given if name not in texts]
    return [*filter(None, texts.values()), *webnn.explain_ignored(idl.revision, where, rest, known)]


def _explain_lenient(dialect: str | None, where: str, given: Collection[str], known: Collection[str]) -> dict[str, str]:
    """Say which ignored members the lenient counterpart of a strict dialect takes. A text is empty if its replacement is given too."""
    strict = load_dialects()[dialect] if dialect is not None else {}
    if "lenient" not in strict:
        return {}
    texts: dict[str, str] = {}
    for dictionary in load_dialects()[strict["lenient"]]["dictionaries"].values():
        for member in dictionary["members"]:
            name, instead = member["name"], [member["as"]] if "as" in member else list(member.get("flags", ()))
            if instead and name in given and name not in known:
                advice = " and ".join(map(repr, instead))
                isGiven = any(each in given for each in instead)
                texts[name] = "" if isGiven else f"{where}.{name} is ignored by {strict['browser']}: use {advice}"
    return texts


@cache
def load_dialects() -> dict[str, dict[str, Any]]:
    """Read the dialects, by name: the content of each file in `dialects`."""
    files = (resources.files("webnn.javascript") / "dialects").iterdir()
    return {file.name.removesuffix(".json"): json.loads(file.read_text(encoding="utf-8")) for file in files if file.name.endswith(".json")}
