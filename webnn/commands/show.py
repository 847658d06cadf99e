"""``webnn show``: the graph of a file, or those that a program builds, as tables or pictures."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

import webnn
from webnn.commands.choices import RevisionOption
from webnn.commands.completion import complete_profile
from webnn.commands.failure import failure
from webnn.commands.graphs import choose_graph, collect_graphs, graph_name, load_graph
from webnn.commands.models import ConstantOption, DimOption, Int32Option, ModelOptions, PrecisionOption, ShapeOption, SignatureOption
from webnn.commands.program import is_graph
from webnn.commands.progress import show_progress
from webnn.commands.text import show_controls
from webnn.formats import files

__all__ = ["command"]

_FAILED, _WRONG = 1, 2


def command(
    path: Annotated[
        Path,
        typer.Argument(metavar="FILE|PROGRAM", help="A graph, or a program .py, .mjs, .js or .html that builds some.", show_default=False),
    ],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ARGS",
            help="The program's arguments; its options follow --. For a page of a graph, another graph beside it.",
            show_default=False,
        ),
    ] = None,
    *,
    graph: Annotated[
        str | None,
        typer.Option(metavar="N|NAME", help="One graph of a program: its number, from 1, or its outputs.", show_default="every graph"),
    ] = None,
    output: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Show only what this output of the graph needs. Repeatable.", show_default=False),
    ] = None,
    svg: Annotated[Path | None, typer.Option(metavar="OUT", help="Write a picture, in SVG.", show_default=False)] = None,
    dot: Annotated[Path | None, typer.Option(metavar="OUT", help="Write a picture for Graphviz.", show_default=False)] = None,
    mermaid: Annotated[Path | None, typer.Option(metavar="OUT", help="Write a picture for Mermaid.", show_default=False)] = None,
    every: Annotated[bool, typer.Option("--all", help="Fold nothing in pictures: show every operator in a box of its own.")] = False,
    html: Annotated[
        Path | None,
        typer.Option("--html", "-o", metavar="OUT", help="Write a page to look around in: the viewer, in one file.", show_default=False),
    ] = None,
    opened: Annotated[bool, typer.Option("--open", help="Open that page in a browser.")] = False,
    explorer: Annotated[
        Path | None,
        typer.Option("--model-explorer", metavar="OUT", help="Write the graph for Model Explorer, and node data.", show_default=False),
    ] = None,
    onnx: Annotated[
        Path | None,
        typer.Option(metavar="OUT", help="Write an ONNX model for Netron, with times and devices as metadata.", show_default=False),
    ] = None,
    times: Annotated[bool, typer.Option("--times", help="Take the time of each operator, for the page and the files.")] = False,
    width: Annotated[int, typer.Option(min=1, help="How many pixels wide an SVG may be: a long graph gets columns.")] = 780,
    placement: Annotated[
        bool, typer.Option("--placement", help="Show where each operator runs on this machine, or on the device of --profile.")
    ] = False,
    profile: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE",
            help="The device for --placement.",
            autocompletion=complete_profile,
            envvar="WEBNN_PROFILE",
            show_default=False,
        ),
    ] = None,
    shapes: ShapeOption = None,
    dims: DimOption = None,
    constants: ConstantOption = None,
    int32: Int32Option = False,
    precision: PrecisionOption = None,
    signature: SignatureOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what the table shows as JSON, with operands and options.")] = False,
    revision: RevisionOption = None,
) -> None:
    """Show a graph: its operators, types, shapes and costs.

    The table has parameters and multiply-adds, too. The largest tensors follow.

    The table goes to the standard output, unless a picture is asked for. A program runs as with webnn run, and what it prints goes to the
    standard error.

    --open shows the graph in a browser, to move in, search and open; webnn show --open A B shows two graphs and what differs.
    """
    # Imported lazily, because it loads NumPy, which `webnn show --help` does not need.
    from webnn.commands.view import Lines, Wanted, open_browser, open_page, view, write_two  # noqa: PLC0415
    from webnn.formats.dot import as_dot  # noqa: PLC0415
    from webnn.formats.mermaid import as_mermaid  # noqa: PLC0415
    from webnn.formats.summary import as_data, as_text  # noqa: PLC0415
    from webnn.formats.svg import draw  # noqa: PLC0415
    from webnn.viewer import find_lines  # noqa: PLC0415

    pictures: dict[Path, Callable[[webnn.GraphDescription], str]] = {}
    if svg is not None:
        pictures[svg] = lambda each: draw(each, fold=not every, width=width)
    if dot is not None:
        pictures[dot] = as_dot
    if mermaid is not None:
        pictures[mermaid] = lambda each: as_mermaid(each, fold=not every)
    options = ModelOptions.parse(path, shapes, dims, constants, int32, precision, signature=signature)
    page = open_page(html) if opened else html
    viewed = any(each is not None for each in (page, explorer, onnx))
    if times and not viewed:
        raise failure("--times needs --open, --html, --model-explorer or --onnx", _WRONG)
    second = None
    if page is not None and arguments and is_graph(path.name.lower()):
        if len(arguments) > 1 or placement or times or explorer is not None or onnx is not None:
            raise failure("two graphs beside each other are a page of two files, without placement, times and other files", _WRONG)
        second, arguments = Path(arguments[0]), None
    lines: dict[int, Lines] = {}

    def note(description: webnn.GraphDescription, graph: webnn.MLGraph) -> None:
        lines[id(description)] = find_lines(graph)

    found = collect_graphs(path, arguments or (), revision=revision, options=options, on_build=note, lines=viewed)
    if graph is not None or pictures or explorer is not None or onnx is not None:
        found = [choose_graph(found, path, graph)]
    try:
        shown = [each.select(output) if output else each for each in found]
        for file, draw_it in pictures.items():
            with show_progress("drawing"):
                files.write(file, draw_it(shown[0]))
        if second is not None and page is not None:
            write_two(page, shown[0], load_graph(second), (path.name, second.name))
        elif viewed:
            made = [lines.get(id(each), {}) for each in found]
            view(shown, path.name, made, Wanted(html=page, explorer=explorer, onnx=onnx, placement=placement, times=times, profile=profile))
        if opened and page is not None:
            typer.echo(open_browser(page), err=True)
        if viewed:
            texts = []
        elif placement:
            from webnn.commands.feeds import build  # noqa: PLC0415 (as above)

            with show_progress("building"):
                placements = [build(each, profile=profile, fallback="silent")[1].placement for each in shown]
            told = [each.to_dict() for each in placements]
            texts = [json.dumps(told, indent=1)] if as_json else [str(each) for each in placements]
        elif as_json:
            texts = [json.dumps([as_data(each) for each in shown], indent=1, allow_nan=False)]
        else:
            texts = [] if pictures else [as_text(each, whole=True) for each in shown]
    except KeyError as error:
        names = "; ".join(graph_name(each) for each in found)
        raise failure(f"--output must name outputs of the graph, which has {names}, got {error.args[0]!r}", _WRONG) from None
    except (ImportError, OSError, ValueError, webnn.WebNNTypeError, webnn.DOMException) as error:
        raise failure(str(error), _FAILED) from None
    for number, text in enumerate(texts, start=1):
        heading = f"== {number} of {len(texts)}: {graph_name(shown[number - 1])}\n\n" if len(texts) > 1 else ""
        _print(heading + text + ("\n" if number < len(texts) else ""))


def _print(text: str) -> None:
    """Print a text in which names may hold characters that the output's encoding does not have."""
    encoding = sys.stdout.encoding or "utf-8"
    typer.echo(show_controls(text).encode(encoding, "backslashreplace").decode(encoding))
