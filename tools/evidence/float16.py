"""Float16 graphs beside those of ONNX Runtime's own converter: how far both are from float32.

    python -m tools.evidence.float16 MODEL.onnx [--shape NAME=1,3,320,320]...

Prints the root mean square of the errors of each output, divided by that of the output of ONNX Runtime in float32: for both graphs in the
emulator, which rounds after each operator, and with rounded weights alone, as ONNX Runtime's CPU computes them.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnxruntime.transformers.float16 import convert_float_to_float16
from onnxruntime.transformers.onnx_model import OnnxModel

import webnn.onnx
from webnn.commands.feeds import build, compute, seeded_inputs
from webnn.context.engine.foreign import run_model
from webnn.lowering.float16 import to_float16

__all__ = ["main", "measure"]

Array = np.ndarray[Any, np.dtype[Any]]


def measure(path: Path, shapes: Mapping[str, list[int]], seeds: int = 4) -> dict[str, dict[str, float]]:
    """Return the mean error of each output over some inputs, by the graph: "theirs", "ours", and both "with rounded weights"."""
    source = webnn.onnx.load(path, shapes=shapes).description
    made = to_float16(source).description
    half = made.constants
    rounded = {
        name: replace(each, value=half[name].value.astype(np.float32)) if name in half and each.descriptor.dataType == "float32" else each
        for name, each in source.constants.items()
    }
    with tempfile.TemporaryDirectory() as folder:
        converted = Path(folder) / "float16.onnx"
        # The converter puts casts behind the nodes that take them.
        model = OnnxModel(convert_float_to_float16(onnx.load(path), keep_io_types=True))
        model.topological_sort()
        onnx.save(model.model, converted)
        theirs = webnn.onnx.load(converted, shapes=shapes).description
        graphs = {"theirs": build(theirs), "ours": build(made), "ours with rounded weights": build(replace(source, constants=rounded))}
        errors: dict[str, dict[str, float]] = {}
        for seed in range(seeds):
            inputs = _draw(source, seed)
            expected = run_model(path, inputs)
            found = {name: compute(*graph, inputs) for name, graph in graphs.items()}
            found["theirs with rounded weights"] = run_model(converted, inputs)
            for name, arrays in found.items():
                for output, array in arrays.items():
                    row = errors.setdefault(output, {})
                    row[name] = row.get(name, 0.0) + _error(array, expected[output]) / seeds
    return errors


def _draw(source: webnn.GraphDescription, seed: int) -> dict[str, Array]:
    """Return normal numbers; sentences of 40 and more words for the inputs of a language model."""
    inputs = seeded_inputs(source.inputs, seed)
    for name, array in inputs.items():
        if "mask" in name:
            array[:] = np.arange(array.shape[-1]) < 40 + 5 * seed
        elif "type" in name:
            array[:] = 0
        elif "ids" in name:
            array[:] = np.random.default_rng(seed).integers(1000, 20000, array.shape)
    return inputs


def _error(actual: Array, expected: Array) -> float:
    wide = expected.astype(np.float64)
    size = float(np.square(wide).mean())
    return float(np.sqrt(np.square(actual - wide).mean() / size)) if size else 0.0


def main() -> None:
    """Print the errors of a model."""
    parser = argparse.ArgumentParser(prog="python -m tools.evidence.float16")
    parser.add_argument("model", type=Path)
    parser.add_argument("--shape", action="append", default=[], metavar="NAME=SIZES")
    given = parser.parse_args()
    shapes = {name: [int(size) for size in sizes.split(",")] for name, _, sizes in (each.rpartition("=") for each in given.shape)}
    for output, row in measure(given.model, shapes).items():
        print(output, *[f"{name} {error:.3g}" for name, error in row.items()], sep="  ")


if __name__ == "__main__":
    main()
