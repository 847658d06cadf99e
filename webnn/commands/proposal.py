"""``webnn proposal``: compares drafts with proposals, and begins one."""

from __future__ import annotations

from types import MappingProxyType

from webnn.commands.lazy import make_group
from webnn.commands.registry import COMMANDS as ALL
from webnn.commands.registry import Entry

__all__ = ["COMMANDS", "app"]

COMMANDS = MappingProxyType(
    {
        "diff": Entry("webnn.commands.proposal_diff", "Compare two drafts: IDL, operations, limits, and which recorded graphs they take."),
        "new": Entry("webnn.commands.proposal_new", "Begin a proposal: write a module with one new operation, and its tests."),
    }
)

app = make_group(COMMANDS, help=ALL["proposal"].help)
