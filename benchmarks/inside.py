"""What it costs to look inside a graph: that of the transformer encoder block."""

from __future__ import annotations

from benchmarks import transformer
from benchmarks.measure import Array
from benchmarks.sides import CURRENT
from webnn import MLGraph, emulate

__all__ = ["make_graph", "profile_times", "trace_times"]

#: The runs of one profile.
_RUNS = 20


def make_graph(block: transformer.Block) -> tuple[MLGraph, dict[str, Array]]:
    """Build the graph; return it and its inputs."""
    graphs: list[MLGraph] = []
    with emulate(on_build=lambda _, graph: graphs.append(graph)):
        transformer.webnn_side(block, CURRENT)
    return graphs[0], {"x": block.value}


def profile_times(graph: MLGraph, inputs: dict[str, Array], rounds: int) -> tuple[list[float], list[float]]:
    """Return the time of a run with profiling, and that of a plain run, in each round."""
    profiles = [graph.profile(inputs, _RUNS) for _ in range(rounds)]
    return [each.profiled for each in profiles], [each.plain for each in profiles]


def trace_times(graph: MLGraph, inputs: dict[str, Array], rounds: int) -> tuple[list[float], list[float]]:
    """Return the time of a trace, and that of a plain run, in each round."""
    traces = [graph.trace(inputs) for _ in range(rounds)]
    return [each.seconds for each in traces], [each.plain for each in traces]
