"""A graph as a value: what `describe` says of it, and that `GraphDescription.build` makes it again."""

from __future__ import annotations

import gc
import pickle
import sys
import weakref
from collections.abc import Callable, Mapping
from dataclasses import FrozenInstanceError, fields, replace
from typing import Any

import numpy as np
import pytest

import webnn
from tests.property.calls import Call, connect
from tests.property.profiles import by_day_and_night, hold
from tests.property.samples import SAMPLES, Sample, numbers
from tests.property.strategies import CALLS
from tests.support import CURRENT, each_row, make_context, refused
from webnn import (
    ActivationDescription,
    ConstantDescription,
    DescriptionError,
    GraphDescription,
    MLGraphBuilder,
    MLOperand,
    OperandDescriptor,
    OperatorDescription,
    WebNNTypeError,
    describe,
)
from webnn.builder.describe import make_operator
from webnn.validation.drafts import DRAFTS, find_revision

BROWSERS = f"{CURRENT}+browsers"
CONTEXTS = {draft: make_context(draft) for draft in ("2024-06", CURRENT, BROWSERS)}
OLD, NEW = "2024-06", CURRENT
FLOATS = OperandDescriptor("float32", (2, 3))
TITLES = {f"{number}: {sample.title}": sample for number, sample in enumerate(SAMPLES)}


def new_builder(draft: str = NEW) -> MLGraphBuilder:
    return MLGraphBuilder(CONTEXTS[draft])


def descriptor(builder: MLGraphBuilder, dataType: str, *shape: int) -> Any:
    return {"dataType": dataType, builder._revision.shape: list(shape)}


def tensor(builder: MLGraphBuilder, name: str = "x", dataType: str = "float32", shape: tuple[int, ...] = (2, 3)) -> MLOperand:
    return builder.input(name, descriptor(builder, dataType, *shape))


def fixed(builder: MLGraphBuilder, *shape: int, dataType: str = "float32", value: float = 1) -> MLOperand:
    return builder.constant(descriptor(builder, dataType, *shape), np.full(shape, value, dataType))


def again(description: GraphDescription) -> GraphDescription:
    """Build a graph once more, and describe that."""
    builder = new_builder(description.draft)
    return describe(description.build(builder), name=description.name)


def check(outputs: list[MLOperand]) -> GraphDescription:
    named = {f"output{index}": operand for index, operand in enumerate(outputs)}
    description = describe(named, name="graph")
    assert again(description) == description
    types = description.descriptors()
    assert [types[description.outputs[name]] for name in named] == [operand.descriptor for operand in outputs]
    return description


# Every operation of both drafts.


@by_day_and_night(3, 100)
@pytest.mark.parametrize("name", CALLS[OLD])
def test_operations_of_the_first_draft(name: str, profile: str, examples: int) -> None:
    def round_trip(call: Call) -> None:
        [described] = check(connect(new_builder(OLD), call).outputs).operators
        options = {*described.options, *described.operands}
        assert (described.operation, options) == (name, {member for member, value in call.options.items() if value is not None})
        row = find_revision(OLD).operations[name]
        assert [*described.inputs, *described.arguments] == [*row.operands, *(each.name for each in row.arguments)]

    hold(profile, examples, CALLS[OLD][name], round_trip)


@each_row("title", TITLES)
def test_operations_of_the_newest_draft(title: str) -> None:
    sample = TITLES[title]
    operators = [check(outputs).operators for outputs in sampled(sample)]
    assert operators
    for [described] in operators:
        row = find_revision(DRAFTS[-1]).operations[sample.name]
        assert described.operation == sample.name
        assert [*described.inputs, *described.arguments] == [*row.operands, *(each.name for each in row.arguments)]


