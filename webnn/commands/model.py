"""``webnn run`` of a saved graph: inputs from files, outputs to files."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import typer

import webnn
from webnn.commands.failure import failing
from webnn.commands.feeds import build, compute, read_inputs, seeded_inputs, split_pairs
from webnn.commands.models import ModelOptions, boolean_inputs, read_graph
from webnn.commands.text import show_controls
from webnn.inspect.statistics import describe_elements, unpack

__all__ = ["run_graph"]

_FAILED, _WRONG = 1, 2


def run_graph(path: Path, inputs: Sequence[str], outputs: Sequence[str], options: ModelOptions) -> None:
    """Compute a saved graph in its own draft: write the outputs that are asked for, and print statistics of the others.

    Inputs and outputs are ``NAME=FILE``, or ``FILE`` for a graph of one. The other inputs are seeded random numbers. Raises `typer.Exit` if
    a file is wrong, or the graph cannot be built or computed; the message is printed.
    """
    description = read_graph(path, options)
    with failing((OSError, ValueError), _WRONG):
        given = read_inputs(split_pairs(inputs, list(description.inputs), "--input"), description.inputs)
        wanted = split_pairs(outputs, list(description.outputs), "--output")
    drawn = [name for name in description.inputs if name not in given]
    if drawn:
        typer.echo(f"webnn: random numbers for the inputs {', '.join(map(show_controls, drawn))}", err=True)
    with failing((webnn.DOMException, TypeError, webnn.DescriptionError), _FAILED):
        context, graph = build(description)
        results = compute(context, graph, {**seeded_inputs(description.inputs, 0, boolean_inputs(path)), **given})
    for name, array in results.items():
        if name in wanted:
            _write(wanted[name], array)
        else:
            descriptor = graph._outputDescriptors[name]
            typer.echo(f"{show_controls(name)}: {descriptor}: {_summarize(array, descriptor)}")


def _write(file: Path, array: np.ndarray[Any, np.dtype[Any]]) -> None:
    buffer = io.BytesIO()
    if array.dtype.kind == "V":
        # A .npy has no elements of low precision: their bits are written, as they are read.
        array = array.view(f"u{array.dtype.itemsize}")
    np.save(buffer, array, allow_pickle=False)
    with failing(OSError, _FAILED, "the output cannot be written: {}"):
        file.write_bytes(buffer.getvalue())


def _summarize(array: np.ndarray[Any, np.dtype[Any]], descriptor: webnn.OperandDescriptor) -> str:
    found = describe_elements(unpack(array, descriptor))
    if found.mean is None:
        return f"none of {found.count} elements is finite"
    bad = found.nans + found.infinities
    odd = f", {bad} not finite" if bad else ""
    return f"from {found.minimum:.6g} to {found.maximum:.6g}, mean {found.mean:.6g}{odd}"
