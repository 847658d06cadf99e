"""Random ONNX graphs: the import computes what ONNX Runtime computes."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import onnx
import pytest

import webnn.onnx
from tests.property.onnx_graphs import Drawn, draw
from tests.property.onnx_indexing import INDEXING
from tests.property.onnx_layers import LAYERS
from tests.property.onnx_recipes import ELEMENTWISE, MOVEMENT
from tests.support import Array
from tests.webnn.onnx.models import run_onnx
from tests.webnn.onnx.nodes import make_context
from webnn import MLContext, MLGraphBuilder
from webnn.onnx.rules import RULES, Rule
from webnn.onnx.shapes import Shapes

#: The graphs by day and at night.
GRAPHS, NIGHTLY = 300, 10_000
#: The largest part of them that the import may refuse.
MOST_REFUSED = 0.03
#: The recipes of the first nodes.
RECIPES = {**ELEMENTWISE, **MOVEMENT, **LAYERS, **INDEXING}
FAMILIES = {"elementwise": ELEMENTWISE, "movement": MOVEMENT, "layers": LAYERS, "indexing": INDEXING}


@dataclass
class Tally:
    """Counts of graphs by their results.

    Attributes:
        operators: The operators that were compared, and how often.
        refused: Why the import refused graphs.
        kernels: Why ONNX Runtime refused nodes; other nodes were drawn in their place.
    """

    operators: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    kernels: Counter[str] = field(default_factory=Counter)


@pytest.fixture(scope="module")
def context() -> MLContext:
    return make_context()


@pytest.fixture(autouse=True)
def _no_stand_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Don't start a process for each refused graph."""
    monkeypatch.setattr(Shapes, "find", lambda *_: None)


def compute(context: MLContext, drawn: Drawn) -> Mapping[str, Array]:
    """Import a graph and compute it."""
    builder = MLGraphBuilder(context)
    imported = webnn.onnx.load(drawn.model, builder, dims=drawn.dims)
    graph = builder.buildSync(dict(imported.outputs))
    inputs = {}
    for name, descriptor in imported.inputs.items():
        inputs[name] = context.createTensorSync({"dataType": descriptor.dataType, "shape": list(descriptor.shape), "writable": True})
        context.writeTensor(inputs[name], np.ascontiguousarray(drawn.feeds[name].astype(descriptor.dataType)))
    outputs = {}
    for name, operand in imported.outputs.items():
        outputs[name] = context.createTensorSync({"dataType": operand.dataType, "shape": list(operand.shape), "readable": True})
    context.dispatch(graph, inputs, outputs)
    return {name: np.asarray(context.readTensorSync(tensor)) for name, tensor in outputs.items()}


def compare(drawn: Drawn, results: Mapping[str, Array]) -> tuple[str, str]:
    """Return the first value that is wrong, and how; both are empty if none is."""
    for name in drawn.values:
        if name in results:
            value, actual = drawn.values[name], results[name]
            if actual.shape != value.shape:
                return name, f"the shape is {actual.shape}, not {value.shape}"
            if value.array.dtype.kind == "f":
                error = float(np.abs(actual.astype(np.float64) - value.array.astype(np.float64)).max())
                # NaN is not small enough.
                if not error <= value.tolerance:
                    return name, f"it is off by {error:.3g}, the tolerance is {value.tolerance:.3g}"
            elif not np.array_equal(actual, value.array.astype(actual.dtype)):
                return name, f"it is {actual.reshape(-1)[:8]}, not {value.array.reshape(-1)[:8]}"
    return "", ""


def check(context: MLContext, seed: int, first: str, tally: Tally) -> None:
    """Draw a graph, import it, and compare."""
    drawn = draw(seed, RECIPES, first)
    tally.kernels.update(drawn.refused)
    assert drawn.operators, f"the seed {seed} with {first} gives no nodes"
    # The nodes that were drawn are one valid model.
    try:
        itself = compare(drawn, run_onnx(drawn.model, drawn.feeds))
    except Exception as error:
        raise AssertionError(f"the seed {seed} with {first}: ONNX Runtime refuses the graph, but not its nodes: {error}") from error
    assert itself == ("", ""), f"the seed {seed} with {first}: ONNX Runtime disagrees with itself: {itself}"
    try:
        results = compute(context, drawn)
    except webnn.onnx.RefusedModelError as error:
        tally.refused.update(f"{each.operator}: {each.reason}" for each in error.report.refusals)
        return
    assert [*results] == [info.name for info in drawn.model.graph.output]
    tally.operators.update(drawn.operators)
    name, wrong = compare(drawn, results)
    if name:
        raise AssertionError(
            f"the seed {seed} with {first}: {explain(context, seed, first) or (name, wrong)}\n{onnx.printer.to_text(drawn.model)}"
        )


