"""Names and messages come from test programs: they may hold any code unit of UTF-16."""

from __future__ import annotations

import re

__all__ = ["cut", "one_line", "replace_surrogates", "show_controls"]

_SURROGATE = re.compile("[\ud800-\udfff]")
#: What XML 1.0 cannot hold or a terminal would obey: control characters other than tab and line feed, what changes the direction of the
#: text around it, and what is no character at all.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]")


def replace_surrogates(text: str) -> str:
    """Write surrogates as web-platform-tests' own tools do: ``"U+d800"``."""
    return _SURROGATE.sub(lambda match: f"U+{ord(match[0]):x}", text)


def show_controls(text: str) -> str:
    r"""Write surrogates as ``U+d800``, and control characters as Python does: ``\x1b``, ``\u202e``. Tabs and line feeds are kept."""
    return _CONTROL.sub(lambda match: repr(match[0])[1:-1], replace_surrogates(text).replace("\r\n", "\n"))


def cut(text: str, limit: int) -> str:
    """Cut a text that is longer than a number of characters, and say how much is missing."""
    return text if len(text) <= limit else f"{text[:limit]} ... ({len(text) - limit:,} characters more)"


def one_line(text: str, limit: int) -> str:
    """Return a text's first line that is not blank, cut like `cut`; surrogates and control characters are shown."""
    line = next((line for line in text.splitlines() if line.strip()), "")
    return cut(show_controls(line).replace("\t", " ").strip(), limit)
