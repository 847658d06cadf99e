"""Each operator against the reference, and two contexts against each other."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.support import BROWSERS, make_context
from tests.webnn.inspect.graphs import build, constant, float_input, network, network_inputs
from webnn import ML, DescriptionError, InvalidStateError, MLGraphBuilder, MLOperand, NotSupportedError, WebNNTypeError
from webnn.inspect import compare
from webnn.inspect.accuracy import judge
from webnn.inspect.distance import find_distance, relative_distance
from webnn.inspect.subject import Subject
from webnn.reference import compute, ulp_distance

ROWS = np.random.default_rng(0).normal(size=(4, 16)).astype(np.float32)


def layers(count: int, half: int) -> Any:
    """Return what makes a chain of normalized layers of four operators each, one of which is normalized in float16."""

    def make(builder: MLGraphBuilder) -> dict[str, MLOperand]:
        x = h = float_input(builder, "x", 4, 16)
        weights = constant(builder, np.random.default_rng(1).normal(size=(16, 16)).astype(np.float32) / 4)
        for layer in range(count):
            h = builder.add(builder.tanh(builder.matmul(h, weights)), x)
            if layer != half:
                h = builder.layerNormalization(h, axes=[1])
                continue
            h = builder.cast(h, "float16", label="down")
            h = builder.cast(builder.layerNormalization(h, axes=[1], label="half"), "float32", label="up")
        return {"y": h}

    return make


def test_the_operator_that_ruins_the_result_comes_first() -> None:
    graph = build(layers(125, half=60))
    assert len(graph.description.operators) == 502
    accuracy = graph.accuracy({"x": ROWS})
    worst, second = accuracy.operators[:2]
    assert (worst.label, worst.operation, worst.dataType) == ("half", "layerNormalization", "float16")
    # Half a unit of float16, which no other operator reaches.
    assert 0.4 < worst.ulp <= 0.51
    assert worst.relative > 50 * second.relative
    assert len(accuracy.operators) == 502
    assert accuracy.reference <= accuracy.seconds
    # The same with the whole graph.
    both = graph.accuracy({"x": ROWS}, whole=True)
    assert [replace(each, accumulated=None) for each in both.operators] == list(accuracy.operators)


def test_without_the_whole_graph() -> None:
    accuracy = build(network).accuracy(network_inputs())
    assert {each.accumulated for each in accuracy.operators} == {None}
    assert accuracy.outputs == ()
    text = str(accuracy)
    assert "accuracy(inputs, whole=True)" in text
    assert "of the outputs" not in text
    assert " accumulated" not in text
    assert json.loads(accuracy.to_json())["operators"][0]["accumulated"] is None
    with pytest.raises(TypeError, match="accuracy: whole must be a bool, got 1"):
        build(network).accuracy(network_inputs(), whole=1)  # type: ignore[arg-type]  # that is the point


def test_errors_accumulate() -> None:
    """An operator is not blamed for the errors before it; those are in another figure, and in that of the output."""
    graph = build(layers(3, half=0))
    accuracy = graph.accuracy({"x": ROWS}, whole=True)
    named = {each.label: each for each in accuracy.operators if each.label}
    # A cast is a rounding.
    assert (named["down"].relative, named["up"].relative) == (0, 0)
    assert all(each.accumulated is not None and each.accumulated > 1e-5 for each in (named["down"], named["up"]))
    last = max(accuracy.operators, key=lambda each: each.index)
    assert last.accumulated is not None
    assert last.relative < 1e-6 < last.accumulated
    (output,) = accuracy.outputs
    exact = compute(graph.description, {"x": ROWS}, exact=True)["y"]
    assert output.relative == pytest.approx(last.accumulated, rel=0.01)
    assert output.absolute == pytest.approx(output.relative * np.abs(exact).max())


@pytest.mark.parametrize("revision", ["2024-06", "2026-06"])
@pytest.mark.parametrize("limit", [1, 5000, 1 << 30])
def test_groups_give_the_same_figures(revision: str, limit: int) -> None:
    graph = build(network, revision)
    accuracy = judge(Subject.of(graph, "accuracy"), network_inputs(), whole=True, limit=limit)
    assert sorted(each.index for each in accuracy.operators) == [each.index for each in graph.description.operators]
    assert max(each.relative for each in accuracy.operators) < 1e-5
    assert {each.operation: each.relative for each in accuracy.operators}["reshape"] == 0
    text = str(accuracy)
    assert text.startswith("Accuracy of the operators, each by itself\nin ")
    assert "probabilities" in text
    assert json.loads(accuracy.to_json())["outputs"][0]["name"] == "y"


def test_an_overflow_comes_first() -> None:
    def make(builder: MLGraphBuilder) -> dict[str, MLOperand]:
        x = float_input(builder, "x", 2, dataType="float16")
        return {"y": builder.sqrt(builder.mul(x, x, {"label": "square"}))}

    accuracy = build(make).accuracy({"x": np.array([3, 300], np.float16)}, whole=True)
    worst = accuracy.operators[0]
    assert (worst.label, worst.relative, worst.position, worst.actual, worst.expected) == ("square", math.inf, (1,), math.inf, 90000)
    assert accuracy.outputs[0].relative == math.inf
    assert json.loads(accuracy.to_json())["operators"][0]["relative"] == "inf"


def test_small_types_and_operations_of_additions() -> None:
    def make(builder: MLGraphBuilder) -> dict[str, MLOperand]:
        x = float_input(builder, "x", 3)
        scale = constant(builder, np.full(3, 0.5, np.float32))
        zero: Any = {"dataType": "int4", "shape": [3]}
        point = builder.constant(zero, np.zeros(2, np.uint8))
        return {"y": builder.dequantizeLinear(builder.quantizeLinear(x, scale, point, {"label": "small"}), scale, point)}

    graph = build(make, BROWSERS)
    accuracy = graph.accuracy({"x": np.array([-1, 0.5, 3], np.float32)}, whole=True)
    assert [each.relative for each in accuracy.operators] == [0, 0]
    assert {each.dataType for each in accuracy.operators} == {"int4", "float32"}
    value = graph.trace({"x": np.array([-1, 0.5, 3], np.float32)}, labels=["small"]).values[1].value
    assert value is not None
    assert value.tolist() == [-2, 1, 6]


def test_a_destroyed_graph() -> None:
    graph = build(network)
    graph.destroy()
    with pytest.raises(InvalidStateError):
        graph.accuracy(network_inputs())


# Distances

INF, NAN = math.inf, math.nan
DISTANCES: list[tuple[str, list[Any], list[Any], tuple[float, float, float]]] = [
    # data type, actual, expected, (absolute, relative, ulp)
    ("float32", [1, 2], [1, 2], (0, 0, 0)),
    ("float32", [1, 2], [1, 4], (2, 0.5, 2**22)),
    # The largest difference is not the one with the most units.
    ("float32", [2**-20 * 1.5, 8], [2**-20, 9], (1, 1 / 9, 2**22)),
    ("float16", [1 + 2**-10, 0], [1, 0], (2**-10, 2**-10, 1)),
    ("float32", [NAN, 1], [NAN, 1], (0, 0, 0)),
    ("float32", [NAN, 1], [2, 1], (INF, INF, INF)),
    ("float32", [1, 1], [NAN, 1], (INF, INF, INF)),
    ("float32", [INF, -INF], [INF, -INF], (0, 0, 0)),
    ("float32", [INF, 1], [-INF, 1], (INF, INF, INF)),
    # The result is the nearest value of the type, so the error in units is 0, but the value is lost.
    ("float16", [INF, 1], [70000, 1], (INF, INF, 0)),
    ("float32", [1, 3], [INF, 3], (INF, INF, INF)),
    ("float32", [1e-45, 0], [0, 0], (2**-149, INF, 1)),
    ("int64", [2**63 - 1, 0], [-(2**63), 0], (float(2**64), 2.0, float(2**64))),
    ("int64", [2**62 + 1, 0], [2**62, 0], (1, 2.0**-62, 1)),
    ("uint8", [255, 3], [0, 3], (255, 85, 255)),
]


@pytest.mark.parametrize(("dataType", "actual", "expected", "wanted"), DISTANCES)
def test_distances(dataType: Any, actual: list[Any], expected: list[Any], wanted: tuple[float, float, float]) -> None:
    exact = np.array(expected, np.float64 if dataType.startswith("float") else dataType)
    found = find_distance(np.array(actual, dataType), exact, dataType)
    assert (found.absolute, found.relative, found.ulp) == pytest.approx(wanted)
    assert relative_distance(np.array(actual, dataType), exact) == found.relative
    if found.absolute:
        assert found.actual == pytest.approx(actual[found.position[0]], nan_ok=True)


@pytest.mark.parametrize("dataType", ["float16", "float32"])
@pytest.mark.parametrize("wide", [True, False])
def test_distances_of_many_elements(dataType: Any, wide: bool) -> None:
    """Values of many pieces: some are equal, one of those holds the largest element, and some elements are denormal or zero."""
    rng = np.random.default_rng(5)
    expected = np.ldexp(rng.normal(size=100_000), rng.integers(-30, 8, 100_000))
    expected[::7] = 0
    expected[10] = 2.0**12
    if not wide:
        expected = expected.astype(dataType)
    actual = (expected * (1 + rng.normal(size=100_000) * 2**-9)).astype(dataType)
    actual[:50_000] = expected[:50_000]
    expected[:50_000] = actual[:50_000]
    found = find_distance(actual, expected, dataType)
    differences = np.abs(actual.astype(np.float64) - expected)
    assert found.absolute == differences.max() > 0
    assert found.relative == differences.max() / 2**12
    assert found.ulp == ulp_distance(actual, expected, dataType).max()
    assert found.position == (int(differences.argmax()),)
    turned = find_distance(actual.reshape(100, 1000).T, expected.reshape(100, 1000).T, dataType)
    assert (turned.absolute, turned.relative, turned.ulp) == (found.absolute, found.relative, found.ulp)
    assert turned.position == divmod(found.position[0], 1000)[::-1]


# Two contexts


def test_two_drafts() -> None:
    description = build(network, "2024-06").description
    one, other = make_context(), make_context("2026-06")
    comparison = compare(description, network_inputs(), one, other)
    assert {each.name for each in comparison.values} == {name for operator in description.operators for name in operator.outputs}
    assert max(each.relative for each in comparison.values) <= 1e-6
    assert comparison.one.endswith("draft 2024-06")
    assert comparison.other.endswith("draft 2026-06")
    text = str(comparison)
    assert text.startswith("Differences of the operators\none: ")


def test_a_context_that_computes_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    """A difference is the operator's that makes it; later ones only have it accumulated."""
    from webnn.context.engine.session import CompiledGraph

    description = build(network).description
    one, other = make_context("2026-06"), make_context("2026-06")
    run = CompiledGraph.run

    def disturb(self: CompiledGraph, addresses: list[int]) -> None:
        run(self, addresses)
        # All contexts share the engine; the first one of each three computes in the first context.
        calls.append(1)
        if len(calls) % 3 != 1:
            for slot in self.outputs.values():
                if slot.name.rstrip("'") == "act":
                    view = slot.over(addresses[slot.index])
                    np.multiply(view, np.float32(1.5), out=view)

    calls: list[int] = []
    monkeypatch.setattr(CompiledGraph, "run", disturb)
    comparison = compare(description, network_inputs(), one, other)
    assert len(calls) == 3
    worst = comparison.values[0]
    assert (worst.label, worst.operation) == ("act", "relu")
    assert worst.relative == pytest.approx(0.5)
    assert all(each.relative < 1e-5 for each in comparison.values[1:])


