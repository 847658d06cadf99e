"""`MLGraphBuilder` itself: the constructor, inputs, constants, options and `build()`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from tests.support import CURRENT, compute_directly, make_context, refused
from webnn import ML, InvalidStateError, MLActivation, MLContext, MLGraph, MLGraphBuilder, MLOperand, WebNNWarning


@pytest.fixture
def context() -> MLContext:
    return make_context()


@pytest.fixture
def builder(context: MLContext) -> MLGraphBuilder:
    return MLGraphBuilder(context)


def vector(builder: MLGraphBuilder, name: str = "x", size: int = 2) -> MLOperand:
    return builder.input(name, dataType="float32", dimensions=[size])


def compute(context: MLContext, graph: MLGraph, inputs: dict[str, Any], **outputs: Any) -> dict[str, Any]:
    result = context.computeSync(graph, inputs, outputs)["outputs"]
    return {name: array.tolist() for name, array in result.items()}


def zeros(size: int = 2) -> Any:
    return np.zeros(size, np.float32)


@pytest.mark.parametrize("value", [None, "context", 3, object()])
def test_the_constructor_wants_a_context(value: Any) -> None:
    with refused(rule="conversion", operation="MLGraphBuilder", argument="context"):
        MLGraphBuilder(value)


def test_a_subclass_with_a_constructor_of_its_own() -> None:
    class Builder(MLGraphBuilder):
        def __init__(self, size: int, *, revision: str = "2024-06") -> None:
            super().__init__(ML(revision=revision).createContextSync())
            self.size = size

    builder = Builder(3)
    assert (type(builder), builder.size) == (Builder, 3)
    assert builder.relu(builder.input("x", dataType="float32", dimensions=[builder.size])).shape() == [3]


@pytest.mark.parametrize("interface", [MLOperand, MLActivation, MLGraph, MLContext])
def test_illegal_constructors(interface: type) -> None:
    with pytest.raises(TypeError, match="illegal constructor"):
        interface()


INPUTS: list[tuple[dict[str, Any], tuple[str, list[int]]]] = [
    ({"dataType": "float32"}, ("float32", [])),
    ({"dataType": "uint8", "dimensions": [1, 2, 3]}, ("uint8", [1, 2, 3])),
    ({"dataType": "int64", "dimensions": (4,)}, ("int64", [4])),
    ({"dataType": "float16", "dimensions": np.array([2, 3])}, ("float16", [2, 3])),
    ({"dataType": "int8", "dimensions": (size for size in (5, 6))}, ("int8", [5, 6])),
    ({"dataType": "float32", "dimensions": [1] * 8}, ("float32", [1] * 8)),
    ({"dataType": "float32", "dimensions": ["2", True, 3.9, np.int8(4)]}, ("float32", [2, 1, 3, 4])),
    ({"dataType": "float32", "dimensions": None}, ("float32", [])),
]


@pytest.mark.parametrize(("descriptor", "expected"), INPUTS)
def test_input(builder: MLGraphBuilder, descriptor: dict[str, Any], expected: tuple[str, list[int]]) -> None:
    operand = builder.input("x", descriptor)  # type: ignore[arg-type]
    assert (operand.dataType(), operand.shape()) == expected
    operand.shape().append(1)
    assert operand.shape() == expected[1]


WRONG_INPUTS: list[tuple[Any, Any, str, str]] = [
    ("", {"dataType": "float32"}, "name", "name"),
    (object(), {"dataType": "float32"}, "name", "conversion"),
    ("x", {}, "descriptor.dataType", "conversion"),
    ("x", None, "descriptor.dataType", "conversion"),
    ("x", [1], "options", "conversion"),
    ("x", {"dataType": "float64"}, "descriptor.dataType", "conversion"),
    ("x", {"dataType": 3}, "descriptor.dataType", "conversion"),
    ("x", {"dataType": "float32", "dimensions": 3}, "descriptor.dimensions", "conversion"),
    ("x", {"dataType": "float32", "dimensions": "3"}, "descriptor.dimensions", "conversion"),
    ("x", {"dataType": "float32", "dimensions": [2, -1]}, "descriptor.dimensions[1]", "conversion"),
    ("x", {"dataType": "float32", "dimensions": [2**32]}, "descriptor.dimensions[0]", "conversion"),
    ("x", {"dataType": "float32", "dimensions": [float("nan")]}, "descriptor.dimensions[0]", "conversion"),
    ("x", {"dataType": "float32", "dimensions": [None]}, "descriptor.dimensions[0]", "conversion"),
    ("x", {"dataType": "float32", "dimensions": [0]}, "descriptor", "limit"),
    ("x", {"dataType": "float32", "dimensions": [1] * 9}, "descriptor", "limit"),
    ("x", {"dataType": "float32", "dimensions": [2**32 - 1] * 2}, "descriptor", "limit"),
]


@pytest.mark.parametrize(("name", "descriptor", "argument", "rule"), WRONG_INPUTS)
def test_wrong_input(builder: MLGraphBuilder, name: Any, descriptor: Any, argument: str, rule: str) -> None:
    with refused(rule=rule, operation="input") as caught:
        builder.input(name, descriptor)
    assert caught.value.argument.replace("options", "descriptor") == argument.replace("options", "descriptor")
    assert caught.value.anchor == "#api-mlgraphbuilder-input"


def test_two_inputs_of_one_name(builder: MLGraphBuilder) -> None:
    newer = MLGraphBuilder(make_context(CURRENT))
    newer.input("x", dataType="float32", shape=[2])
    with refused(rule="name", operation="input", argument="name"):
        newer.input("x", dataType="float32", shape=[3])
    # The name is refused before the shape is looked at; another name is free, and so is that name in another builder.
    with refused(rule="name", operation="input", argument="name"):
        newer.input("x", dataType="float32", shape=[0])
    newer.input("X", dataType="float32", shape=[2])
    MLGraphBuilder(make_context(CURRENT)).input("x", dataType="float32", shape=[2])
    # The draft of June 2024 asks that of the inputs of a graph alone.
    first, second = vector(builder), vector(builder)
    builder.buildSync({"y": builder.relu(first)})
    with refused(rule="different", operation="build", argument="outputs"):
        builder.buildSync({"y": builder.add(first, second)})


def test_a_builder_that_has_built() -> None:
    newer = MLGraphBuilder(make_context(CURRENT))
    x = newer.input("x", dataType="float32", shape=[2])
    newer.buildSync({"y": newer.relu(x)})
    calls: dict[str, Any] = {
        "input": lambda: newer.input("z", dataType="float32", shape=[2]),
        "constant": lambda: newer.constant("float32", 1),
        "relu": lambda: newer.relu(x),
        "neg": lambda: newer.neg(x, label="mine"),
    }
    for operation, call in calls.items():
        with refused(InvalidStateError, rule="built", operation=operation, label="mine" if operation == "neg" else ""):
            call()


def read(builder: MLGraphBuilder, operand: MLOperand) -> Any:
    """Return a constant's value, through a graph."""
    return compute_directly(builder.buildSync({"y": builder.identity(operand)}), {})[0]


