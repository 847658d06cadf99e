"""Where progress moves, and where it does not."""

from __future__ import annotations

import io
import sys

import pytest

from webnn.commands.progress import progress_console


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("output", "variables", "moves"),
    [
        (_Terminal, {}, True),
        (_Terminal, {"JPY_PARENT_PID": "7"}, False),
        (io.StringIO, {}, False),
    ],
)
def test_progress_moves_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, output: type[io.StringIO], variables: dict[str, str], moves: bool
) -> None:
    for name in ("JPY_PARENT_PID", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stderr", output())
    assert progress_console().is_terminal is moves
