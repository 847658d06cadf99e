"""Every operation of the draft: a graph whose inputs have names in their shapes is the graph with the sizes that it gets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import pytest
from hypothesis import strategies as st

from tests.property.calls import Call, connect
from tests.property.profiles import NIGHTLY_EXAMPLES, hold
from tests.property.strategies import CALLS
from tests.support import CURRENT, NEWEST, Array, shared_context
from webnn import GraphDescription, MLGraph, MLGraphBuilder, WebNNTypeError
from webnn.builder.describe import describe
from webnn.builder.description import DescriptionError
from webnn.validation.descriptor import OperandDescriptor
from webnn.wpt_runner.vectors.cases import load_cases
from webnn.wpt_runner.vectors.files import bundled_archives
from webnn.wpt_runner.vectors.format import CaseError
from webnn.wpt_runner.vectors.graphs import read_graph

#: The proposal, alone and with others, and the same without it.
REVISIONS = {
    "2026-06+dynamic-shapes": CURRENT,
    "2026-06+low-precision+dynamic-shapes": "2026-06+low-precision",
    "2026-06+dynamic-shapes+zero-size+compute-policy": "2026-06+zero-size+compute-policy",
}
OPERATIONS = sorted(NEWEST.operations)
#: How many recorded graphs of an operation are drawn from.
_MOST = 40


@dataclass(frozen=True)
class Example:
    """A graph whose shapes are known, with values of its inputs; and the same graph with names of some dimensions."""

    graph: GraphDescription
    feeds: Mapping[str, Array]
    shapes: Mapping[str, tuple[int | str, ...]]
    revision: str


@cache
def recorded() -> Mapping[str, list[tuple[GraphDescription, Mapping[str, Array]]]]:
    """Return the recorded graphs of the draft that it takes, by operation."""
    found: dict[str, list[tuple[GraphDescription, Mapping[str, Array]]]] = {name: [] for name in OPERATIONS}
    for case in load_cases([path for path in bundled_archives() if path.stem == "2025-03"]):
        try:
            each = read_graph(case)
            graph = each.graph.infer()
        except (CaseError, WebNNTypeError, DescriptionError):
            continue
        for operation in {operator.operation for operator in graph.operators}:
            if any(graph.inputs[name].dimensions for name in graph.inputs) and len(found[operation]) < _MOST:
                found[operation].append((graph, each.inputs))
    return found


def _describe(call: Call) -> tuple[GraphDescription, Mapping[str, Array]]:
    """Return the graph of a call, and its inputs."""
    connected = connect(MLGraphBuilder(shared_context(call.revision)), call)
    graph = describe({f"y{index}": each for index, each in enumerate(connected.outputs)}).infer()
    return graph, {name: connected.feeds[name] for name in graph.inputs}


def graphs(operation: str) -> st.SearchStrategy[tuple[GraphDescription, Mapping[str, Array]]]:
    """Draw graphs with an operation: recorded ones, and random calls."""
    calls = CALLS[CURRENT][operation].map(_describe)
    return st.one_of(st.sampled_from(recorded()[operation]), calls) if recorded()[operation] else calls


@st.composite
def examples(draw: st.DrawFn, operation: str) -> Example:
    """Draw a graph, and which dimensions get names: one for each size, or one of their own."""
    graph, feeds = draw(graphs(operation))
    kinds = draw(st.sampled_from([(0, 1), (1,), (2,), (0, 1, 2)]))
    shapes = {}
    for name, descriptor in graph.inputs.items():
        choices = [(size, f"of size {size}", f"{name} {axis}") for axis, size in enumerate(descriptor.dimensions)]
        shapes[name] = tuple([each[draw(st.sampled_from(kinds))] for each in choices])
    return Example(graph, feeds, shapes, draw(st.sampled_from(sorted(REVISIONS))))


def build(graph: GraphDescription, shapes: Mapping[str, Any], revision: str) -> MLGraph:
    """Build a graph with other shapes of its inputs."""
    inputs = {name: OperandDescriptor(each.dataType, shapes[name]) for name, each in graph.inputs.items()}
    operators = tuple([replace(each, descriptors=()) for each in graph.operators])
    builder = MLGraphBuilder(shared_context(revision))
    return builder.buildSync(replace(graph, draft=revision, inputs=inputs, operators=operators).build(builder))


def dispatch(graph: MLGraph, description: GraphDescription, feeds: Mapping[str, Array], shapes: Mapping[str, Any]) -> dict[str, bytes]:
    """Compute a graph; return the bytes of its outputs."""
    context = shared_context(graph._revision.name)
    known = description.descriptors()
    given: dict[str, Any] = {}
    wanted: dict[str, Any] = {}
    for name in graph._inputDescriptors:
        given[name] = context.createTensorSync(
            {"dataType": description.inputs[name].dataType, "shape": feeds_shape(description, name), "writable": True}
        )
        context.writeTensor(given[name], feeds[name])
    for name, value in description.outputs.items():
        wanted[name] = context.createTensorSync({"dataType": known[value].dataType, "shape": shapes[name], "readable": True})
    context.dispatch(graph, given, wanted)
    return {name: context.readTensorSync(tensor).tobytes() for name, tensor in wanted.items()}


def feeds_shape(description: GraphDescription, name: str) -> list[int]:
    return list(description.inputs[name].dimensions)


def verdict(work: Any) -> Any:
    """Return what a call returns, or the class and the text of its error."""
    try:
        return work()
    except WebNNTypeError as error:
        return type(error), str(error)


def check(example: Example) -> None:
    graph, feeds = example.graph, example.feeds
    known = graph.descriptors()
    expected = {name: list(known[value].dimensions) for name, value in graph.outputs.items()}
    dynamic: Any = build(graph, example.shapes, example.revision)
    sizes = {name: graph.inputs[name].dimensions for name in dynamic._inputDescriptors}
    assert dynamic.computeShapes(sizes) == expected
    static = build(graph, {name: each.dimensions for name, each in graph.inputs.items()}, REVISIONS[example.revision])
    assert dispatch(dynamic, graph, feeds, expected) == dispatch(static, graph, feeds, expected)
    # One size more, wherever a name allows that: what the draft says of a graph with these shapes.
    names = sorted({str(each) for name in sizes for each in example.shapes[name] if isinstance(each, str)})
    for changed in names:
        grown = {
            name: tuple([size + (named == changed) for named, size in zip(example.shapes[name], each, strict=True)])
            for name, each in sizes.items()
        }
        others = {**{name: each.dimensions for name, each in graph.inputs.items()}, **grown}

        def outputs(shapes: Mapping[str, Any] = others) -> dict[str, list[int]]:
            inputs = {name: OperandDescriptor(each.dataType, shapes[name]) for name, each in graph.inputs.items()}
            operators = tuple([replace(each, descriptors=()) for each in graph.operators])
            inferred = replace(graph, draft=REVISIONS[example.revision], inputs=inputs, operators=operators).infer()
            return {name: list(inferred.descriptors()[value].dimensions) for name, value in inferred.outputs.items()}

        assert verdict(lambda: dynamic.computeShapes(grown)) == verdict(outputs)  # noqa: B023  # called at once
    dynamic.destroy()
    static.destroy()


@pytest.mark.parametrize("operation", OPERATIONS)
def test_operation(operation: str) -> None:
    hold("ci", 5, examples(operation), check)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_all_operations() -> None:
    for operation in OPERATIONS:
        hold("nightly", NIGHTLY_EXAMPLES // 200, examples(operation), check)