CONSTANTS: list[tuple[str, list[int], Any]] = [
    ("float32", [2, 2], np.array([[1, 2], [3, 4]], np.float32)),
    ("float32", [2, 2], np.array([[1, 3], [2, 4]], np.float32).T),
    ("float32", [4], np.arange(8, dtype=np.float32)[::2]),
    ("int64", [], np.array(2**62 + 1, np.int64)),
    ("uint8", [3], b"abc"),
    ("uint8", [3], bytearray(b"abc")),
    ("float16", [200], np.arange(200).astype(np.float16)),
]


@pytest.mark.parametrize(("dataType", "dimensions", "data"), CONSTANTS)
def test_constant(builder: MLGraphBuilder, dataType: str, dimensions: list[int], data: Any) -> None:
    operand = builder.constant({"dataType": dataType, "dimensions": dimensions}, data)  # type: ignore[typeddict-item]
    expected = np.frombuffer(data, np.uint8) if isinstance(data, bytes | bytearray) else data
    np.testing.assert_array_equal(read(builder, operand), expected)


@pytest.mark.parametrize("size", [4, 400])
def test_constants_are_copies(builder: MLGraphBuilder, size: int) -> None:
    data = np.ones(size, np.float32)
    operand = builder.constant({"dataType": "float32", "dimensions": [size]}, data)
    data[:] = 7
    assert read(builder, operand).tolist() == [1.0] * size


