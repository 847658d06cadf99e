"""``webnn diff --float16``: what a graph loses in float16, by which operators, and what to keep in float32."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import webnn
from webnn.commands.failure import failing
from webnn.commands.feeds import build, compute
from webnn.commands.progress import show_progress
from webnn.commands.rows import make_console
from webnn.commands.smaller import split_names
from webnn.commands.text import show_controls
from webnn.inspect.distance import relative_distance
from webnn.inspect.losses import LARGEST, Loss, Losses, find_losses
from webnn.lowering.float16 import to_float16

__all__ = ["report"]

_WRONG = 2
#: How many operators the table has, and how many are tried in float32.
_SHOWN, _TRIED = 10, 6
#: A rounding loses at most 2**-11. An operator that loses more than several of them is tried in float32.
_SEVERAL = 2.0**-9
#: An operator is kept if the outputs come nearer by this factor.
_NEARER = 0.8

Array = Any


def report(
    description: webnn.GraphDescription,
    inputs: Mapping[str, Any],
    keep: Sequence[str] | None,
    call: Sequence[str],
    path: Path,
    *,
    tolerance: float,
    as_json: bool,
) -> bool:
    """Print what a graph loses in float16; tell whether an output differs by more than a tolerance.

    Args:
        description: The graph in float32.
        inputs: An array for each input.
        keep: The values of ``--keep``.
        call: The options of the call that say what the model leaves open, for the command that is proposed.
        path: The file of the graph.
        tolerance: The largest difference that is none, relative to the largest value of an output.
        as_json: Print data.
    """
    kept = split_names(keep, description)
    with (
        failing((ValueError, webnn.DOMException, TypeError), _WRONG, "the graph cannot be compared in float16: {}"),
        show_progress("computing") as bar,
    ):
        context, graph = build(description)
        trial = _Trial(description, inputs, compute(context, graph, dict(inputs)))
        made = to_float16(description, keep=kept)
        bar.tell("computing each operator in float16")
        losses = find_losses(description, made.description, inputs, context)
        bar.tell("looking for operators to keep")
        before = trial.measure(kept)
        proposed, after = _propose(trial, losses, kept, {each.name for each in made.staying}, before)
    names = [*kept, *proposed]
    options = ["--keep", ",".join(names)] if names else []
    if any("," in name for name in names):
        options = [each for name in names for each in ("--keep", name)]
    output = f"{path.name.removesuffix('.json').rpartition('.')[0]}-float16.webnn"
    command = shlex.join(["webnn", "convert", str(path), *call, "--float16", *options, "-o", output])
    overflow = _find_overflow(losses)
    if as_json:
        data = {"outputs": before, "overflow": None if overflow is None else overflow.name, "keep": proposed, "kept": after}
        print(json.dumps({**losses.to_dict(), **_finite(data), "command": command}, indent=1))
    else:
        _print(losses, overflow, before, proposed, after, command)
    return any(not each <= tolerance for each in before.values())


@dataclass(frozen=True, slots=True)
class _Trial:
    """A graph that is tried in float16 with different operators in float32."""

    description: webnn.GraphDescription
    inputs: Mapping[str, Any]
    expected: Mapping[str, Array]

    def measure(self, keep: Sequence[str]) -> dict[str, float]:
        """Return the largest difference of each output, relative to its largest value."""
        context, graph = build(to_float16(self.description, keep=keep).description)
        found = compute(context, graph, dict(self.inputs))
        return {name: relative_distance(array, self.expected[name]) for name, array in found.items()}


def _find_overflow(losses: Losses) -> Loss | None:
    """Return the first operator in the graph that makes numbers too large for float16 of operands that are not."""
    known = {each.name: each for each in losses.values}
    return next((known[name] for name in losses.overflowing if known[name].overflows), None)


def _propose(
    trial: _Trial, losses: Losses, kept: Sequence[str], staying: Set[str], before: dict[str, float]
) -> tuple[list[str], dict[str, float]]:
    """Return the names of operators to keep in float32, and the differences of the outputs that are left then.

    They are those around numbers that are too large, and those that bring outputs nearer. ``staying`` are the names of those that stay in
    float32 already, and ``before`` the differences with these alone.
    """
    large = {*losses.overflowing}
    proposed = list(
        dict.fromkeys(
            [
                operator.outputs[0]
                for operator in trial.description.operators
                if operator.outputs[0] not in staying
                and large.intersection((*operator.outputs, *[value for _, _, value in operator.named_values()]))
            ]
        )
    )
    after = trial.measure([*kept, *proposed]) if proposed else before
    for each in [each for each in losses.values if each.relative > _SEVERAL and each.name not in proposed][:_TRIED]:
        found = trial.measure([*kept, *proposed, each.name])
        if max(found.values(), default=0.0) < _NEARER * max(after.values(), default=0.0):
            proposed.append(each.name)
            after = found
    return proposed, after


def _print(
    losses: Losses, overflow: Loss | None, before: Mapping[str, float], proposed: Sequence[str], after: Mapping[str, float], command: str
) -> None:
    console = make_console()
    console.print("  loses   so far  largest value  operator")
    for each in losses.values[:_SHOWN]:
        label = "" if each.label in ("", each.name) else f", {each.label}"
        line = f"{each.relative:7.2g}  {each.accumulated:7.2g}  {each.largest:13.6g}  {each.operation} {each.name}{label}"
        console.print(show_controls(line), soft_wrap=True, markup=False)
    if overflow is not None:
        text = f"overflow: {overflow.operation} {overflow.name} makes {overflow.largest:.6g}; the largest number of float16 is {LARGEST:g}"
        console.print(show_controls(text), style="red", soft_wrap=True, markup=False)
    for name, relative in before.items():
        kept = f"; with --keep {after[name]:.3g}" if proposed else ""
        console.print(f"  output {show_controls(name)}: differs by {relative:.3g} of its largest value{kept}", soft_wrap=True, markup=False)
    console.print(show_controls(command), soft_wrap=True, markup=False)


def _finite(data: Any) -> Any:
    """Return data for JSON, in which numbers that are not finite are text."""
    if isinstance(data, dict):
        return {name: _finite(each) for name, each in data.items()}
    return str(data) if isinstance(data, float) and not math.isfinite(data) else data
