"""The page of what differs between two drafts, in Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from tools.draft.changes import StepChange, What, compare_limits, compare_steps
from tools.draft.plan import Plan
from tools.draft.source import Source
from webnn.validation.drafts.idl_text import compare_idl

__all__ = ["write_page"]

#: Changes of steps that ask for a look at the code: a step that only moved needs another number in a tag.
_TO_READ: Sequence[What] = ("new", "changed", "gone")


def write_page(old: Source, new: Source, plan: Plan) -> str:
    """Write the page."""
    steps = compare_steps(old, new)
    return "".join(f"{line}\n" for line in _lines(old, new, plan, steps))


def _lines(old: Source, new: Source, plan: Plan, steps: Sequence[StepChange]) -> Iterator[str]:
    yield from (f"# The draft {new.name}, after {old.name}", "")
    counts = Counter(each.what for each in steps)
    tags = sum(len(each.places) for each in steps if each.what == "moved")
    yield (
        f"{len(plan.decisions)} decisions. Only the IDL is known: limits and steps are taken to be those of {old.name}."
        if new.isPartial
        else f"{len(plan.decisions)} decisions, and {sum(counts[each] for each in _TO_READ)} steps to read: "
        f"{', '.join([f'{counts[each]} {each}' for each in _TO_READ])}. {counts['moved']} steps have another number, in {tags} tags."
    )
    yield from _list("Decisions", plan.decisions)
    yield from _list("Contradictions of the sources", [f"{each.name}: {text}" for each in (old, new) for text in each.contradictions])
    idl = compare_idl(old.idl, new.idl)
    if idl:
        yield from ("", "## Interfaces", "", "```diff", *idl, "```")
    limits = compare_limits(old, new)
    if limits:
        yield from ("", "## Limits", "", "```diff", *limits, "```")
    if steps:
        yield from (
            "",
            "## Steps that can throw",
            "",
            "| algorithm | step | | throws | cited in | reached by |",
            "|---|---|---|---|---|---|",
        )
        yield from map(_row, steps)


def _list(title: str, texts: Sequence[str]) -> Iterator[str]:
    if texts:
        yield from ("", f"## {title}", "", *[f"- {text}" for text in texts])


def _row(step: StepChange) -> str:
    number = " -> ".join(dict.fromkeys(filter(None, (step.before, step.after))))
    places = ", ".join([f"`{place}`" for place in step.places])
    cells = [step.algorithm, number, step.what, step.throws, places, f"`{step.test}`" if step.test else ""]
    return f"| {' | '.join([cell.replace('|', chr(92) + '|') for cell in cells])} |"
