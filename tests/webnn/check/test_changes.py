"""The advice of `webnn check`: each row of the table, and that the advice helps."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import ml_dtypes
import numpy as np
import pytest

from tests.support import BROWSERS, each_row, limits_of
from webnn import ML, MLGraphBuilder, MLOperand, describe
from webnn.check.changes import NEAREST, keep_native, loss, suggest
from webnn.check.report import Change
from webnn.context.profiles import Profile, TensorLimits, Violation, load_profile
from webnn.context.profiles.rules import Rule
from webnn.validation.descriptor import FLOAT_TYPES, NUMPY_DTYPES, DataType, integer_range, is_float
from webnn.validation.errors import WebNNTypeError

# The data types


def test_every_type_has_others() -> None:
    assert set(NEAREST) == set(get_args(DataType))
    for given, others in NEAREST.items():
        assert given not in others
        assert len(set(others)) == len(others) > 0


@each_row("given", NEAREST)
def test_what_is_exact_comes_first(given: DataType) -> None:
    """Among integers; and no type loses the sign."""
    others = NEAREST[given]
    integers = [each for each in others if each not in FLOAT_TYPES]
    exact = [not loss(given, each) for each in integers]
    assert exact == sorted(exact, reverse=True)
    if is_float(given):
        assert set(others) <= set(FLOAT_TYPES)
    else:
        assert all(integer_range(each)[0] < 0 for each in integers if integer_range(given)[0] < 0)


@each_row(
    ("given", "to", "expected"),
    [
        ("float16", "float32", ""),
        ("float32", "float16", "three digits remain, and values beyond 65504 do not fit"),
        ("bfloat16", "float32", ""),
        ("bfloat16", "float16", "values beyond 65504 do not fit"),
        ("float8e4m3", "float16", ""),
        ("int64", "int32", "values outside int32 do not fit"),
        ("uint64", "int64", "values above 9223372036854775807 do not fit"),
        ("uint32", "int32", "values above 2147483647 do not fit"),
        ("uint32", "int64", ""),
        ("uint8", "int8", "values above 127 do not fit"),
        ("uint8", "int32", ""),
        ("uint8", "float16", ""),
        ("int8", "float16", ""),
        ("int4", "int8", ""),
        ("uint4", "uint8", ""),
        ("int32", "float32", "only integers up to 16777216 stay exact"),
        ("int64", "float16", "only integers up to 2048 stay exact"),
    ],
)
def test_loss(given: DataType, to: DataType, expected: str) -> None:
    assert loss(given, to) == expected


def holds(to: DataType, value: float) -> bool:
    """Tell whether a type holds a number exactly."""
    if not is_float(to):
        low, high = integer_range(to)
        return low <= value <= high
    with np.errstate(over="ignore"):
        kept = float(np.array(value).astype(NUMPY_DTYPES[to]))
    # As Python compares an int with a float: exactly.
    return kept == value


@each_row(("given", "to"), [(given, to) for given, others in NEAREST.items() for to in others])
def test_a_type_that_loses_nothing_holds_every_value(given: DataType, to: DataType) -> None:
    values: list[float]
    if is_float(given):
        info = ml_dtypes.finfo(NUMPY_DTYPES[given])  # type: ignore[no-untyped-call]
        values = [float(info.max), float(info.tiny)]
    else:
        values = [*integer_range(given)]
    assert all(holds(given, value) for value in values)
    assert all(holds(to, value) for value in values) is (loss(given, to) == "")


# The advice

OPERANDS: list[tuple[str, str, str, str, str | None]] = [
    # operation, argument, given, profile, the advice
    ("maxPool2d", "input", "int8", "tflite", "cast input to float16, and the result back to int8"),
    ("maxPool2d", "output", "int8", "tflite", "cast input to float16, and the result back to int8"),
    ("add", "a", "uint8", "coreml", "cast a to int32, b too, and the result back to uint8"),
    ("add", "b", "int8", "coreml", "cast b to int32, a too, and the result back to int8"),
    ("concat", "inputs[1]", "uint8", "coreml", "cast inputs to int32, and the result back to uint8"),
    ("gemm", "c", "int8", "ort", "cast c to float16, a and b too, and the result back to int8"),
    (
        "batchNormalization",
        "mean",
        "int8",
        "ort",
        "cast mean to float16, input, variance, options.scale and options.bias too, and the result back to int8",
    ),
    ("where", "trueValue", "uint8", "tflite", "cast trueValue to int32, falseValue too, and the result back to uint8"),
    # As the draft of June 2024 calls them.
    ("where", "other", "uint8", "tflite", "cast other to int32, input too, and the result back to uint8"),
    ("gather", "indices", "uint32", "ort", "cast indices to int64"),
    ("relu", "input", "int32", "coreml", "cast input to float32, and the result back to int32 (only integers up to 16777216 stay exact)"),
    # Nothing casts what is refused: it has to come with the other type.
    (
        "add",
        "a",
        "int64",
        "coreml",
        "have a as int32 from the start, b too: no cast here takes int64 and gives int32 (values outside int32 do not fit)",
    ),
    (
        "gather",
        "indices",
        "int64",
        "coreml",
        "have indices as int32 from the start: no cast here takes int64 and gives int32 (values outside int32 do not fit)",
    ),
    ("quantizeLinear", "zeroPoint", "int4", "tflite", "have zeroPoint as int8 from the start: no cast here takes int4 and gives int8"),
    # The argument says what type the output has.
    ("argMax", "options.outputDataType", "int64", "coreml", 'give options.outputDataType as "int32" (values outside int32 do not fit)'),
    ("cast", "type", "uint32", "coreml", 'give type as "int32" (values above 2147483647 do not fit)'),
    # Values whose type the method determines.
    ("input", "descriptor", "uint8", "coreml", "declare the input as int32, and cast it to uint8 where the graph needs that"),
    ("input", "descriptor", "int64", "coreml", "declare the input as int32 (values outside int32 do not fit)"),
    ("constant", "descriptor", "int64", "coreml", "give the constant as int32 (values outside int32 do not fit)"),
    ("constant", "type", "uint4", "tflite", "give the constant as uint8"),
    ("createTensor", "descriptor", "int64", "coreml", "make the tensor as int32 (values outside int32 do not fit)"),
    ("build", "outputs['y']", "uint8", "coreml", "cast it to int32 before it leaves the graph"),
    # Nothing helps.
    ("build", "outputs['y']", "uint4", "tflite", None),
]
TENSORS = {"input": "input", "createTensor": "input", "constant": "constant", "build": "output"}


def allowed_by(profile: Profile, operation: str, argument: str) -> tuple[DataType, ...]:
    """Return the data types that a profile allows."""
    if operation in TENSORS:
        limits: TensorLimits = getattr(profile, TENSORS[operation])
        return limits.data_types
    row = {"other": "falseValue"}.get(argument, argument.removeprefix("options.").partition("[")[0])
    rows = profile.operations[operation]
    return rows[row if row in rows else "output"].data_types


@each_row(("operation", "argument", "given", "name", "expected"), OPERANDS)
def test_data_types(operation: str, argument: str, given: str, name: str, expected: str | None) -> None:
    profile = load_profile(name)
    allowed = allowed_by(profile, operation, argument)
    assert given not in allowed
    change = suggest(Violation(operation, argument, "dataType", given, allowed, name), profile)
    assert (change and change.text) == expected
    if change is not None:
        assert change.data_type in allowed
        assert bool(change.loses) == change.text.endswith(")")


def shape(*dimensions: int) -> str:
    return f"{len(dimensions)}-D {list(dimensions)}"


@each_row(
    ("operation", "argument", "given", "allowed", "profile", "expected"),
    [
        ("softmax", "input", shape(1, 2, 3, 1, 2, 2), (1, 5), "ort", "reshape input to 5-D: drop dimensions of size 1"),
        ("softmax", "input", shape(2, 2, 3, 2, 2, 2), (1, 5), "ort", "reshape input to 5-D: merge neighbouring dimensions"),
        (
            "softmax",
            "input",
            shape(2, 2, 3, 2, 2, 2),
            (1, 5),
            "coreml",
            "keep input at 5-D from the start: merge neighbouring dimensions (reshape takes no 6-D operand here)",
        ),
        # A result that an operation refuses to return cannot be reshaped.
        ("gather", "output", shape(2, 2, 3, 2, 2, 2), (0, 5), "ort", "keep output at 5-D from the start: merge neighbouring dimensions"),
        ("split", "outputs[1]", shape(2, 2, 3, 2, 2, 1), (0, 5), "ort", "keep outputs[1] at 5-D from the start: drop dimensions of size 1"),
        ("build", "outputs['y']", shape(2, 2, 3, 2, 2, 1), (0, 5), "ort", "reshape outputs['y'] to 5-D: drop dimensions of size 1"),
        ("gather", "input", shape(), (1, 5), "coreml", "reshape input to 1-D, with dimensions of size 1 in front"),
        ("batchNormalization", "input", shape(2, 3), (3, 5), "coreml", "reshape input to 3-D, with dimensions of size 1 in front"),
        ("input", "descriptor", shape(1, 2, 2, 2, 2, 2), (0, 5), "coreml", "declare the input as 5-D: drop dimensions of size 1"),
        ("input", "descriptor", shape(2), (2, 5), "coreml", "declare the input as 2-D, with dimensions of size 1 in front"),
        ("constant", "descriptor", shape(2, 2, 2, 2, 2, 2), (0, 5), "coreml", "give the constant as 5-D: merge neighbouring dimensions"),
    ],
)
def test_ranks(operation: str, argument: str, given: str, allowed: tuple[int, int], profile: str, expected: str) -> None:
    change = suggest(Violation(operation, argument, "rank", given, allowed, profile), load_profile(profile))
    assert change == Change(text=expected)


def test_nothing_helps_an_operation_that_is_not_there() -> None:
    profile = load_profile("coreml")
    assert suggest(Violation("gelu", "", profile=profile.name), profile) is None


def without(profile: Profile, *operations: str) -> Profile:
    return replace(profile, operations={name: rows for name, rows in profile.operations.items() if name not in operations})


def test_a_profile_without_cast_and_reshape() -> None:
    profile = without(load_profile("tflite"), "cast", "reshape")
    change = suggest(Violation("maxPool2d", "input", "dataType", "int8", ("float32", "float16"), profile.name), profile)
    assert change is not None
    assert change.text == "have input as float16 from the start: no cast here takes int8 and gives float16"
    assert suggest(Violation("gather", "input", "rank", "0-D []", (1, 5), profile.name), profile) is None


# The advice helps: with the cast that it names, the profile takes what it refused.

UNARY = [
    "abs",
    "ceil",
    "clamp",
    "elu",
    "exp",
    "identity",
    "leakyRelu",
    "linear",
    "neg",
    "relu",
    "sigmoid",
    "sign",
    "softsign",
    "sqrt",
    "tanh",
]
BINARY = ["add", "div", "max", "min", "mul", "pow", "sub"]

#: For each profile how many of the refusals a cast helps.
HELPED = {
    "coreml": 2,
    "coreml-macos14": 2,
    "dml": 4,
    "dml-fl4_0": 32,
    "dml-fl4_1": 22,
    "dml-fl5_0": 16,
    "dml-fl5_1": 6,
    "dml-fl6_0": 4,
    "dml-fl6_2": 4,
    "ort": 4,
    "ort-openvino": 4,
    "tflite-chromium147": 29,
    "tflite-chromium153": 29,
}


def refused_types(profile: Profile, operation: str, row: str) -> list[DataType]:
    """Return the types that the draft takes and a graph of the profile can have as an input, but not this operand."""
    known = limits_of(BROWSERS).operations[operation][row].data_types
    return [each for each in known if each in profile.input.data_types and each not in profile.operations[operation][row].data_types]


@pytest.mark.parametrize("name", HELPED)
def test_casts_help(name: str) -> None:
    refused: list[Violation] = []

    def observe(violation: Violation) -> bool:
        refused.append(violation)
        return False

    profile = load_profile(name)
    context = ML(revision="2026-06", profile=replace(profile, observer=observe)).createContextSync()
    helped = 0
    for operation in (*UNARY, *BINARY):
        for given in refused_types(profile, operation, "input" if operation in UNARY else "a"):

            def build(to: DataType | None, operation: str = operation, given: DataType = given) -> None:
                builder = MLGraphBuilder(context)
                x = builder.input("x", dataType=given, shape=[2])
                operand = x if to is None else builder.cast(x, to)
                result: MLOperand = getattr(builder, operation)(*[operand] * (1 if operation in UNARY else 2))
                builder.buildSync({"y": result if to is None else builder.cast(result, given)})

            with pytest.raises(WebNNTypeError):
                build(None)
            change = suggest(refused.pop(), profile)
            # Otherwise there is no cast to the other type on this profile.
            if change is not None and change.text.startswith("cast"):
                assert change.data_type in get_args(DataType)
                build(change.data_type)
                helped += 1
    assert refused == []
    assert helped == HELPED[name]


# Operators that leave the device of a profile


@each_row(
    ("dataType", "expected"),
    [
        ("float32", ""),
        ("int8", "cast input to int32, and the result back to int8"),
        ("float16", "cast input to float32, and the result back to float16"),
    ],
)
def test_a_change_keeps_an_operator_on_the_device(dataType: DataType, expected: str) -> None:
    rule = Rule({"input": {"dataTypes": ("float32", "int32", "float16")}}, {})
    profile = replace(load_profile("ort"), native={"relu": {}}, native_rules={"relu": (rule,)}, lacks=("float16",))
    builder = MLGraphBuilder(ML(revision="2026-06").createContextSync())
    graph = describe({"y": builder.relu(builder.input("x", dataType=dataType, shape=[2]))})
    assert keep_native(graph, graph.operators[0].index, profile) == expected


def test_no_change_helps_an_operation_that_the_device_does_not_have() -> None:
    profile = replace(load_profile("ort"), native={})
    builder = MLGraphBuilder(ML(revision="2026-06").createContextSync())
    graph = describe({"y": builder.relu(builder.input("x", dataType="float32", shape=[2]))})
    assert keep_native(graph, graph.operators[0].index, profile) == ""
