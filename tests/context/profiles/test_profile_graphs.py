"""Graphs on a device profile: each accepts what its backend does, and refuses the rest with the operand, the profile and what it takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from tests.meta.claims import CHOSEN, Case, Claim, call, case, claims
from tests.support import BROWSERS, CURRENT, Arguments, Shape, limits_of, make_context, refused
from webnn import ML, MLContext, MLGraphBuilder, MLOperand, WebNNTypeError
from webnn.builder.base import named_operands
from webnn.context.limits import EXCEPTIONS
from webnn.context.profiles import PROFILES, Profile, TensorLimits, Violation, load_profile
from webnn.validation.descriptor import MAX_RANK

FORMER = "2024-06"
FLOAT, INT32, UINT32, INT64, UINT8, INT4, UINT4 = (
    Shape(dataType, [2, 2]) for dataType in ("float32", "int32", "uint32", "int64", "uint8", "int4", "uint4")
)
VECTOR, SEVEN = Shape("float32", [2]), Shape("float32", [1] * 7)


def context_of(profile: Profile, revision: str = CURRENT) -> MLContext:
    # With the engine that needs no process: limits do not depend on it.
    return ML(revision=revision, profile=profile, engine="onnxruntime").createContextSync()


def of_operations(name: str) -> Profile:
    """Return a profile that takes every input of a graph: an operation can be given any operand."""
    return replace(load_profile(name), observer=lambda violation: violation.operation == "input")


CONTEXTS = {(name, revision): context_of(of_operations(name), revision) for name in PROFILES for revision in (FORMER, CURRENT)}


def connect(context: MLContext, operation: str, *arguments: Any, **options: Any) -> list[MLOperand]:
    """Call an operation with operands for the `Shape`s."""
    converter = Arguments(MLGraphBuilder(context))
    positional = [converter.convert(argument) for argument in arguments]
    returned = getattr(converter.builder, operation)(*positional, {name: converter.convert(value) for name, value in options.items()})
    return returned if isinstance(returned, list) else [returned]


# Calls that are characteristic of each profile


@dataclass(frozen=True)
class Refusal:
    """A call that a profile refuses: the operand at fault, what must hold (or the data types), and what was given."""

    profile: str
    operation: str
    arguments: tuple[Any, ...]
    at: str
    wants: str | list[str]
    got: str
    options: dict[str, Any] = field(default_factory=dict)
    revision: str = CURRENT

    def __str__(self) -> str:
        return f"{self.profile}, {self.revision}: {self.operation}, {self.at}"


REFUSED = [
    Refusal("coreml", "gather", (FLOAT, Shape("int64", [1])), "indices", ["int32"], "int64"),
    Refusal("coreml", "gather", (FLOAT, Shape("uint32", [1])), "indices", ["int32"], "uint32", revision=FORMER),
    Refusal("coreml", "relu", (INT32,), "input", ["float32", "float16"], "int32"),
    Refusal("coreml", "batchNormalization", (FLOAT, VECTOR, VECTOR), "input", "must have 3 to 5 dimensions", "2-D [2, 2]"),
    Refusal("coreml", "reshape", (FLOAT, [1, 1, 1, 4, 1, 1]), "output", "must have at most 5 dimensions", "6-D [1, 1, 1, 4, 1, 1]"),
    Refusal("coreml", "concat", ([INT64, INT64], 0), "inputs[0]", ["float32", "float16", "int32"], "int64"),
    Refusal("coreml", "cast", (FLOAT, "int64"), "dataType", ["float32", "float16", "int32", "int8", "uint8"], "int64"),
    Refusal("coreml", "cast", (FLOAT, "int64"), "type", ["float32", "float16", "int32", "int8", "uint8"], "int64", revision=FORMER),
    Refusal("coreml", "argMax", (FLOAT, 0), "options.outputDataType", ["int32"], "int64", {"outputDataType": "int64"}),
    Refusal("coreml", "argMax", (FLOAT,), "output", ["int32"], "int64", revision=FORMER),
    Refusal("coreml-macos14", "dequantizeLinear", (INT4, FLOAT, INT4), "input", ["int32", "uint32", "int8", "uint8"], "int4"),
    Refusal("dml", "relu", (INT64,), "input", ["float32", "float16", "int32", "int8"], "int64"),
    Refusal("dml-fl4_0", "add", (INT64, INT64), "a", ["float32", "float16", "int32", "uint32"], "int64"),
    Refusal("dml-fl4_1", "add", (UINT8, UINT8), "a", ["float32", "float16", "int32", "uint32", "int64", "uint64"], "uint8"),
    Refusal("dml-fl5_0", "relu", (INT32,), "input", ["float32", "float16"], "int32"),
    Refusal("dml-fl5_1", "div", (INT64, INT64), "a", ["float32", "float16", "int32", "uint32", "int8", "uint8"], "int64"),
    Refusal("dml-fl6_0", "quantizeLinear", (FLOAT, FLOAT, INT4), "zeroPoint", ["int8", "uint8"], "int4"),
    Refusal("dml-fl6_2", "dequantizeLinear", (UINT4, FLOAT, UINT4), "input", ["int32", "uint32", "int8", "uint8"], "uint4"),
    Refusal("ort", "dequantizeLinear", (INT32, FLOAT, INT32), "input", ["int8", "uint8", "int4", "uint4"], "int32"),
    Refusal("ort", "where", (UINT8, UINT32, UINT32), "trueValue", ["float32", "float16", "int32", "int64", "uint8"], "uint32"),
    Refusal("ort", "where", (UINT8, UINT32, UINT32), "input", ["float32", "float16", "int32", "int64", "uint8"], "uint32", revision=FORMER),
    Refusal("ort-openvino", "quantizeLinear", (FLOAT, FLOAT, INT32), "zeroPoint", ["int8", "uint8", "int4", "uint4"], "int32"),
    Refusal("tflite-chromium147", "add", (FLOAT, SEVEN), "b", "must have at most 6 dimensions", "7-D [1, 1, 1, 1, 1, 1, 1]"),
    Refusal("tflite-chromium153", "pow", (FLOAT, SEVEN), "b", "must have at most 5 dimensions", "7-D [1, 1, 1, 1, 1, 1, 1]"),
]


@pytest.mark.parametrize("refused", REFUSED, ids=str)
def test_what_a_profile_refuses(refused: Refusal) -> None:
    with pytest.raises(WebNNTypeError) as caught:
        connect(CONTEXTS[refused.profile, refused.revision], refused.operation, *refused.arguments, label="mine", **refused.options)
    verb = "be one" if refused.at.lower().endswith("type") else "have a data type"
    wants = refused.wants if isinstance(refused.wants, str) else f"must {verb} of {refused.wants}"
    assert str(caught.value) == (
        f'[mine] {refused.operation}: {refused.at} {wants} on the device profile "{refused.profile}", got {refused.got}'
    )
    assert (caught.value.operation, caught.value.argument, caught.value.label) == (refused.operation, refused.at, "mine")
    assert caught.value.anchor.startswith("#api-mlgraphbuilder-")
    # Without the profile it is a graph.
    plain = make_context(BROWSERS if refused.revision == CURRENT else refused.revision)
    assert connect(plain, refused.operation, *refused.arguments, **refused.options)


def test_the_profiles_are_there() -> None:
    assert {refused.profile for refused in REFUSED} <= set(PROFILES)
    assert len({refused.profile for refused in REFUSED}) >= 13


def test_the_draft_comes_first() -> None:
    """The draft's own refusals keep the draft's text, whatever the device takes."""
    for context in (CONTEXTS["coreml", CURRENT], make_context(BROWSERS)):
        with refused(rule="type", operation="add", argument="b"):
            connect(context, "add", INT64, INT32)


def test_an_operand_of_the_options() -> None:
    coreml = load_profile("coreml")
    rows = {**coreml.operations["conv2d"], "bias": TensorLimits((), (0, 0))}
    profile = replace(coreml, name="mine", operations={**coreml.operations, "conv2d": MappingProxyType(rows)})
    image, kernel = Shape("float32", [1, 1, 3, 3]), Shape("float32", [2, 1, 2, 2])
    for revision in (FORMER, CURRENT):
        context = context_of(profile, revision)
        assert len(connect(context, "conv2d", image, kernel)) == 1
        with pytest.raises(WebNNTypeError) as caught:
            connect(context, "conv2d", image, kernel, bias=VECTOR)
        assert str(caught.value) == (
            'conv2d: options.bias must not be given on the device profile "mine", which takes no data type here, got float32'
        )


def test_an_operation_that_the_profile_lacks() -> None:
    coreml = load_profile("coreml")
    lacking = replace(coreml, name="mine", operations={name: rows for name, rows in coreml.operations.items() if name != "tanh"})
    with pytest.raises(WebNNTypeError) as caught:
        connect(context_of(lacking), "tanh", FLOAT, label="last")
    assert str(caught.value) == '[last] tanh: the device profile "mine" does not have it'
    assert (caught.value.operation, caught.value.argument) == ("tanh", "")
    assert "tanh" not in context_of(lacking).opSupportLimits()


# Inputs, constants, outputs


def test_the_inputs_of_a_graph() -> None:
    builder = MLGraphBuilder(context_of(load_profile("coreml")))
    assert builder.input("x", dataType="float16", shape=[1] * 5).dataType == "float16"
    with pytest.raises(WebNNTypeError) as caught:
        builder.input("mask", dataType="uint8", shape=[2])
    takes = "must have a data type of ['float32', 'float16', 'int32']"
    assert str(caught.value) == f'[mask] input: descriptor {takes} on the device profile "coreml", got uint8'
    assert (caught.value.argument, caught.value.label) == ("descriptor", "mask")
    with refused(rule="device", operation="input", argument="descriptor"):
        builder.input("deep", dataType="float32", shape=[1] * 6)
    # A name that was refused is free.
    assert builder.input("mask", dataType="int32", shape=[2]).shape == (2,)


@pytest.mark.parametrize("revision", [FORMER, CURRENT])
def test_the_constants_of_a_graph(revision: str) -> None:
    shape = "shape" if revision == CURRENT else "dimensions"
    builder = MLGraphBuilder(context_of(load_profile("coreml"), revision))
    builder.constant({"dataType": "uint8", shape: [2]}, np.zeros(2, np.uint8))
    builder.constant("uint8", 3)
    takes = '.* on the device profile "coreml", got int64$'
    with refused(rule="device", operation="constant", argument="descriptor"):
        builder.constant({"dataType": "int64", shape: [2]}, np.zeros(2, np.int64))
    with pytest.raises(WebNNTypeError, match=f"^constant: {'dataType' if revision == CURRENT else 'type'} must be one of {takes}"):
        builder.constant("int64", 3)
    with refused(rule="device", operation="constant", argument="descriptor"):
        builder.constant({"dataType": "float32", shape: [1] * 6}, np.zeros(1, np.float32))
    # The draft comes first.
    with refused(rule="byte-length", operation="constant", argument="bufferView"):
        builder.constant({"dataType": "int64", shape: [2]}, np.zeros(3, np.int64))


def test_the_outputs_of_a_graph() -> None:
    context = context_of(load_profile("coreml"))
    builder = MLGraphBuilder(context)
    x = builder.input("x", dataType="float32", shape=[2])
    outputs = {"good": builder.relu(x), "bad": builder.cast(x, "uint8")}
    with pytest.raises(WebNNTypeError) as caught:
        builder.buildSync(outputs)
    takes = "must have a data type of ['float32', 'float16', 'int32']"
    assert str(caught.value) == f"build: outputs['bad'] {takes} on the device profile \"coreml\", got uint8"
    assert caught.value.argument == "outputs['bad']"
    # A graph that was refused is none: the builder can go on.
    outputs["bad"] = builder.cast(outputs["bad"], "int32")
    assert builder.buildSync(outputs) is not None


def test_the_size_of_an_operand() -> None:
    large = {"dataType": "uint8", "shape": [2**31 - 1, 2]}
    assert MLGraphBuilder(context_of(load_profile("dml"))).input("x", large).shape == (2**31 - 1, 2)
    with refused(rule="limit", operation="input", argument="descriptor"):
        MLGraphBuilder(context_of(load_profile("ort"))).input("x", large)
    with refused(rule="limit", operation="input", argument="descriptor"):
        MLGraphBuilder(context_of(load_profile("dml"))).input("x", {"dataType": "uint8", "shape": [2**31 - 1, 3]})


# Observers


def test_an_observer_sees_everything_and_goes_on() -> None:
    seen: list[Violation] = []
    builder = MLGraphBuilder(context_of(replace(load_profile("coreml"), observer=lambda each: seen.append(each) is None)))
    x = builder.input("x", dataType="int64", shape=[2, 2])
    y = builder.gather(x, builder.constant({"dataType": "uint32", "shape": [1]}, np.zeros(1, np.uint32)), label="pick")
    z = builder.reshape(builder.cast(y, "uint64"), [1] * 5 + [2])
    graph = builder.buildSync({"z": z})
    assert graph is not None
    assert [(each.label, each.operation, each.argument, each.kind, each.given) for each in seen] == [
        ("x", "input", "descriptor", "dataType", "int64"),
        ("pick", "gather", "input", "dataType", "int64"),
        ("pick", "gather", "indices", "dataType", "uint32"),
        ("pick", "gather", "output", "dataType", "int64"),
        ("", "cast", "input", "dataType", "int64"),
        ("", "cast", "dataType", "dataType", "uint64"),
        ("", "reshape", "input", "dataType", "uint64"),
        ("", "reshape", "output", "dataType", "uint64"),
        ("", "reshape", "output", "rank", "6-D [1, 1, 1, 1, 1, 2]"),
        ("", "build", "outputs['z']", "dataType", "uint64"),
        ("", "build", "outputs['z']", "rank", "6-D [1, 1, 1, 1, 1, 2]"),
    ]


def test_an_observer_can_refuse() -> None:
    seen: list[Violation] = []

    def observe(violation: Violation) -> bool:
        seen.append(violation)
        return violation.kind == "dataType"

    builder = MLGraphBuilder(context_of(replace(load_profile("coreml"), observer=observe)))
    with refused(rule="device", operation="input", argument="descriptor"):
        builder.input("x", dataType="int64", shape=[1] * 6)
    assert [each.kind for each in seen] == ["dataType", "rank"]


# Every row of every profile


#: How many operands each profile is shown to take, at each of their types and at two ranks; how many calls of the draft it is to refuse.
LEAST = {
    "coreml": (1133, 348),
    "coreml-macos14": (1125, 350),
    "dml": (1993, 23),
    "dml-fl4_0": (1529, 127),
    "dml-fl4_1": (1757, 75),
    "dml-fl5_0": (1881, 45),
    "dml-fl5_1": (1957, 31),
    "dml-fl6_0": (1977, 27),
    "dml-fl6_2": (1977, 27),
    "ort": (1896, 48),
    "ort-openvino": (1900, 47),
    "tflite-chromium147": (1470, 216),
    "tflite-chromium153": (1456, 221),
}


def made(claim: Claim, profile: Profile) -> Case:
    """Return the call of a claim; where the shapes of its other operands are none of the profile's, one of the same meaning."""
    rows = profile.operations[claim.operation]
    call = case(claim, {name: limits.dictionary() for name, limits in rows.items()})
    if claim.operation == "batchNormalization" and claim.operand not in {"input", "output"}:
        return call.with_operand("input", shape=(2,) * rows["input"].ranks[0])
    if claim.operation == "gatherND" and claim.operand == "output" and claim.rank > rows["indices"].ranks[1]:
        # The dimensions come from the input.
        return call.with_operand("input", shape=(2,) * claim.rank).with_operand("indices", shape=(2, 1))
    if claim.operation == "scatterND" and claim.operand == "updates" and claim.rank > rows["indices"].ranks[1]:
        return call.with_operand("input", shape=(2,) * claim.rank).with_operand("indices", shape=(2, 1))
    if claim.operation == "scatterND" and claim.rank == 1 and rows["updates"].ranks[0] == 1:
        # The updates are not a scalar: one element for each index, or a row for the only one.
        if claim.operand in {"input", "output"}:
            return call.with_operand("indices", shape=(1, 1)).with_operand("updates", shape=(1,))
        return call.with_operand("input", shape=(2, 2)).with_operand("updates", shape=(2,))
    return call


