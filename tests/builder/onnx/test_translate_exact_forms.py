"""Shorter ways to the exact numbers, each where its condition holds only just, or does not hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support import CURRENT, Array, make_context, run
from webnn import MLContext, MLGraphBuilder, MLOperand
from webnn.builder.graph import collect
from webnn.builder.onnx.translate import translate
from webnn.context.engine.session import CompiledGraph
from webnn.reference import ulp_distance

INF, NAN = np.inf, np.nan
RNG = np.random.default_rng(3)


@pytest.fixture(scope="module")
def context() -> MLContext:
    return make_context(CURRENT)


# Casts: where no number needs it, `Where` is left out.

INTEGERS = ("int8", "uint8", "int32", "uint32", "int64", "uint64")


def cast(values: Array, target: str) -> Array:
    """Cast float32 numbers one by one, by Python's integers."""
    info = np.iinfo(target)
    return np.array([0 if np.isnan(x) else int(min(max(float(x), float(info.min)), 2.0**70)) for x in values.flat], object).clip(
        info.min, info.max
    )


@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize(
    "special", [NAN, -NAN, INF, -INF, 2.0**31, 2.0**32, 2.0**63, 2.0**64, -(2.0**31), -(2.0**63), 3e38, -3e38, 0.0, -0.9]
)
def test_one_number_that_a_cast_must_not_miss(target: str, special: float) -> None:
    numbers = np.trunc(RNG.uniform(0, 100, 97)).astype(np.float32)
    for place in (0, 50, 96):
        values = numbers.copy()
        values[place] = special
        for x in (values, values[::-1].copy(), np.array([special], np.float32), np.array(special, np.float32)):
            [y] = run("cast", x, target)
            assert y.ravel().tolist() == cast(x, target).tolist()


@pytest.mark.parametrize("target", INTEGERS)
def test_the_largest_numbers_below_the_end(target: str) -> None:
    end = np.float32(np.iinfo(target).max)
    x = np.array([end, np.nextafter(end, np.float32(0)), np.nextafter(end, np.float32(INF)), NAN, 1], np.float32)
    [y] = run("cast", x, target)
    assert y.tolist() == cast(x, target).tolist()


# Positions: where nothing is NaN, nobody looks for it.


@pytest.mark.parametrize("name", ["argMax", "argMin"])
@pytest.mark.parametrize("last", [False, True])
def test_one_nan_that_a_position_must_not_miss(name: str, *, last: bool) -> None:
    x = RNG.normal(0, 1, [3, 7, 5]).astype(np.float32)
    for special in (NAN, INF, -INF):
        for place in ((0, 0, 0), (1, 3, 2), (2, 6, 4)):
            values = x.copy()
            values[place] = special
            values[0, 5] = special
            for axis in range(3):
                [y] = run(name, values, axes=[axis], selectLastIndex=last)
                wanted = np.isnan(values) | (values == (values.max if name == "argMax" else values.min)(axis, keepdims=True))
                wanted = np.where(np.isnan(values).any(axis, keepdims=True), np.isnan(values), wanted)
                position = wanted.shape[axis] - 1 - np.flip(wanted, axis).argmax(axis) if last else wanted.argmax(axis)
                np.testing.assert_array_equal(y, position)


# The sigmoid


def test_the_sigmoid_over_all_numbers() -> None:
    bits = np.arange(0, 2**32, 4099, dtype=np.uint64).astype(np.uint32)
    ends = np.array([0, -0.0, 39.99, 40, 40.01, 87.4, 88.7, 88.8, -87.4, -88.7, -88.8, -103, -104, -110, INF, -INF, NAN], np.float32)
    x = np.concatenate([bits.view(np.float32), ends])
    [y] = run("sigmoid", x)
    with np.errstate(all="ignore"):
        small = np.exp(-np.abs(x.astype(np.float64)))
        exact = np.where(x >= 0, 1, small) / (1 + small)
    exact = np.where(np.isnan(x), NAN, exact)
    np.testing.assert_array_equal(np.isnan(y), np.isnan(x))
    # Below the smallest normal number the engine may return 0.
    normal = exact >= np.finfo(np.float32).smallest_normal
    assert ulp_distance(y[normal], exact[normal], "float32").max() <= 4
    tiny = ~normal & ~np.isnan(x)
    assert np.abs(y[tiny] - exact[tiny]).max() <= np.finfo(np.float32).smallest_normal
    assert y[:-3][x[:-3] > 40].min() >= 1 - 2.0**-23


# Batch normalization in the blocked layout of convolutions

CHANNELS = 16


def parameters(channels: int = CHANNELS) -> dict[str, Array]:
    make: Callable[..., Array] = lambda low, high: RNG.uniform(low, high, channels).astype(np.float32)  # noqa: E731
    return {"mean": make(-1, 1), "variance": make(0.5, 2), "scale": make(-2, 2), "bias": make(-1, 1)}