WRONG_CONSTANTS: list[tuple[Any, Any, str, str]] = [
    ({"dataType": "float32", "dimensions": [2]}, np.zeros(2), "bufferView", "type"),
    ({"dataType": "float32", "dimensions": [2]}, np.zeros(2, ">f4"), "bufferView", "type"),
    ({"dataType": "float32", "dimensions": [2]}, zeros(3), "bufferView", "byte-length"),
    ({"dataType": "float32", "dimensions": [2]}, [1.0, 2.0], "bufferView", "conversion"),
    ({"dataType": "float32", "dimensions": [0]}, zeros(0), "descriptor", "limit"),
    (None, zeros(), "descriptor.dataType", "conversion"),
    ("float64", 1, "type", "conversion"),
    (5, 1, "type", "conversion"),
    ("float32", float("nan"), "value", "conversion"),
    ("float32", float("inf"), "value", "conversion"),
    ("float32", 10**400, "value", "conversion"),
    ("float32", None, "value", "conversion"),
    ("float32", [1], "value", "conversion"),
]


@pytest.mark.parametrize(("descriptor", "data", "argument", "rule"), WRONG_CONSTANTS)
def test_wrong_constant(builder: MLGraphBuilder, descriptor: Any, data: Any, argument: str, rule: str) -> None:
    with refused(rule=rule, operation="constant", argument=argument):
        builder.constant(descriptor, data)


SCALARS: list[tuple[str, Any, Any]] = [
    ("float32", 1.5, 1.5),
    ("float32", "2.5", 2.5),
    ("float32", True, 1.0),
    ("float32", 1e300, np.inf),
    ("float16", 65520, np.inf),
    ("float16", 1.0004883, 1.0009766),
    ("int8", 300, 44),
    ("int8", -129.9, 127),
    ("uint8", -1, 255),
    ("int32", 2**31, -(2**31)),
    ("uint32", -1, 2**32 - 1),
    ("int64", 2**53, 2**53),
    ("int64", 2.0**63, -(2**63)),
    ("uint64", 2.0**63, 2**63),
    ("uint64", -1.5, 2**64 - 1),
]


@pytest.mark.parametrize(("dataType", "value", "expected"), SCALARS)
def test_scalar_constant(builder: MLGraphBuilder, dataType: Any, value: Any, expected: Any) -> None:
    operand = builder.constant(dataType, value)
    assert (operand.dataType(), operand.shape()) == (dataType, [])
    assert read(builder, operand) == np.array(expected, dataType)


def test_options_in_both_forms(builder: MLGraphBuilder) -> None:
    x = vector(builder)
    for operand in (builder.split(x, 2, {"axis": 0}), builder.split(x, 2, axis=0), builder.split(x, 2, None), builder.split(x, 2)):
        assert [part.shape() for part in operand] == [[1], [1]]
    with refused(rule="once", operation="split", argument="options"):
        builder.split(x, 2, {"axis": 0}, axis=0)
    with refused(rule="conversion", operation="split", argument="options"):
        builder.split(x, 2, [1])  # type: ignore[arg-type]


def test_unknown_members_are_ignored(builder: MLGraphBuilder) -> None:
    with pytest.warns(WebNNWarning, match=r"split: options\.axes is ignored"):
        parts = builder.split(vector(builder), 2, {"axes": 3, "axis": None})  # type: ignore[typeddict-unknown-key, typeddict-item]
    assert parts[0].shape() == [1]


