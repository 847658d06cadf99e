"""Dynamic quantization, for which the engine has one node: the values of the single operators, and when there is that node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support import CURRENT, Array, each_row, shared_context
from webnn import ML, MLContext, MLGraphBuilder, MLOperand
from webnn.builder.graph import collect
from webnn.builder.numerics import Numerics
from webnn.builder.onnx.translate import translate

RNG = np.random.default_rng(0)
NODES = ["DynamicQuantizeLinear", "ReduceL1", "Clip"]


def quantize(
    builder: MLGraphBuilder,
    x: MLOperand,
    *,
    low: MLOperand | None = None,
    axes: list[int] | None = None,
    keep: bool = False,
    most: float = 255,
    empty: float = 1,
    dataType: Any = "uint8",
) -> dict[str, MLOperand]:
    """Quantize numbers by their least and greatest one; return the values, by name. The options make something else of it."""
    options: dict[str, Any] = {"keepDimensions": keep, **({} if axes is None else {"axes": axes})}
    least, greatest = builder.reduceMin(x if low is None else low, **options), builder.reduceMax(x, **options)
    below, above = builder.relu(builder.neg(least)), builder.relu(greatest)
    span = builder.add(above, below)
    none, one, count = (builder.constant("float32", number) for number in (0, empty, most))
    scale = builder.where(builder.equal(span, none), one, builder.div(span, count))
    nothing = builder.constant(dataType, 0)
    zero = builder.quantizeLinear(below, scale, builder.expand(nothing, list(scale.shape)) if scale.shape else nothing)
    ones = [1] * (len(x.shape) - len(scale.shape)) + list(scale.shape)
    y = builder.quantizeLinear(x, builder.reshape(scale, ones), builder.reshape(zero, ones))
    return {"y": y, "scale": scale, "zero": zero, "span": span, "least": least}


Make = Callable[[MLGraphBuilder, MLOperand], dict[str, MLOperand]]


def connect(context: MLContext, make: Make, shape: tuple[int, ...]) -> tuple[MLGraphBuilder, dict[str, MLOperand]]:
    builder = MLGraphBuilder(context)
    return builder, make(builder, builder.input("x", dataType="float32", shape=list(shape)))


def nodes_of(outputs: dict[str, MLOperand], numerics: Numerics = "exact") -> list[str]:
    return [node.op_type for node in translate(collect(outputs), numerics).proto.graph.node]


def compute(make: Make, x: Array, *names: str, reference: bool = False, context: MLContext | None = None) -> list[Array]:
    """Compute some values of a graph, or all."""
    if context is None:
        context = ML(reference=True, revision=CURRENT).createContextSync() if reference else shared_context(CURRENT)
    builder, outputs = connect(context, make, x.shape)
    wanted = {name: each for name, each in outputs.items() if name in names or not names}
    graph = builder.buildSync(wanted)
    given = context.createTensorSync(dataType="float32", shape=x.shape, writable=True)
    context.writeTensor(given, x)
    tensors = {name: context.createTensorSync(dataType=each.dataType, shape=each.shape, readable=True) for name, each in wanted.items()}
    context.dispatch(graph, {"x": given}, tensors)
    results = []
    for tensor in tensors.values():
        results.append(np.empty(tensor.shape, tensor.dataType))
        context.readTensorSync(tensor, results[-1])
    return results


VALUES: dict[str, Array] = {
    "both signs": RNG.normal(size=(3, 1, 5, 7)),
    "positive numbers": RNG.uniform(2, 3, (40, 33)),
    "negative numbers": RNG.uniform(-3, -2, 100),
    "a scalar": np.array(-2.5),
    "zeros": np.zeros((4, 5)),
    "negative zeros": np.full((4, 5), -0.0),
    "one number": np.full((2, 2), 7.25),
    "ties": np.arange(-100, 411) / 2,
    "large numbers": np.array([[3e38, 1e38], [0, -2e38]]),
    "small numbers": np.array([1e-38, -3e-39, 2e-42]),
    "numbers whose scale is one of the smallest": np.array([6e-43, 0, -2e-43]),
    "an infinity": np.array([np.inf, 1, -2]),
}


@pytest.mark.parametrize("values", VALUES)
def test_values_are_those_of_the_single_operators(values: str) -> None:
    x = VALUES[values].astype(np.float32)
    names = ("y", "scale", "zero")
    _, outputs = connect(shared_context(CURRENT), quantize, x.shape)
    assert nodes_of({name: outputs[name] for name in names}) == NODES
    actual, expected = (compute(quantize, x, *names, reference=reference) for reference in (False, True))
    if np.isinf(x).any():
        # Infinity by infinity may be any integer.
        actual[0], expected[0] = actual[0][np.isfinite(x)], expected[0][np.isfinite(x)]
    for one, other in zip(actual, expected, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


@pytest.mark.parametrize("count", [1, 3, 17, 64, 1000])
def test_the_scale_of_nan_is_nan(count: int) -> None:
    for place in {0, count // 2, count - 1}:
        x = RNG.normal(size=count).astype(np.float32)
        x[place] = np.nan
        _, scale = compute(quantize, x, "y", "scale")
        assert np.isnan(scale)


def test_fast_numerics_have_no_second_pass() -> None:
    x = RNG.normal(size=(5, 6)).astype(np.float32)
    context = ML(revision=CURRENT, numerics="fast").createContextSync()
    _, outputs = connect(context, quantize, x.shape)
    assert nodes_of({name: outputs[name] for name in ("y", "scale")}, "fast") == NODES[:1]
    for one, other in zip(*(compute(quantize, x, context=each) for each in (context, None)), strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


def again(builder: MLGraphBuilder, x: MLOperand) -> dict[str, MLOperand]:
    outputs = quantize(builder, x)
    return outputs | {"again": builder.mul(outputs["span"], outputs["scale"])}


def test_what_is_needed_elsewhere_is_computed_too() -> None:
    x = RNG.normal(size=(5, 6)).astype(np.float32)
    _, outputs = connect(shared_context(CURRENT), again, x.shape)
    assert nodes_of(outputs).count("DynamicQuantizeLinear") == 1
    for name, one in zip(outputs, compute(again, x), strict=True):
        [other] = compute(again, x, name)
        np.testing.assert_array_equal(one, other, strict=True)


@pytest.mark.parametrize("name", ["scale", "zero", "y"])
def test_without_the_integers_there_is_no_such_node(name: str) -> None:
    _, outputs = connect(shared_context(CURRENT), quantize, (5, 6))
    assert ("DynamicQuantizeLinear" in nodes_of({name: outputs[name]})) == (name == "y")


def behind_a_transpose(builder: MLGraphBuilder, x: MLOperand) -> dict[str, MLOperand]:
    return quantize(builder, builder.transpose(x, permutation=[2, 0, 1]))


def test_behind_a_transpose_there_is_one_transpose() -> None:
    x = RNG.normal(size=(2, 3, 4)).astype(np.float32)
    _, outputs = connect(shared_context(CURRENT), behind_a_transpose, x.shape)
    assert nodes_of({name: outputs[name] for name in ("y", "scale")}) == [*NODES, "Transpose"]
    for one, other in zip(*(compute(behind_a_transpose, x, "y", "scale", reference=each) for each in (False, True)), strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


#: Something else, which has the values of its operators.
OTHERS: dict[str, Make] = {
    "another number of steps": lambda builder, x: quantize(builder, x, most=254),
    "another scale of zeros": lambda builder, x: quantize(builder, x, empty=2),
    "signed integers": lambda builder, x: quantize(builder, x, dataType="int8"),
    "the least number of other ones": lambda builder, x: quantize(builder, x, low=builder.abs(x)),
    "a scale for each row": lambda builder, x: quantize(builder, x, axes=[1], keep=True),
    "a scale with dimensions": lambda builder, x: quantize(builder, x, keep=True),
}


@each_row("other", OTHERS)
def test_something_else_has_no_such_node(other: str) -> None:
    x = RNG.normal(size=(4, 6)).astype(np.float32)
    x[0] = 0
    _, outputs = connect(shared_context(CURRENT), OTHERS[other], x.shape)
    assert "DynamicQuantizeLinear" not in nodes_of(outputs)
    for one, expected in zip(*(compute(OTHERS[other], x, reference=each) for each in (False, True)), strict=True):
        np.testing.assert_array_equal(one, expected, strict=True)