class Layers:
    """Convolutions and what stands between them."""

    def __init__(self, context: MLContext, layout: str = "nchw", channels: int = CHANNELS) -> None:
        self.context = context
        self.builder = MLGraphBuilder(context)
        self.layout: Any = layout
        self.channels = channels
        self.shape = [1, channels, 16, 16] if layout == "nchw" else [1, 16, 16, channels]
        self.x = self.builder.input("x", {"dataType": "float32", "shape": self.shape})

    def constant(self, value: Array) -> MLOperand:
        return self.builder.constant({"dataType": "float32", "shape": value.shape}, value)

    def conv(self, value: MLOperand) -> MLOperand:
        channels = self.channels
        filter = (RNG.normal(0, 1, [channels, channels, 3, 3]) / np.sqrt(9 * channels)).astype(np.float32)
        return self.builder.conv2d(value, self.constant(filter), padding=[1, 1, 1, 1], inputLayout=self.layout)

    def normalize(self, value: MLOperand, numbers: dict[str, Array], **options: Any) -> MLOperand:
        operands = {name: self.constant(array) for name, array in numbers.items()}
        axis = 1 if self.layout == "nchw" else 3
        return self.builder.batchNormalization(value, operands.pop("mean"), operands.pop("variance"), axis=axis, **operands, **options)

    def nodes(self, value: MLOperand) -> list[str]:
        return [node.op_type for node in translate(collect({"y": value})).proto.graph.node]

    def compute(self, **outputs: MLOperand) -> dict[str, Array]:
        graph = CompiledGraph(translate(collect(outputs)), self.context._state.selection)
        given = np.random.default_rng(5).normal(0, 3, self.shape).astype(np.float32)
        values = graph._session.run([slot.value for slot in graph.outputs.values()], {graph.inputs["x"].value: given})
        return dict(zip(outputs, values, strict=True))


def exact(value: Array, numbers: dict[str, Array], axis: int = 1, epsilon: float = 1e-5) -> Array:
    shape = [-1 if index == axis else 1 for index in range(value.ndim)]
    n = {name: array.astype(np.float64).reshape(shape) for name, array in numbers.items()}
    centred: Array = (value - n["mean"]) / np.sqrt(n["variance"] + epsilon)
    return centred * n.get("scale", 1.0) + n.get("bias", 0.0)


@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
@pytest.mark.parametrize("left_out", [(), ("scale",), ("bias",), ("scale", "bias")])
@pytest.mark.parametrize("mean", [0.0, 1.0, 1e4])
def test_normalizations_in_the_blocked_layout(context: MLContext, layout: str, left_out: tuple[str, ...], mean: float) -> None:
    layers = Layers(context, layout)
    numbers = {name: array for name, array in parameters().items() if name not in left_out}
    numbers["mean"] = numbers["mean"] * np.float32(mean)
    before = layers.builder.relu(layers.conv(layers.x))
    normalized = layers.normalize(before, numbers)
    end = layers.conv(normalized)
    assert layers.nodes(end).count("BatchNormalization") == (2 if mean else 1)
    got = layers.compute(before=before, normalized=normalized, end=end)
    axis = 1 if layout == "nchw" else 3
    # Each of the three steps rounds once.
    terms = np.abs(exact(got["before"], numbers | {"bias": np.zeros(CHANNELS, np.float32)}, axis)) + 1
    wrong = np.abs(got["normalized"] - exact(got["before"].astype(np.float64), numbers, axis)) > 2.0**-22 * terms
    assert not wrong.any()


#: Operations that may follow a normalization.
BEHIND: dict[str, Callable[[Layers, MLOperand], MLOperand]] = {
    "add before": lambda layers, value: layers.builder.add(layers.conv(layers.x), value),
    "add behind": lambda layers, value: layers.builder.add(value, layers.conv(value)),
    "add of the same": lambda layers, value: layers.builder.add(value, value),
    "identity, add": lambda layers, value: layers.builder.add(layers.builder.identity(value), layers.conv(layers.x)),
    "clamp, reshape, add": lambda layers, value: layers.builder.add(
        layers.builder.clamp(layers.builder.reshape(value, layers.shape)), layers.conv(layers.x)
    ),
    "relu, add": lambda layers, value: layers.builder.add(layers.builder.relu(value), layers.conv(layers.x)),
    "sub": lambda layers, value: layers.builder.sub(value, layers.conv(layers.x)),
    "mul": lambda layers, value: layers.builder.mul(value, layers.conv(layers.x)),
    "mul constant": lambda layers, value: layers.builder.mul(value, layers.constant(parameters()["mean"].reshape(1, -1, 1, 1))),
    "relu": lambda layers, value: layers.builder.relu(value),
    "tanh": lambda layers, value: layers.builder.tanh(value),
    "clamp": lambda layers, value: layers.builder.clamp(value, minValue=-0.5, maxValue=0.5),
    "sigmoid": lambda layers, value: layers.builder.sigmoid(value),
    "hardSwish": lambda layers, value: layers.builder.hardSwish(value),
    "leakyRelu": lambda layers, value: layers.builder.leakyRelu(value),
    "linear": lambda layers, value: layers.builder.linear(value, alpha=3.1, beta=0.7),
    "batchNormalization": lambda layers, value: layers.normalize(value, parameters()),
    "maxPool2d": lambda layers, value: layers.builder.maxPool2d(value, windowDimensions=[2, 2]),
    "averagePool2d": lambda layers, value: layers.builder.averagePool2d(value, windowDimensions=[2, 2]),
    "concat": lambda layers, value: layers.builder.concat([value, layers.conv(value)], 1),
    "conv2d": lambda layers, value: layers.conv(value),
}


