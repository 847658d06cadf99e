"""The errors in the file of a profile."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["LISTED", "Problem", "ProfileError", "printable"]

#: A path inside a file and what is wrong there. A message shows the path first.
Problem = tuple[str, str]
#: How many problems a message lists.
LISTED = 10


class ProfileError(ValueError):
    """A device profile cannot be loaded.

    Attributes:
        file: The file, or the name that was asked for.
        problems: Each path inside the file with what is wrong there; the path is empty if it is the file.
    """

    def __init__(self, file: str, problems: Iterable[Problem]) -> None:
        self.file = file
        self.problems = tuple(problems)
        shown = printable(file)
        lines = [": ".join(filter(None, problem)) for problem in self.problems]
        if len(lines) == 1:
            super().__init__(f"{shown}: {lines[0]}")
            return
        rest = [f"and {len(lines) - LISTED} more"] if len(lines) > LISTED else []
        super().__init__("\n  ".join([f"{shown}: {len(lines)} problems", *lines[:LISTED], *rest]))


def printable(file: str) -> str:
    """Write the name of a file for a message: unchanged, or quoted if it is empty or has characters that cannot be printed."""
    return file if file and file.isprintable() else repr(file)
