"""The IDL of a draft as what changes in that of the draft before, for drafts of which only the IDL is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from webnn.validation.drafts.idl import Idl, merge_idl

__all__ = ["write_difference"]

#: The definitions that `merge_idl` changes, with the lists that it merges.
_LISTS = {"dictionaries": ("members",), "interfaces": ("operations", "attributes")}


def write_difference(before: Idl, after: Idl) -> Mapping[str, Any]:
    """Return the data of a draft in the form that `read_idl` reads: the changes if `merge_idl` can make them, or else the whole IDL.

    A member that changes comes last in its definition.
    """
    changes: dict[str, Any] = {"removed": _find_removed(before, after)}
    for kind in ("enumerations", "typedefs", "dictionaries", "interfaces"):
        old, new = _definitions(before, kind), _definitions(after, kind)
        changes[kind] = {}
        for name, definition in new.items():
            if name not in old or name in changes["removed"]:
                changes[kind][name] = definition
            elif definition != old[name]:
                changes[kind][name] = _compare(kind, old[name], definition)
    changes = {key: value for key, value in changes.items() if value}
    anchors = sorted({*after["anchors"]} - {*before["anchors"]})
    merged = {**merge_idl(before, changes), "source": after["source"], "anchors": sorted([*before["anchors"], *anchors])}
    if _order(merged) != _order(after):
        return after
    return {"source": after["source"], "after": before["source"]["revision"], **changes, "anchors": anchors}


def _definitions(idl: Mapping[str, Any], kind: str) -> dict[str, Any]:
    found: dict[str, Any] = idl[kind]
    return found


def _find_removed(before: Idl, after: Idl) -> list[str]:
    """Return the definitions that are gone, and those that lose what `merge_idl` cannot take away: they are written anew."""
    removed = []
    for kind in ("enumerations", "typedefs", "dictionaries", "interfaces"):
        new = _definitions(after, kind)
        for name, definition in _definitions(before, kind).items():
            loses = kind != "typedefs" and name in new and not {*definition} - {*_LISTS.get(kind, ())} <= {*new[name]}
            if name not in new or loses:
                removed.append(name)
    return sorted(removed)


def _compare(kind: str, old: Any, new: Any) -> Any:
    if kind == "typedefs":
        return new
    if kind == "enumerations":
        return [value for value in new if value not in old]
    change = {key: value for key, value in new.items() if key not in _LISTS[kind] and value != old.get(key)}
    gone: list[Any] = []
    for each in _LISTS[kind]:
        had, has = old.get(each, []), new.get(each, [])
        key = _signature if each == "operations" else _name
        if added := [member for member in has if member not in had]:
            change[each] = added
        gone += [key(member) for member in had if key(member) not in list(map(key, has))]
    return {**change, **({"without": gone} if gone else {})}


def _name(member: Mapping[str, Any]) -> Any:
    return member["name"]


def _signature(operation: Mapping[str, Any]) -> Any:
    return [operation["name"], *(argument["type"] for argument in operation["arguments"])]


def _order(value: Any) -> Any:
    """Return data without empty lists, and with definitions' members in one order."""
    if not isinstance(value, Mapping):
        return value
    by: Callable[[Any], str] = repr
    return {
        key: sorted(each, key=by) if key in {"members", "operations", "attributes"} else _order(each)
        for key, each in value.items()
        if each or not isinstance(each, list)
    }
