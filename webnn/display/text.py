"""Text for people: texts of programs and files without control characters and surrogates, cut to a length, and numbers with units."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from webnn.validation.errors import escape as printable

__all__ = ["clip", "count", "few", "plural", "printable", "replace_surrogates", "show_controls", "size", "width"]

_SURROGATE = re.compile("[\ud800-\udfff]")
#: Characters that XML 1.0 cannot hold or a terminal would obey: control characters other than tab and line feed, characters that change
#: the direction of the text around them, and noncharacters.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]")
_THOUSANDS = ("", " K", " M", " G", " T", " P")
_BYTES = (" bytes", " KiB", " MiB", " GiB", " TiB")


def replace_surrogates(text: str) -> str:
    """Write surrogates as web-platform-tests' own tools do: ``"U+d800"``."""
    return _SURROGATE.sub(lambda match: f"U+{ord(match[0]):x}", text)


def show_controls(text: str) -> str:
    r"""Write surrogates as ``U+d800``, and control characters as Python does: ``\x1b``, ``\u202e``. Tabs and line feeds are kept."""
    return _CONTROL.sub(lambda match: repr(match[0])[1:-1], replace_surrogates(text).replace("\r\n", "\n"))


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


def plural(number: int, noun: str) -> str:
    """Write a number of things: ``"1 test"``, ``"2,686 tests"``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def few(names: Sequence[str], most: int) -> str:
    """List the first names, and say how many more there are: ``"a, b and 3 more"``."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def count(number: int) -> str:
    """Write a number with three digits and a unit: ``"861"``, ``"1.24 M"``."""
    return _scale(number, 1000, _THOUSANDS)


def size(number: int) -> str:
    """Write a number of bytes: ``"512 bytes"``, ``"4.71 MiB"``."""
    return "1 byte" if number == 1 else _scale(number, 1024, _BYTES)


def _scale(number: int, base: int, units: tuple[str, ...]) -> str:
    power = 0
    while power + 1 < len(units) and number >= base ** (power + 1):
        power += 1
    if power == 0:
        return f"{number}{units[0]}"
    scaled = number / base**power
    # A number such as 999,999 must not become "1000.00 K".
    if round(scaled, 0) >= base and power + 1 < len(units):
        power, scaled = power + 1, scaled / base
    digits = 2 if scaled < 10 else 1 if scaled < 100 else 0
    return f"{scaled:.{digits}f}{units[power]}"