def test_groups_of_a_comparison() -> None:
    description = build(network).description
    context = make_context("2026-06")
    comparison = compare(description, network_inputs(), context, context, limit=1)
    assert len(comparison.values) == len(description.operators)
    assert all(each.relative <= 1e-6 for each in comparison.values)


def test_names_that_end_alike() -> None:
    def make(builder: MLGraphBuilder) -> dict[str, MLOperand]:
        x = float_input(builder, "x'", 2)
        return {"y": builder.neg(builder.neg(x, {"label": "x"}), {"label": "x''"})}

    context = make_context("2026-06")
    comparison = compare(build(make).description, {"x'": np.ones(2, np.float32)}, context, context)
    assert [each.relative for each in comparison.values] == [0, 0]


def test_what_cannot_be_compared() -> None:
    description = build(network).description
    context = make_context("2026-06")
    with pytest.raises(WebNNTypeError, match="compare: other must be an MLContext"):
        compare(description, network_inputs(), context, ML(revision="2024-06"))  # type: ignore[arg-type]
    with pytest.raises(WebNNTypeError, match="compare: inputs must have every input"):
        compare(description, {}, context, context)
    newer = build(lambda builder: {"y": builder.sign(float_input(builder, "x", 2))}).description
    with pytest.raises(DescriptionError):
        compare(newer, {"x": np.ones(2, np.float32)}, context, make_context())