def sampled(sample: Sample) -> list[list[MLOperand]]:
    """Return the outputs of a sample for each data type that it takes."""
    found = []
    for dtype in ("float32", "float16", "int32", "uint8", "int8"):
        try:
            found.append(connect(new_builder(), sample.call(numbers([2, 2, 3, 2][-(sample.rank or 3) :], dtype))).outputs)
        except WebNNTypeError:
            continue
    return found


def test_every_operation_is_tried() -> None:
    assert set(CALLS[OLD]) == set(find_revision(OLD).operations)
    assert {sample.name for sample in SAMPLES} == set(find_revision(DRAFTS[-1]).operations)


# The content of a description.

Make = Callable[[MLGraphBuilder], MLOperand | list[MLOperand]]


def operator(operation: str, inputs: Mapping[str, Any], outputs: tuple[str, ...] = ("y",), **more: Any) -> OperatorDescription:
    return OperatorDescription(operation=operation, inputs=inputs, outputs=outputs, **more)


X = {"input": "x"}
#: A draft, a call on the input x and its description.
CALLED: dict[str, tuple[str, Make, OperatorDescription]] = {
    "an operand": (NEW, lambda b: b.relu(tensor(b)), operator("relu", X)),
    "operands": (NEW, lambda b: b.add(x := tensor(b), x), operator("add", {"a": "x", "b": "x"})),
    "a sequence of operands": (
        NEW,
        lambda b: b.concat([x := tensor(b), x], 1),
        operator("concat", {"inputs": ("x", "x")}, arguments={"axis": 1}),
    ),
    "arguments": (NEW, lambda b: b.reshape(tensor(b), [3, 2]), operator("reshape", X, arguments={"newShape": (3, 2)})),
    "a data type": (NEW, lambda b: b.cast(tensor(b), "int8"), operator("cast", X, arguments={"dataType": "int8"})),
    "an argument by another name": (OLD, lambda b: b.cast(tensor(b), type="int8"), operator("cast", X, arguments={"type": "int8"})),
    "an option": (NEW, lambda b: b.transpose(tensor(b), permutation=[1, 0]), operator("transpose", X, options={"permutation": (1, 0)})),
    "an option that is the default": (NEW, lambda b: b.elu(tensor(b), {"alpha": 1}), operator("elu", X, options={"alpha": 1})),
    "an option that is missing": (NEW, lambda b: b.elu(tensor(b), {"alpha": None}), operator("elu", X)),
    "no options": (NEW, lambda b: b.elu(tensor(b), {}), operator("elu", X)),
    "options in the IDL's order": (
        NEW,
        lambda b: b.reduceSum(tensor(b), keepDimensions=True, axes=np.array([1])),
        operator("reduceSum", X, options={"axes": (1,), "keepDimensions": True}),
    ),
    "a number as it was given": (NEW, lambda b: b.leakyRelu(tensor(b), alpha=0.1), operator("leakyRelu", X, options={"alpha": 0.1})),
    "a number before its cast": (NEW, lambda b: b.clamp(tensor(b), maxValue=2**70), operator("clamp", X, options={"maxValue": 2**70})),
    "a number that is not a Python number": (
        NEW,
        lambda b: b.elu(tensor(b), alpha=np.float64(0.5)),
        operator("elu", X, options={"alpha": 0.5}),
    ),
    "what an iterator yielded": (
        NEW,
        lambda b: b.transpose(tensor(b), permutation=iter([1, 0])),
        operator("transpose", X, options={"permutation": (1, 0)}),
    ),
    "what becomes a boolean": (NEW, lambda b: b.triangular(tensor(b), upper=0), operator("triangular", X, options={"upper": False})),
    "a label": (NEW, lambda b: b.relu(tensor(b), label="first"), operator("relu", X, label="first")),
    "a label in the dictionary": (OLD, lambda b: b.elu(tensor(b), {"label": "a b"}), operator("elu", X, label="a b")),
    "operands in options": (
        NEW,
        lambda b: b.gemm(x := tensor(b, shape=(3, 3)), x, c=fixed(b, 3), alpha=2),
        operator("gemm", {"a": "x", "b": "x"}, options={"alpha": 2}, operands={"c": "c"}),
    ),
    "several outputs": (
        NEW,
        lambda b: b.split(tensor(b), 3, axis=1),
        operator("split", X, ("y", "split_1", "split_2"), arguments={"splits": 3}, options={"axis": 1}),
    ),
    "a sequence of one": (NEW, lambda b: b.split(tensor(b), [2]), operator("split", X, arguments={"splits": (2,)})),
    "activations by name": (
        NEW,
        lambda b: recur(b, ["relu", "tanh"]),
        operator(
            "gruCell",
            {"input": "x", "weight": "weight", "recurrentWeight": "recurrentWeight", "hiddenState": "hiddenState"},
            arguments={"hiddenSize": 1},
            options={"activations": ("relu", "tanh")},
        ),
    ),
    "activations": (
        OLD,
        lambda b: recur(b, [b.leakyRelu(alpha=0.1), b.linear({"beta": 2})]),
        operator(
            "gruCell",
            {"input": "x", "weight": "weight", "recurrentWeight": "recurrentWeight", "hiddenState": "hiddenState"},
            arguments={"hiddenSize": 1},
            options={
                "activations": (
                    ActivationDescription(operation="leakyRelu", options={"alpha": 0.1}),
                    ActivationDescription(operation="linear", options={"beta": 2}),
                )
            },
        ),
    ),
}


