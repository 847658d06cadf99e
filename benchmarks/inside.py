"""The cost of looking inside a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypeVar

import numpy as np

from benchmarks import squeezenet, transformer
from benchmarks.measure import Array
from benchmarks.sides import CURRENT
from webnn import MLGraph, emulate
from webnn.context.inspections import Accuracy
from webnn.reference import Program

__all__ = ["accuracy_sides", "profile_times", "squeezenet_graph", "trace_times", "transformer_graph"]

T = TypeVar("T")

#: Does something a number of times.
Repeated: TypeAlias = Callable[[int], list[T]]

#: The runs of one profile.
_RUNS = 20


def transformer_graph(block: transformer.Block) -> tuple[MLGraph, dict[str, Array]]:
    """Build the transformer encoder block; return it and its inputs."""
    return _build(lambda: transformer.webnn_side(block, CURRENT)), {"x": block.value}


def squeezenet_graph(size: int = 224) -> tuple[MLGraph, dict[str, Array]]:
    """Build SqueezeNet with random weights, for images of this height and width; return it and its inputs."""
    image = np.random.default_rng(0).uniform(-1, 1, (1, size, size, 3)).astype(np.float32)
    return _build(lambda: squeezenet.webnn_side(squeezenet.random_weights(), image, CURRENT)), {"image": image}


def _build(make: Callable[[], object]) -> MLGraph:
    graphs: list[MLGraph] = []
    with emulate(on_build=lambda _, graph: graphs.append(graph)):
        make()
    return graphs[0]


def profile_times(graph: MLGraph, inputs: dict[str, Array], rounds: int) -> tuple[list[float], list[float]]:
    """Return the time of a run with profiling, and that of a plain run, in each round."""
    profiles = [graph.profile(inputs, _RUNS) for _ in range(rounds)]
    return [each.profiled for each in profiles], [each.plain for each in profiles]


def trace_times(graph: MLGraph, inputs: dict[str, Array], rounds: int) -> tuple[list[float], list[float]]:
    """Return the time of a trace, and that of a plain run, in each round."""
    traces = [graph.trace(inputs) for _ in range(rounds)]
    return [each.seconds for each in traces], [each.plain for each in traces]


def accuracy_sides(graph: MLGraph, inputs: dict[str, Array]) -> tuple[Repeated[Accuracy], Repeated[dict[str, Array]]]:
    """Return what judges the operators a number of times, and what computes the graph by the reference as often."""
    program, outputs = Program(graph.description), graph.description.outputs
    return (
        lambda repeats: [graph.accuracy(inputs) for _ in range(repeats)],
        lambda repeats: [program.run(inputs, outputs) for _ in range(repeats)],
    )
