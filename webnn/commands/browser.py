"""The command line's part of the browser: ``webnn browser``."""

from __future__ import annotations

from types import MappingProxyType

from webnn.commands.lazy import make_group
from webnn.commands.registry import Entry

__all__ = ["COMMANDS", "app"]

COMMANDS = MappingProxyType(
    {
        "run": Entry("webnn.commands.browser_run", "Run a program in a browser and in the emulator, and show what differs."),
        "wpt": Entry(
            "webnn.wpt_runner.commands.browser",
            "Run files of web-platform-tests in a browser and in the emulator, and show which subtests differ.",
        ),
    }
)

app = make_group(COMMANDS, help="Compare a browser with the emulator.", no_args_is_help=True)
