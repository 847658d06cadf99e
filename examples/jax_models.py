"""JAX models as WebNN graphs and as modules for web pages: a dense network, a convolutional one, and a small GPT.

``python -m tools.evidence.jax_models --save examples/jax`` exported the models with JAX. Beside each are an input and JAX's results;
the graph must compute the same. JAX is not needed here, only the package that reads its exports: ``python -m pip install '.[stablehlo]'``.

The GPT has learned the fables in examples/jax/fables.txt by heart, letter by letter, and continues a text.

Run it: ``python examples/jax_models.py --output site``
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import webnn
import webnn.stablehlo
from webnn.validation.drafts import find_revision

Arrays = Mapping[str, NDArray[Any]]

EXPORTS = Path(__file__).resolve().parent / "jax"
MODELS = ("mlp", "cnn", "gpt-fables")
#: The largest difference from JAX's results, as a part of the largest one.
TOLERANCE = 5e-6
BEGINNING, LETTERS = "A fox saw", 243
#: The code of the first letter that the GPT knows.
SPACE = ord(" ")


def compile_graph(description: webnn.GraphDescription) -> Callable[[Arrays], dict[str, NDArray[Any]]]:
    """Build a graph; return a function from its inputs to its outputs, by their names."""
    context = webnn.ML(revision=find_revision(description.draft)).createContextSync()
    builder = webnn.MLGraphBuilder(context)
    graph = builder.buildSync(description.build(builder))
    known = description.descriptors()
    inputs = {
        name: context.createTensorSync(dataType=each.dataType, shape=each.shape, writable=True) for name, each in description.inputs.items()
    }
    outputs = {
        name: context.createTensorSync(dataType=known[value].dataType, shape=known[value].shape, readable=True)
        for name, value in description.outputs.items()
    }

    def run(values: Arrays) -> dict[str, NDArray[Any]]:
        for name, tensor in inputs.items():
            context.writeTensor(tensor, values[name])
        context.dispatch(graph, inputs, outputs)
        found = {name: np.empty(tensor.shape, tensor.dataType) for name, tensor in outputs.items()}
        for name, tensor in outputs.items():
            context.readTensorSync(tensor, found[name])
        return found

    return run


def compare(name: str, description: webnn.GraphDescription) -> float:
    """Return the largest difference from JAX's results, as a part of the largest one."""
    with np.load(EXPORTS / f"{name}.npz") as arrays:
        inputs = {each: arrays[f"argument{number}"] for number, each in enumerate(description.inputs)}
        wanted = [arrays[f"result{number}"].astype(np.float64) for number in range(len(description.outputs))]
    found = compile_graph(description)(inputs).values()
    largest = max(np.abs(each).max() for each in wanted)
    return float(max(np.abs(each - exact).max() for each, exact in zip(found, wanted, strict=True)) / largest)


def tell(description: webnn.GraphDescription, text: str, letters: int) -> str:
    """Continue a text of printable ASCII characters, each time with the most probable letter."""
    run = compile_graph(description)
    length = description.inputs["tokens"].shape[1]
    for _ in range(letters):
        seen = np.frombuffer(text[-length:].encode("ascii"), np.uint8).astype(np.int32) - SPACE
        tokens = np.zeros((1, length), np.int32)
        tokens[0, : len(seen)] = seen
        # The row of the last letter has the scores of the next one.
        scores = run({"tokens": tokens})["scores"][0, len(seen) - 1]
        text += chr(int(scores.argmax()) + SPACE)
    return text


def main() -> None:
    """Import the models, compare them with JAX, write the modules, and let the GPT tell a fable."""
    parser = argparse.ArgumentParser(description="Import exported JAX models as WebNN graphs, and write them as modules for a web page.")
    parser.add_argument("--output", type=Path, default=Path("site"), help="the folder of the modules")
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)
    for name in MODELS:
        imported = webnn.stablehlo.load(EXPORTS / f"{name}.mlirbc")
        difference = compare(name, imported.description)
        file = args.output / f"{name.replace('-', '_')}.mjs"
        imported.description.save(file)
        report = imported.report
        print(
            f"{name}: {len(report.nodes)} operations, {report.count('folded')} of them computed at import,"
            f" are {len(imported.description.operators)} operators;"
            f" largest difference from JAX: {difference:.1e} of the largest value (at most {TOLERANCE:g})"
        )
        if difference > TOLERANCE:
            parser.exit(1, f"{name} must not differ from JAX by more than {TOLERANCE:g} of the largest value\n")
    print(tell(imported.description, BEGINNING, LETTERS))


if __name__ == "__main__":
    main()
