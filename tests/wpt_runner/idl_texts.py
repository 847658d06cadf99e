"""Writes IDL as a checkout has it, of the IDL as data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["write_idl"]


def write_idl(idl: Mapping[str, Any]) -> str:
    """Write the definitions of an IDL. Interfaces are in two parts, as in the drafts."""
    return "\n".join(_definitions(idl))


def _definitions(idl: Mapping[str, Any]) -> Iterator[str]:
    for name, values in idl["enumerations"].items():
        yield _define(f"enum {name}", [", ".join(json.dumps(value) for value in values)])
    for name, dictionary in idl["dictionaries"].items():
        above = f" : {dictionary['inherits']}" if "inherits" in dictionary else ""
        yield _define(f"dictionary {name}{above}", [f"{_variable(each, 'required')};" for each in dictionary["members"]])
    for name, namespace in idl.get("namespaces", {}).items():
        constants = [f"const unsigned long {each['name']} = {each['value']};" for each in namespace["constants"]]
        yield _define(f"[SecureContext]\nnamespace {name}", constants)
    for kind, interfaces in (("interface", idl["interfaces"]), ("interface mixin", idl["mixins"])):
        for name, interface in interfaces.items():
            attributes = [f"[SameObject] readonly attribute {_variable(each)};" for each in interface.get("attributes", ())]
            constructors = [f"constructor({_arguments(each)});" for each in interface.get("constructors", ())]
            yield _define(f"[SecureContext, Exposed=(Window, Worker)] {kind} {name}", [*attributes, *constructors])
            operations = interface.get("operations", ())
            lines = [f"{_type(each['returns'])} {each['name']}({_arguments(each['arguments'])});" for each in operations]
            yield _define(f"partial {kind} {name}", lines)


def _define(head: str, lines: list[str]) -> str:
    return "\n  ".join([f"{head} {{", *lines]) + "\n};"


def _arguments(arguments: list[dict[str, Any]]) -> str:
    return ", ".join(_variable(each, "optional") for each in arguments)


def _variable(each: Mapping[str, Any], word: str = "") -> str:
    """Write what has a type and a name, perhaps a default, behind a word if it is what the word says."""
    default = f" = {json.dumps(each['default'])}" if "default" in each else ""
    dots = "..." if each.get("variadic") else ""
    return f"{word if each.get(word) else ''} {_type(each['type'])}{dots} {each['name']}{default}".lstrip()


def _type(value: Any) -> str:
    if isinstance(value, str):
        return value
    if "extendedAttributes" in value:
        return f"[{', '.join(value['extendedAttributes'])}] {_type(value['type'])}"
    [(kind, inner)] = value.items()
    if kind == "union":
        return f"({' or '.join(map(_type, inner))})"
    if kind == "record":
        return f"record<{', '.join(map(_type, inner))}>"
    return f"{_type(inner)}?" if kind == "nullable" else f"{kind}<{_type(inner)}>"
