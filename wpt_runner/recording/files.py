"""Files of cases: readable, and byte-identical for identical cases."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["encode_file", "write_file"]

#: The levels that take several lines: the file, its cases, a case, its graph, and the graph's inputs, operators and outputs.
_LEVELS = 5


def encode_file(source: str, level: str, cases: Sequence[Mapping[str, Any]]) -> str:
    """Return the text of a file: where the cases are from, the level of web-platform-tests that they belong to, and the cases."""
    return _encode({"source": source, "level": level, "tests": list(cases)}, 0) + "\n"


def _encode(value: Any, depth: int) -> str:
    """Encode a value: nested lists and objects take several lines up to a depth, all other values one line."""
    elements = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if depth == _LEVELS or not any(isinstance(element, dict | list) for element in elements):
        return json.dumps(value, allow_nan=False)
    if isinstance(value, dict):
        return _lines("{}", (f"{json.dumps(name)}: {_encode(element, depth + 1)}" for name, element in value.items()), depth)
    return _lines("[]", (_encode(element, depth + 1) for element in value), depth)


def _lines(brackets: str, lines: Iterable[str], depth: int) -> str:
    indent = " " * depth
    inner = ",\n".join(f"{indent} {line}" for line in lines)
    return f"{brackets[0]}\n{inner}\n{indent}{brackets[1]}"


def write_file(path: Path, text: str) -> None:
    """Write a file atomically: it has all of the new text, or is unchanged."""
    # In the same folder, because a replacement is atomic only within one file system.
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        part.write_text(text, encoding="utf-8", newline="\n")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
