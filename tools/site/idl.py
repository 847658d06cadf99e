"""The Web IDL of an operation in each draft."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from webnn.validation.drafts import find_revision
from webnn.validation.drafts.idl import Idl, IdlMember, IdlOperation, IdlType
from webnn.validation.drafts.idl_text import write_argument, write_definitions, write_operation, write_type

__all__ = ["dictionaries_of", "dictionary_text", "members_of", "overloads", "range_of", "signature"]

#: The ranges of integer types with [EnforceRange].
_RANGES: Mapping[str, str] = {
    "unsigned long": "0 to 4,294,967,295",
    "long": "-2,147,483,648 to 2,147,483,647",
    "unsigned long long": "0 to 2⁵³ - 1",
}
_BUILDER = "MLGraphBuilder"
#: The longest line of a signature.
_LONGEST = 76


def range_of(type: IdlType, idl: Idl) -> str:
    """Return which values a type has, if the IDL limits them: those of an enumeration, or the range of an integer."""
    if isinstance(type, str):
        if type in idl["enumerations"]:
            return ", ".join(f'"{value}"' for value in idl["enumerations"][type])
        return _RANGES.get(type, "finite" if type in {"float", "double"} else "")
    if "union" in type:
        return next(filter(None, (range_of(each, idl) for each in type["union"])), "")
    if "extendedAttributes" in type:
        return range_of(type["type"], idl)
    inner = type.get("sequence", type.get("nullable"))
    found = range_of(inner, idl) if inner is not None else ""
    return f"each {found}" if found and "sequence" in type else found


def signature(operation: IdlOperation) -> str:
    """Return the IDL of an operation, one argument in a line if there are many."""
    line = f"{write_operation(operation)};"
    if len(line) <= _LONGEST:
        return line
    arguments = map(write_argument, operation["arguments"])
    return f"{write_type(operation['returns'])} {operation['name']}(\n    " + ",\n    ".join(arguments) + "\n);"


def overloads(name: str, draft: str) -> list[IdlOperation]:
    """Return the overloads of a method of ``MLGraphBuilder`` in a draft."""
    return [each for each in find_revision(draft).idl()["interfaces"][_BUILDER]["operations"] if each["name"] == name]


def dictionaries_of(name: str, draft: str) -> list[str]:
    """Return the dictionaries of an operation's options, with their ancestors, the nearest first."""
    dictionaries = find_revision(draft).idl()["dictionaries"]
    found: list[str] = []
    for overload in overloads(name, draft):
        for argument in overload["arguments"]:
            type: Any = argument["type"]
            while isinstance(type, str) and type in dictionaries and type not in found:
                found.append(type)
                type = dictionaries[type].get("inherits")
    return found


def members_of(name: str, draft: str) -> Iterator[IdlMember]:
    """Yield the members of an operation's options, those of its own dictionary first."""
    dictionaries = find_revision(draft).idl()["dictionaries"]
    for dictionary in dictionaries_of(name, draft):
        yield from dictionaries[dictionary]["members"]


def dictionary_text(name: str, draft: str) -> str:
    """Return the IDL of a dictionary."""
    definitions = write_definitions(find_revision(draft).idl())
    head = next(head for head in definitions if f"{head} ".startswith(f"dictionary {name} "))
    return "\n".join([f"{head} {{", *(f"    {line}" for line in definitions[head]), "};"])
