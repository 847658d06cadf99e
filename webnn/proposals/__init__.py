"""Proposals for the next draft, that can be tried before any browser has them: ``ML(revision="2026-06+compute-policy")``.

A proposal is a module with a `Proposal` of the name ``PROPOSAL``. docs/proposals.md lists them, and
docs/adding-a-proposal.md says how to write one.
"""

from __future__ import annotations

from collections.abc import Mapping

from webnn.commands.registry import Entry

__all__ = ["COMMANDS"]

_DIFF = Entry("webnn.proposals.command_diff", "Compare two drafts: IDL, operations, limits, verdicts.")

#: The commands of this extra: an entry point.
COMMANDS: Mapping[str, Entry] = {
    "spec": Entry("webnn.proposals.command_spec", "Compare two drafts, each with or without proposals."),
    "spec diff": _DIFF,
    "proposal": Entry("webnn.proposals.command", "Begin a proposal, and compare drafts with it."),
    "proposal diff": _DIFF,
    "proposal new": Entry("webnn.proposals.command_new", "Begin a proposal: a module with one new operation, and tests."),
}
