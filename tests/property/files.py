"""Mutations of files: bytes, tokens, numbers, sizes, nesting; and what loading a file may raise."""

from __future__ import annotations

import json
import random
import re
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import webnn

__all__ = ["FORMATS", "NUMBERS", "Files", "load", "mutate", "mutate_bytes"]

#: The files of a graph, by their names.
Files = Mapping[str, bytes]

#: Values that may replace any other.
TOKENS = [
    *('""', '"x"', '"Infinity"', '"\\ud800"', '"\u202e"', '"' + "x" * 3000 + '"', "true", "null", "NaN", "dyn", "//"),
    *("#", "@draft", "@bytes"),
    *("0", "-1", "1", "3", "-0.0", "1e-400", "1e400", "9" * 300, "9" * 5000, "4294967296", "9223372036854775808", "0.5", "1e308"),
    *("[]", "{}", "[[]]", "[" * 60 + "]" * 60, "[" * 100_000, '{"a":' * 2000, "[0,0]", "x", "y", ",", ":", ";", "=", "(", ")", "}", "]"),
]
NUMBERS = [0, 1, 7, 8, 9, 255, 2**16, 2**31 - 1, 2**31, 2**32, 2**53, 2**62, 2**63 - 1, 2**63, 2**64 - 1, -1]
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|-?[0-9.]+(?:[eE][+-]?[0-9]+)?|[\w@/.$]+|[^\w\s]')


def load(path: Path) -> bool:
    """Load a file and build its graph without compiling it; return whether it is valid.

    Any other error than one of the package comes out.
    """
    try:
        description = webnn.load(path)
    except (webnn.FormatError, webnn.DescriptionError, OSError) as error:
        text = str(error)
        assert len(text) < 5000, f"a text of {len(text)} characters"
        return False
    # A loaded graph is complete.
    assert all(operator.descriptors for operator in description.operators)
    for constant in description.constants.values():
        assert constant.value.shape == constant.descriptor.array_shape
        assert constant.value.nbytes == constant.descriptor.byte_length
    description.build(webnn.MLGraphBuilder(webnn.ML(revision=description.draft).createContextSync()))
    return True


# Mutations of bytes.


def _flip(data: bytearray, random: random.Random) -> None:
    for _ in range(random.choice([1, 1, 2, 8])):
        if data:
            data[random.randrange(len(data))] = random.choice([0, 0xFF, 0x22, 0x7B, 0x5B, random.randrange(256)])


def _cut(data: bytearray, random: random.Random) -> None:
    start = random.randrange(len(data) + 1)
    del data[start : start + random.choice([1, 4, 100, len(data)])]


def _repeat(data: bytearray, random: random.Random) -> None:
    start = random.randrange(len(data) + 1)
    piece = data[start : start + random.randrange(64)]
    data[start:start] = piece * random.choice([1, 2, 50])


# Mutations of tokens.


def _tokens(data: bytearray) -> list[re.Match[bytes]]:
    return list(_TOKEN.finditer(data))


def _replace(data: bytearray, random: random.Random) -> None:
    found = _tokens(data)
    if found:
        match = random.choice(found)
        data[match.start() : match.end()] = random.choice(TOKENS).encode()


def _kind(token: bytes) -> str:
    first = chr(token[0])
    if first.isdigit() or first in "-.":
        return "number"
    return "string" if first == '"' else "name" if first.isalpha() else token.decode("latin1")


def _similar(data: bytearray, random: random.Random) -> None:
    """Replace a token by one of the same kind, of this file or not."""
    found = [match for match in _tokens(data) if _kind(match[0]) in ("number", "string", "name")]
    if found:
        match = random.choice(found)
        kind = _kind(match[0])
        more = [str(number).encode() for number in NUMBERS] if kind == "number" else []
        token = random.choice([*[other[0] for other in found if _kind(other[0]) == kind], *more])
        data[match.start() : match.end()] = token


def _exchange(data: bytearray, random: random.Random) -> None:
    found = _tokens(data)
    if len(found) > 1:
        first, second = sorted(random.sample(found, 2), key=lambda match: match.start())
        data[second.start() : second.end()], data[first.start() : first.end()] = first[0], second[0]


def _drop(data: bytearray, random: random.Random) -> None:
    found = _tokens(data)
    if found:
        match = random.choice(found)
        del data[match.start() : match.end()]


def _copy(data: bytearray, random: random.Random) -> None:
    found = _tokens(data)
    if found:
        first, second = random.choice(found), random.choice(found)
        data[second.start() : second.start()] = first[0] + b" "


# Mutations of JSON.


def _change_json(data: bytearray, random: random.Random) -> None:
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return
    data[:] = json.dumps(_change(content, random)).encode()


def _change(value: Any, random: random.Random) -> Any:
    """Change something in plain data."""
    if isinstance(value, dict | list) and value and random.random() < 0.85:
        key = random.choice(list(value)) if isinstance(value, dict) else random.randrange(len(value))
        match random.randrange(12):
            case 0:
                del value[key]
            case 1 if isinstance(value, dict):
                value[random.choice(list(value))] = value[key]
            case 1:
                value.insert(random.randrange(len(value)), value[key])
            case _:
                value[key] = _change(value[key], random)
        return value
    return random.choice(
        [None, True, 0, -1, 0.5, 1e30, 10**400, "", "x", "y", "NaN", [], {}, [0], {"x": 1}, [[[[]]]], "int4", "uint8", *NUMBERS]
    )


# Mutations of safetensors.


def _resize(data: bytearray, random: random.Random) -> None:
    data[:8] = struct.pack("<Q", random.choice(NUMBERS) % 2**64)


def _change_header(data: bytearray, random: random.Random) -> None:
    if len(data) < 8:
        return
    [size] = struct.unpack("<Q", data[:8])
    header = bytearray(data[8 : 8 + size])
    random.choice([_change_json, _change_json, _similar, _similar, _replace, _exchange, _flip])(header, random)
    data[:] = (struct.pack("<Q", len(header)) if random.random() < 0.9 else data[:8]) + header + data[8 + size :]


Mutation = Callable[[bytearray, random.Random], None]
_BYTES: list[Mutation] = [_flip, _cut, _repeat]
_TEXT: list[Mutation] = [*_BYTES, *[_similar] * 8, _replace, _replace, _exchange, _drop, _copy]
#: The mutations of each format, by the suffix of the file that is mutated.
FORMATS: Mapping[str, list[Mutation]] = {
    ".webnn": _TEXT,
    ".webnn.json": [*_TEXT, *[_change_json] * 10],
    ".safetensors": [*_BYTES, *[_flip] * 3, _resize, *[_change_header] * 6],
}


def mutate_bytes(data: bytearray, random: random.Random) -> None:
    """Mutate a file of any format."""
    random.choice(_BYTES)(data, random)


def mutate(files: Files, suffix: str, random: random.Random) -> Files:
    """Return the files of a graph, with one to three mutations in those of a suffix."""
    mutated = {name: bytearray(data) for name, data in files.items()}
    [name] = [name for name in files if name.endswith(suffix)]
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        random.choice(FORMATS[suffix])(mutated[name], random)
    return {name: bytes(data) for name, data in mutated.items()}
