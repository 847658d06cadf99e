"""`Proposal`: a `Delta`, with the facts that its readers need."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from webnn.validation.drafts.delta import Delta

__all__ = ["Case", "Decision", "Proposal", "Script"]


@dataclass(frozen=True, slots=True)
class Decision:
    """A question that the text of a proposal leaves open; and how it is decided here, and why."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class Case:
    """Calls of a builder, as a test for implementations: `webnn wpt new` writes it.

    Attributes:
        name: The tested behaviour.
        build: Makes operands with a builder, and returns the outputs of a graph by their names.
        inputs: The numbers of the graph's inputs, by their names. The expected outputs are those of float64.
        error: The name of the error of the last call: ``"TypeError"``, or that of a ``DOMException``; empty if the graph is computed.
        ulp: How far an output may be from the expected one.
    """

    name: str
    build: Callable[[Any], Mapping[str, Any] | None]
    inputs: Mapping[str, np.ndarray[Any, np.dtype[Any]]] = field(default_factory=dict)
    error: str = ""
    ulp: int = 0


@dataclass(frozen=True, slots=True)
class Script:
    """A test for implementations in JavaScript, for anything other than calls of a builder.

    Attributes:
        name: The tested behaviour.
        text: The statements of the test's function. They see ``t``, the test, and ``context``, an `MLContext`, and may wait for promises.
    """

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal(Delta):
    """A `Delta` that somebody proposes, and what a reader must know of it.

    Attributes:
        title: A few words.
        source: The issue or pull request, and the newest text that is implemented, with its date.
        summary: Its purpose, in a sentence or two.
        errors: The new errors, a sentence each.
        program: The changes that programs need, a sentence each.
        decisions: The open questions of the text.
        example: A program in Python, which runs as it stands and prints something.
        tests: The tests of implementations, for `webnn wpt new`.
    """

    title: str
    source: str
    summary: str
    errors: Sequence[str] = ()
    program: Sequence[str] = ()
    decisions: Sequence[Decision] = ()
    example: str
    tests: Sequence[Case | Script] = ()
