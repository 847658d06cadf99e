"""Names of values as identifiers of the `.webnn` text, and back; docs/formats.md.

An identifier is ASCII. It says most names as they are. ``$_`` begins an escaped one, in which letters and digits are themselves, ``__`` is
an underscore, and ``_3a_`` the character with this code. ``_x_`` separates a value from the outputs that it is under other names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

__all__ = ["IDENTIFIER", "PREFIX", "WORDS", "read_identifier", "read_name", "write_identifier"]

#: The pattern of identifiers. It is possessive, so that nothing is tried twice.
IDENTIFIER = r"[A-Za-z_/$][A-Za-z0-9_/.]*+"
#: Words that cannot be names among arguments.
WORDS: Mapping[str, bool | None] = MappingProxyType({"true": True, "false": False, "null": None})
#: The prefix of escaped identifiers.
PREFIX = "$_"

_IDENTIFIER = re.compile(IDENTIFIER)
_ESCAPED = re.compile(r"(?:[A-Za-z0-9]|__|_x_|_[0-9a-f]{1,6}_)*+")
_SPECIAL = re.compile(r"[^A-Za-z0-9]")
_PART = re.compile(r"__|_x_|_[0-9a-f]+_")
_LARGEST = 0x10FFFF


def write_identifier(name: str, outputs: Sequence[str] = ()) -> str:
    """Return the identifier of a value. ``outputs`` are those that it is, if that is not one under its own name."""
    # Two slashes begin a comment.
    plain = _IDENTIFIER.fullmatch(name) is not None and name not in WORDS and not name.startswith("//")
    if plain and not outputs and _unescape(name) is None:
        return name
    return PREFIX + "_x_".join([_SPECIAL.sub(_escape, each) for each in (name, *outputs)])


def read_identifier(identifier: str) -> tuple[str, tuple[str, ...]]:
    """Return the name of a value, and the outputs that it is if the graph lists it as one.

    An identifier that is not what `write_identifier` returns is the name itself: it comes from another program.
    """
    found = _unescape(identifier)
    if found is None:
        return identifier, (identifier,)
    name, *outputs = found
    return name, tuple(outputs) or (name,)


def read_name(identifier: str) -> str:
    """Return the name of a value."""
    return read_identifier(identifier)[0] if identifier.startswith(PREFIX) else identifier


def _escape(found: re.Match[str]) -> str:
    return "__" if found[0] == "_" else f"_{ord(found[0]):x}_"


def _unescape(identifier: str) -> list[str] | None:
    """Return the names of an escaped identifier; None for other identifiers."""
    if not identifier.startswith(PREFIX):
        return None
    body = identifier[len(PREFIX) :]
    if _ESCAPED.fullmatch(body) is None:
        return None
    names, begin = [""], 0
    for part in _PART.finditer(body):
        names[-1] += body[begin : part.start()]
        begin = part.end()
        code = part[0][1:-1]
        if code == "x":
            names.append("")
        elif not code:
            names[-1] += "_"
        elif int(code, 16) > _LARGEST:
            return None
        else:
            names[-1] += chr(int(code, 16))
    names[-1] += body[begin:]
    name, *outputs = names
    return names if write_identifier(name, outputs) == identifier else None
