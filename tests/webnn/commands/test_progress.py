"""Where progress moves, and where it does not."""

from __future__ import annotations

import io
import re
import sys
import threading

import pytest
from rich.progress import Progress

from tests.support import PATIENCE
from webnn.commands import progress
from webnn.commands.progress import progress_console, show_progress


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("output", "variables", "moves"),
    [
        (_Terminal, {}, True),
        (_Terminal, {"JPY_PARENT_PID": "7"}, False),
        (_Terminal, {"WEBNN_PROGRESS": "0"}, False),
        (_Terminal, {"WEBNN_PROGRESS": "1", "NO_COLOR": "1"}, True),
        (io.StringIO, {}, False),
    ],
)
def test_progress_moves_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, output: type[io.StringIO], variables: dict[str, str], moves: bool
) -> None:
    for name in ("JPY_PARENT_PID", "WEBNN_PROGRESS", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stderr", output())
    assert progress_console().is_terminal is moves


def show(monkeypatch: pytest.MonkeyPatch, **variables: str) -> str:
    """Return what progress writes to a terminal when it is shown at once."""
    for name in ("JPY_PARENT_PID", "WEBNN_PROGRESS", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"TERM": "xterm", "COLUMNS": "80", **variables}.items():
        monkeypatch.setenv(name, value)
    written = _Terminal()
    monkeypatch.setattr(sys, "stderr", written)
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    shown = threading.Event()
    started = Progress.start
    monkeypatch.setattr(Progress, "start", lambda self: (started(self), shown.set()))
    with show_progress("reading", 3, "failed") as bar:
        if progress_console().is_terminal and not progress_console().is_dumb_terminal:
            assert shown.wait(PATIENCE)
        bar.tell("checking [bold]")
        bar.advance(2)
    return written.getvalue()


def test_progress_says_what_is_done_and_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    text = show(monkeypatch)
    # Text of a program is not markup.
    assert "checking [bold]" in text
    assert "1/3" in text
    assert "2 failed" in text
    assert "0:00:0" in text
    assert re.search(r"(--|\d\d):(--|\d\d)(\x1b\[0m)? left", text)
    # Nothing of it stays.
    assert text.endswith("\x1b[2K")


@pytest.mark.parametrize("variables", [{"TERM": "dumb"}, {"WEBNN_PROGRESS": "0"}])
def test_progress_is_off(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]) -> None:
    assert show(monkeypatch, **variables) == ""


def test_progress_has_no_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[3" not in show(monkeypatch, NO_COLOR="1")


def test_a_command_that_ends_at_once_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    written = _Terminal()
    monkeypatch.setattr(sys, "stderr", written)
    monkeypatch.setattr(progress, "_PATIENCE", PATIENCE)
    with pytest.raises(ZeroDivisionError), show_progress("reading"):
        raise ZeroDivisionError
    assert written.getvalue() == ""
