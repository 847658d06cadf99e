"""``webnn spec``: compares drafts, with and without proposals."""

from __future__ import annotations

from webnn.commands.lazy import make_group
from webnn.commands.registry import COMMANDS as ALL
from webnn.commands.registry import Commands

__all__ = ["COMMANDS", "app"]

COMMANDS = Commands({}, "spec")

app = make_group(COMMANDS, help=ALL["spec"].help)
