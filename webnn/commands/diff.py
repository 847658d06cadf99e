"""``webnn diff``: how two graphs differ."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.text import Text

import webnn
from webnn.commands.failure import failure
from webnn.commands.feeds import build, compute, seeded_inputs
from webnn.commands.graphs import load_graph
from webnn.commands.rows import make_console
from webnn.commands.text import show_controls
from webnn.formats.difference import compare
from webnn.inspect.distance import find_distance

if TYPE_CHECKING:
    from webnn.validation.descriptor import DataType

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
    return {name: _measure(results[0][name], results[1][name], known[0][one.outputs[name]].dataType) for name in shared}


def _run(description: webnn.GraphDescription, inputs: dict[str, Any]) -> dict[str, Any]:
    context, graph = build(description)
    return compute(context, graph, inputs)


def _measure(one: Any, other: Any, dataType: DataType) -> dict[str, float]:
    """Return the largest difference of two arrays, infinite where one has a NaN or an infinity and the other one does not."""
    wide = one.astype(np.float64)
    finite = np.abs(wide[np.isfinite(wide)])
    distance = find_distance(other, wide if one.dtype.kind == "f" else one, dataType)
    return {"largest": distance.absolute, "scale": float(finite.max()) if finite.size else 0.0}