@pytest.mark.parametrize(("label", "shown"), [("head", "head"), ("a\ud800\n\u202e", "a\ufffd\n\u202e")])
def test_labels_are_in_messages(builder: MLGraphBuilder, label: str, shown: str) -> None:
    with refused(rule="broadcast", operation="add", argument="b", label=shown):
        builder.add(vector(builder, size=2), vector(builder, size=3), label=label)


def test_names_of_june_2024_are_dom_strings(context: MLContext, builder: MLGraphBuilder) -> None:
    x, y = vector(builder, "a\ud800"), vector(builder, "a\ufffd")
    graph = builder.buildSync({"\ud83d\ude00": builder.sub(x, y), "3": builder.add(x, y)})
    inputs = dict(zip(("a\ud800", "a\ufffd"), np.array([[5, 6], [1, 1]], np.float32), strict=True))
    inputs = {name: array.copy() for name, array in inputs.items()}
    result = context.computeSync(graph, inputs, {"\U0001f600": zeros(), 3: zeros()})  # type: ignore[dict-item]  # converted
    assert {name: array.tolist() for name, array in result["outputs"].items()} == {"\U0001f600": [4, 5], "3": [6, 7]}


def test_names_of_2026_are_usv_strings() -> None:
    current = MLGraphBuilder(make_context(CURRENT))
    x = current.input("a\ud800", dataType="float32", shape=[2])
    assert repr(x) == "<MLOperand float32 [2]: input 'a\ufffd'>"
    with refused(rule="name", operation="input", argument="name"):
        current.input("a\ufffd", dataType="float32", shape=[2])
    graph = current.buildSync(dict(zip(("\ud800", "\udfff"), (current.neg(x), current.abs(x)), strict=True)))
    assert list(graph._implementation.outputs) == ["\ufffd"]


def test_activations_are_read_once(context: MLContext, builder: MLGraphBuilder) -> None:
    class Changing:
        """Yields other activations each time."""

        def __init__(self, *lists: list[MLActivation]) -> None:
            self.lists = iter(lists)

        def __iter__(self) -> Iterator[MLActivation]:
            return iter(next(self.lists))

    other = MLGraphBuilder(context)
    mine, foreign = [builder.sigmoid(), builder.relu()], [other.sigmoid(), other.relu()]
    operands = [
        builder.constant({"dataType": "float32", "dimensions": shape}, np.zeros(shape, np.float32))
        for shape in ([1, 2], [6, 2], [6, 2], [1, 2])
    ]

    def cell(activations: Any) -> MLOperand:
        input, weight, recurrentWeight, hiddenState = operands
        return builder.gruCell(input, weight, recurrentWeight, hiddenState, 2, activations=activations)

    assert cell(Changing(mine)).shape() == [1, 2]
    assert cell(iter(mine)).shape() == [1, 2]
    for activations in (Changing(foreign, mine), iter(foreign), [mine[0], foreign[1]]):
        with refused(rule="owner", operation="gruCell"):
            cell(activations)


@pytest.mark.parametrize("value", [None, 3, "x", np.zeros(2, np.float32), Mock(spec=MLOperand)])
def test_operands_must_be_operands(builder: MLGraphBuilder, value: Any) -> None:
    with refused(rule="conversion", operation="add", argument="b"):
        builder.add(vector(builder), value)


