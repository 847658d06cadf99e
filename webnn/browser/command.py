"""The command line's part of the browser: ``webnn browser``."""

from __future__ import annotations

from webnn.commands.lazy import make_group
from webnn.commands.registry import Commands

__all__ = ["COMMANDS", "app"]

COMMANDS = Commands({}, "browser")

app = make_group(COMMANDS, help="Compare a browser with the emulator.", no_args_is_help=True)
