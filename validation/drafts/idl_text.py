"""The IDL of a draft as text in the grammar of Web IDL, and what differs between two."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from webnn.validation.drafts.idl import Idl, IdlArgument, IdlInterface, IdlMember, IdlOperation, IdlType

__all__ = ["compare_idl", "write_argument", "write_definitions", "write_operation", "write_type"]

_GENERICS = {"sequence": "sequence", "promise": "Promise", "FrozenArray": "FrozenArray"}


def write_type(type: IdlType) -> str:
    """Write a type."""
    if isinstance(type, str):
        return type
    if "extendedAttributes" in type:
        return f"{_write_attributes(type['extendedAttributes'])}{write_type(type['type'])}"
    [(kind, inner)] = type.items()
    if kind == "nullable":
        return f"{write_type(inner)}?"
    if kind == "union":
        return f"({' or '.join(map(write_type, inner))})"
    if kind == "record":
        return f"record<{', '.join(map(write_type, inner))}>"
    return f"{_GENERICS[kind]}<{write_type(inner)}>"


def write_argument(argument: IdlArgument) -> str:
    """Write an argument."""
    words = ["optional"] if argument.get("optional") else []
    words += [write_type(argument["type"]) + ("..." if argument.get("variadic") else ""), argument["name"]]
    return " ".join(words) + _write_default(argument)


def write_operation(operation: IdlOperation) -> str:
    """Write an operation, without the semicolon."""
    return f"{write_type(operation['returns'])} {operation['name']}({', '.join(map(write_argument, operation['arguments']))})"


def write_definitions(idl: Idl) -> dict[str, list[str]]:
    """Write the definitions of an IDL: for the head of each, such as ``"enum MLRoundingType"``, its members."""
    return {
        **{f"enum {name}": [f"{json.dumps(value)}," for value in values] for name, values in idl["enumerations"].items()},
        **{f"typedef {name}": [f"{write_type(type)};"] for name, type in idl["typedefs"].items()},
        **{
            f"dictionary {name}" + (f" : {each['inherits']}" if "inherits" in each else ""): list(map(_write_member, each["members"]))
            for name, each in idl["dictionaries"].items()
        },
        **{f"interface {name}": list(_write_interface(each)) for name, each in idl["interfaces"].items()},
    }


def compare_idl(before: Idl, after: Idl) -> list[str]:
    """Return what differs between two IDLs, a line each as in a unified diff, without the definitions that are the same."""
    old, new = write_definitions(before), write_definitions(after)
    lines: list[str] = []
    for head in dict.fromkeys([*old, *new]):
        gone, come = old.get(head), new.get(head)
        if gone == come:
            continue
        if head.startswith("typedef "):
            # The name comes last.
            lines += [f"{mark} typedef {''.join(each)[:-1]} {head[8:]};" for mark, each in (("-", gone), ("+", come)) if each is not None]
            continue
        mark = " " if gone is not None and come is not None else "-" if come is None else "+"
        lines.append(f"{mark} {head} {{")
        lines += [f"-   {line}" for line in _without(gone or (), come or ())]
        lines += [f"+   {line}" for line in _without(come or (), gone or ())]
        lines.append(f"{mark} }};")
    return lines


def _without(lines: Iterable[str], others: Iterable[str]) -> list[str]:
    known = set(others)
    return [line for line in lines if line not in known]


def _write_interface(interface: IdlInterface) -> Iterator[str]:
    for arguments in interface.get("constructors", ()):
        yield f"constructor({', '.join(map(write_argument, arguments))});"
    for attribute in interface.get("attributes", ()):
        words = ["readonly"] * bool(attribute.get("readonly")) + ["attribute", write_type(attribute["type"]), attribute["name"]]
        yield f"{_write_attributes(attribute.get('extendedAttributes', {}))}{' '.join(words)};"
    for operation in interface.get("operations", ()):
        yield f"{_write_attributes(operation.get('extendedAttributes', {}))}{write_operation(operation)};"


def _write_member(member: IdlMember) -> str:
    required = "required " if member.get("required") else ""
    return f"{required}{write_type(member['type'])} {member['name']}{_write_default(member)};"


def _write_default(given: Mapping[str, Any] | IdlArgument | IdlMember) -> str:
    return f" = {json.dumps(given['default'])}" if "default" in given else ""


def _write_attributes(attributes: Mapping[str, Any]) -> str:
    written = [name if value is True else f"{name}={_write_value(value)}" for name, value in attributes.items()]
    return f"[{', '.join(written)}] " if written else ""


def _write_value(value: object) -> str:
    return f"({', '.join(map(str, value))})" if isinstance(value, list) else str(value)