# The reference as a device


def test_the_reference_can_be_looked_into() -> None:
    """It rounds each result once; it takes no times."""
    context = ML(revision="2026-06", reference=True).createContextSync()
    graph = build(network, context=context)
    accuracy = graph.accuracy(network_inputs())
    assert max(each.ulp for each in accuracy.operators) <= 0.5
    assert graph.firstNaN(network_inputs()) is None
    assert len(graph.trace(network_inputs()).values) == 8
    with pytest.raises(NotSupportedError, match="takes no times"):
        graph.profile(network_inputs())
    comparison = compare(graph.description, network_inputs(), context, make_context("2026-06"))
    assert comparison.one == "reference, draft 2026-06"
    assert max(each.relative for each in comparison.values) < 1e-5


# Switches of the semantics


def clamped(**settings: Any) -> Subject:
    """Return a graph in which a switch may change two operators."""
    builder = MLGraphBuilder(ML(revision=BROWSERS, **settings).createContextSync())
    x = float_input(builder, "x", 4)
    y = builder.clamp(x, minValue=math.nan, label="bounded")
    return Subject.of(builder.buildSync({"y": builder.add(builder.sign(y, label="signs"), x)}), "accuracy")


SIGNED = {"x": np.array([-2, 0, 1, np.nan], np.float32)}


