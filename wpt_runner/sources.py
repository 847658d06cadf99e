"""Where errors come from: quickjs-ng calls every script ``<input>``, so each one begins at a line that no other script of the realm has."""

from __future__ import annotations

import re

__all__ = ["Sources"]

#: The lines below belong to the scripts of the realm itself.
_FIRST = 10_000
#: Each script begins at a multiple of this.
_STEP = 1_000
_HIDDEN = "resources/testharness.js"
_PLACE = re.compile(r"<input>:(\d+):(\d+)")
_CLEAN_FRAME = re.compile(r"\s*at .*:\d+:\d+\)?\s*$")
_FRAME = re.compile(r"\s+at .*(<input>:\d+:\d+|\(native\))\)?\s*")


class Sources:
    """The scripts of a realm and their lines."""

    def __init__(self) -> None:
        self._starts: list[tuple[int, str]] = []
        self._next = _FIRST

    def add(self, path: str, source: str) -> str:
        """Return the source of a script, with empty lines before it, so that its lines are its own."""
        self._starts.append((self._next, path))
        moved = "\n" * self._next + source
        self._next += (len(source.splitlines()) // _STEP + 2) * _STEP
        return moved

    def clean(self, text: str) -> str:
        """Return a text of the realm with files and lines in its stacks, without the frames of the harness and of the emulator."""
        if "<input>" not in text and "(native)" not in text:
            return text
        return "\n".join(_PLACE.sub(self._name, line) for line in text.split("\n") if not self._is_foreign(line))

    def split(self, message: str, stack: str = "") -> tuple[str, str]:
        """Return a message without the frames in it, and the frames of the tests, of the stack or else of the message: each in a line."""
        lines = self.clean(message).split("\n")
        frames = [each for each in self.clean(stack).split("\n") if _CLEAN_FRAME.match(each)]
        own = [each for each in lines if _CLEAN_FRAME.match(each)]
        return "\n".join(each for each in lines if each not in own).rstrip(), "\n".join(each.strip() for each in frames or own)

    def _is_foreign(self, line: str) -> bool:
        if _FRAME.fullmatch(line) is None:
            return False
        place = _PLACE.search(line)
        return place is None or self._find(int(place[1]))[1] in {"", _HIDDEN}

    def _find(self, line: int) -> tuple[int, str]:
        """Return the line before a script's first one, and the script's path; an empty path for scripts of the realm."""
        return max(((start, path) for start, path in self._starts if start < line), default=(0, ""))

    def _name(self, match: re.Match[str]) -> str:
        start, path = self._find(int(match[1]))
        return f"{path or 'webnn'}:{int(match[1]) - start}:{match[2]}"
