"""``webnn diff``: how two graphs differ."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.text import Text

import webnn
from webnn.commands.choices import SemanticsOption
from webnn.commands.diff_float16 import report
from webnn.commands.diff_semantics import report_semantics
from webnn.commands.failure import failing, failure
from webnn.commands.feeds import build, compute, read_inputs, seeded_inputs, split_pairs
from webnn.commands.graphs import load_graph
from webnn.commands.models import (
    ConstantOption,
    DimOption,
    Int32Option,
    ModelOptions,
    PrecisionOption,
    ShapeOption,
    SignatureOption,
    boolean_inputs,
    is_onnx,
    is_torch,
    read_program,
)
from webnn.commands.progress import show_progress
from webnn.commands.rows import make_console
from webnn.commands.smaller import Float16Option, KeepOption, split_names
from webnn.commands.text import show_controls
from webnn.commands.view import write_two
from webnn.context.engine.foreign import run_model
from webnn.display.text import clip
from webnn.formats.difference import compare
from webnn.inspect.distance import find_distance
from webnn.lowering.float16 import to_float16

if TYPE_CHECKING:
    from webnn.validation.descriptor import DataType

__all__ = ["command"]

_SIGNS = {"added": ("+", "green"), "removed": ("-", "red"), "changed": ("~", "yellow")}
#: The exit codes.
_DIFFERENT, _WRONG = 1, 2


def command(
    first: Annotated[
        Path, typer.Argument(help="A graph, an ONNX model, a PyTorch program, or a program that builds one.", show_default=False)
    ],
    second: Annotated[
        Path | None, typer.Argument(help="The graph to compare with it.", show_default="for a model its import as a WebNN graph")
    ] = None,
    *,
    numbers: Annotated[bool, typer.Option("--numbers/--no-numbers", help="Compute both on the same seeded inputs.")] = True,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the inputs.")] = 0,
    inputs: Annotated[
        list[str] | None,
        typer.Option("--input", metavar="NAME=FILE.npy", help="An input of both. Repeatable.", show_default="seeded random numbers"),
    ] = None,
    tolerance: Annotated[
        float, typer.Option(min=0, help="The largest difference of numbers that is none, relative to the largest value of an output.")
    ] = 0.0,
    shapes: ShapeOption = None,
    dims: DimOption = None,
    constants: ConstantOption = None,
    int32: Int32Option = False,
    precision: PrecisionOption = None,
    signature: SignatureOption = None,
    float16: Float16Option = False,
    keep: KeepOption = None,
    semantics: SemanticsOption = None,
    html: Annotated[
        Path | None,
        typer.Option(metavar="OUT", help="Write a page with both graphs beside each other, in one file.", show_default=False),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the differences as JSON.")] = False,
) -> None:
    """Compare two graphs: structure, weights, then results.

    Operators are matched in order by what they do; the names of values do not count. A model is computed as it is, an ONNX model by
    onnxruntime and a PyTorch program by PyTorch, and its import as a WebNN graph is compared with the other graph. The exit status is 0 if
    nothing differs, 1 if something does, and 2 if the call is wrong.

    Options for models hold for each file that has such inputs and dimensions.

    With --float16, one graph is compared with itself in float16: operators are listed by what they lose, the one that makes too large
    numbers is named, and the command is printed that keeps the worst ones in float32.

    With --semantics, one graph is compared with itself with other semantics, such as accumulation=float16: operators are listed by how far
    their results are apart, from the same operands. With both options, the graph in float16 is compared.
    """
    if semantics and (second is not None or not numbers):
        raise failure("--semantics compares the numbers of one graph with its own with other semantics", _WRONG)
    if float16 and (second is not None or not numbers):
        raise failure("--float16 compares the numbers of one graph with its own in float16", _WRONG)
    if html is not None and (float16 or semantics):
        raise failure("--html shows two graphs: it has no meaning with --float16 and --semantics", _WRONG)
    if keep and not float16:
        raise failure("--keep needs --float16", _WRONG)
    if float16 or semantics:
        options = ModelOptions.parse(first, shapes, dims, constants, int32, precision)
        description = load_graph(first, options=options)
        given = _read_inputs(description, [first], inputs or [], seed)
        if semantics:
            if float16:
                with failing((ValueError, webnn.WebNNTypeError), _WRONG):
                    description = to_float16(description, keep=split_names(keep, description)).description
            if report_semantics(description, given, semantics, tolerance=tolerance, as_json=as_json):
                raise typer.Exit(_DIFFERENT)
            return
        call = [*_repeat("--shape", shapes), *_repeat("--dim", dims), *_repeat("--constant", constants), *(["--int32"] if int32 else [])]
        call += ["--precision", precision.value] if precision is not None else []
        if report(description, given, keep, call, first, tolerance=tolerance, as_json=as_json):
            raise typer.Exit(_DIFFERENT)
        return
    if second is None and not is_onnx(first):
        raise failure("a second graph must be given; only an ONNX model or a PyTorch program can be compared with its own import", _WRONG)
    if inputs and not numbers:
        raise failure("--input and --no-numbers cannot be given together", _WRONG)
    paths = [path for path in (first, second) if path is not None]
    options = ModelOptions.parse(first, shapes, dims, constants, int32, precision, *paths[1:], signature=signature)
    sides = [_Side(path, load_graph(path, options=own), own) for path, own in zip(paths, options.share(paths), strict=True)]
    if second is None:
        sides.append(_Side(None, sides[0].description, sides[0].options))
    one, other = (side.description for side in sides)
    with show_progress("comparing operators and weights"):
        difference = compare(one, other)
    if html is not None:
        with failing((OSError, webnn.DescriptionError), _WRONG):
            write_two(html, one, other, (first.name, second.name if second is not None else f"the import of {first.name}"))
    outputs = _compute(sides, inputs or [], seed) if numbers else {}
    differs = bool(difference) or any(not each["largest"] <= tolerance * each["scale"] for each in outputs.values())
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
            within = f" above {tolerance:g} of the largest value" if tolerance else ""
            console.print(f"{len(one.operators)} operators and {len(one.constants)} constants: no difference{within}")
    if differs:
        raise typer.Exit(_DIFFERENT)


@dataclass(frozen=True, slots=True)
class _Side:
    """One side of a comparison: a file, or none for the import of the other side's model, its graph, and what the file leaves open."""

    path: Path | None
    description: webnn.GraphDescription
    options: ModelOptions

    def run(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Compute the outputs: those of an ONNX model by onnxruntime, those of a PyTorch program by PyTorch."""
        if self.path is not None and is_torch(self.path):
            return read_program(self.path).run({**self.options.arrays(), **inputs})
        if self.path is not None and is_onnx(self.path):
            return run_model(self.path, {**self.options.arrays(), **inputs})
        context, graph = build(self.description)
        return compute(context, graph, inputs)


def _compute(sides: Sequence[_Side], files: Sequence[str], seed: int) -> dict[str, dict[str, float]]:
    """Compute the outputs that both graphs have, on inputs from files and on drawn ones; none if their inputs differ."""
    one, other = (side.description for side in sides)
    known = one.descriptors(), other.descriptors()
    shared = [name for name, value in one.outputs.items() if name in other.outputs and known[0][value] == known[1][other.outputs[name]]]
    if one.inputs != other.inputs or not shared:
        return {}
    inputs = _read_inputs(one, [side.path for side in sides if side.path is not None], files, seed)
    results = []
    refused = webnn.DOMException, TypeError, webnn.DescriptionError
    with failing(refused, _WRONG, "a graph cannot be computed: {}"), show_progress("computing", len(sides)) as bar:
        for side in sides:
            bar.tell("computing" if side.path is None else f"computing {clip(side.path.name, 30)}")
            results.append(side.run(inputs))
            bar.advance()
    return {name: _measure(results[0][name], results[1][name], known[0][one.outputs[name]].dataType) for name in shared}


def _read_inputs(description: webnn.GraphDescription, paths: Sequence[Path], files: Sequence[str], seed: int) -> dict[str, Any]:
    """Return the inputs of a graph from files, and drawn ones; some files have inputs that are booleans."""
    with failing((OSError, ValueError), _WRONG):
        given = read_inputs(split_pairs(files, list(description.inputs), "--input"), description.inputs)
        booleans = frozenset[str]().union(*[boolean_inputs(path) for path in paths])
    return {**seeded_inputs(description.inputs, seed, booleans), **given}


def _repeat(option: str, values: Sequence[str] | None) -> list[str]:
    return [each for value in values or () for each in (option, value)]


def _measure(one: Any, other: Any, dataType: DataType) -> dict[str, float]:
    """Return the largest difference of two arrays, infinite where one has a NaN or an infinity and the other one does not."""
    from webnn.validation.descriptor import is_float  # noqa: PLC0415 (loaded when used)

    wide = one.astype(np.float64)
    finite = np.abs(wide[np.isfinite(wide)])
    distance = find_distance(other, wide if is_float(dataType) else one, dataType)
    return {"largest": distance.absolute, "scale": float(finite.max()) if finite.size else 0.0}
