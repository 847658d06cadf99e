"""Where the numerics are "fast": which nodes an operation becomes, and that nothing but numbers changes."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support import BROWSERS, CURRENT, Array, compute_directly
from webnn import ML, MLContext, MLGraphBuilder, MLOperand
from webnn.builder.graph import collect
from webnn.builder.numerics import Numerics
from webnn.builder.onnx.translate import TRANSLATIONS, translate

NAN, INF = np.nan, np.inf
RNG = np.random.default_rng(4)


@pytest.fixture(scope="module")
def fast() -> MLContext:
    return ML(revision=CURRENT, numerics="fast").createContextSync()


@pytest.fixture(scope="module")
def exact() -> MLContext:
    return ML(revision=CURRENT).createContextSync()


def constant(builder: MLGraphBuilder, value: Array) -> MLOperand:
    descriptor: Any = {"dataType": value.dtype.name, "shape": value.shape}
    return builder.constant(descriptor, value)


def ones(builder: MLGraphBuilder, *shape: int) -> MLOperand:
    return constant(builder, np.ones(shape, np.float32))


#: A call of the builder with operands.
Make = Callable[..., Any]

#: A call on [2, 3, 4, 5], and its nodes in fast mode.
NODES: dict[str, tuple[Make, list[str]]] = {
    "sigmoid": (lambda b, x: b.sigmoid(x), ["Sigmoid"]),
    "hardSwish": (lambda b, x: b.hardSwish(x), ["HardSwish"]),
    "batchNormalization": (lambda b, x: b.batchNormalization(x, ones(b, 3), ones(b, 3)), ["Expand", "Expand", "BatchNormalization"]),
    "instanceNormalization": (lambda b, x: b.instanceNormalization(x), ["Expand", "Expand", "InstanceNormalization"]),
    "cast": (lambda b, x: b.cast(x, "int32"), ["Cast"]),
    "argMax": (lambda b, x: b.argMax(x, 1), ["Reshape", "ArgMax", "Reshape", "Cast"]),
    "argMin": (lambda b, x: b.argMin(x, 3), ["Reshape", "ArgMin", "Reshape", "Cast"]),
    "reduceMax": (lambda b, x: b.reduceMax(x, axes=[1]), ["ReduceMax"]),
    "reduceMean": (lambda b, x: b.reduceMean(x, axes=[3, 2], keepDimensions=True), ["GlobalAveragePool"]),
    "reduceMin": (lambda b, x: b.reduceMin(x), ["ReduceMin"]),
    "gru": (lambda b, x: b.gru(b.reshape(x, [4, 6, 5]), ones(b, 1, 6, 5), ones(b, 1, 6, 2), 4, 2)[0], ["Reshape", "GRU"]),
    "lstm": (lambda b, x: b.lstm(b.reshape(x, [4, 6, 5]), ones(b, 1, 8, 5), ones(b, 1, 8, 2), 4, 2)[0], ["Reshape", "LSTM"]),
}


def nodes(context: MLContext, make: Make, numerics: Numerics) -> list[str]:
    builder = MLGraphBuilder(context)
    x = builder.input("x", {"dataType": "float32", "shape": [2, 3, 4, 5]})
    return [node.op_type for node in translate(collect({"y": make(builder, x)}), numerics).proto.graph.node]


def test_every_operation_that_differs_has_a_row() -> None:
    assert {name for name, translation in TRANSLATIONS.items() if translation.fast is not None} == NODES.keys()


@pytest.mark.parametrize("name", NODES)
def test_nodes(fast: MLContext, name: str) -> None:
    make, wanted = NODES[name]
    found = nodes(fast, make, "fast")
    # The order of the gates of a network, which is not a part of its operator.
    assert [each for each in found if each not in ("Split", "Concat")] == wanted
    assert found != nodes(fast, make, "exact")


def compute(context: MLContext, make: Make, x: Array, **more: Array) -> Array:
    builder = MLGraphBuilder(context)
    operands = {name: builder.input(name, {"dataType": a.dtype.name, "shape": a.shape}) for name, a in {"x": x, **more}.items()}  # type: ignore[typeddict-item]
    graph = builder.buildSync({"y": make(builder, operands.pop("x"), *operands.values())})
    [y] = compute_directly(graph, {"x": x, **more})
    return y


@pytest.mark.parametrize("axis", [0, 2, 3])
def test_features_along_other_axes(fast: MLContext, axis: int) -> None:
    x = RNG.normal(0, 1, [3, 3, 3, 3]).astype(np.float32)
    mean, variance = (RNG.uniform(0.5, 1, 3).astype(np.float32) for _ in range(2))
    shape = [3 if each == axis else 1 for each in range(4)]
    wanted = (x - mean.reshape(shape)) / np.sqrt(variance.reshape(shape) + 1e-5)
    y = compute(fast, lambda b, x: b.batchNormalization(x, constant(b, mean), constant(b, variance), axis=axis), x)
    np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=1e-6)


#: Means that are not pooling: of other axes, or of a value behind a transpose.
OTHER_MEANS: dict[str, Make] = {
    "one axis": lambda b, x: b.reduceMean(x, axes=[3], keepDimensions=True),
    "height and width come first": lambda b, x: b.reduceMean(x, axes=[1, 2], keepDimensions=True),
    "dimensions are dropped": lambda b, x: b.reduceMean(x, axes=[2, 3]),
    "a transpose": lambda b, x: b.reduceMean(b.transpose(x, permutation=[0, 3, 1, 2]), axes=[2, 3], keepDimensions=True),
}


@pytest.mark.parametrize("name", OTHER_MEANS)
def test_other_means(fast: MLContext, exact: MLContext, name: str) -> None:
    assert "GlobalAveragePool" not in nodes(fast, OTHER_MEANS[name], "fast")
    x = RNG.normal(0, 1, [2, 3, 4, 5]).astype(np.float32)
    np.testing.assert_array_equal(compute(fast, OTHER_MEANS[name], x), compute(exact, OTHER_MEANS[name], x), strict=True)


@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
@pytest.mark.parametrize("members", [(False, False), (False, True), (True, False), (True, True)])
def test_normalizations_in_both_layouts(fast: MLContext, exact: MLContext, layout: Any, members: tuple[bool, bool]) -> None:
    x = RNG.normal(0, 1, [2, 4, 4, 4]).astype(np.float32)
    given = dict(zip(("scale", "bias"), RNG.uniform(0.5, 2, [2, 4]).astype(np.float32), strict=True))
    given = {name: array for (name, array), wanted in zip(given.items(), members, strict=True) if wanted}
    axis = 1 if layout == "nchw" else 3
    numbers = RNG.uniform(0.5, 1, 4).astype(np.float32)

    def instance(b: MLGraphBuilder, x: MLOperand) -> MLOperand:
        return b.instanceNormalization(x, layout=layout, **{name: constant(b, array) for name, array in given.items()})  # type: ignore[arg-type]

    def batch(b: MLGraphBuilder, x: MLOperand) -> MLOperand:
        options: Any = {name: constant(b, array) for name, array in given.items()}
        return b.batchNormalization(x, constant(b, numbers), constant(b, numbers), axis=axis, **options)

    for make in (instance, batch):
        np.testing.assert_allclose(compute(fast, make, x), compute(exact, make, x), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["gruCell", "lstmCell"])
def test_gates_of_cells(fast: MLContext, name: str) -> None:
    gates, states = (3, 1) if name == "gruCell" else (4, 2)

    def make(b: MLGraphBuilder, x: MLOperand) -> MLOperand:
        arguments = [ones(b, 4, 5), ones(b, gates * 2, 5), ones(b, gates * 2, 2), *(ones(b, 4, 2) for _ in range(states)), 2]
        result = getattr(b, name)(*arguments)
        return result if isinstance(result, MLOperand) else result[0]

    assert "Sigmoid" in nodes(fast, make, "fast")
    assert "Sigmoid" not in nodes(fast, make, "exact")


# Things that must not change


@pytest.mark.parametrize("dataType", ["int4", "uint4"])
def test_casts_to_small_integers_saturate(dataType: Any) -> None:
    context = ML(revision=BROWSERS, numerics="fast").createContextSync()
    x = np.array([NAN, INF, -INF, 100, -100, 2.7, -2.7, 0], np.float32)
    low, high = (-8, 7) if dataType == "int4" else (0, 15)
    y = compute(context, lambda b, x: b.cast(b.cast(x, dataType), "int32"), x)
    assert y.tolist() == [0, high, low, high, low, 2, max(low, -2), 0]


@pytest.mark.parametrize("name", ["argMax", "argMin"])
@pytest.mark.parametrize("axis", [0, 1])
def test_positions_stay_inside(fast: MLContext, name: str, axis: int) -> None:
    for x in (np.full([9, 7], NAN), np.full([9, 7], -INF), np.where(RNG.uniform(size=[9, 7]) < 0.5, NAN, INF)):
        y = compute(fast, lambda b, x: getattr(b, name)(x, axis), x.astype(np.float32))
        assert y.min() >= 0
        assert y.max() < x.shape[axis]


INDICES = np.array([-(2**31), -6, -5, -1, 0, 4, 5, 1000, 2**31 - 1], np.int32)


@pytest.mark.parametrize(
    "make",
    [
        lambda b, x, i: b.gather(x, i),
        lambda b, x, i: b.gatherElements(x, i),
        lambda b, x, i: b.gatherND(x, b.reshape(i, [9, 1])),
        lambda b, x, i: b.scatterElements(x, i, b.cast(i, "float32")),
        lambda b, x, i: b.scatterND(x, b.reshape(i, [9, 1]), b.cast(i, "float32")),
        # A cast of what has no integer: any index may come of it.
        lambda b, x, i: b.gather(x, b.cast(b.mul(b.cast(i, "float32"), b.constant("float32", NAN)), "int32")),
        lambda b, x, i: b.gather(x, b.cast(b.mul(b.cast(i, "float32"), b.constant("float32", 1e30)), "int64")),
    ],
)
def test_indices_are_clamped(fast: MLContext, exact: MLContext, make: Make) -> None:
    x = np.arange(5, dtype=np.float32)
    ours, theirs = (compute(context, make, x, i=INDICES) for context in (fast, exact))
    assert ours.shape == theirs.shape
    assert set(ours.tolist()) <= {*x.tolist(), *INDICES.astype(np.float32).tolist()}


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "pow"])
def test_integers_wrap(fast: MLContext, exact: MLContext, name: str) -> None:
    numbers = np.array([0, 1, -1, 2**31 - 1, -(2**31), 7, -7, 46341], np.int32)
    x, y = (np.ascontiguousarray(each).ravel() for each in np.meshgrid(numbers, numbers))
    ours, theirs = (compute(context, lambda b, x, y: getattr(b, name)(x, y), x, y=y) for context in (fast, exact))
    np.testing.assert_array_equal(ours, theirs)


# Quantized networks

QUANTIZED: dict[str, Make] = {
    "add": lambda b, x, y: b.add(x, y),
    # The engine makes an integer kernel of the mean that refuses one of its attributes.
    "averagePool2d": lambda b, x, y: b.averagePool2d(x, windowDimensions=[2, 2]),
    "averagePool2d, dilated": lambda b, x, y: b.averagePool2d(x, windowDimensions=[2, 2], dilations=[2, 2]),
    "concat": lambda b, x, y: b.concat([x, y], 1),
    "conv2d": lambda b, x, y: b.conv2d(x, b.slice(y, [0, 0, 0, 0], [1, 4, 2, 2])),
    # The engine's rewriting of these mixes up int8 and uint8.
    "gemm": lambda b, x, y: b.gemm(b.reshape(x, [8, 8]), b.reshape(y, [8, 8])),
    "argMax": lambda b, x, y: b.argMax(x, 1),
    "leakyRelu": lambda b, x, y: b.leakyRelu(x),
    "matmul": lambda b, x, y: b.matmul(x, y),
    "maxPool2d": lambda b, x, y: b.maxPool2d(x, windowDimensions=[2, 2]),
    "mul": lambda b, x, y: b.mul(x, y),
    "reduceMean": lambda b, x, y: b.reduceMean(x, axes=[2, 3]),
    "resample2d": lambda b, x, y: b.resample2d(x, scales=[2, 2]),
    "sigmoid": lambda b, x, y: b.sigmoid(x),
    "softmax": lambda b, x, y: b.softmax(x, 3),
    "split": lambda b, x, y: b.split(x, 2, axis=1)[0],
    "transpose": lambda b, x, y: b.transpose(x),
}
PLAIN = [0.05, 1.0]
ODD = [1e-20, 1e-45, 3e38, 0.0, -0.5, INF, NAN]


def quantized(operation: Make, dataType: str, scale: float, second: float) -> Make:
    def make(b: MLGraphBuilder, x: MLOperand, y: MLOperand) -> MLOperand:
        def numbers(value: MLOperand, scale: float) -> tuple[MLOperand, MLOperand]:
            shape = [1] * len(value.shape)
            return constant(b, np.full(shape, scale, np.float32)), constant(b, np.full(shape, 3, dataType))

        result = operation(b, b.dequantizeLinear(x, *numbers(x, scale)), b.dequantizeLinear(y, *numbers(y, 0.05)))
        return b.quantizeLinear(result, *numbers(result, second)) if result.dataType == "float32" else result

    return make


@pytest.mark.parametrize("name", QUANTIZED)
@pytest.mark.parametrize("dataType", ["int8", "uint8"])
def test_quantized_operations(fast: MLContext, exact: MLContext, name: str, dataType: str) -> None:
    x, y = (RNG.integers(0, 128, [1, 4, 4, 4]).astype(dataType) for _ in range(2))
    for scale, second in itertools.product(PLAIN, PLAIN):
        make = quantized(QUANTIZED[name], dataType, scale, second)
        ours, theirs = (compute(context, make, x, y=y) for context in (fast, exact))
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        # One step. (On a CPU without VNNI integer convolutions and products may be further off.)
        if name not in ("conv2d", "matmul", "gemm"):
            assert np.abs(ours.astype(int) - theirs.astype(int)).max() <= 1
    for scale, second in [(odd, 0.05) for odd in ODD] + [(0.05, odd) for odd in ODD]:
        make = quantized(QUANTIZED[name], dataType, scale, second)
        assert compute(fast, make, x, y=y).shape == compute(exact, make, x, y=y).shape


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("blocks", [(1, 1), (6, 1), (1, 8), (6, 2), (3, 8), (2, 4)])
def test_constants_are_dequantized_at_the_build(exact: MLContext, fast: MLContext, blocks: tuple[int, int], dtype: type) -> None:
    integers, zeroPoint = RNG.integers(0, 256, (6, 8)).astype(np.uint8), RNG.integers(0, 256, blocks).astype(np.uint8)
    scale: Array = RNG.normal(size=blocks).astype(dtype)

    def nodes_of(builder: MLGraphBuilder, numerics: Numerics, *, quantizes: bool) -> tuple[MLOperand, list[str]]:
        numbers = builder.dequantizeLinear(*[constant(builder, each) for each in (integers, scale, zeroPoint)])
        outputs = {"y": builder.identity(numbers)}
        if quantizes:
            one, zero = constant(builder, np.ones((1, 1), dtype)), constant(builder, np.zeros((1, 1), np.int8))
            outputs["z"] = builder.quantizeLinear(numbers, one, zero)
        return outputs["y"], [name for _, name in translate(collect(outputs), numerics).node_types()]

    values = []
    for context, numerics in ((exact, "exact"), (fast, "fast")):
        builder = MLGraphBuilder(context)
        y, nodes = nodes_of(builder, numerics, quantizes=False)
        # An exact session computes them when it starts.
        assert ("DequantizeLinear" in nodes or "Mul" in nodes) == (numerics == "exact")
        values += compute_directly(builder.buildSync({"y": y}), {})
    assert np.array_equal(*values)
    # Kernels of integers may take them beside quantized numbers.
    _, nodes = nodes_of(MLGraphBuilder(fast), "fast", quantizes=True)
    assert "DequantizeLinear" in nodes or "Mul" in nodes
