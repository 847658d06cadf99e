"""Proposals for the next draft, that can be tried before any browser has them: ``ML(revision="2026-06+compute-policy")``.

A proposal is a module with a `Proposal` of the name ``PROPOSAL``. docs/proposals.md lists them, and says how to write one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from webnn.validation.drafts.delta import Delta

__all__ = ["Decision", "Proposal"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What the text of a proposal leaves open, and what is done here.

    Attributes:
        question: The question.
        answer: How it is decided here, and why.
    """

    question: str
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal(Delta):
    """A `Delta` that somebody proposes, and what a reader must know of it.

    Attributes:
        title: A few words.
        source: The issue or pull request, and the newest text that is implemented, with its date.
        summary: What it is for, in a sentence or two.
        errors: The new errors, a sentence each.
        program: What a program must do, a sentence each.
        decisions: What the text leaves open.
        example: A program in Python, which runs as it stands and prints something.
    """

    title: str
    source: str
    summary: str
    errors: Sequence[str] = ()
    program: Sequence[str] = ()
    decisions: Sequence[Decision] = ()
    example: str