def recur(builder: MLGraphBuilder, activations: Any) -> MLOperand:
    x = tensor(builder, shape=(1, 2))
    return builder.gruCell(x, fixed(builder, 3, 2), fixed(builder, 3, 1), fixed(builder, 1, 1), 1, activations=activations)


@pytest.mark.parametrize("name", CALLED)
def test_a_call(name: str) -> None:
    draft, make, expected = CALLED[name]
    made = make(new_builder(draft))
    operands = made if isinstance(made, list) else [made]
    description = describe({"y": operands[0]})
    assert description.operators == (expected,)
    assert list(description.operators[0].options) == list(expected.options)
    assert (description.draft, description.outputs, list(description.inputs)) == (draft, {"y": "y"}, ["x"])
    [described] = description.operators
    assert described.descriptors == tuple(each.descriptor for each in operands)
    assert again(description) == description


def test_a_program_cannot_change_it() -> None:
    builder = new_builder()
    axes, sizes = [0, 1], [3, 2]
    options: dict[str, Any] = {"axes": axes, "label": "sum"}
    y = builder.reduceSum(builder.reshape(tensor(builder), sizes), options)
    axes.clear()
    sizes.clear()
    options.clear()
    reshape, reduce = describe({"y": y}).operators
    assert (reshape.arguments, reduce.options, reduce.label) == ({"newShape": (3, 2)}, {"axes": (0, 1)}, "sum")


def test_only_what_is_needed() -> None:
    builder = new_builder()
    x, unused = tensor(builder), tensor(builder, "unused")
    parts = builder.split(builder.add(x, fixed(builder, 2, 3)), 3, {"axis": 1})
    builder.mul(unused, fixed(builder, 1))
    square = builder.mul(parts[0], parts[2])
    description = describe({"y": square, "part": parts[2]})
    assert (list(description.inputs), list(description.constants)) == (["x"], ["b"])
    assert [each.operation for each in description.operators] == ["add", "split", "mul"]
    assert description.operators[1].outputs == ("split_0", "split_1", "part")
    assert [each.index for each in description.operators] == [1, 2, 4]
    assert again(description) == description
    part = description.select(["part"])
    assert [each.operation for each in part.operators] == ["add", "split"]
    assert (part.outputs, list(part.constants)) == ({"part": "part"}, ["b"])
    with pytest.raises(KeyError):
        description.select(["z"])