def test_operands_of_another_builder(context: MLContext, builder: MLGraphBuilder) -> None:
    other = MLGraphBuilder(context)
    x, y = vector(builder), vector(other)
    image = builder.input("image", dataType="float32", dimensions=[1, 1, 2, 2])
    cases: list[tuple[str, Any]] = [
        ("b", lambda: builder.add(x, y)),
        ("input", lambda: builder.relu(y)),
        ("inputs[1]", lambda: builder.concat([x, y], 0)),
        ("options.bias", lambda: builder.conv2d(image, image, bias=vector(other, size=1))),
        ("outputs['y']", lambda: builder.buildSync({"y": other.relu(y)})),
        (
            "options.activations[0]",
            lambda: builder.gruCell(
                builder.input("i", dataType="float32", dimensions=[1, 1]),
                builder.input("w", dataType="float32", dimensions=[3, 1]),
                builder.input("r", dataType="float32", dimensions=[3, 1]),
                builder.input("h", dataType="float32", dimensions=[1, 1]),
                1,
                activations=[other.relu(), builder.relu()],
            ),
        ),
    ]
    for argument, call in cases:
        with refused(rule="owner", argument=argument):
            call()


#: The outputs of a graph of the input x, and their values where x is [1, 2].
COMPUTED: dict[str, tuple[Callable[[Any, Any], dict[str, MLOperand]], dict[str, Any]]] = {
    "no inputs": (lambda b, _: {"y": b.add(two := b.constant("float32", 2), two)}, {"y": 4}),
    "shared sub-graphs and several outputs": (
        lambda b, x: {"a": b.mul(shared := b.add(x, x), shared), "b": b.neg(shared), "c": shared},
        {"a": [4, 16], "b": [-2, -4], "c": [2, 4]},
    ),
    "an operand listed twice": (lambda b, x: {"a": (y := b.neg(x)), "b": y, "c": b.neg(y)}, {"a": [-1, -2], "b": [-1, -2], "c": [1, 2]}),
    "an operation used twice on one operand": (lambda b, x: {"y": b.concat([x, x], 0)}, {"y": [1, 2, 1, 2]}),
    "one part of a split": (lambda b, x: {"y": b.split(x, 2)[1]}, {"y": [2]}),
}


@pytest.mark.parametrize(("make", "expected"), COMPUTED.values(), ids=COMPUTED)
def test_what_a_graph_computes(context: MLContext, builder: MLGraphBuilder, make: Any, expected: dict[str, Any]) -> None:
    graph = builder.buildSync(make(builder, vector(builder)))
    inputs = {"x": np.array([1, 2], np.float32)} if graph._implementation.inputs else {}
    assert compute(context, graph, inputs, **{name: np.zeros(np.shape(value), np.float32) for name, value in expected.items()}) == expected


def test_unused_inputs_are_no_inputs_of_the_graph(context: MLContext, builder: MLGraphBuilder) -> None:
    x = vector(builder)
    builder.relu(vector(builder, "unused"))
    builder.input("x", dataType="int8")
    graph = builder.buildSync({"y": builder.neg(x)})
    assert compute(context, graph, {"x": np.array([1, 2], np.float32)}, y=zeros()) == {"y": [-1, -2]}


@pytest.mark.parametrize("size", [3, 300])
def test_constants_used_by_several_operations(context: MLContext, builder: MLGraphBuilder, size: int) -> None:
    x = vector(builder, size=size)
    constant = builder.constant({"dataType": "float32", "dimensions": [size]}, np.full(size, 3, np.float32))
    graph = builder.buildSync({"a": builder.add(x, constant), "b": builder.mul(builder.mul(x, constant), constant)})
    assert compute(context, graph, {"x": np.ones(size, np.float32)}, a=zeros(size), b=zeros(size)) == {"a": [4] * size, "b": [9] * size}


NAMES = ["größe", "入力", "a/b:0", "with space", "\0", "\ud800", "🙂", "input.0", "constant.0", "__proto__", "x" * 10_000, "undefined"]


@pytest.mark.parametrize("name", NAMES)
def test_any_name(context: MLContext, builder: MLGraphBuilder, name: str) -> None:
    graph = builder.buildSync({name: builder.neg(vector(builder, name))})
    result = context.computeSync(graph, {name: np.array([1, 2], np.float32)}, {name: zeros()})
    assert result["outputs"][name].tolist() == [-1, -2]


