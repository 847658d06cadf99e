"""Names and messages come from test programs: they may hold any code unit of UTF-16."""

from __future__ import annotations

from webnn.display.text import replace_surrogates, show_controls

__all__ = ["cut", "one_line", "replace_surrogates", "show_controls"]


def cut(text: str, limit: int) -> str:
    """Cut a text that is longer than a number of characters, and say how much is missing."""
    return text if len(text) <= limit else f"{text[:limit]} ... ({len(text) - limit:,} characters more)"


def one_line(text: str, limit: int) -> str:
    """Return a text's first line that is not blank, cut like `cut`; surrogates and control characters are shown."""
    line = next((line for line in text.splitlines() if line.strip()), "")
    return cut(show_controls(line).replace("\t", " ").strip(), limit)