def test_names() -> None:
    """An input keeps its name, an output's value has the output's if that is free, and the rest is told apart by numbers."""
    builder = new_builder()
    x, relu = tensor(builder), tensor(builder, "relu")
    first = builder.add(builder.relu(x), builder.relu(relu), label="sum")
    second = builder.add(first, builder.add(fixed(builder, 1), fixed(builder, 1), label="sum"))
    description = describe({"x": second, "z": first, "zz": first})
    assert list(description.inputs) == ["x", "relu"]
    assert list(description.constants) == ["sum_a", "sum_b"]
    assert [each.outputs for each in description.operators] == [("relu_2",), ("relu_3",), ("z",), ("sum",), ("add",)]
    assert description.outputs == {"x": "add", "z": "z", "zz": "z"}
    assert again(description) == description


def test_a_shared_constant_is_one() -> None:
    builder = new_builder()
    shared, other = fixed(builder, 3), fixed(builder, 3)
    y = builder.mul(builder.add(tensor(builder), shared), builder.add(shared, other))
    description = check([y])
    assert list(description.constants) == ["b", "b_2"]
    wanted = [{"a": "x", "b": "b"}, {"a": "b", "b": "b_2"}, {"a": "add", "b": "add_2"}]
    assert [dict(each.inputs) for each in description.operators] == wanted


def test_a_diamond() -> None:
    """Each operator once, however many ways lead to it."""
    builder = new_builder()
    y = tensor(builder)
    for _ in range(60):
        y = builder.add(y, y)
    assert len(check([y]).operators) == 60


def test_thousands_of_operators() -> None:
    builder = new_builder()
    y = tensor(builder)
    for _ in range(3000):
        y = builder.relu(y)
    description = check([y])
    assert len({each.outputs[0] for each in description.operators}) == 3000
    assert len(description.select(["output0"]).operators) == 3000


#: How a constant is made, its data type and shape, and its bytes.
CONSTANTS: dict[str, tuple[str, Callable[[MLGraphBuilder], MLOperand], tuple[str, tuple[int, ...]], bytes]] = {
    "an array": (NEW, lambda b: fixed(b, 2, dataType="int8", value=-1), ("int8", (2,)), b"\xff\xff"),
    "bytes": (NEW, lambda b: b.constant({"dataType": "uint8", "shape": [3]}, b"abc"), ("uint8", (3,)), b"abc"),
    "a transposed array": (
        NEW,
        lambda b: b.constant({"dataType": "int8", "shape": [3, 2]}, np.arange(6, dtype=np.int8).reshape(2, 3).T),
        ("int8", (3, 2)),
        bytes([0, 3, 1, 4, 2, 5]),
    ),
    "a scalar": (NEW, lambda b: b.constant("int64", -1), ("int64", ()), b"\xff" * 8),
    "a scalar before MLTensor": (OLD, lambda b: b.constant("uint8", 257.5), ("uint8", ()), b"\x01"),
    "int4": (
        BROWSERS,
        lambda b: b.constant({"dataType": "int4", "shape": [3]}, np.array([0x21, 3], np.uint8)),
        ("int4", (3,)),
        b"\x21\x03",
    ),
    "a scalar of uint4": (BROWSERS, lambda b: b.constant("uint4", 9), ("uint4", ()), b"\x09"),
    "a tensor": (NEW, lambda b: b.constant(constant_tensor([7, 8])), ("int8", (2,)), b"\x07\x08"),
}


def constant_tensor(values: list[int]) -> webnn.MLTensor:
    return CONSTANTS_CONTEXT.createConstantTensorSync({"dataType": "int8", "shape": [len(values)]}, np.array(values, np.int8))


CONSTANTS_CONTEXT = CONTEXTS[NEW]


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants(name: str) -> None:
    draft, make, (dataType, shape), content = CONSTANTS[name]
    builder = new_builder(draft)
    description = check([builder.identity(make(builder))])
    [constant] = description.constants.values()
    assert (constant.descriptor.dataType, constant.descriptor.shape) == (dataType, shape)
    assert constant.value.tobytes() == content
    with pytest.raises(ValueError, match="read-only"):
        constant.value[...] = 0


