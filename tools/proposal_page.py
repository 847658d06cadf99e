"""The changes of a proposal, as a page of the documentation."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Sequence

from webnn.proposals.difference import compare_limits
from webnn.proposals.proposal import Proposal
from webnn.validation.drafts import find_revision
from webnn.validation.drafts.idl_text import compare_idl
from webnn.validation.revision import Revision

__all__ = ["write_page"]


def write_page(proposal: Proposal, before: Revision) -> str:
    """Write the page of a proposal in Markdown.

    Args:
        proposal: The proposal.
        before: The draft that it is applied to.
    """
    after = find_revision(f"{before.name}+{proposal.name}")
    return "\n".join(_page(proposal, before, after)) + "\n"


def _page(proposal: Proposal, before: Revision, after: Revision) -> Iterator[str]:
    yield f"# {proposal.title}: `{proposal.name}`"
    yield ""
    yield f"{proposal.summary}"
    yield ""
    yield f"Source: {proposal.source}."
    yield ""
    yield f'`ML(revision="{after.name}")` follows it, as do `WEBNN_REVISION={after.name}` and `webnn run --revision {after.name}`.'
    yield "`python -m tools.proposals` writes this page from the proposal."
    yield from _program(proposal)
    changed = compare_idl(before.idl(), after.idl())
    yield from _section("IDL", ["```diff", *changed, "```"] if changed else ["It stays as it is."])
    new = sorted(set(after.operations) - set(before.operations))
    if new:
        yield from _section("New operations", [f"- `{name}`" for name in new])
    limits = _by_section(compare_limits(before, after), after)
    if limits:
        yield from _section("Limits", ["| operand | change |", "|---|---|", *(f"| {place} | {text} |" for place, text in limits)])
    yield from _list("Errors", proposal.errors)
    yield from _list("Changes in programs", proposal.program)
    if proposal.decisions:
        rows = [f"| {each.question} | {each.answer} |" for each in proposal.decisions]
        yield from _section("Open questions of the text", ["| question | here |", "|---|---|", *rows])
    if proposal.conflicts:
        rows = [f"- `{name}`: {reason}" for name, reason in proposal.conflicts.items()]
        yield from _section("Cannot be combined with", rows)


def _by_section(limits: Sequence[tuple[str, str]], revision: Revision) -> list[tuple[str, str]]:
    """Put operations of one section, with the same operands and change, into one row: it stays true with one more such operation."""
    rows: dict[tuple[str, str, str], list[str]] = {}
    for place, text in limits:
        operation, _, operands = place.partition(".")
        row = revision.operations.get(operation)
        rows.setdefault((operation if row is None else row.anchor, operands, text), []).append(operation)
    written = []
    for (section, operands, text), operations in rows.items():
        shared = [name for name, row in revision.operations.items() if row.anchor == section]
        if 2 * len(operations) > len(shared) > 2:
            others = ", ".join(f"`{name}`" for name in shared if name not in operations)
            written.append((f"`{operands}` of all of `{section}`" + (f" but {others}" if others else ""), text))
        else:
            written += [(f"`{operation}.{operands}`" if operands else f"`{operation}`", text) for operation in operations]
    return written


def _program(proposal: Proposal) -> Iterator[str]:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(proposal.example, proposal.name, "exec"), {"__name__": "example"})
    output = printed.getvalue().rstrip("\n")
    yield from _section("A program", ["```python", proposal.example.rstrip("\n"), "```", "", "```text", output, "```"])


def _list(title: str, sentences: Sequence[str]) -> Iterator[str]:
    if sentences:
        yield from _section(title, [f"- {each}" for each in sentences])


def _section(title: str, lines: Sequence[str]) -> Iterator[str]:
    yield from ("", f"## {title}", "", *lines)