def taken(profile: Profile) -> Iterator[Claim]:
    """List every type of every operand of a profile, at its lowest and its highest rank."""
    for operation, rows in profile.operations.items():
        for claim in claims(operation, {name: limits.dictionary() for name, limits in rows.items()}):
            # Indices have the rank of the input.
            if claim.operation == "gatherElements" and claim.rank > rows["indices"].ranks[1]:
                continue
            # The draft's own steps refuse a scalar.
            if (claim.operation, claim.operand, claim.rank) == ("scatterElements", "indices", 0):
                continue
            # That browser says that it slices scalars of uint32, and its call fails: a rule of the profile.
            if profile.name == "tflite-chromium153" and (claim.operation, claim.dataType, claim.rank) == ("slice", "uint32", 0):
                continue
            yield claim


@pytest.mark.parametrize("name", PROFILES)
def test_what_a_profile_takes_is_taken(name: str) -> None:
    profile, context = load_profile(name), CONTEXTS[name, CURRENT]
    count = 0
    for claim in taken(profile):
        outputs = call(MLGraphBuilder(context), made(claim, profile))
        assert outputs, claim
        count += 1
    assert count >= LEAST.get(name, (1, 1))[0]


def untaken(profile: Profile) -> Iterator[Case]:
    """Make calls that the draft takes and a profile does not: a type that a row lacks, a rank below its smallest or above its largest."""
    for operation, rows in profile.operations.items():
        for name, row in limits_of(BROWSERS).operations[operation].items():
            limits = rows[name]
            lowest, highest = row.ranks[0], MAX_RANK if row.ranks[1] is None else row.ranks[1]
            low, high = limits.ranks
            if operation not in EXCEPTIONS and not row.same_type_as and (operation in CHOSEN or not row.output):
                for dataType in row.data_types:
                    if dataType not in limits.data_types:
                        yield made(Claim(operation, name, dataType, max(low, lowest)), profile)
            if not row.output:
                for rank in (low - 1, high + 1):
                    if lowest <= rank <= highest:
                        yield made(Claim(operation, name, limits.data_types[0], rank), profile)