def test_a_destroyed_tensor_stays_described() -> None:
    builder = new_builder()
    made = constant_tensor([1, 2])
    y = builder.identity(builder.constant(made))
    description = describe({"y": y})
    made.destroy()
    assert description.constants["input"].value.tobytes() == b"\x01\x02"
    assert again(description) == description


@pytest.mark.parametrize("draft", CONTEXTS)
def test_before_and_after_build(draft: str) -> None:
    builder = new_builder(draft)
    outputs = {"y": builder.relu(tensor(builder)), "z": builder.abs(tensor(builder, "x2"))}
    before = describe(outputs)
    builder.buildSync(outputs)
    assert describe(outputs) == before


def test_it_keeps_nothing_alive() -> None:
    builder = new_builder(OLD)
    y = recur(builder, [builder.tanh(), builder.relu()])
    description = describe({"y": y})
    gone: list[weakref.ref[Any]] = [weakref.ref(builder), weakref.ref(y)]
    del builder, y
    gc.collect()
    assert [each() for each in gone] == [None, None]
    assert again(description) == description


# Equality.


def graph(**changes: Any) -> GraphDescription:
    whole: dict[str, Any] = {
        "draft": NEW,
        "inputs": {"x": FLOATS},
        "constants": {"c": constant([1.0, np.nan, 0.0])},
        "operators": (operator("add", {"a": "x", "b": "c"}, ("sum",)), operator("clamp", {"input": "sum"}, options={"minValue": 0.0})),
        "outputs": {"y": "y"},
    }
    return GraphDescription(**whole | changes)


def constant(values: list[float], dtype: str = "float32") -> ConstantDescription:
    return ConstantDescription(descriptor=OperandDescriptor(dtype, (len(values),)), value=np.array(values, dtype))  # type: ignore[arg-type]


def clamped(**options: Any) -> tuple[OperatorDescription, ...]:
    return graph().operators[0], operator("clamp", {"input": "sum"}, options=options)


def test_equality() -> None:
    assert graph() == graph()
    assert graph() != "graph"
    assert graph(operators=clamped(minValue=float("nan"))) == graph(operators=clamped(minValue=float("nan")))
    assert graph(operators=clamped(minValue=0)) == graph()
    with pytest.raises(TypeError, match="unhashable"):
        hash(graph())


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "other"},
        {"draft": BROWSERS},
        {"inputs": {"x": OperandDescriptor("float32", (3, 2))}},
        {"constants": {"c": constant([1.0, np.nan, -0.0])}},
        {"constants": {"c": constant([1, 0, 0], "int32")}},
        {"operators": clamped(minValue=-0.0)},
        {"operators": clamped(maxValue=0.0)},
        {"operators": (*clamped(minValue=0.0), operator("relu", {"input": "y"}, ("z",)))},
        {"outputs": {"z": "y"}},
    ],
    ids=str,
)
def test_inequality(changes: dict[str, Any]) -> None:
    assert graph(**changes) != graph()


def test_what_is_not_compared() -> None:
    assert replace(operator("relu", X), index=7, descriptors=(FLOATS,)) == operator("relu", X)


def test_pickles() -> None:
    description = again(graph(name="net"))
    assert pickle.loads(pickle.dumps(description)) == description
    for name in ("GraphDescription", "OperatorDescription", "ConstantDescription", "OperandDescriptor", "DescriptionError"):
        assert getattr(webnn, name).__module__ == "webnn"
    error = pickle.loads(pickle.dumps(DescriptionError("must be", "outputs")))
    assert str(error) == "outputs: must be"


def test_how_it_shows() -> None:
    assert repr(graph(name="net")) == "<GraphDescription 'net': (x) -> (y), 2 operators>"
    assert repr(graph()) == "<GraphDescription: (x) -> (y), 2 operators>"
    assert "array" not in repr(graph().constants)


