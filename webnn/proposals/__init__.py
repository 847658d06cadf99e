"""Proposals for the next draft, that can be tried before any browser has them: ``ML(revision="2026-06+compute-policy")``.

A proposal is a module with a `Proposal` of the name ``PROPOSAL``. docs/proposals.md lists them, and
docs/adding-a-proposal.md says how to write one.
"""

from __future__ import annotations

from collections.abc import Mapping

from webnn.commands.registry import Entry

__all__ = ["COMMANDS"]

#: The commands of this extra: an entry point.
COMMANDS: Mapping[str, Entry] = {
    "proposal": Entry("webnn.proposals.command", "Compare drafts with proposals, and begin a proposal."),
    "proposal diff": Entry("webnn.proposals.command_diff", "Compare two drafts: IDL, operations, limits, verdicts."),
    "proposal new": Entry("webnn.proposals.command_new", "Begin a proposal: a module with one new operation, and tests."),
}
