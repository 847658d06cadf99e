"""Texts for people: escapes, widths, cuts, and numbers with units."""

from __future__ import annotations

import pytest

from webnn.display.text import clip, count, printable, show_controls, size, width


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (1023, "1023 bytes"),
        (1024, "1.00 KiB"),
        (1536, "1.50 KiB"),
        (10 * 1024, "10.0 KiB"),
        (128 * 1024, "128 KiB"),
        # A number must not become "1024 KiB".
        (1024**2 - 1, "1.00 MiB"),
        (5 * 1024**2, "5.00 MiB"),
        (3 * 1024**3, "3.00 GiB"),
        (1024**5, "1024 TiB"),
    ],
)
def test_bytes(number: int, shown: str) -> None:
    assert size(number) == shown


@pytest.mark.parametrize(("number", "shown"), [(0, "0"), (999, "999"), (1000, "1.00 K"), (999_999, "1.00 M"), (1_240_000, "1.24 M")])
def test_counts(number: int, shown: str) -> None:
    assert count(number) == shown


def test_characters_that_are_not_shown() -> None:
    text = "a\x1b\u202eb\ud800\n\t\xa0"
    assert printable(text) == r"a\x1b\u202eb\ud800\n\t\xa0"
    assert show_controls(text) == "a\\x1b\\u202ebU+d800\n\t\xa0"
    assert show_controls("a\r\nb\rc") == "a\nb\\rc"


def test_widths() -> None:
    assert [width(text) for text in ("abc", "\u5c64\u5c64", "e\u0301")] == [3, 4, 1]


@pytest.mark.parametrize(
    ("text", "cut"),
    [("abcdef", "abcdef"), ("abcdefg", "abcde\u2026"), ("\u5c64\u5c64\u5c64\u5c64", "\u5c64\u5c64\u2026"), ("\n" * 9, "\\n\\n\\\u2026")],
)
def test_cuts(text: str, cut: str) -> None:
    assert clip(text, 6) == cut
    assert width(clip(text, 6, ellipsis="...")) <= 6
