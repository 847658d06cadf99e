"""The names that Web IDL defines: they identify a state of a draft."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["find_uses", "names_in", "names_of"]

_IGNORED = re.compile(r'//[^\n]*|/\*.*?\*/|("[^"]*")', re.DOTALL)
_DEFINITION = re.compile(r"\b(interface(?:\s+mixin)?|dictionary|enum|namespace)\s+(\w+)[^{};]{0,200}\{")
#: The characters of a name, and nested parts: brackets of extended attributes, and the parentheses of arguments and unions.
_PART = re.compile(r'"[^"]*"|[\w-]+|[][(){},;=<>]')
_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}


def names_of(idl: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of an IDL as data (`webnn.validation.drafts.idl`).

    They are those of the definitions, ``"MLGraph"``; of their members and values, ``"MLGraph.destroy"``; and each operation again with the
    number of its arguments, ``"MLGraph.destroy(0)"``, because overloads share a name.
    """
    names = set()
    for name, values in idl["enumerations"].items():
        names |= {name, *(f"{name}.{value}" for value in values)}
    for name, dictionary in idl["dictionaries"].items():
        names |= {name, *(f"{name}.{member['name']}" for member in dictionary["members"])}
    for name, namespace in idl.get("namespaces", {}).items():
        names |= {name, *(f"{name}.{constant['name']}" for constant in namespace["constants"])}
    for name, interface in [*idl["interfaces"].items(), *idl["mixins"].items()]:
        names |= {name, *(f"{name}.{attribute['name']}" for attribute in interface.get("attributes", ()))}
        operations = [(each["name"], each["arguments"]) for each in interface.get("operations", ())]
        operations += [("constructor", arguments) for arguments in interface.get("constructors", ())]
        for operation, arguments in operations:
            names |= {f"{name}.{operation}", f"{name}.{operation}({len(arguments)})"}
    return frozenset(names)


def names_in(text: str) -> frozenset[str]:
    """Return the names that a text in Web IDL defines, as `names_of`. Text that is not IDL defines nothing."""
    text = _IGNORED.sub(lambda match: match[1] or " ", text)
    names = set()
    place = 0
    while definition := _DEFINITION.search(text, place):
        kind, name = definition[1], definition[2]
        names.add(name)
        place = definition.end()
        if kind == "enum":
            end = text.find("}", place) + 1 or len(text)
            names.update(f"{name}.{value}" for value in re.findall(r'"([^"]*)"', text[place:end]))
            place = end
        else:
            members, place = _members(text, place)
            names.update(f"{name}.{each}" for member in members for each in _names_of_member(member))
    return frozenset(names)


def _members(text: str, start: int) -> tuple[list[list[str]], int]:
    """Return the parts of each member of a definition whose body begins at ``start``, and where it ends.

    A nested group is one part, with its content.
    """
    members: list[list[str]] = [[]]
    waiting: list[str] = []
    group: list[str] = []
    for match in _PART.finditer(text, start):
        part = match[0]
        if waiting or part in _CLOSING:
            group.append(part)
            if part in _CLOSING:
                waiting.append(_CLOSING[part])
            elif part == waiting[-1]:
                waiting.pop()
            if not waiting:
                members[-1].append(" ".join(group))
                group = []
        elif part == ";":
            members.append([])
        elif part == "}":
            return members, match.end()
        else:
            members[-1].append(part)
    return members[:-1], len(text)


def _names_of_member(parts: list[str]) -> Iterator[str]:
    """Return the name of an attribute, a constant or a dictionary's member; that of an operation, alone and with a number of arguments."""
    before = parts[: parts.index("=")] if "=" in parts else parts
    if before and before[-1].isidentifier():
        yield before[-1]
    elif len(before) > 1 and before[-1].startswith("(") and before[-2].isidentifier():
        yield before[-2]
        yield f"{before[-2]}({_count(before[-1])})"


def _count(arguments: str) -> int:
    """Count arguments: their groups are nested, and hold commas of their own."""
    depth, count = 0, 0
    parts = arguments.split()
    for part in parts:
        depth += (part in _CLOSING) - (part in _CLOSING.values())
        count += part == "," and depth == 1
    return count + (len(parts) > 2)


def find_uses(text: str, idl: Mapping[str, Any], names: frozenset[str]) -> frozenset[str]:
    """Return which of the names of an IDL a program in JavaScript uses: members of dictionaries, values of enumerations, attributes.

    A use is known by its form: ``member:``, ``'value'``, ``.attribute``. The same word may mean something else.
    """
    # No form begins with a boundary: a search for a literal text is a hundred times as fast.
    forms = {f"{name}.{each['name']}": rf"{each['name']}\s*:" for name, kind in idl["dictionaries"].items() for each in kind["members"]}
    forms |= {f"{name}.{value}": rf"['\"]{re.escape(value)}['\"]" for name, values in idl["enumerations"].items() for value in values}
    for name, interface in idl["interfaces"].items():
        forms |= {f"{name}.{each['name']}": rf"\.{each['name']}\b" for each in interface.get("attributes", ())}
    return frozenset(name for name in names & forms.keys() if re.search(forms[name], text))