@pytest.mark.parametrize("name", BEHIND)
@pytest.mark.parametrize("before", ["relu", "add", "maxPool2d"])
def test_outputs_do_not_change_what_stands_behind(context: MLContext, name: str, before: str) -> None:
    layers = Layers(context)
    first = layers.conv(layers.x)
    value = {
        "relu": lambda: layers.builder.relu(first),
        "add": lambda: layers.builder.add(first, layers.conv(layers.x)),
        "maxPool2d": lambda: layers.builder.maxPool2d(first, windowDimensions=[3, 3], padding=[1, 1, 1, 1]),
    }[before]()
    normalized = layers.normalize(value, parameters())
    end = BEHIND[name](layers, normalized)
    # Convolutions start their sums with the other operand of an `add` (docs/numerics.md): those are outputs on both sides.
    inner = {str(each): operand for each, operand in enumerate(others(end, normalized))}
    alone = layers.compute(end=end, **inner)
    beside = layers.compute(end=end, normalized=normalized, **inner)
    assert alone["end"].tobytes() == beside["end"].tobytes()


def others(end: MLOperand, normalized: MLOperand) -> list[MLOperand]:
    """Return the results of convolutions that the last operator takes."""
    assert end._operator is not None
    taken = [operand for operand in end._operator.inputs if operand._operator is not None and operand is not normalized]
    return [operand for operand in taken if operand._operator is not None and operand._operator.operation.name == "conv2d"]


NOT_BLOCKED: dict[str, Callable[[Layers], MLOperand]] = {
    "no convolution": lambda layers: layers.normalize(layers.builder.relu(layers.x), parameters()),
    "another operation between": lambda layers: layers.normalize(layers.builder.exp(layers.conv(layers.x)), parameters()),
    "half of a sum": lambda layers: layers.normalize(layers.builder.add(layers.conv(layers.x), layers.x), parameters()),
    "another axis": lambda layers: layers.builder.batchNormalization(
        layers.conv(layers.x), *(layers.constant(np.ones(16, np.float32)) for _ in range(2)), axis=2
    ),
    "an input": lambda layers: layers.builder.batchNormalization(
        layers.conv(layers.x),
        layers.builder.input("mean", {"dataType": "float32", "shape": [CHANNELS]}),
        layers.constant(np.ones(CHANNELS, np.float32)),
    ),
    "before an add": lambda layers: layers.builder.add(layers.normalize(layers.conv(layers.x), parameters()), layers.x),
}


@pytest.mark.parametrize("name", NOT_BLOCKED)
def test_other_normalizations_are_single_steps(context: MLContext, name: str) -> None:
    layers = Layers(context)
    assert "BatchNormalization" not in layers.nodes(NOT_BLOCKED[name](layers))


def test_few_channels_are_not_blocked(context: MLContext) -> None:
    layers = Layers(context, channels=8)
    assert "BatchNormalization" not in layers.nodes(layers.normalize(layers.builder.relu(layers.conv(layers.x)), parameters(8)))


@pytest.mark.parametrize("left_out", [(), ("scale",), ("bias",)])
def test_the_factors_of_constants_are_the_engines(context: MLContext, left_out: tuple[str, ...]) -> None:
    layers = Layers(context)
    build = layers.builder
    value = build.exp(layers.conv(layers.x))
    known = {name: layers.constant(array) for name, array in parameters().items() if name not in left_out}
    # Results are not known at the translation.
    made = {name: build.identity(operand) for name, operand in known.items()}
    ends = [build.batchNormalization(value, each.pop("mean"), each.pop("variance"), **each) for each in (known, made)]  # type: ignore[misc]
    assert [{"Sqrt", "Div", "Neg"} & {*layers.nodes(end)} for end in ends] == [set(), {"Sqrt", "Div", "Neg"}]
    first, second = (layers.compute(end=end)["end"] for end in ends)
    assert first.tobytes() == second.tobytes()