# Refusals.


def two_builders() -> dict[str, Any]:
    first, second = new_builder(), new_builder()
    return {"y": first.relu(tensor(first)), "z": second.relu(tensor(second))}


def same_names() -> dict[str, Any]:
    builder = new_builder(OLD)
    return {"y": builder.add(tensor(builder), tensor(builder))}


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        (lambda: None, "describe: outputs must be a mapping from names to values, got None"),
        (dict, "describe: outputs must not be empty"),
        (lambda: {"y": 3}, "describe: outputs['y'] must be an MLOperand, got 3"),
        (lambda: {"": two_builders()["y"]}, "describe: outputs must not have an empty name"),
        (lambda: {"y": tensor(new_builder())}, "describe: outputs['y'] must be the result of an operation, but it is the input 'x'"),
        (lambda: {"y": fixed(new_builder(), 1)}, "describe: outputs['y'] must be the result of an operation, but it is a constant"),
        (two_builders, "describe: outputs['z'] must come from the builder of outputs['y']"),
        (same_names, "inputs must have different names, got two that are named 'x'"),
    ],
)
def test_what_cannot_be_described(outputs: Callable[[], Any], message: str) -> None:
    with pytest.raises(WebNNTypeError) as caught:
        describe(outputs())
    assert message in str(caught.value)


