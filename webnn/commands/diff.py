"""``webnn diff``: how two graphs differ."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.text import Text

import webnn
from webnn.commands.failure import failure
from webnn.commands.feeds import compute, seeded_inputs
from webnn.commands.graphs import load_graph
from webnn.commands.rows import make_console
from webnn.commands.text import show_controls
from webnn.formats.difference import compare

__all__ = ["command"]

_SIGNS = {"added": ("+", "green"), "removed": ("-", "red"), "changed": ("~", "yellow")}
#: The exit codes.
_DIFFERENT, _WRONG = 1, 2


def command(
    first: Annotated[Path, typer.Argument(help="A graph, or a program that builds one.", show_default=False)],
    second: Annotated[Path, typer.Argument(help="The graph to compare with it.", show_default=False)],
    *,
    numbers: Annotated[bool, typer.Option("--numbers/--no-numbers", help="Compute both on the same seeded inputs.")] = True,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the inputs.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the differences as JSON.")] = False,
) -> None:
    """Compare two graphs: their structure, then their weights, then what they compute.

    Operators are matched in order by what they do; the names of values do not count. The exit status is 0 if nothing differs, 1 if
    something does, and 2 if the call is wrong.
    """
    one, other = (load_graph(path) for path in (first, second))
    difference = compare(one, other)
    outputs = _compute(one, other, seed) if numbers else {}
    differs = bool(difference) or any(each["largest"] != 0 for each in outputs.values())
    if as_json:
        typer.echo(json.dumps({**difference.to_dict(), "outputs": outputs}, indent=1))
    else:
        console = make_console()
        for change in difference.structure:
            sign, style = _SIGNS[change.kind]
            console.print(Text(f"{sign} {show_controls(change.text)}", style), soft_wrap=True)
        for weight in difference.weights:
            console.print(Text(f"~ {show_controls(str(weight))}", "yellow"), soft_wrap=True)
        for name, each in outputs.items():
            text = (
                "equal" if each["largest"] == 0 else f"differs by at most {each['largest']:.6g}, the largest value is {each['scale']:.6g}"
            )
            console.print(Text(f"  output {show_controls(name)}: {text}"), soft_wrap=True)
        if numbers and not outputs:
            console.print("  the outputs cannot be compared: the graphs have different inputs or outputs")
        if not differs:
            console.print(f"{len(one.operators)} operators and {len(one.constants)} constants: no difference")
    if differs:
        raise typer.Exit(_DIFFERENT)


def _compute(one: webnn.GraphDescription, other: webnn.GraphDescription, seed: int) -> dict[str, dict[str, float]]:
    """Compute the outputs that both graphs have; none if their inputs differ."""
    known = one.descriptors(), other.descriptors()
    shared = [name for name, value in one.outputs.items() if name in other.outputs and known[0][value] == known[1][other.outputs[name]]]
    if one.inputs != other.inputs or not shared:
        return {}
    inputs = seeded_inputs(one.inputs, seed)
    try:
        results = [_run(each, inputs) for each in (one, other)]
    except (webnn.DOMException, TypeError, webnn.DescriptionError) as error:
        raise failure(f"a graph cannot be computed: {error}", _WRONG) from None
    return {name: _measure(results[0][name], results[1][name]) for name in shared}


def _run(description: webnn.GraphDescription, inputs: dict[str, Any]) -> dict[str, Any]:
    context = webnn.ML(revision=description.draft).createContextSync()
    builder = webnn.MLGraphBuilder(context)
    return compute(context, builder.buildSync(description.build(builder)), inputs)


def _measure(one: Any, other: Any) -> dict[str, float]:
    """Return the largest difference of two arrays, infinite where one has a NaN or an infinity and the other one does not."""
    one, other = one.astype(np.float64), other.astype(np.float64)
    with np.errstate(invalid="ignore"):
        distance = np.where((one == other) | (np.isnan(one) & np.isnan(other)), 0.0, np.abs(one - other))
    finite = np.abs(one[np.isfinite(one)])
    return {"largest": float(np.nan_to_num(distance, nan=np.inf).max()), "scale": float(finite.max()) if finite.size else 0.0}
