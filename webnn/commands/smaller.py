"""The options that make a graph smaller, ``--float16``, ``--keep``, ``--int8`` and ``--int4``, and what they report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

import webnn
from webnn.commands.failure import failing, failure
from webnn.commands.text import show_controls
from webnn.display.text import few, plural, size
from webnn.formats.cost import count_bytes
from webnn.lowering.blocks import Bits, Integers, to_integers
from webnn.lowering.float16 import Float16, to_float16

__all__ = ["Float16Option", "Int4Option", "Int8Option", "IoOption", "KeepOption", "count_files", "lower_types", "split_names"]

_WRONG = 2
#: The most names in a line of the report.
_FEW = 4

Float16Option: TypeAlias = Annotated[bool, typer.Option("--float16", help="Compute float32 in float16; inputs and outputs stay float32.")]
KeepOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--keep",
        metavar="OPERATOR,...",
        help="With --float16: what stays in float32: operations, labels, or names of results. Repeatable.",
        show_default=False,
    ),
]
IoOption: TypeAlias = Annotated[bool, typer.Option("--float16-io", help="With --float16: inputs and outputs become float16, too.")]
Int8Option: TypeAlias = Annotated[bool, typer.Option("--int8", help="Store weights as integers of 8 bits, in blocks with a scale each.")]
Int4Option: TypeAlias = Annotated[bool, typer.Option("--int4", help="Store weights as integers of 4 bits, likewise.")]


def split_names(given: Sequence[str] | None, description: webnn.GraphDescription) -> list[str]:
    """Split the values of ``--keep`` at commas, except those that are a label or the name of a result."""
    known = {name for operator in description.operators for name in (operator.label, *operator.outputs)}
    names: list[str] = []
    for each in given or ():
        names += [each] if each in known else [name.strip() for name in each.split(",") if name.strip()]
    return names


def lower_types(
    description: webnn.GraphDescription, *, float16: bool, keep: Sequence[str] | None, inputs: bool, int8: bool, int4: bool
) -> webnn.GraphDescription:
    """Return a graph with smaller numbers, as the options say, and print what became of it to standard error.

    Raises `typer.Exit` if options contradict each other, or nothing has a name that is kept; the message is printed.
    """
    if not float16 and (keep or inputs):
        raise failure(f"{'--keep' if keep else '--float16-io'} needs --float16", _WRONG)
    if int8 and int4:
        raise failure("--int8 and --int4 cannot be given together", _WRONG)
    before, lines = count_bytes(description), list[str]()
    with failing((ValueError, webnn.WebNNTypeError), _WRONG):
        if float16:
            made = to_float16(description, keep=split_names(keep, description), inputs=inputs)
            description = made.description
            lines += _describe_float16(made)
        if int8 or int4:
            bits: Bits = 4 if int4 else 8
            integers = to_integers(description, bits)
            description = integers.description
            lines.append(_describe_integers(integers, bits))
    for line in [f"weights: {size(before)} -> {size(count_bytes(description))}", *lines] if float16 or int8 or int4 else []:
        typer.echo(show_controls(line), err=True)
    return description


def count_files(path: Path, weights: Path | None) -> int:
    """Return the bytes of a graph's file and of its weights beside it; ONNX names these after the model."""
    beside = path.with_name(f"{path.name}.data") if path.name.endswith(".onnx") else weights
    return sum([each.stat().st_size for each in (path, beside) if each is not None and each.is_file()])


def _describe_float16(made: Float16) -> Iterator[str]:
    reasons: dict[str, list[str]] = {}
    for each in made.staying:
        reasons.setdefault(each.reason, []).append(f"{each.operation} {each.label or each.name}")
    for reason, names in reasons.items():
        yield f"float32: {plural(len(names), 'operator')} ({reason}): {few(names, _FEW)}"
    for counts, what in (
        (made.saturated, "beyond 65504, which are 65504"),
        (made.vanished, "too small, which are 0, or 6e-8 in a scalar"),
    ):
        if counts:
            yield f"float16: numbers {what}, in {plural(len(counts), 'constant')}: {_count(counts)}"


def _describe_integers(integers: Integers, bits: Bits) -> str:
    if not integers.weights:
        return f"int{bits}: no constant is large enough"
    worst = integers.weights[0]
    count = plural(len(integers.weights), "constant")
    return f"int{bits}: {count}; the largest error has {worst.name}: {worst.error:.2%} of its root mean square"


def _count(counts: Mapping[str, int]) -> str:
    return few([f"{name} ({count})" for name, count in counts.items()], _FEW)
