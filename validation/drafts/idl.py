"""The Web IDL of a draft, as data, for bindings to other languages and for the tests.

`tools/extract_idl.py` takes the files ``<draft>.idl.json`` from the drafts.

Members, arguments and overloads are in the IDL's order.

A type is its name (``"MLOperand"``, ``"unsigned long"``) or a mapping: ``{"sequence": type}``, ``{"promise": type}``,
``{"FrozenArray": type}``, ``{"record": [key, type]}``, ``{"union": [type, ...]}``, ``{"nullable": type}``, or
``{"extendedAttributes": {"EnforceRange": True}, "type": type}``.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, NotRequired, TypedDict, cast

from webnn.validation import extras

__all__ = [
    "Idl",
    "IdlArgument",
    "IdlAttribute",
    "IdlDictionary",
    "IdlInterface",
    "IdlMember",
    "IdlOperation",
    "IdlType",
    "Interfaces",
    "find_interfaces",
    "merge_idl",
    "read_idl",
]

IdlType = str | Mapping[str, Any]


class IdlArgument(TypedDict):
    """An argument of an operation or a constructor. A missing key means false or none."""

    name: str
    type: IdlType
    optional: NotRequired[bool]
    variadic: NotRequired[bool]
    default: NotRequired[Any]


class IdlMember(TypedDict):
    """A member of a dictionary. A missing key means false or none."""

    name: str
    type: IdlType
    required: NotRequired[bool]
    default: NotRequired[Any]


class IdlDictionary(TypedDict):
    """A dictionary."""

    inherits: NotRequired[str]
    members: list[IdlMember]


class IdlAttribute(TypedDict):
    """An attribute of an interface."""

    name: str
    type: IdlType
    readonly: NotRequired[bool]
    extendedAttributes: NotRequired[dict[str, Any]]


class IdlOperation(TypedDict):
    """An operation of an interface; overloads are operations of one name."""

    name: str
    returns: IdlType
    arguments: list[IdlArgument]
    extendedAttributes: NotRequired[dict[str, Any]]


class IdlInterface(TypedDict):
    """An interface or an interface mixin, with what its partial interfaces add. Each constructor is its list of arguments."""

    extendedAttributes: NotRequired[dict[str, Any]]
    inherits: NotRequired[str]
    constructors: NotRequired[list[list[IdlArgument]]]
    attributes: NotRequired[list[IdlAttribute]]
    operations: NotRequired[list[IdlOperation]]


class Idl(TypedDict):
    """The IDL of a draft.

    Attributes:
        source: The draft's title, revision, address and license.
        includes: The mixins that an interface includes.
        anchors: The anchors of the draft's sections and definitions, without the number sign.
    """

    source: dict[str, str]
    enumerations: dict[str, list[str]]
    typedefs: dict[str, IdlType]
    dictionaries: dict[str, IdlDictionary]
    mixins: dict[str, IdlInterface]
    includes: dict[str, list[str]]
    interfaces: dict[str, IdlInterface]
    anchors: list[str]


class Interfaces(NamedTuple):
    """Interfaces of another specification, for programs in JavaScript.

    An extra has a function that returns them. Its entry point in the group ``webnn.interfaces`` has the name of an interface of which a
    draft returns objects.
    """

    idl: Mapping[str, Any]
    classes: Mapping[str, type]


def find_interfaces(idl: Idl) -> list[Interfaces]:
    """Return the interfaces of extras for those of other specifications of which the operations of an IDL return objects."""
    operations = [each for interface in idl["interfaces"].values() for each in interface.get("operations", ())]
    returned = {each["returns"] for each in operations if isinstance(each["returns"], str)}
    return [entry.load()() for name, entry in extras.find("webnn.interfaces").items() if name in returned]


def read_idl(name: str) -> Idl:
    """Read the file of a draft, for example ``"2024-06"``.

    The file has the whole IDL; or it names the draft ``after`` which it comes, and has the changes for `merge_idl` and the new anchors.
    """
    from importlib import resources  # noqa: PLC0415 (it loads `tempfile`, which most programs do not need)

    file = resources.files("webnn.validation.drafts") / f"{name}.idl.json"
    found = json.loads(file.read_text(encoding="utf-8"))
    if "after" in found:
        before = read_idl(found["after"])
        anchors = sorted([*before["anchors"], *found["anchors"]])
        return {**merge_idl(before, found), "source": found["source"], "anchors": anchors}
    idl: Idl = found
    return idl


def merge_idl(idl: Idl, changes: Mapping[str, Any]) -> Idl:
    """Return an IDL with changes. An entry replaces an existing one with the same name or signature.

    Args:
        idl: The IDL, which is not changed.
        changes: Names of definitions that are ``removed``; values of ``enumerations``, to be added; ``typedefs``; ``members`` of
            ``dictionaries``;
            ``operations`` and ``attributes`` of ``interfaces``. ``without`` of a dictionary or an interface lists what is removed: a
            member's name, or the signature of an overload, ``[name, type of each argument]``. ``only`` lists the names of the operations
            that an interface keeps.
    """
    merged = cast("dict[str, Any]", copy.deepcopy(idl))
    for name in changes.get("removed", ()):
        for definitions in (merged["enumerations"], merged["typedefs"], merged["dictionaries"], merged["interfaces"]):
            definitions.pop(name, None)
    for name, values in changes.get("enumerations", {}).items():
        present = merged["enumerations"].setdefault(name, [])
        present.extend([value for value in values if value not in present])
    merged["typedefs"].update(changes.get("typedefs", {}))
    for kind, name, lists in (
        *(("dictionaries", name, ("members",)) for name in changes.get("dictionaries", ())),
        *(("interfaces", name, ("operations", "attributes")) for name in changes.get("interfaces", ())),
    ):
        present, change = merged[kind].setdefault(name, {}), changes[kind][name]
        present.update({key: value for key, value in change.items() if key not in {*lists, "only", "without"}})
        gone = {json.dumps(each) for each in change.get("without", ())}
        for each in lists:
            _replace(present.setdefault(each, []), change.get(each, []), gone, _signature if each == "operations" else _name)
        if "only" in change:
            present["operations"] = [each for each in present["operations"] if each["name"] in change["only"]]
    return cast(Idl, merged)


def _replace(present: list[Any], new: list[Any], gone: set[str], key: Callable[[Mapping[str, Any]], str]) -> None:
    gone = gone.union(map(key, new))
    present[:] = [each for each in present if gone.isdisjoint((key(each), _name(each)))] + new


def _name(member: Mapping[str, Any]) -> str:
    return json.dumps(member["name"])


def _signature(operation: Mapping[str, Any]) -> str:
    return json.dumps([operation["name"], *(argument["type"] for argument in operation["arguments"])])