def at_fault(case: Case, profile: Profile) -> tuple[str, str]:
    """Return what an error calls the first operand that a profile does not take, and a word of the error."""
    allowed, rows = limits_of(BROWSERS).operations[case.operation], profile.operations[case.operation]
    for name, dataType, shape in case.operands:
        row, limits = allowed[name], rows[name]
        argument = f"options.{name}" if row.option else f"{name}[0]" if row.sequence else name
        if dataType not in limits.data_types:
            return argument, "data type of ["
        if not limits.ranks[0] <= len(shape) <= limits.ranks[1]:
            return argument, "dimension"
    return CHOSEN[case.operation], "of ["


@pytest.mark.parametrize("name", PROFILES)
def test_what_a_profile_does_not_take_is_refused(name: str) -> None:
    profile, context = load_profile(name), CONTEXTS[name, CURRENT]
    count = 0
    for each in untaken(profile):
        with pytest.raises(WebNNTypeError) as caught:
            call(MLGraphBuilder(context), each)
        argument, word = at_fault(each, profile)
        assert (caught.value.operation, caught.value.argument) == (each.operation, argument), f"{each}: {caught.value}"
        assert word in str(caught.value), each
        assert f'on the device profile "{name}"' in str(caught.value), each
        count += 1
    # A provider takes all that the draft takes.
    assert count >= LEAST.get(name, (1, 1 if profile.native is None else 0))[1]


# The operands of an operator


def test_the_operands_of_an_operator() -> None:
    (output,) = connect(make_context(CURRENT), "conv2d", Shape("float32", [1, 1, 3, 3]), Shape("float32", [2, 1, 2, 2]), bias=VECTOR)
    operator = output._operator
    assert operator is not None
    named = list(named_operands(operator.operation, operator.inputs, operator.members))
    assert [(argument, row) for argument, row, _ in named] == [("input", "input"), ("filter", "filter"), ("options.bias", "bias")]
    assert [descriptor.dimensions for _, _, descriptor in named] == [(1, 1, 3, 3), (2, 1, 2, 2), (2,)]
    (joined,) = connect(make_context(FORMER), "concat", [FLOAT, FLOAT, FLOAT], 0)
    assert joined._operator is not None
    named = list(named_operands(joined._operator.operation, joined._operator.inputs, joined._operator.members))
    assert [(argument, row) for argument, row, _ in named] == [(f"inputs[{index}]", "inputs") for index in range(3)]
