"""int4 and uint4, beyond the draft: packed constants, inputs, outputs and tensors, and the operations that browsers have for them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto

from tests.support import BROWSERS, Failures, each_row, make_context
from webnn import MLContext, MLGraphBuilder, MLOperand
from webnn.builder.onnx.translate import translate
from webnn.context.tensor import MLTensor
from webnn.reference import pack, unpack
from webnn.reference.operations import REFERENCE, REFERENCE_NEWEST
from webnn.validation.descriptor import DATA_TYPES, SMALL_TYPES, DataType, OperandDescriptor, integer_range

Array = np.ndarray[Any, np.dtype[Any]]

RNG = np.random.default_rng(0)


class Small:
    """A value of small integers in a table: a type, and the elements."""

    def __init__(self, dataType: DataType, elements: Any) -> None:
        self.dataType = dataType
        self.elements = np.asarray(elements, "int8" if dataType == "int4" else "uint8")

    @property
    def shape(self) -> tuple[int, ...]:
        return self.elements.shape

    @classmethod
    def random(cls, dataType: DataType, shape: Sequence[int]) -> Small:
        low, high = integer_range(dataType)
        return cls(dataType, RNG.integers(low, high, list(shape), endpoint=True))


class Program:
    """A graph whose values are inputs or constants, computed through tensors."""

    def __init__(self, *, constants: bool = False) -> None:
        self.context: MLContext = make_context(BROWSERS)
        self.builder = MLGraphBuilder(self.context)
        self.constants = constants
        self.inputs: dict[str, tuple[OperandDescriptor, Array]] = {}

    def operand(self, value: Any) -> Any:
        if isinstance(value, list) and value and isinstance(value[0], Small):
            return [self.operand(each) for each in value]
        if not isinstance(value, Small | np.ndarray):
            return value
        elements = value.elements if isinstance(value, Small) else value
        dataType: Any = value.dataType if isinstance(value, Small) else value.dtype.name
        data = pack(elements) if isinstance(value, Small) else elements
        descriptor: Any = {"dataType": dataType, "shape": list(elements.shape)}
        if self.constants:
            return self.builder.constant(descriptor, data)
        name = f"input{len(self.inputs)}"
        self.inputs[name] = OperandDescriptor(dataType, elements.shape), data
        return self.builder.input(name, descriptor)

    def compute(self, outputs: Mapping[str, MLOperand]) -> dict[str, Array]:
        graph = self.builder.buildSync(outputs)
        given: dict[str, Any] = {}
        for name, (descriptor, data) in self.inputs.items():
            given[name] = self.tensor(descriptor, writable=True)
            self.context.writeTensor(given[name], data)
        wanted = {name: self.tensor(operand.descriptor, readable=True) for name, operand in outputs.items()}
        self.context.dispatch(graph, given, wanted)
        return {name: self.read(tensor) for name, tensor in wanted.items()}

    def tensor(self, descriptor: OperandDescriptor, **usage: bool) -> MLTensor:
        members: Any = {"dataType": descriptor.dataType, "shape": descriptor.dimensions, **usage}
        return self.context.createTensorSync(**members)

    def read(self, tensor: MLTensor) -> Array:
        data = self.context.readTensorSync(tensor)
        assert data is not None
        if tensor.dataType not in SMALL_TYPES:
            return data
        descriptor = OperandDescriptor(tensor.dataType, tensor.shape)
        assert data.dtype == np.uint8
        assert data.shape == (descriptor.byte_length,)
        # The last byte is filled with zero.
        assert descriptor.element_count % 2 == 0 or data[-1] < 16
        return unpack(data, tensor.dataType, tensor.shape)


class Together:
    """Calls in one program, each with operands of its own, and what their results must be."""

    def __init__(self, *, constants: bool) -> None:
        self.program = Program(constants=constants)
        self.outputs: dict[str, MLOperand] = {}
        self.expected: dict[str, Array] = {}

    def add(self, expected: Any, name: str, *arguments: Any, **options: Any) -> None:
        title = f"{len(self.outputs)}: {name}{[each.shape for each in arguments if isinstance(each, Small | np.ndarray)]}{options}"
        self.outputs[title] = getattr(self.program.builder, name)(*map(self.program.operand, arguments), **options)
        self.expected[title] = np.asarray(expected)

    def check(self) -> None:
        assert self.outputs
        failures = Failures()
        for title, actual in self.program.compute(self.outputs).items():
            with failures.of(title):
                np.testing.assert_array_equal(actual, self.expected[title], strict=True)
        failures.report()


SHAPES: list[tuple[list[int], list[int]]] = [
    ([], []),
    ([1], [1]),
    ([5], [1]),
    ([5], [5]),
    ([6], [3]),
    ([3, 5], [1, 1]),
    ([3, 5], [3, 1]),
    ([3, 5], [1, 5]),
    ([3, 5], [3, 5]),
    ([6, 5], [2, 5]),
    ([6, 4], [3, 2]),
    ([64, 3], [2, 3]),
    ([3, 1, 6, 2], [3, 1, 2, 1]),
    ([2, 1, 2, 2, 1, 6, 1, 3], [1, 1, 2, 2, 1, 3, 1, 3]),
]


@pytest.mark.parametrize("constants", [False, True])
@pytest.mark.parametrize("dataType", SMALL_TYPES)
def test_quantization(dataType: DataType, *, constants: bool) -> None:
    low, high = integer_range(dataType)
    together = Together(constants=constants)
    for real, (shape, blocks) in itertools.product(("float32", "float16"), SHAPES):
        input, zeroPoint = Small.random(dataType, shape), Small.random(dataType, blocks)
        scale = np.asarray(RNG.choice(np.array([0.5, 0.1, 3, -1], real), blocks))
        expected = REFERENCE_NEWEST["dequantizeLinear"](input.elements, scale, zeroPoint.elements)
        together.add(expected, "dequantizeLinear", input, scale, zeroPoint)
        numbers = np.asarray(RNG.choice(np.array([0.5, 1.5, -2.5, 100, -1e4, np.inf, -np.inf, 1.7], real), shape))
        expected = REFERENCE_NEWEST["quantizeLinear"](numbers, scale, zeroPoint.elements)
        together.add(np.clip(np.asarray(expected), low, high), "quantizeLinear", numbers, scale, zeroPoint)
    together.check()


@pytest.mark.parametrize("constants", [False, True])
@pytest.mark.parametrize("small", SMALL_TYPES)
def test_casts(small: DataType, *, constants: bool) -> None:
    low, high = integer_range(small)
    every = Small(small, np.arange(low, high + 1))
    together = Together(constants=constants)
    for other in DATA_TYPES:
        together.add(REFERENCE["cast"](every.elements, other), "cast", every, other)
        if other.startswith("float"):
            # Truncated, then saturated; NaN is 0.
            values = [-np.inf, -8.9, -8.1, -1.9, -0.9, 0.9, 1.9, 7.9, 8.1, 15.9, 16.1, 300, 60000, np.inf, np.nan]
            numbers = np.array(values, other)
            expected = [0 if np.isnan(value) else min(max(int(np.clip(value, -99, 99)), low), high) for value in values]
        else:
            # Modulo 16.
            info = np.iinfo(other)
            numbers = np.array([max(info.min, -9), 0, 7, 8, 15, 16, 25, info.max, info.min], other)
            expected = [(int(value) - low) % 16 + low for value in numbers]
        together.add(Small(small, expected).elements, "cast", numbers, small)
    for target in SMALL_TYPES:
        least = integer_range(target)[0]
        together.add(Small(target, [(int(value) - least) % 16 + least for value in every.elements]).elements, "cast", every, target)
    together.check()


MOVED: list[tuple[str, DataType, tuple[Any, ...], dict[str, Any]]] = [
    *(("identity", dataType, ([3, 5],), {}) for dataType in SMALL_TYPES),
    *(("transpose", dataType, ([],), {}) for dataType in SMALL_TYPES),
    *(("transpose", dataType, ([3, 5],), {}) for dataType in SMALL_TYPES),
    *(("transpose", dataType, ([3, 1, 5, 2],), {"permutation": [2, 3, 0, 1]}) for dataType in SMALL_TYPES),
    ("reshape", "int4", ([3, 5], [15]), {}),
    ("reshape", "int4", ([2, 3, 4], [6, 4]), {}),
    ("reshape", "int4", ([1], []), {}),
    ("reshape", "int4", ([3], [3]), {}),
]


@pytest.mark.parametrize("constants", [False, True])
def test_moved(*, constants: bool) -> None:
    together = Together(constants=constants)
    for name, dataType, (shape, *others), options in MOVED:
        input = Small.random(dataType, shape)
        together.add(REFERENCE[name](input.elements, *others, **options), name, input, *others, **options)
    together.check()


@pytest.mark.parametrize("constants", [False, True])
def test_concat(*, constants: bool) -> None:
    together = Together(constants=constants)
    for shapes, axis in (([[3], [2], [1]], 0), ([[3, 1], [3, 4]], 1), ([[3, 5]], 1)):
        parts = [Small.random("int4", shape) for shape in shapes]
        together.add(np.concatenate([part.elements for part in parts], axis), "concat", parts, axis)
    together.check()


@pytest.mark.parametrize("constants", [False, True])
@pytest.mark.parametrize("dataType", SMALL_TYPES)
def test_one_operand_under_several_names(dataType: DataType, *, constants: bool) -> None:
    program = Program(constants=constants)
    value = Small.random(dataType, [3, 3])
    x = program.operand(value)
    turned = program.builder.transpose(x)
    outputs = {"a": program.builder.identity(x), "b": program.builder.identity(x), "c": turned, "d": turned}
    computed = program.compute(outputs)
    for name, expected in (("a", value.elements), ("b", value.elements), ("c", value.elements.T), ("d", value.elements.T)):
        np.testing.assert_array_equal(computed[name], expected, strict=True)


def test_a_chain_behind_a_transpose() -> None:
    for blocks in ([1, 1, 1], [1, 3, 1], [4, 3, 5], [2, 1, 5]):
        program = Program()
        value, zeroPoint = Small.random("int4", [3, 5, 4]), Small.random("int4", blocks)
        scale = np.asarray(RNG.choice(np.array([0.5, 2], np.float32), blocks))
        operands = program.operand(value), program.operand(scale), program.operand(zeroPoint)
        turned = program.builder.transpose(operands[0], permutation=[2, 0, 1])
        numbers = program.builder.dequantizeLinear(turned, *operands[1:])
        again = program.builder.quantizeLinear(numbers, *operands[1:])
        computed = program.compute({"numbers": numbers, "again": again})
        moved = value.elements.transpose(2, 0, 1)
        expected = np.asarray(REFERENCE_NEWEST["dequantizeLinear"](moved, scale, zeroPoint.elements))
        np.testing.assert_array_equal(computed["numbers"], expected, strict=True)
        np.testing.assert_array_equal(computed["again"], moved, strict=True)


@each_row("dataType", SMALL_TYPES)
def test_scalar_constants(dataType: DataType) -> None:
    low, high = integer_range(dataType)
    for number, expected in ((5, 5), (-2, max(low, -2)), (2.5, 2), (1e30, high), (-(2**70), low), (float("nan"), 0)):
        program = Program()
        constant = program.builder.constant(dataType, number)
        assert constant.dataType == dataType
        assert program.compute({"y": program.builder.cast(constant, "int32")})["y"].tolist() == expected


def test_a_weight_stays_packed() -> None:
    builder = MLGraphBuilder(make_context(BROWSERS))
    bytes_ = RNG.integers(0, 255, 64 * 32 // 2, np.uint8, endpoint=True)
    weight = builder.constant({"dataType": "uint4", "shape": [64, 32]}, bytes_)
    scale = builder.constant({"dataType": "float32", "shape": [2, 32]}, np.ones((2, 32), np.float32))
    zeroPoint = builder.constant({"dataType": "uint4", "shape": [2, 32]}, np.zeros(32, np.uint8))
    model = translate(builder._collect({"y": builder.dequantizeLinear(weight, scale, zeroPoint)}))
    assert [node.op_type for node in model.proto.graph.node] == ["DequantizeLinear"]
    [large] = [each for each in model.proto.graph.initializer if tuple(each.dims) == (64, 32)]
    assert (large.data_type, large.data_location) == (TensorProto.UINT4, TensorProto.EXTERNAL)
    [data] = [each.data for each in model.weights if each.location == large.name]
    assert weight._value is not None
    assert np.shares_memory(data, weight._value)
    np.testing.assert_array_equal(data, bytes_)


def test_constant_tensors() -> None:
    program = Program()
    value = Small.random("int4", [3, 3])
    descriptor: Any = {"dataType": "int4", "shape": [3, 3]}
    tensor = program.context.createConstantTensorSync(descriptor, pack(value.elements))
    computed = program.compute({"y": program.builder.transpose(program.builder.constant(tensor))})
    np.testing.assert_array_equal(computed["y"], value.elements.T, strict=True)


def test_tensors_are_bound_again() -> None:
    # One graph over other tensors, and over the same again.
    program = Program()
    x = program.builder.input("x", {"dataType": "uint4", "shape": [3]})
    graph = program.builder.buildSync({"y": program.builder.cast(x, "uint8")})
    context = program.context
    given = [program.tensor(OperandDescriptor("uint4", (3,)), writable=True) for _ in range(2)]
    wanted = program.tensor(OperandDescriptor("uint8", (3,)), readable=True)
    for turn, (tensor, first) in enumerate(itertools.product(given, (1, 9))):
        context.writeTensor(tensor, np.array([turn << 4 | first, 15], np.uint8))
        context.dispatch(graph, {"x": tensor}, {"y": wanted})
        assert program.read(wanted).tolist() == [first, turn, 15]
