"""Texts of programs and files as text that is safe to show: it has no control characters, no surrogates, and a limited length."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["clip", "printable", "replace_surrogates", "show_controls", "width"]

_SURROGATE = re.compile("[\ud800-\udfff]")
#: Characters that XML 1.0 cannot hold or a terminal would obey: control characters other than tab and line feed, characters that change
#: the direction of the text around them, and noncharacters.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]")


def replace_surrogates(text: str) -> str:
    """Write surrogates as web-platform-tests' own tools do: ``"U+d800"``."""
    return _SURROGATE.sub(lambda match: f"U+{ord(match[0]):x}", text)


def show_controls(text: str) -> str:
    r"""Write surrogates as ``U+d800``, and control characters as Python does: ``\x1b``, ``\u202e``. Tabs and line feeds are kept."""
    return _CONTROL.sub(lambda match: repr(match[0])[1:-1], replace_surrogates(text).replace("\r\n", "\n"))


def printable(text: str) -> str:
    r"""Escape what a terminal would obey or XML cannot hold, as Python does: ``\n``, ``\x1b``, ``\u202e``, ``\ud800``."""
    return text if text.isprintable() else "".join([each if each.isprintable() else repr(each)[1:-1] for each in text])


def width(text: str) -> int:
    """Return how many columns of a fixed-width font a printable text takes: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text)


def clip(text: str, columns: int, *, ellipsis: str = "…") -> str:
    """Escape a text, and cut it to a number of columns, which must be larger than those of the ellipsis."""
    if len(text) <= columns and text.isascii() and text.isprintable():
        return text
    # A program's text may be of any length: what cannot be shown is not looked at.
    text = printable(text[: columns + 1])
    if width(text) <= columns:
        return text
    room = columns - len(ellipsis)
    taken = 0
    for position, each in enumerate(text):
        taken += width(each)
        if taken > room:
            return text[:position] + ellipsis
    return text
