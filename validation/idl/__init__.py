"""The Web IDL of each revision of the specification, as data: what a binding to another language, and the tests, read.

`tools/extract_idl.py` takes the files from the drafts. Order is the IDL's own where it means something: members, arguments, overloads.

A type is its name (``"MLOperand"``, ``"unsigned long"``) or a mapping: ``{"sequence": type}``, ``{"promise": type}``,
``{"FrozenArray": type}``, ``{"record": [key, type]}``, ``{"union": [type, ...]}``, ``{"nullable": type}``, or
``{"extendedAttributes": {"EnforceRange": True}, "type": type}``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import resources
from typing import Any, NotRequired, TypedDict

__all__ = ["Idl", "IdlArgument", "IdlAttribute", "IdlDictionary", "IdlInterface", "IdlMember", "IdlOperation", "IdlType", "load_idl"]

IdlType = str | Mapping[str, Any]


class IdlArgument(TypedDict):
    """An argument of an operation or a constructor. A missing key means no, or that there is none."""

    name: str
    type: IdlType
    optional: NotRequired[bool]
    variadic: NotRequired[bool]
    default: NotRequired[Any]


class IdlMember(TypedDict):
    """A member of a dictionary. A missing key means no, or that there is none."""

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
    """The IDL of a revision.

    Attributes:
        source: The draft's title, revision, address and license.
        enumerations: The values of each enumeration.
        typedefs: What each name stands for.
        dictionaries: The dictionaries.
        mixins: The interface mixins.
        includes: The mixins that an interface includes.
        interfaces: The interfaces.
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


def load_idl(revision: str) -> Idl:
    """Read the IDL of a revision, for example ``"2024-06"``.

    Raises:
        ValueError: There is none of that name.
    """
    file = resources.files("webnn.validation.idl") / f"{revision}.json"
    if not file.is_file():
        raise ValueError(f"there is no IDL of a revision {revision!r} here")
    idl: Idl = json.loads(file.read_text(encoding="utf-8"))
    return idl