@pytest.mark.parametrize("length", [5_000])
def test_long_chains(context: MLContext, builder: MLGraphBuilder, length: int) -> None:
    x = y = vector(builder)
    for _ in range(length):
        y = builder.add(y, x)
    graph = builder.buildSync({"y": y})
    assert compute(context, graph, {"x": np.array([1, 2], np.float32)}, y=zeros()) == {"y": [length + 1, 2 * (length + 1)]}
    del x, y, graph, builder


def test_very_long_chains_are_collected(builder: MLGraphBuilder) -> None:
    x = y = vector(builder)
    for _ in range(50_000):
        y = builder.add(y, x)
    assert len(builder._collect({"y": y}).operators) == 50_000
    del x, y


def test_wide_sharing_is_not_exponential(builder: MLGraphBuilder) -> None:
    y = vector(builder)
    for _ in range(100):
        y = builder.add(y, y)
    assert len(builder._collect({"y": y}).operators) == 100


def test_building_twice_and_going_on(context: MLContext, builder: MLGraphBuilder) -> None:
    x = vector(builder)
    y = builder.neg(x)
    first = builder.buildSync({"y": y})
    second = builder.buildSync({"z": builder.neg(y)})
    assert compute(context, first, {"x": np.array([1, 2], np.float32)}, y=zeros()) == {"y": [-1, -2]}
    assert compute(context, second, {"x": np.array([1, 2], np.float32)}, z=zeros()) == {"z": [1, 2]}


def test_wrong_outputs(builder: MLGraphBuilder) -> None:
    x = vector(builder)
    two = builder.constant("float32", 2)
    cases: list[tuple[Any, str, str]] = [
        ({}, "outputs", "length"),
        (None, "outputs", "conversion"),
        ([x], "outputs", "conversion"),
        ({"": builder.neg(x)}, "outputs", "name"),
        ({"y": None}, "outputs['y']", "conversion"),
        ({"y": x}, "outputs['y']", "result"),
        ({"y": two}, "outputs['y']", "result"),
        ({"y": builder.add(x, vector(builder))}, "outputs", "different"),
    ]
    for outputs, argument, rule in cases:
        with refused(rule=rule, operation="build", argument=argument):
            builder.buildSync(outputs)


async def test_build(context: MLContext, builder: MLGraphBuilder) -> None:
    future = builder.build({"y": builder.neg(vector(builder))})
    assert isinstance(future, asyncio.Future)
    graph = await future
    result = await context.compute(graph, {"x": np.array([1, 2], np.float32)}, {"y": zeros()})
    assert result["outputs"]["y"].tolist() == [-1, -2]


async def test_a_failed_step_rejects_the_future(builder: MLGraphBuilder) -> None:
    future = builder.build({})
    with refused(rule="length", operation="build", argument="outputs"):
        await future


async def test_many_builds_at_once(context: MLContext) -> None:
    async def work(factor: int) -> list[float]:
        builder = MLGraphBuilder(context)
        y = builder.mul(vector(builder), builder.constant("float32", factor))
        graph = await builder.build({"y": y})
        result = await context.compute(graph, {"x": np.array([1, 2], np.float32)}, {"y": zeros()})
        return list(result["outputs"]["y"])

    assert await asyncio.gather(*(work(factor) for factor in range(20))) == [[factor, 2 * factor] for factor in range(20)]


def test_texts_for_people(builder: MLGraphBuilder) -> None:
    x = vector(builder)
    assert repr(x) == "<MLOperand float32 [2]: input 'x'>"
    assert repr(builder.neg(x)) == "<MLOperand float32 [2]: output 0 of neg>"
    assert repr(builder.constant("int8", 1)) == "<MLOperand int8 []: constant>"
    assert repr(builder.leakyRelu(alpha=0.5)) == "<MLActivation leakyRelu(alpha=0.5)>"
    assert repr(builder.buildSync({"y": builder.neg(x)})) == "<MLGraph ('x': float32 [2]) -> ('y': float32 [2])>"
