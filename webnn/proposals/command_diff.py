"""``webnn spec diff``: what differs between two drafts, each with or without proposals."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer

from webnn.builder.description import GraphDescription
from webnn.commands.failure import failure
from webnn.commands.registry import CASES
from webnn.context.ml import ML
from webnn.proposals.difference import Differences, DraftVerdict, compare
from webnn.validation.drafts import DRAFTS, find_revision
from webnn.validation.revision import Revision

__all__ = ["command"]

_WRONG = 2
#: How many changed verdicts are printed; ``--json`` has all.
_MOST = 20


def command(
    first: Annotated[str, typer.Argument(metavar="A", help="A draft, such as 2026-06.", show_default=False)],
    second: Annotated[str, typer.Argument(metavar="B", help="Another one, such as 2026-06+zero-size.", show_default=False)],
    *,
    numbers: Annotated[bool, typer.Option("--numbers", help="Also compute the recorded graphs, and compare their numbers.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the differences as JSON.")] = False,
) -> None:
    """Compare two drafts: IDL, operations, limits, verdicts.

    The verdicts are those on the recorded conformance graphs.

    Prints what B has more (+) and less (-) than A. The recorded graphs are those of the conformance tests of the earlier draft. The exit
    status is 1 if the drafts differ, and 2 if one is not a draft.
    """
    before, after = _find(first), _find(second)
    found = compare(before, after, _recorded(before, after), _computer() if numbers else None)
    typer.echo(json.dumps(asdict(found), indent=1) if as_json else "\n".join(_lines(found)))
    if found.any:
        raise typer.Exit(1)


def _recorded(*revisions: Revision) -> list[Any]:
    """Return the recorded graphs of the newest draft that is not later than any of these, and that has some."""
    last = min(DRAFTS.index(each.draft) for each in revisions)
    load = import_module(CASES).load_recorded
    return next(filter(None, (list(load(draft)) for draft in reversed(DRAFTS[: last + 1]))), [])


def _computer() -> Callable[[Any, GraphDescription, Revision], Mapping[str, Any]]:
    """Return a function that computes a recorded graph on the CPU, in one context for each draft."""
    contexts = cache(lambda revision: ML(revision=revision).createContextSync(deviceType="cpu"))
    computed: Callable[[Any, Any], Mapping[str, Any]] = import_module(CASES).compute

    def compute(program: Any, graph: GraphDescription, revision: Revision) -> Mapping[str, Any]:
        # Drafts with `compute` take the arrays away.
        inputs = {name: array.copy() for name, array in program.inputs.items()}
        return computed(replace(program, graph=graph, inputs=inputs), contexts(revision))

    return compute


def _find(name: str) -> Revision:
    try:
        return find_revision(name)
    except ValueError as error:
        raise failure(str(error), _WRONG) from None


def _verdicts(what: str, count: int, verdicts: list[DraftVerdict]) -> list[str]:
    lines = [f"{what}: {count} compared, {len(verdicts)} with another verdict"]
    lines += [f"  {verdict.name}: {verdict.before or 'taken'}, now {verdict.after or 'taken'}" for verdict in verdicts[:_MOST]]
    return [*lines, f"  and {len(verdicts) - _MOST} more"] if len(verdicts) > _MOST else lines


def _lines(found: Differences) -> list[str]:
    lines = ["IDL:", *(f"  {line}" for line in found.idl)] if found.idl else []
    if found.added or found.removed:
        lines += ["operations:", *(f"  + {name}" for name in found.added), *(f"  - {name}" for name in found.removed)]
    if found.limits:
        lines += ["limits:", *(f"  {place}: {text}" for place, text in found.limits)]
    lines += _verdicts("recorded graphs", found.compared, found.verdicts)
    if found.cases:
        lines += _verdicts("cases of the proposals", found.cases, found.proposed)
    if found.numbers is not None:
        lines.append(f"recorded graphs with other numbers: {len(found.numbers)}")
        lines += [f"  {each.name}: {each.output} differs by {each.difference:.3g}" for each in found.numbers[:_MOST]]
        if len(found.numbers) > _MOST:
            lines.append(f"  and {len(found.numbers) - _MOST} more")
    return lines