def test_the_reference_has_the_semantics_of_the_context() -> None:
    for semantics in ({}, {"clampNaN": "ignore"}, {"clampNaN": "maxValue", "signNaN": "nan"}):
        accuracy = judge(clamped(semantics=semantics), SIGNED, whole=True)
        assert {each.relative for each in accuracy.operators} == {0}
        assert [each.relative for each in accuracy.outputs] == [0]
        assert not any(each.explanation for each in accuracy.operators)


def test_a_switch_explains_a_difference() -> None:
    """The device has other semantics than its context says."""
    subject = clamped(semantics={"clampNaN": "ignore", "signNaN": "nan"})
    other = replace(subject, state=replace(subject.state, semantics=(("clampNaN", "maxValue"),)))
    accuracy = judge(other, SIGNED, whole=False)
    found = {each.label: each.explanation for each in accuracy.operators}
    assert found == {"bounded": "semantics.clampNaN='ignore'", "signs": "semantics.signNaN='nan'", "": ""}
    assert "clamp 1 [bounded]: equal with semantics.clampNaN='ignore'" in str(accuracy)
    # No switch makes a result right that is wrong for another reason.
    part = replace(subject, state=replace(subject.state, semantics=(("clampNaN", "maxValue"),)), description=halved(subject.description))
    assert {each.label: each.explanation for each in judge(part, SIGNED, whole=False).operators}["signs"] == ""


def halved(description: Any) -> Any:
    """Say of the signs that they are something else."""
    operators = [replace(each, operation="cos") if each.operation == "sign" else each for each in description.operators]
    return replace(description, operators=tuple(operators))
