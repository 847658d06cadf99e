"""JavaScript literals, laid out as web-platform-tests lays them out: two spaces, at most 80 columns, as many numbers on a line as fit.

Texts are foreign data. Each becomes an escaped literal, so that no name can end a line or a string.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

__all__ = ["Tree", "elements", "flat", "key", "literal", "member", "quote", "render"]

#: Code without line breaks; an array of trees; an object of trees, by their keys' code.
Tree: TypeAlias = "str | Sequence[Tree] | Mapping[str, Tree]"

_WIDTH = 80
_INDENT = "  "
_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_SAFE = 2**53
#: Python writes 1e-07 where JavaScript writes 1e-7.
_EXPONENT = re.compile(r"e([+-])0+")


def quote(text: str) -> str:
    """Return the literal of a text. Characters that do not print are escaped."""
    return f"'{''.join(map(_escape, text))}'"


def _escape(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\u{{{code:x}}}"


def key(text: str) -> str:
    """Return a text as a key of an object, before the colon."""
    # Not computed, `__proto__` would set the prototype.
    return f"[{quote(text)}]" if text == "__proto__" else quote(text)


def literal(value: Any) -> str:
    """Return the literal of a value of an argument: a number, a text, a truth value, nothing, or a sequence or dictionary of these.

    Raises `TypeError` if it is something else.
    """
    if value is None:
        return "null"
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, int | np.integer):
        return f"{int(value)}" if abs(int(value)) < _SAFE else f"{int(value)}n"
    if isinstance(value, float | np.floating):
        return _float(float(value))
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join([f'{member(name)}: {literal(each)}' for name, each in value.items()])}}}"
    raise TypeError(f"a test has no literal of {value!r}")


def member(name: str) -> str:
    """Return a name as a key of an object, before the colon: without quotes if it needs none."""
    return name if _IDENTIFIER.fullmatch(name) and name != "__proto__" else key(name)


def _float(value: float) -> str:
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    # 2.0 is written 2, but -0.0 is not the integer 0.
    whole = value.is_integer() and abs(value) < _SAFE and (value != 0 or math.copysign(1, value) > 0)
    return str(int(value)) if whole else "-0" if value == 0 else _EXPONENT.sub(r"e\1", repr(value))


def elements(values: np.ndarray[Any, np.dtype[Any]]) -> list[str]:
    """Return the literals of an array's elements in row-major order: integers of 64 bits are written as ``1n``."""
    flat = values.reshape(-1)
    if flat.dtype.kind == "f":
        return [_float(each) for each in flat.astype(np.float64).tolist()]
    big = "n" if flat.dtype.itemsize == 8 else ""
    return [f"{each}{big}" for each in flat.tolist()]


def render(tree: Tree, *, indent: int = 0, column: int = 0) -> str:
    """Return the code of a tree. ``indent`` is that of the lines below the first one, which begins in ``column``."""
    line = flat(tree)
    # One more column is for the comma or bracket that follows.
    if isinstance(tree, str) or len(line) < _WIDTH - column:
        return line
    if not isinstance(tree, Mapping) and len(tree) == 1 and isinstance(tree[0], Mapping):
        return f"[{render(tree[0], indent=indent, column=_WIDTH)}]"
    inner = " " * indent + _INDENT
    width = _WIDTH - 1 - len(inner)
    if isinstance(tree, Mapping):
        lines = [_pair(name, each, inner) for name, each in tree.items()]
    else:
        words = list(map(flat, tree))
        short = all(isinstance(each, str) for each in tree) or all(len(word) <= width for word in words)
        lines = _fill(words, width) if short else [render(each, indent=len(inner), column=len(inner)) for each in tree]
    brackets = "{}" if isinstance(tree, Mapping) else "[]"
    separator = f",\n{inner}"
    return f"{brackets[0]}\n{inner}{separator.join(lines)}\n{' ' * indent}{brackets[1]}"


def _pair(name: str, value: Tree, inner: str) -> str:
    """Return a line of an object. A long text gets its own line."""
    if isinstance(value, str) and len(inner) + len(name) + 2 + len(value) >= _WIDTH:
        return f"{name}:\n{inner}{_INDENT * 2}{value}"
    return f"{name}: {render(value, indent=len(inner), column=len(inner) + len(name) + 2)}"


def flat(tree: Tree) -> str:
    """Return the code of a tree on one line."""
    if isinstance(tree, str):
        return tree
    if isinstance(tree, Mapping):
        return f"{{{', '.join([f'{name}: {flat(each)}' for name, each in tree.items()])}}}"
    return f"[{', '.join(map(flat, tree))}]"


def _fill(words: Iterable[str], width: int) -> list[str]:
    """Put as many words on a line as fit, with commas between them."""
    lines: list[str] = []
    line = ""
    for word in words:
        if line and len(line) + 2 + len(word) <= width:
            line += f", {word}"
        else:
            if line:
                lines.append(line)
            line = word
    return [*lines, line]