FIRST = graph().operators[0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"outputs": {"y": "nowhere"}}, "outputs: there is no value 'nowhere' yet"),
        ({"operators": (operator("relu", {"input": "y"}),)}, "operators[0]: there is no value 'y' yet"),
        ({"operators": (FIRST, operator("relu", X, ("sum",)))}, "operators[1].outputs: there is a value 'sum' already"),
        ({"operators": (operator("relu", X, ("x",)),)}, "operators[0].outputs: there is a value 'x' already"),
        ({"constants": {"x": constant([1])}}, "constants: there is a value 'x' already"),
        ({"operators": (operator("relu", X, ("y", "z")),)}, "operators[0].outputs: must name 1 results of relu, got ['y', 'z']"),
        ({"operators": (operator("frobnicate", X),)}, "operators[0].operation: the draft has no operation 'frobnicate'"),
        ({"operators": (operator("build", X),)}, "operators[0].operation: the draft has no operation 'build'"),
        ({"operators": (operator("__class__", X),)}, "operators[0].operation: the draft has no operation '__class__'"),
        ({"operators": (operator("relu", {"x": "x"}),)}, "operators[0].inputs: must be input, got x"),
        ({"operators": (operator("softmax", X),)}, "operators[0].arguments: must be axis, got none"),
        (
            {"operators": (operator("relu", X, options={"activations": (ActivationDescription(operation="relu"),)}),)},
            "operators[0].options: the draft has no activation function 'relu'",
        ),
    ],
)
def test_a_description_that_contradicts_itself(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        graph(**changes).build(new_builder())
    assert str(caught.value) == message


def test_what_the_builder_refuses() -> None:
    wrong = graph(operators=(operator("logicalNot", {"a": "x"}, label="no"),))
    with refused(rule="type", operation="logicalNot", argument="a", label="no"):
        wrong.build(new_builder())
    with refused(rule="conversion", operation="build", argument="builder"):
        wrong.build(3)  # type: ignore[arg-type]


def test_operands_that_stand_for_inputs() -> None:
    builder = new_builder()
    given = builder.exp(tensor(builder, "z", shape=FLOATS.shape))
    outputs = graph().build(builder, {"x": given})
    described = describe(outputs)
    assert list(described.inputs) == ["z"]
    assert [each.operation for each in described.operators] == ["exp", "add", "clamp"]


@each_row(
    ("inputs", "message"),
    [
        (lambda own, other: {"z": own()}, "inputs: there is no input 'z'"),
        (lambda own, other: {"x": own(4)}, "inputs: 'x' must be an operand of this builder, float32 [2, 3], got float32 [4]"),
        (
            lambda own, other: {"x": other(2, 3)},
            "inputs: 'x' must be an operand of this builder, float32 [2, 3], got float32 [2, 3] of another builder",
        ),
        (lambda own, other: {"x": 3}, "inputs: 'x' must be an operand of this builder, float32 [2, 3], got 3"),
    ],
)
def test_operands_that_cannot_stand_for_inputs(inputs: Callable[..., Any], message: str) -> None:
    own, other = new_builder(), new_builder()
    given = inputs(*[lambda *shape, each=each: tensor(each, shape=shape) for each in (own, other)])
    with pytest.raises(DescriptionError) as caught:
        graph().build(own, given)
    assert str(caught.value) == message


def test_another_draft() -> None:
    builder = new_builder(OLD)
    x = tensor(builder, shape=(1, 1, 4, 4))
    same, gone = builder.relu(x), builder.averagePool2d(x, roundingType="ceil")
    assert list(describe({"y": same}).build(new_builder())) == ["y"]
    with refused(rule="draft", operation="averagePool2d", argument="options.roundingType"):
        describe({"y": gone}).build(new_builder())


def test_inputs_in_any_order() -> None:
    """A mapping has no order that means something."""
    swapped = graph(operators=(operator("sub", {"b": "c", "a": "x"}),))
    assert again(swapped).operators[0].inputs == {"a": "x", "b": "b"}


def test_what_a_call_becomes() -> None:
    made = OperatorDescription.from_call(NEW, "gemm", ["x", "w"], {"c": "bias", "alpha": 2, "beta": None, "label": "fc"}, ["y"])
    inputs = {"a": "x", "b": "w"}
    assert made == operator("gemm", inputs, options={"alpha": 2}, operands={"c": "bias"}, label="fc")
    assert made.named_values() == [("a", "a", "x"), ("b", "b", "w"), ("options.c", "c", "bias")]
    joined = OperatorDescription.from_call(NEW, "concat", [["x", "z"], 0], {}, ["y"])
    assert joined.named_values() == [("inputs[0]", "inputs", "x"), ("inputs[1]", "inputs", "z")]
    with pytest.raises(DescriptionError, match="the draft has no operation 'tile'"):
        OperatorDescription.from_call(OLD, "tile", ["x", [1]], {}, ["y"])
    with refused(rule="length", operation="softmax"):
        OperatorDescription.from_call(NEW, "softmax", ["x"], {}, ["y"])
    with refused(rule="conversion", operation="relu", argument="input"):
        OperatorDescription.from_call(NEW, "relu", [5], {}, ["y"])


def test_the_draft_of_a_description_imports_nothing() -> None:
    with pytest.raises(ValueError, match=r"there is no revision .2026-06\+this:DRAFT. of the specification here"):
        OperatorDescription.from_call("2026-06+this:DRAFT", "relu", ["x"], {}, ["y"])
    assert "this" not in sys.modules


def test_both_ways_to_make_an_operator() -> None:
    values: dict[str, Any] = {
        "operation": "gemm",
        "inputs": {"a": "x", "b": "w"},
        "arguments": {"axis": 1},
        "options": {"alpha": 2.0},
        "operands": {"c": "bias"},
        "label": "fc",
        "outputs": ("y",),
        "descriptors": (webnn.OperandDescriptor("float32", (2,)),),
        "index": 3,
    }
    assert list(values) == [each.name for each in fields(OperatorDescription)]
    quick, usual = make_operator(**values), OperatorDescription(**values)
    assert quick == usual
    assert type(quick) is OperatorDescription
    assert repr(quick) == repr(usual)
    assert pickle.loads(pickle.dumps(quick)) == usual
    with pytest.raises(FrozenInstanceError):
        quick.label = "x"  # type: ignore[misc]
