"""``webnn diff --semantics``: what a graph computes with other semantics, such as accumulators of float16, by operator."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import webnn
from webnn.builder.semantics import Semantics, find_switches, merge_semantics, parse_semantics, semantics_of, write_semantics
from webnn.commands.failure import failing, failure
from webnn.commands.feeds import build, compute
from webnn.commands.progress import show_progress
from webnn.commands.rows import make_console
from webnn.commands.text import show_controls
from webnn.inspect.compare import Comparison, compare
from webnn.inspect.distance import relative_distance

__all__ = ["report_semantics"]

_WRONG = 2
#: How many operators the table has.
_SHOWN = 10


def report_semantics(
    description: webnn.GraphDescription, inputs: Mapping[str, Any], chosen: Sequence[str], *, tolerance: float, as_json: bool
) -> bool:
    """Print how a graph differs from itself with other semantics; tell whether an output differs by more than a tolerance.

    Args:
        description: The graph.
        inputs: An array for each input.
        chosen: The values of ``--semantics``.
        tolerance: The largest difference that is none, relative to the largest value of an output.
        as_json: Print data.
    """
    with failing(ValueError, _WRONG):
        semantics = merge_semantics(*[parse_semantics(text, "--semantics") for text in chosen])
    _check(description, semantics)
    settings = {"semantics": dict(semantics)}
    with (
        failing((ValueError, webnn.DOMException, TypeError), _WRONG, "the graph cannot be compared: {}"),
        show_progress("computing with both"),
    ):
        sides = build(description, semantics={}), build(description, **settings)
        comparison = compare(description, inputs, sides[0][0], sides[1][0])
        plain, other = (compute(context, graph, dict(inputs)) for context, graph in sides)
    outputs = {name: relative_distance(other[name], plain[name]) for name in plain}
    if as_json:
        print(json.dumps({"semantics": dict(semantics), "values": comparison.to_dict()["values"], "outputs": _finite(outputs)}, indent=1))
    else:
        _print(comparison, outputs, semantics)
    return any(not each <= tolerance for each in outputs.values())


def _check(description: webnn.GraphDescription, semantics: Semantics) -> None:
    """Refuse semantics that no operator of the graph meets."""
    operations = {operator.operation for operator in description.operators}
    types = {each.dataType for each in description.infer().descriptors().values()}
    about = {switch.name for switch in find_switches(operations)}
    met = [each for each in semantics_of(semantics, types) if each[0] in about]
    if met:
        return
    wanted = write_semantics(semantics) or "values other than the defaults"
    advice = "; accumulation is about float16: give --float16, too" if semantics != semantics_of(semantics, types) else ""
    raise failure(f"--semantics must be about an operator of the graph, got {wanted}{advice}", _WRONG)


def _print(comparison: Comparison, outputs: Mapping[str, float], semantics: Semantics) -> None:
    console = make_console()
    differing = [each for each in comparison.values if each.relative > 0]
    console.print(
        f"{write_semantics(semantics)} changes {len(differing)} of {len(comparison.values)} results", soft_wrap=True, markup=False
    )
    if differing:
        console.print("differs   so far     before      after  operator")
    for each in differing[:_SHOWN]:
        label = "" if each.label in ("", each.name) else f", {each.label}"
        figures = f"{each.relative:7.2g}  {each.accumulated:7.2g}  {each.one:9.6g}  {each.other:9.6g}"
        console.print(show_controls(f"{figures}  {each.operation} {each.name}{label}"), soft_wrap=True, markup=False)
    for name, relative in outputs.items():
        text = "equal" if relative == 0 else f"differs by {relative:.3g} of its largest value"
        console.print(f"  output {show_controls(name)}: {text}", soft_wrap=True, markup=False)


def _finite(outputs: Mapping[str, float]) -> dict[str, float | str]:
    return {name: each if abs(each) < float("inf") else str(each) for name, each in outputs.items()}
