"""``webnn convert``: a graph in another format."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

import webnn
from webnn.commands.choices import RevisionOption
from webnn.commands.completion import complete_output
from webnn.commands.failure import failing
from webnn.commands.graphs import load_graph
from webnn.commands.models import ConstantOption, Int32Option, ModelOptions, NamingOption, PrecisionOption, ShapeOption, SignatureOption
from webnn.commands.program import is_graph
from webnn.commands.progress import show_progress
from webnn.commands.smaller import Float16Option, Int4Option, Int8Option, IoOption, KeepOption, count_files, lower_types
from webnn.display.text import clip, size
from webnn.formats import GRAPHS, WRITERS, save
from webnn.formats.weights import weights_path

__all__ = ["command"]

_WRONG = 2


def command(
    source: Annotated[
        Path,
        typer.Argument(metavar="IN", help="A graph, an ONNX or TFLite model, a StableHLO program, or a program .py, .mjs, .js or .html."),
    ],
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="ARGS", help="The program's arguments; its options follow --.", show_default=False)
    ] = None,
    *,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help=f"The file to write: {', '.join(WRITERS)}.", autocompletion=complete_output, show_default=False
        ),
    ],
    graph: Annotated[
        str | None, typer.Option(metavar="N|NAME", help="Which graph of a program that builds several.", show_default=False)
    ] = None,
    revision: RevisionOption = None,
    shapes: ShapeOption = None,
    dims: NamingOption = None,
    constants: ConstantOption = None,
    int32: Int32Option = False,
    precision: PrecisionOption = None,
    signature: SignatureOption = None,
    float16: Float16Option = False,
    keep: KeepOption = None,
    float16_io: IoOption = False,
    int8: Int8Option = False,
    int4: Int4Option = False,
    name: Annotated[str | None, typer.Option(help="The name of the graph in the file.", show_default="that of the file")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was written as JSON.")] = False,
) -> None:
    """Write a graph in another format.

    The formats are text, JSON, ONNX, StableHLO, a program in JavaScript or Python, and a picture.

    It may have smaller numbers than before; the size of files and weights is printed.
    """
    options = ModelOptions.parse(source, shapes, dims, constants, int32, precision, signature=signature, naming=True)
    description = load_graph(source, arguments or [], graph=graph, revision=revision, options=options)
    suffix = next((each for each in GRAPHS if source.name.lower().endswith(each)), "")
    before = count_files(source, weights_path(source, suffix) if suffix else None)
    with show_progress("making numbers smaller"):
        description = lower_types(description, float16=float16, keep=keep, inputs=float16_io, int8=int8, int4=int4)
    with failing((OSError, ValueError, webnn.WebNNTypeError), _WRONG), show_progress(f"writing {clip(output.name, 30)}"):
        weights = save(replace(description, name=name or description.name or output.name.partition(".")[0]), output)
    if as_json:
        told = {
            "output": str(output),
            "weights": None if weights is None else str(weights),
            "operators": len(description.operators),
            "constants": len(description.constants),
            "bytes": {"before": before if is_graph(source.name) else None, "after": count_files(output, weights)},
        }
        typer.echo(json.dumps(told, indent=1))
        return
    if is_graph(source.name):
        typer.echo(f"size: {size(before)} -> {size(count_files(output, weights))}", err=True)
    beside = "" if weights is None else f", with weights in {weights.name}"
    typer.echo(f"{output}: {len(description.operators)} operators, {len(description.constants)} constants{beside}", err=True)
