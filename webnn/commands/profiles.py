"""``webnn profiles``: shows, compares and records device profiles."""

from __future__ import annotations

from webnn.commands.lazy import make_group
from webnn.commands.registry import COMMANDS as ALL
from webnn.commands.registry import Commands, Entry

__all__ = ["COMMANDS", "app"]

COMMANDS = Commands(
    {
        "show": Entry("webnn.commands.profiles_show", "Show the device profiles: limits, and how sure they are."),
        "diff": Entry("webnn.commands.profiles_diff", "Compare two device profiles: limits, devices, rules, members."),
    },
    "profiles",
)

app = make_group(COMMANDS, default="show", help=ALL["profiles"].help)
