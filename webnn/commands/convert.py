"""``webnn convert``: a graph in another format."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

import webnn
from webnn.commands.choices import RevisionOption
from webnn.commands.completion import complete_output
from webnn.commands.failure import failing
from webnn.commands.graphs import load_graph
from webnn.commands.models import ConstantOption, DimOption, Int32Option, ModelOptions, PrecisionOption, ShapeOption, SignatureOption
from webnn.formats import WRITERS, save

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
    dims: DimOption = None,
    constants: ConstantOption = None,
    int32: Int32Option = False,
    precision: PrecisionOption = None,
    signature: SignatureOption = None,
    name: Annotated[str | None, typer.Option(help="The name of the graph in the file.", show_default="that of the file")] = None,
) -> None:
    """Write a graph in another format: text, JSON, ONNX, StableHLO, a program in JavaScript or Python, or a picture."""
    options = ModelOptions.parse(source, shapes, dims, constants, int32, precision, signature=signature)
    description = load_graph(source, arguments or [], graph=graph, revision=revision, options=options)
    with failing((OSError, ValueError, webnn.WebNNTypeError), _WRONG):
        weights = save(replace(description, name=name or description.name or output.name.partition(".")[0]), output)
    beside = "" if weights is None else f", with weights in {weights.name}"
    typer.echo(f"{output}: {len(description.operators)} operators, {len(description.constants)} constants{beside}", err=True)
