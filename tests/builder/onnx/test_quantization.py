"""The values of ``quantizeLinear`` and ``dequantizeLinear``, against the NumPy reference; the nodes that they become."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support import CURRENT, Case, check_cases, compute_directly, each_row, equal, run, shared_context
from webnn import MLGraphBuilder, MLOperand
from webnn.builder.onnx.translate import translate
from webnn.reference.operations import REFERENCE, REFERENCE_NEWEST

Array = np.ndarray[Any, np.dtype[Any]]

RNG = np.random.default_rng(0)

#: Shapes of an input and of a scale: one scale, one for each index of an axis, one for each element of all axes but one, other ones.
SHAPES: list[tuple[list[int], list[int]]] = [
    ([], []),
    ([1], [1]),
    ([7], [1]),
    ([7], [7]),
    ([6], [3]),
    ([6], [2]),
    ([1, 1], [1, 1]),
    ([3, 5], [1, 1]),
    ([3, 5], [1, 5]),
    ([3, 5], [3, 1]),
    ([3, 5], [3, 5]),
    ([3, 1], [3, 1]),
    ([3, 8], [3, 2]),
    ([6, 8], [2, 8]),
    ([6, 8], [3, 2]),
    ([6, 8], [2, 1]),
    ([6, 8], [1, 4]),
    ([2, 3, 4, 5], [1, 3, 1, 1]),
    ([2, 3, 4, 5], [2, 1, 4, 5]),
    ([2, 3, 4, 5], [2, 3, 1, 1]),
    ([2, 3, 4, 6], [1, 3, 2, 3]),
    ([2, 1, 4, 3, 6], [1, 1, 2, 3, 2]),
    ([2, 1, 4, 3, 2, 2], [1, 1, 4, 1, 1, 1]),
    ([2, 1, 4, 3, 2, 2, 2], [2, 1, 2, 3, 1, 2, 1]),
    ([4, 1, 2, 4, 1, 6, 2, 4], [2, 1, 2, 2, 1, 3, 1, 2]),
    ([2, 1, 2, 2, 1, 2, 1, 2], [1] * 8),
]
REALS = ("float32", "float16")
INTEGERS = ("int8", "uint8", "int32", "uint32")
#: Quotients that are ties, and numbers that no integer holds.
TIES = [0.5, 1.5, 2.5, -0.5, -1.5, 127.5, 255.5]
EXTREMES = [np.inf, -np.inf, 3e38, -3e38, 1e10, -1e10, 2147483648, 4294967296, 65504, -65504, 1e-45, -0.0]


def integers(dataType: str, shape: list[int], *, extreme: bool = False) -> Array:
    """Return random integers of the whole range of a type, or near its ends."""
    limits = np.iinfo(dataType)
    if extreme:
        ends = np.array([limits.min, limits.min + 1, limits.max - 1, limits.max, 2**24 + 1 if limits.max > 255 else 99], dataType)
        return np.asarray(RNG.choice(ends, shape))
    return np.asarray(RNG.integers(limits.min, limits.max, shape, dataType, endpoint=True))


def reals(dataType: str, shape: list[int], special: list[float]) -> Array:
    """Return random numbers with special ones among them."""
    with np.errstate(over="ignore"):
        values = np.array([*special, *RNG.normal(0, 100, 8)]).astype(dataType)
    return np.asarray(RNG.choice(values, shape))


def scales(dataType: str, shape: list[int]) -> Array:
    return np.asarray(RNG.choice(np.array([1, 0.5, 0.1, 0.75, 3, 0.007, -2]), shape).astype(dataType))


@pytest.mark.parametrize("integer", INTEGERS)
@pytest.mark.parametrize("real", REALS)
def test_dequantizeLinear(real: str, integer: str) -> None:
    cases = [
        Case(
            "dequantizeLinear", integers(integer, shape, extreme=extreme), scales(real, blocks), integers(integer, blocks, extreme=extreme)
        )
        for shape, blocks in SHAPES
        for extreme in [bool(RNG.integers(2))]
    ]
    check_cases(cases, equal, revision=CURRENT)


@pytest.mark.parametrize("integer", INTEGERS)
@pytest.mark.parametrize("real", REALS)
def test_quantizeLinear(real: str, integer: str) -> None:
    cases = [
        Case("quantizeLinear", reals(real, shape, special), scales(real, blocks), integers(integer, blocks, extreme=special is EXTREMES))
        for shape, blocks in SHAPES
        for special in (TIES, EXTREMES)
    ]
    check_cases(cases, equal, revision=CURRENT)


@pytest.mark.parametrize("integer", INTEGERS)
@pytest.mark.parametrize("real", REALS)
def test_many_elements(real: str, integer: str) -> None:
    # The engine's kernels take other ways for parts of a vector register.
    cases = []
    for size in (1, 3, 8, 15, 16, 17, 33, 64, 100, 1001):
        cases += [
            Case("quantizeLinear", reals(real, [2, size], EXTREMES), scales(real, [1, 1]), integers(integer, [1, 1])),
            Case("dequantizeLinear", integers(integer, [2, size]), scales(real, [2, 1]), integers(integer, [2, 1])),
        ]
    check_cases(cases, equal, revision=CURRENT, constants=[False])


def test_a_difference_beyond_the_range() -> None:
    cases = []
    for integer, low, high in (("int32", -(2**31), 2**31 - 1), ("uint32", 0, 2**32 - 1), ("int8", -128, 127)):
        input, zeroPoint = np.array([low, high, high], integer), np.array([high, low, high - 1], integer)
        cases.append(Case("dequantizeLinear", input, np.ones(3, np.float32), zeroPoint))
    # Neither of the two is a float32.
    cases.append(Case("dequantizeLinear", np.array([2**24 + 3], np.int32), np.ones(1, np.float32), np.array([2**24 + 1], np.int32)))
    check_cases(cases, equal, revision=CURRENT, constants=[False])


def test_int32_without_a_zero_point() -> None:
    cases = [
        Case("dequantizeLinear", integers("int32", shape), scales("float32", blocks), np.zeros(blocks, np.int32))
        for shape, blocks in SHAPES
    ]
    check_cases(cases, equal, revision=CURRENT, constants=[True])


@pytest.mark.parametrize("integer", INTEGERS)
def test_scales_that_no_program_should_have(integer: str) -> None:
    # A negative scale divides as any number does; with 0 a number is infinitely many steps from zero.
    input, zeroPoint = np.array([1, -1, 5, -5], np.float32), np.full(4, 3, integer)
    cases = [
        Case("quantizeLinear", input, np.array([-1, -1, -0.5, -0.5], np.float32), zeroPoint),
        Case("quantizeLinear", input, np.zeros(4, np.float32), zeroPoint),
        Case("dequantizeLinear", integers(integer, [4]), np.array([0, -1, np.inf, 1e-30], np.float32), zeroPoint),
    ]
    check_cases(cases, equal, revision=CURRENT, constants=[False])


@each_row(("shape", "blocks"), [([4], [1]), ([4], [4]), ([4], [2])])
@pytest.mark.parametrize("integer", INTEGERS)
def test_a_quotient_that_is_nan(integer: str, shape: list[int], blocks: list[int]) -> None:
    input = np.array([np.nan, 1, np.nan, 2], np.float32)
    [actual] = run("quantizeLinear", input, np.ones(blocks, np.float32), np.full(blocks, 3, integer), revision=CURRENT)
    assert actual.dtype == integer
    assert actual[1::2].tolist() == [4, 5]


#: The operation, the types of integers and numbers, the shapes, and the ONNX nodes.
NODES: list[tuple[str, str, str, list[int], list[int], list[str]]] = [
    ("quantizeLinear", "uint8", "float32", [2, 3], [1, 1], ["QuantizeLinear"]),
    ("quantizeLinear", "int8", "float32", [2, 3], [1, 3], ["QuantizeLinear"]),
    ("quantizeLinear", "int8", "float16", [2, 3], [1, 3], ["Cast", "Cast", "Reshape", "QuantizeLinear"]),
    ("quantizeLinear", "int8", "float32", [2, 3], [2, 3], ["Div", "Round", "Cast", "Add", "Clip", "Cast"]),
    ("dequantizeLinear", "uint8", "float32", [2, 3], [1, 1], ["DequantizeLinear"]),
    ("dequantizeLinear", "int8", "float16", [8, 3, 2, 2], [8, 1, 1, 1], ["DequantizeLinear"]),
    ("dequantizeLinear", "int8", "float32", [64, 3], [2, 3], ["DequantizeLinear"]),
    ("dequantizeLinear", "int8", "float32", [2, 3], [2, 3], ["DequantizeLinear"]),
    ("dequantizeLinear", "int32", "float32", [2, 3], [1, 3], ["DequantizeLinear"]),
    ("dequantizeLinear", "uint32", "float32", [2, 3], [1, 3], ["Cast", "Cast", "Sub", "Cast", "Mul"]),
    ("dequantizeLinear", "int8", "float32", [4, 6], [2, 3], ["Reshape", "Cast", "Cast", "Sub", "Mul", "Reshape"]),
]


@each_row(("name", "integer", "real", "shape", "blocks", "nodes"), NODES)
def test_nodes(name: str, integer: str, real: str, shape: list[int], blocks: list[int], nodes: list[str]) -> None:
    builder = MLGraphBuilder(shared_context(CURRENT))
    input = builder.input("x", dataType=real if name == "quantizeLinear" else integer, shape=shape)
    scale = builder.constant({"dataType": real, "shape": blocks}, np.ones(blocks, real))
    zeroPoint = builder.constant({"dataType": integer, "shape": blocks}, np.zeros(blocks, integer))
    graph = translate(builder._collect({"y": getattr(builder, name)(input, scale, zeroPoint)})).proto.graph
    assert [node.op_type for node in graph.node] == nodes


def test_scalars_need_no_node_for_their_dimensions() -> None:
    builder = MLGraphBuilder(shared_context(CURRENT))
    x = builder.input("x", dataType="uint8", shape=[2, 3])
    zeroPoint = builder.reshape(builder.input("zero", dataType="uint8", shape=[]), [1, 1])
    scale = builder.reshape(builder.input("scale", dataType="float32", shape=[]), [1, 1])
    graph = builder.buildSync({"y": builder.dequantizeLinear(x, scale, zeroPoint), "scale": builder.reshape(scale, [1])})
    proto = graph._implementation._model.proto
    assert sorted(node.op_type for node in proto.graph.node) == ["DequantizeLinear", "Reshape"]
    values = np.array([[1, 2, 3], [4, 5, 255]], np.uint8)
    y, given = compute_directly(graph, {"x": values, "zero": np.array(3, np.uint8), "scale": np.array(0.5, np.float32)})
    np.testing.assert_array_equal(y, (values.astype(np.float32) - 3) / 2, strict=True)
    np.testing.assert_array_equal(given, np.array([0.5], np.float32), strict=True)


@each_row("permutation", [[0, 2, 3, 1], [3, 0, 1, 2], [1, 0, 3, 2]])
@each_row("blocks", [[1, 1, 1, 1], [1, 4, 1, 1], [1, 1, 1, 6], [3, 2, 1, 6], [3, 4, 5, 2], [1, 2, 5, 3]])
@pytest.mark.parametrize("name", ["dequantizeLinear", "quantizeLinear"])
def test_behind_a_transpose(name: str, blocks: list[int], permutation: list[int]) -> None:
    shape = [3, 4, 5, 6]
    before = [shape[permutation.index(axis)] for axis in range(4)]
    input = integers("int8", before) if name == "dequantizeLinear" else reals("float32", before, TIES)
    scale, zeroPoint = scales("float32", blocks), integers("int8", blocks)
    builder = MLGraphBuilder(shared_context(CURRENT))
    x = builder.transpose(builder.input("x", dataType=input.dtype.name, shape=before), permutation=permutation)
    s, z = (builder.constant({"dataType": each.dtype.name, "shape": blocks}, each) for each in (scale, zeroPoint))
    [actual] = compute_directly(builder.buildSync({"y": getattr(builder, name)(x, s, z)}), {"x": input})
    np.testing.assert_array_equal(actual, np.asarray(REFERENCE_NEWEST[name](input.transpose(permutation), scale, zeroPoint)), strict=True)


# Quantizations that follow each other, and operations between them, keep their values in the engine's optimizer.


class Chain:
    """A graph of several operations, and its values by the reference."""

    def __init__(self, input: Array) -> None:
        self.builder = MLGraphBuilder(shared_context(CURRENT))
        self.input = input
        self.operand: MLOperand = self.builder.input("x", dataType=input.dtype.name, shape=list(input.shape))
        self.value: Array = input

    def constant(self, value: Array) -> MLOperand:
        descriptor: Any = {"dataType": value.dtype.name, "shape": list(value.shape)}
        return self.builder.constant(descriptor, value)

    def quantize(self, scale: float, zeroPoint: Any) -> None:
        self._append("quantizeLinear", scale, zeroPoint)

    def dequantize(self, scale: float, zeroPoint: Any) -> None:
        self._append("dequantizeLinear", scale, zeroPoint)

    def apply(self, name: str, *arguments: Any, **options: Any) -> None:
        operands = [self.constant(value) if isinstance(value, np.ndarray) else value for value in arguments]
        self.operand = getattr(self.builder, name)(self.operand, *operands, **options)
        self.value = np.asarray(REFERENCE[name](self.value, *arguments, **options))

    def _append(self, name: str, scale: float, zeroPoint: Any) -> None:
        shape = [1] * self.value.ndim
        scales, zeroPoints = np.full(shape, scale, np.float32), np.full(shape, zeroPoint)
        self.operand = getattr(self.builder, name)(self.operand, self.constant(scales), self.constant(zeroPoints))
        self.value = np.asarray(REFERENCE_NEWEST[name](self.value, scales, zeroPoints))

    def check(self, tolerance: float = 0) -> None:
        [actual] = compute_directly(self.builder.buildSync({"y": self.operand}), {"x": self.input})
        assert actual.dtype == self.value.dtype
        difference = np.abs(actual.astype(np.float64) - self.value.astype(np.float64))
        assert difference.max() <= tolerance
        # A chain whose values are all the same would say nothing.
        assert len(np.unique(self.value)) > 1


@each_row("bounds", [{"maxValue": 9e-9}, {"minValue": -9e-9}, {"minValue": -9e-9, "maxValue": 2e-8}])
def test_bounds_of_small_numbers_hold(bounds: dict[str, float]) -> None:
    chain = Chain(np.linspace(-3e-8, 3e-8, 64, dtype=np.float32).reshape(1, 1, 8, 8))
    chain.apply("conv2d", np.ones((1, 1, 1, 1), np.float32))
    chain.apply("clamp", **bounds)
    chain.quantize(3e-10, np.int8(0))
    chain.check()


def test_two_pairs_do_not_become_one() -> None:
    chain = Chain(RNG.normal(0, 3, (4, 50)).astype(np.float32))
    chain.quantize(0.037, np.uint8(120))
    chain.dequantize(0.037, np.uint8(120))
    chain.quantize(0.051, np.uint8(133))
    chain.dequantize(0.051, np.uint8(133))
    chain.check()


@pytest.mark.parametrize("weights", ["int8", "uint8"])
@pytest.mark.parametrize("bias", [False, True])
def test_a_convolution_between(weights: str, *, bias: bool) -> None:
    chain = Chain(integers("uint8", [1, 4, 9, 9], extreme=True))
    chain.dequantize(0.037, np.uint8(120))
    filter, scale = integers(weights, [8, 4, 3, 3], extreme=True), RNG.uniform(0.001, 0.01, (8, 1, 1, 1)).astype(np.float32)
    zeroPoint = np.full([8, 1, 1, 1], 3, weights)
    options: dict[str, Any] = {"bias": chain.constant(np.arange(8, dtype=np.float32))} if bias else {}
    operand = chain.builder.dequantizeLinear(*map(chain.constant, (filter, scale, zeroPoint)))
    chain.operand = chain.builder.conv2d(chain.operand, operand, options)
    numbers = REFERENCE_NEWEST["dequantizeLinear"](filter, scale, zeroPoint)
    chain.value = np.asarray(REFERENCE["conv2d"](chain.value, numbers, bias=np.arange(8, dtype=np.float32) if bias else None))
    chain.quantize(0.4, np.uint8(128))
    chain.check(1)


@pytest.mark.parametrize("weights", ["int8", "uint8"])
def test_a_matrix_product_behind(weights: str) -> None:
    chain = Chain(RNG.normal(0, 1, (5, 64)).astype(np.float32))
    matrix, scale = integers(weights, [64, 16]), RNG.uniform(0.01, 0.1, (2, 16)).astype(np.float32)
    zeroPoint = integers(weights, [2, 16])
    operand = chain.builder.dequantizeLinear(*map(chain.constant, (matrix, scale, zeroPoint)))
    chain.operand = chain.builder.matmul(chain.operand, operand)
    chain.value = np.asarray(REFERENCE["matmul"](chain.value, REFERENCE_NEWEST["dequantizeLinear"](matrix, scale, zeroPoint)))
    # As exact as a product of float32 matrices.
    chain.check(1e-5 * float(np.abs(chain.value).max()))


@pytest.mark.parametrize(
    ("name", "arguments", "scale"),
    [("softmax", (1,), 0.001), ("averagePool2d", (), 1e-4), ("sigmoid", (), 0.0005), ("add", (np.float32(0.3),), 1e-3)],
)
def test_a_quantization_that_saturates(name: str, arguments: tuple[Any, ...], scale: float) -> None:
    chain = Chain(integers("int8", [2, 4, 3, 3]))
    chain.dequantize(0.02, np.int8(-7))
    chain.apply(name, *(np.asarray(each) if isinstance(each, np.floating) else each for each in arguments))
    chain.quantize(scale, np.int8(-60))
    chain.check(1)
