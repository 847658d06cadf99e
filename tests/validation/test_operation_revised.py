"""The operations that 2026-06 changed: inferred types and shapes, and every step and conversion that differs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.support import CURRENT, FIRST, NEWEST, Shape, each_row, infer, limits_of, make_context, refused
from webnn import MLGraphBuilder

F, H = "float32", "float16"
LARGEST = 2**31 - 1
INF, NAN = math.inf, math.nan


def f(*dimensions: int, type: str = F) -> Shape:
    return Shape(type, dimensions)


def u8(*dimensions: int) -> Shape:
    return Shape("uint8", dimensions)


def gru(hiddenSize: int = 2, **changes: Shape) -> tuple[Any, ...]:
    operands = {"input": f(3, 1, 4), "weight": f(1, 3 * hiddenSize, 4), "recurrentWeight": f(1, 3 * hiddenSize, hiddenSize), **changes}
    return (*operands.values(), 3, hiddenSize)


def lstmCell(hiddenSize: int = 2) -> tuple[Any, ...]:
    n = hiddenSize
    return (f(1, 4), f(4 * n, 4), f(4 * n, n), f(1, n), f(1, n), n)


Case = tuple[str, tuple[Any, ...], dict[str, Any], list[tuple[str, list[int]]]]

VALID: list[Case] = [
    ("argMin", (f(1, 2, 3), 0), {}, [("int32", [2, 3])]),
    ("argMax", (f(1, 2, 3), 1.9), {"keepDimensions": True}, [("int32", [1, 1, 3])]),
    ("argMax", (f(5, type="uint64"), 0), {"outputDataType": "int64"}, [("int64", [])]),
    ("averagePool2d", (f(1, 2, 5, 5),), {"windowDimensions": [2, 2], "strides": [2, 2]}, [(F, [1, 2, 2, 2])]),
    ("maxPool2d", (f(1, 2, 5, 5),), {"windowDimensions": [2, 2], "strides": [2, 2], "outputShapeRounding": "ceil"}, [(F, [1, 2, 3, 3])]),
    # ONNX Runtime Web gives both, for older browsers.
    (
        "l2Pool2d",
        (f(1, 2, 5, 5),),
        {"windowDimensions": [2, 2], "strides": [2, 2], "outputShapeRounding": "ceil", "roundingType": "floor"},
        [(F, [1, 2, 3, 3])],
    ),
    ("cast", (f(2), "uint8"), {}, [("uint8", [2])]),
    ("clamp", (f(2),), {"minValue": -INF, "maxValue": INF}, [(F, [2])]),
    ("clamp", (f(2),), {"minValue": NAN, "maxValue": 0}, [(F, [2])]),
    ("clamp", (f(2, type="int64"),), {"minValue": 2**63, "maxValue": 2**63 - 1}, [("int64", [2])]),
    # Equal once they are cast.
    ("clamp", (f(2, type="int8"),), {"minValue": 1.4, "maxValue": 0.6}, [("int8", [2])]),
    ("clamp", (f(2, type=H),), {"minValue": 1e9, "maxValue": 1e6}, [(H, [2])]),
    # Doubles that single precision does not hold.
    ("elu", (f(2),), {"alpha": 1e300}, [(F, [2])]),
    ("linear", (f(2),), {"alpha": -1e300, "beta": 1e39}, [(F, [2])]),
    ("gru", gru(), {"activations": ["relu", "tanh"], "returnSequence": True}, [(F, [1, 1, 2]), (F, [3, 1, 1, 2])]),
    ("lstmCell", lstmCell(), {"activations": ["sigmoid", "relu", "relu"]}, [(F, [1, 2])] * 2),
    ("pad", (f(), [], []), {"value": 7}, [(F, [])]),
    ("pad", (f(2, 3), [1, 2], [0, 2]), {"mode": "reflection"}, [(F, [3, 7])]),
    ("pad", (f(1), [9], [8]), {"mode": "edge"}, [(F, [18])]),
    ("pad", (f(2, type="uint64"), [0], [1]), {"value": 2**64 - 1}, [("uint64", [3])]),
    ("prelu", (f(2, 3), f(4, 1, 3)), {}, [(F, [4, 2, 3])]),
    ("prelu", (f(), f(3)), {}, [(F, [3])]),
    ("prelu", (f(2, type="int64"), f(2, type="int64")), {}, [("int64", [2])]),
    ("relu", (f(2, type="int64"),), {}, [("int64", [2])]),
    ("resample2d", (f(1, 2, 3, 4),), {"axes": [3, 1], "sizes": [8, 5]}, [(F, [1, 5, 3, 8])]),
    ("resample2d", (f(1, 2, 3, 4),), {"axes": [0, 2], "scales": [2, 0.5]}, [(F, [2, 2, 1, 4])]),
    ("resample2d", (u8(1, 1, 2, 2),), {"mode": "linear", "sizes": [3, 3]}, [("uint8", [1, 1, 3, 3])]),
    ("slice", (f(3, 4, 5), [0, 1, 2], [3, 3, 3]), {"strides": [1, 2, 4]}, [(F, [3, 2, 1])]),
    ("slice", (f(4), [0], [4]), {"strides": [4294967295]}, [(F, [1])]),
    ("slice", (f(), [], []), {"strides": []}, [(F, [])]),
    ("where", (u8(2, 1), f(4), f(1, 4)), {}, [(F, [2, 4])]),
]


@each_row(("name", "arguments", "options", "outputs"), VALID)
def test_valid(name: str, arguments: tuple[Any, ...], options: dict[str, Any], outputs: list[tuple[str, list[int]]]) -> None:
    assert infer(name, *arguments, revision=CURRENT, **options) == outputs


INVALID: list[tuple[str, tuple[Any, ...], dict[str, Any], str, str]] = [
    ("argMin", (f(2, 3), 2), {}, "axis", "axis"),
    ("argMin", (f(2, 3), -1), {}, "axis", "conversion"),
    ("argMax", (f(), 0), {}, "input", "rank"),
    ("argMax", (f(2), 0), {"outputDataType": "uint32"}, "options.outputDataType", "type"),
    ("argMax", (f(2), 0), {"outputDataType": "bool"}, "options.outputDataType", "conversion"),
    ("averagePool2d", (f(1, 1, 4, 4),), {"outputShapeRounding": "round"}, "options.outputShapeRounding", "conversion"),
    ("averagePool2d", (f(1, 1, 4, 4),), {"windowDimensions": [0, 1]}, "options.windowDimensions", "range"),
    ("clamp", (f(2),), {"minValue": 3, "maxValue": 1}, "options.minValue", "range"),
    ("clamp", (f(2, type="int8"),), {"minValue": 1.6, "maxValue": 1.4}, "options.minValue", "range"),
    ("clamp", (f(2, type="uint64"),), {"minValue": 2**64 - 1, "maxValue": 2**64 - 2}, "options.minValue", "range"),
    ("clamp", (f(2),), {"minValue": []}, "options.minValue", "conversion"),
    ("elu", (f(2),), {"alpha": INF}, "options.alpha", "conversion"),
    ("gemm", (f(2, 2), f(2, 2)), {"c": f(1, 2, 2)}, "options.c", "rank"),
    ("gru", gru(), {"activations": ["relu"]}, "options.activations", "length"),
    ("gru", gru(), {"activations": ["relu", "elu"]}, "options.activations[1]", "conversion"),
    ("gru", gru(weight=f(6, 4)), {}, "weight", "rank"),
    ("gru", gru(), {"bias": f(6)}, "options.bias", "rank"),
    ("gru", gru(), {"bias": f(1, 6, type="int32")}, "options.bias", "type"),
    ("gruCell", (f(1, 1), f(3, 1), f(3, 1), f(1, 1), LARGEST // 6 + 1), {}, "hiddenSize", "range"),
    ("instanceNormalization", (f(1, 2, 3, 4),), {"scale": f(1, 2)}, "options.scale", "rank"),
    ("linear", (f(2),), {"beta": NAN}, "options.beta", "conversion"),
    ("pad", (f(2), [1, 1], [1]), {}, "beginningPadding", "length"),
    ("pad", (f(2), [1], [1]), {"mode": "symmetric"}, "options.mode", "conversion"),
    ("pad", (f(4, 3), [3, 3], [0, 0]), {"mode": "reflection"}, "beginningPadding[1]", "range"),
    ("pad", (f(4, 3), [3, 2], [4, 0]), {"mode": "reflection"}, "endingPadding[0]", "range"),
    ("pad", (f(2), [LARGEST], [0]), {}, "output", "limit"),
    ("prelu", (f(2, 3), f(2)), {}, "slope", "broadcast"),
    ("prelu", (f(2), f(2, type="int32")), {}, "slope", "type"),
    ("resample2d", (f(1, 1, 2, 2),), {"axes": [1, 1]}, "options.axes", "different"),
    ("resample2d", (f(1, 1, 2, 2),), {"axes": [0, 4]}, "options.axes", "axis"),
    ("resample2d", (f(1, 1, 2, 2),), {"axes": [3]}, "options.axes", "length"),
    ("resample2d", (f(1, 1, 2, 2, type="int32"),), {}, "input", "type"),
    ("slice", (f(4), [0], [4]), {"strides": [1, 1]}, "options.strides", "length"),
    ("slice", (f(4), [0], [4]), {"strides": [0]}, "options.strides", "range"),
    ("slice", (f(4), [1], [4]), {"strides": [2]}, "sizes[0]", "range"),
    ("softmax", (f(4), 2**32), {}, "axis", "conversion"),
    ("split", (f(8193), 8193), {}, "splits", "limit"),
    ("split", (f(8193), [1] * 8193), {}, "splits", "limit"),
    ("where", (u8(2), f(2), f(2, type=H)), {}, "falseValue", "type"),
    ("where", (u8(2), f(2), f(3)), {}, "falseValue", "broadcast"),
    ("where", (u8(3), f(2), f(2)), {}, "condition", "broadcast"),
    # Forms of the draft of June 2024.
    ("argMin", (f(2),), {"axes": [0]}, "options.axes", "draft"),
    ("argMin", (f(2),), {}, "axis", "draft"),
    ("argMax", (f(2), 0), {"selectLastIndex": True}, "options.selectLastIndex", "draft"),
    ("maxPool2d", (f(1, 1, 4, 4),), {"roundingType": "ceil"}, "options.roundingType", "draft"),
    ("relu", (), {}, "input", "draft"),
    ("elu", (), {}, "input", "draft"),
]


@each_row(("name", "arguments", "options", "argument", "rule"), INVALID)
def test_invalid(name: str, arguments: tuple[Any, ...], options: dict[str, Any], argument: str, rule: str) -> None:
    # A method without an input has no options to hold a label.
    label = {"label": "the label"} if arguments else {}
    with refused(rule=rule, operation=name, argument=argument) as caught:
        infer(name, *arguments, revision=CURRENT, **options, **label)
    assert str(caught.value).startswith(f"[the label] {name}: " if arguments else f"{name}: ")


#: Forms of the current draft in a context of June 2024.
FORMER: list[tuple[str, tuple[Any, ...], dict[str, Any], str, str]] = [
    ("argMin", (f(2), 0), {}, "options", "draft"),
    ("argMax", (f(2),), {"outputDataType": "int32"}, "options.outputDataType", "draft"),
    ("maxPool2d", (f(1, 1, 4, 4),), {"outputShapeRounding": "ceil"}, "options.outputShapeRounding", "draft"),
    ("slice", (f(2), [0], [2]), {"strides": [2]}, "options.strides", "draft"),
    ("gru", gru(), {"activations": ["relu", "tanh"]}, "options.activations[0]", "conversion"),
]


@pytest.mark.parametrize(("name", "arguments", "options", "argument", "rule"), FORMER)
def test_forms_of_the_current_draft_in_that_of_june_2024(
    name: str, arguments: tuple[Any, ...], options: dict[str, Any], argument: str, rule: str
) -> None:
    with refused(rule=rule, operation=name, argument=argument):
        infer(name, *arguments, **options)


def test_options_in_the_place_of_the_axis() -> None:
    with refused(rule="draft", operation="argMin", argument="axis"):
        infer("argMin", f(2), {"keepDimensions": True}, revision=CURRENT)
    assert infer("argMin", f(2), None, {"keepDimensions": True}) == [("int64", [1])]


def test_too_many_operands() -> None:
    builder = MLGraphBuilder(make_context(CURRENT))
    operand = builder.input("x", {"dataType": "float32", "shape": [1]})
    assert builder.concat([operand] * 8192, 0).descriptor.dimensions == (8192,)
    with refused(rule="limit", operation="concat", argument="inputs"):
        builder.concat([operand] * 8193, 0)


@pytest.mark.parametrize("revision", ["2024-06", CURRENT])
def test_either_draft_s_name_of_an_argument(revision: str) -> None:
    builder = MLGraphBuilder(make_context(revision))
    condition = builder.constant("uint8", 1)
    x, y = builder.constant("float32", 1), builder.constant("float32", 2)
    for keywords in ({"trueValue": x, "falseValue": y}, {"input": x, "other": y}):
        assert builder.where(condition, **keywords)._operator.inputs == (condition, x, y)  # type: ignore[union-attr, arg-type]
    assert builder.cast(x, dataType="int8").descriptor.dataType == "int8"
    assert builder.cast(x, type="int8").descriptor.dataType == "int8"
    with refused(rule="once", operation="cast", argument="dataType"):
        builder.cast(x, "int8", type="int8")
    with refused(rule="once", operation="where", argument="falseValue"):
        builder.where(condition, x, y, other=y)
    with refused(rule="conversion", operation="cast"):
        builder.cast(x)


# The driver's checks against the tables.


def test_every_operand_has_its_row() -> None:
    limits = limits_of(CURRENT).operations
    assert set(limits) == set(NEWEST.operations)
    for name, operation in NEWEST.operations.items():
        assert {row for row, operand in limits[name].items() if not operand.output} == {*operation.operands, *operation.members}, name


def shape_of(rank: int, dataType: str) -> Shape:
    return Shape(dataType, [1] * rank)


@pytest.mark.parametrize(
    "name", [name for name, row in FIRST.operations.items() if len(row.operands) == 1 and not row.variadic and not row.arguments]
)
def test_types_and_ranks_of_a_single_operand(name: str) -> None:
    """An operand is refused if and only if its table excludes it, and the message names what the table has."""
    limits = limits_of(CURRENT).operations[name]
    operand = NEWEST.operations[name].operands[0]
    axis = [0] if name in ("argMin", "argMax") else []
    low, high = limits[operand].ranks
    rank = max(low, 1)
    for dataType in limits_of(CURRENT).data_types:
        if dataType in limits[operand].data_types:
            assert infer(name, shape_of(rank, dataType), *axis, revision=CURRENT)
            continue
        with refused(rule="type", argument=operand):
            infer(name, shape_of(rank, dataType), *axis, revision=CURRENT)
    for each in (low - 1, low, 8 if high is None else high, 8 if high is None else high + 1):
        if low <= each and (high is None or each <= high):
            assert infer(name, shape_of(each, "uint8" if name == "logicalNot" else F), *axis, revision=CURRENT)
        elif each >= 0:
            with refused(rule="rank", argument="input"):
                infer(name, shape_of(each, F), *axis, revision=CURRENT)


def test_items_of_a_sequence() -> None:
    with refused(rule="rank", operation="concat", argument="inputs[1]"):
        infer("concat", [f(2), f()], 0, revision=CURRENT)


def test_numbers_are_cast() -> None:
    builder = MLGraphBuilder(make_context(CURRENT))
    half = builder.input("x", {"dataType": "float16", "shape": [2]})
    operator = builder.linear(half, {"beta": 1e9})._operator
    assert operator is not None
    assert operator.options is not None
    assert dict(operator.options) == {"alpha": 1.0, "beta": INF}
    operator = builder.leakyRelu(half)._operator
    assert operator is not None
    assert operator.options is not None
    assert dict(operator.options) == {"alpha": float(np.float16(0.01))}