def explain(context: MLContext, seed: int, first: str) -> str:
    """Return the first node whose result is wrong, if all values are outputs."""
    drawn = draw(seed, RECIPES, first, all_outputs=True)
    name, wrong = compare(drawn, compute(context, drawn))
    node = next((each for each in drawn.model.graph.node if name in each.output), None)
    return f"{onnx.printer.to_text(node)}: {wrong}" if node is not None else ""


def hold(context: MLContext, count: int, start: int, firsts: list[str]) -> Tally:
    """Check graphs, each of which begins with another operator; return what became of them."""
    tally = Tally()
    for number in range(count):
        check(context, start + number, firsts[number % len(firsts)], tally)
    refused = tally.refused.total()
    assert refused <= MOST_REFUSED * count, f"{refused} of {count} graphs are refused: {tally.refused.most_common(10)}"
    return tally


def lacking(tally: Tally, names: Iterable[str]) -> list[str]:
    """Return the operators that no graph has, except those without a kernel in the installed engine."""
    return [name for name in names if not tally.operators[name] and not tally.kernels[f"{name}: no kernel"]]


def test_random_graphs(context: MLContext) -> None:
    tally = hold(context, GRAPHS, 0, list(RECIPES))
    # Each operator stands at the beginning of two graphs.
    assert lacking(tally, RECIPES) == []


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("family", FAMILIES)
def test_many_random_graphs(context: MLContext, family: str) -> None:
    start = random.SystemRandom().randrange(2**31)
    count = NIGHTLY // len(FAMILIES)
    tally = hold(context, count, start, list(FAMILIES[family]))
    assert lacking(tally, FAMILIES[family]) == []
    print(
        f"{family}, from the seed {start}: {count} graphs, {tally.operators.total()} operators; {tally.refused.total()} nodes were refused"
    )


def test_graphs_are_of_many_kinds() -> None:
    """They have several nodes and outputs, values that several nodes take, constants, initializers, and open dimensions."""
    names = list(RECIPES)
    drawn = [draw(seed, RECIPES, names[seed]) for seed in range(100)]
    graphs = [each.model.graph for each in drawn]
    assert sum(len(each.operators) for each in drawn) > 300
    assert sum(len(graph.output) > 1 for graph in graphs) > 30
    assert sum(any(node.op_type == "Constant" for node in graph.node) for graph in graphs) > 20
    assert sum(bool(graph.initializer) for graph in graphs) > 30
    assert sum(bool(each.dims) for each in drawn) > 20
    taken = [Counter(name for node in graph.node for name in node.input) for graph in graphs]
    assert sum(max(counts.values(), default=0) > 1 for counts in taken) > 20
    assert len({each.model.opset_import[0].version for each in drawn}) > 15
    types = Counter(value.dtype for each in drawn for value in each.values.values())
    assert types.keys() >= {"float32", "float16", "float64", "int32", "int64", "bool", "uint8", "int8"}


@pytest.mark.parametrize("name", ["Sigmoid", "Transpose"])
def test_the_comparison_can_fail(context: MLContext, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that is wrong in the fifth digit, or in the order of elements, is found, and named."""
    wrong: dict[str, Rule] = {
        "Sigmoid": lambda node: node.builder.mul(node.builder.sigmoid(node.operand(0)), node.scalar(1 - 3e-5, node.operand(0))),
        "Transpose": lambda node: node.builder.reshape(node.operand(0), list(node.value(0).shape)[::-1]),
    }
    monkeypatch.setattr("webnn.onnx.importer.RULES", {**RULES, name: wrong[name]})
    with pytest.raises(AssertionError, match=rf"the seed \d+ with {name}: (.|\n)*{name}"):
        hold(context, 40, 0, [name])


def test_the_engine_has_kernels() -> None:
    """It is counted which operators ONNX Runtime lacks for a type; they must be few."""
    names = list(RECIPES)
    drawn = [draw(seed, RECIPES, name) for seed, name in enumerate(names)]
    lacks = sum(count for each in drawn for reason, count in each.refused.items() if "no kernel" in reason)
    assert lacks < 0.15 * sum(len(each.operators) for each in drawn)
