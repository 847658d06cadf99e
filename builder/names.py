"""Names that are different from each other."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["Names"]


class Names:
    """The names of one kind in a graph or a program."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._counts: dict[str, int] = {}

    def take(self, name: str) -> bool:
        """Take a name if it is free, and tell whether it was."""
        free = name not in self._taken
        self._taken.add(name)
        return free

    def find(self, base: str) -> str:
        """Take a name, or the first free one with a number appended."""
        if self.take(base):
            return base
        count = self._counts.get(base, 1) + 1
        while not self.take(f"{base}_{count}"):
            count += 1
        self._counts[base] = count
        return f"{base}_{count}"
