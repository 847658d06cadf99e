"""Calls that the builder refuses, and its messages."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tests.webnn.xla.programs import context, scalars
from webnn import MLGraphBuilder, NotSupportedError
from webnn.xla import (
    F32,
    F64,
    PRED,
    S8,
    S32,
    U8,
    Computation,
    ComputationBuilder,
    ComputationDataHandle,
    LiteralUtil,
    MakeShape,
    Padding,
    Shape,
    TupleShape,
    XlaError,
    XlaTypeError,
)


@dataclass(frozen=True)
class Values:
    """Operands for wrong calls."""

    builder: ComputationBuilder
    vector: ComputationDataHandle
    matrix: ComputationDataHandle
    image: ComputationDataHandle
    scalar: ComputationDataHandle
    integers: ComputationDataHandle
    pred: ComputationDataHandle
    pair: ComputationDataHandle
    other: ComputationDataHandle
    add: Computation
    less: Computation


def values() -> Values:
    builder, other = ComputationBuilder("main"), ComputationBuilder("other")
    shapes = {
        "vector": MakeShape(F32, [3]),
        "matrix": MakeShape(F32, [2, 3]),
        "image": MakeShape(F32, [1, 2, 5, 5]),
        "scalar": MakeShape(F32),
        "integers": MakeShape(S32, [2]),
        "pred": MakeShape(PRED, [2, 3]),
        "pair": TupleShape((MakeShape(S32), MakeShape(F32, [3]))),
    }
    handles = {name: builder.Parameter(number, shape, name) for number, (name, shape) in enumerate(shapes.items())}
    foreign = other.Parameter(0, MakeShape(F32, [3]))
    return Values(builder=builder, other=foreign, add=scalars("Add", F32), less=scalars("Lt", F32), **handles)


Wrong = Callable[[Any, Any], object]

#: Wrong calls, and what the error says.
ERRORS: list[tuple[Wrong, str]] = [
    # Values.
    (lambda b, v: b.Abs(v.other), "Abs: operand must be a value of this builder, 'main', got Parameter.0 of 'other'"),
    (lambda b, v: b.Abs(v.pair), "Abs: operand must be an array, got (s32, f32[3])"),
    (lambda b, v: b.Add(v.vector, v.integers), "Add: lhs and rhs must have the same element type, got f32[3] and s32[2]"),
    (lambda b, v: b.Add(v.pred, v.pred), "Add: lhs must have numbers as elements, got pred[2x3]"),
    (lambda b, v: b.LogicalOr(v.vector, v.vector), "LogicalOr: lhs must have elements of pred, got f32[3]"),
    (lambda b, v: b.Exp(v.integers), "Exp: operand must have floating-point numbers as elements, got s32[2]"),
    (lambda b, v: b.Neg(v.pred), "Neg: operand must have numbers as elements, got pred[2x3]"),
    # Broadcasting.
    (
        lambda b, v: b.Add(v.vector, b.ConstantLiteral([1.0, 2.0])),
        "Add: lhs and rhs must have equal sizes in each dimension, or one of them 1, got f32[3] and f32[2]",
    ),
    (
        lambda b, v: b.Add(v.vector, v.matrix),
        "Add: broadcast_dimensions must be given for operands of different ranks, f32[3] and f32[2x3], unless one is a scalar",
    ),
    (lambda b, v: b.Lt(v.vector, v.matrix, [0]), "Lt: lhs and rhs must have equal sizes"),
    (
        lambda b, v: b.Add(v.vector, v.matrix, [2]),
        "Add: broadcast_dimensions must name 1 dimensions of f32[2x3] in increasing order for f32[3] and f32[2x3], got [2]",
    ),
    (lambda b, v: b.Add(v.matrix, v.image, [1, 0]), "must name 2 dimensions of f32[1x2x5x5] in increasing order"),
    (lambda b, v: b.Add(v.matrix, v.matrix, [1, 0]), "must be [0, 1] or missing for operands of one rank, got [1, 0]"),
    (lambda b, v: b.Add(v.matrix, v.scalar, [0]), "must name 0 dimensions of f32[2x3]"),
    # Other elementwise operations.
    (lambda b, v: b.Clamp(v.vector, v.matrix, v.scalar), "Clamp: min must have the shape of operand, f32[3], or be a scalar of its type"),
    (lambda b, v: b.Clamp(v.vector, v.scalar, v.integers), "Clamp: max must have the shape of operand"),
    (lambda b, v: b.ReducePrecision(v.vector, -1, 5), "ReducePrecision: mantissa_bits must be a number of bits, from 0 to"),
    (lambda b, v: b.ReducePrecision(v.vector, 10, 0), "ReducePrecision: exponent_bits must be a number of bits, from 1 to"),
    (lambda b, v: b.Select(v.vector, v.vector, v.vector), "Select: pred must have elements of pred, got f32[3]"),
    (lambda b, v: b.Select(v.pred, v.vector, v.matrix), "Select: on_true and on_false must have the same shape, got f32[3] and f32[2x3]"),
    (lambda b, v: b.Select(v.pred, v.vector, v.vector), "Select: pred must be a scalar, or pred[3], got pred[2x3]"),
    (lambda b, v: b.Select(v.pred, v.pair, v.pair), "Select: pred must be a scalar, got pred[2x3]"),
    # Movement.
    (lambda b, v: b.Broadcast(v.vector, [-1]), "Broadcast: broadcast_sizes must be 0 or greater in each dimension, got [-1]"),
    (
        lambda b, v: b.Collapse(v.image, [0, 2]),
        "Collapse: dimensions must be dimensions that follow each other in increasing order, got [0, 2]",
    ),
    (lambda b, v: b.Collapse(v.image, [1, 0]), "Collapse: dimensions must be dimensions that follow each other"),
    (lambda b, v: b.Collapse(v.image, [4]), "Collapse: dimensions must name different dimensions of f32[1x2x5x5], got [4]"),
    (lambda b, v: b.Concatenate([], 0), "Concatenate: operands must have at least one array, got none"),
    (lambda b, v: b.Concatenate([v.scalar], 0), "Concatenate: operands[0] must have a rank of at least 1, got f32"),
    (lambda b, v: b.Concatenate([v.matrix], 2), "Concatenate: dimension must be a dimension of f32[2x3], from 0 to 1, got 2"),
    (
        lambda b, v: b.ConcatInDim([v.vector, v.integers], 0),
        "ConcatInDim: operands[1] must have the shape of operands[0], f32[3], in all but",
    ),
    (lambda b, v: b.Pad(v.vector, v.integers, []), "Pad: padding_value must be a scalar of f32, got s32[2]"),
    (lambda b, v: b.Pad(v.vector, v.scalar, []), "Pad: padding_config must have 1 elements, one for each dimension, got 0"),
    (lambda b, v: b.Pad(v.vector, v.scalar, [(1, 2)]), "Pad: padding_config[0] must be the low, high and interior padding, got [1, 2]"),
    (lambda b, v: b.Pad(v.vector, v.scalar, [(0, 0, -1)]), "Pad: padding_config[0] must have an interior_padding of 0 or greater, got -1"),
    (
        lambda b, v: b.Pad(v.vector, v.scalar, [(-2, -2, 0)]),
        "Pad: padding_config[0] must not remove more elements than f32[3] has, got (-2, -2, 0)",
    ),
    (lambda b, v: b.Reshape(v.matrix, [5]), "Reshape: new_sizes must have as many elements as f32[2x3], got [5]"),
    (lambda b, v: b.Reshape(v.matrix, [0, 0], [6]), "Reshape: dimensions must name each dimension of f32[2x3] once, got [0, 0]"),
    (lambda b, v: b.Rev(v.matrix, [1, 1]), "Rev: dimensions must name different dimensions of f32[2x3], got [1, 1]"),
    (lambda b, v: b.Slice(v.matrix, [0], [1]), "Slice: start_indices must have 2 elements, one for each dimension, got [0]"),
    (lambda b, v: b.Slice(v.vector, [-1], [1]), "Slice: start_indices must be 0 or greater in each dimension, got [-1]"),
    (
        lambda b, v: b.Slice(v.vector, [1], [1]),
        "Slice: limit_indices must be greater than start_indices, [1], and at most the sizes of f32[3], got [1]",
    ),
    (lambda b, v: b.Slice(v.vector, [0], [4]), "Slice: limit_indices must be greater than"),
    (
        lambda b, v: b.DynamicSlice(v.vector, v.integers, [1]),
        "DynamicSlice: start_indices must be 1 integers of rank 1, one for each dimension",
    ),
    (lambda b, v: b.DynamicSlice(v.matrix, b.ConstantLiteral([0.0, 0.0]), [1, 1]), "must be 2 integers of rank 1"),
    (
        lambda b, v: b.DynamicSlice(v.matrix, v.integers, [1, 0]),
        "DynamicSlice: size_indices must be 1 or greater in each dimension, got [1, 0]",
    ),
    (
        lambda b, v: b.DynamicSlice(v.matrix, v.integers, [1, 4]),
        "DynamicSlice: size_indices must be at most the sizes of f32[2x3], got [1, 4]",
    ),
    (lambda b, v: b.DynamicUpdateSlice(v.matrix, v.vector, v.integers), "DynamicUpdateSlice: update must have the rank of f32[2x3]"),
    (lambda b, v: b.DynamicUpdateSlice(v.matrix, v.integers, v.integers), "operand and update must have the same element type"),
    (lambda b, v: b.Sort(v.scalar), "Sort: operand must have a rank of at least 1, got f32"),
    (lambda b, v: b.Transpose(v.matrix, [0]), "Transpose: permutation must name each dimension of f32[2x3] once, got [0]"),
    # Combinations.
    (lambda b, v: b.Dot(v.image, v.vector), "Dot: lhs must be a vector or a matrix, got f32[1x2x5x5]"),
    (lambda b, v: b.Dot(v.vector, v.scalar), "Dot: rhs must be a vector or a matrix, got f32"),
    (
        lambda b, v: b.Dot(v.vector, v.matrix),
        "Dot: lhs and rhs must be such that the last dimension of lhs is as large as the first one of rhs, got f32[3] and f32[2x3]",
    ),
    (lambda b, v: b.Conv(v.vector, v.vector, [], Padding.kSame), "Conv: lhs and rhs must have the same rank, which is 2 and the number of"),
    (lambda b, v: b.Conv(v.matrix, v.image, [], Padding.kSame), "Conv: lhs and rhs must have the same rank"),
    (
        lambda b, v: b.Conv(v.matrix, b.ConstantLiteral([[1.0]]), [], Padding.kSame),
        "must have the same number of input features in dimension 1",
    ),
    (
        lambda b, v: b.Conv(v.image, v.image, [1], Padding.kSame),
        "Conv: window_strides must have 2 elements, one for each dimension, got [1]",
    ),
    (lambda b, v: b.Conv(v.image, v.image, [1, 0], Padding.kSame), "Conv: window_strides must be 1 or greater in each dimension"),
    (lambda b, v: b.Conv(v.image, v.image, [1, 1], Padding.kSame, [0, 1]), "Conv: lhs_dilation must be 1 or greater in each dimension"),
    (
        lambda b, v: b.ConvWithGeneralPadding(v.image, v.image, [1, 1], [(0, 0)]),
        "padding must have 2 pairs, one for each spatial dimension, got 1",
    ),
    (
        lambda b, v: b.ConvWithGeneralPadding(v.image, v.image, [1, 1], [(0, 0), (1,)]),
        "padding[1] must be the low and the high padding, got [1]",
    ),
    (
        lambda b, v: b.ConvWithGeneralPadding(v.image, v.image, [1, 1], [(0, 0), (-3, -3)]),
        "padding must not remove more elements than there are, 5, got (-3, -3)",
    ),
    (lambda b, v: b.Reduce(v.vector, v.vector, v.add, [0]), "Reduce: init_value must be a scalar of f32, got f32[3]"),
    (
        lambda b, v: b.Reduce(v.vector, v.scalar, v.less, [0]),
        "Reduce: computation must be a computation of type (f32, f32) -> f32, got (f32, f32) -> pred",
    ),
    (lambda b, v: b.Reduce(v.vector, v.scalar, v.add, [1]), "Reduce: dimensions must name different dimensions of f32[3], got [1]"),
    (lambda b, v: b.ReduceWindow(v.vector, v.scalar, v.add, [0], [1], Padding.kSame), "window_dimensions must be 1 or greater in each"),
    (lambda b, v: b.ReduceWindow(v.vector, v.scalar, v.add, [1], [1, 1], Padding.kSame), "window_strides must have 1 elements"),
    (
        lambda b, v: b.SelectAndScatter(v.vector, v.add, [1], [1], Padding.kSame, v.vector, v.scalar, v.add),
        "SelectAndScatter: select must be a computation of type (f32, f32) -> pred, got (f32, f32) -> f32",
    ),
    (
        lambda b, v: b.SelectAndScatter(v.vector, v.less, [3], [1], Padding.kValid, v.vector, v.scalar, v.add),
        "SelectAndScatter: source must have the shape of the windows, f32[1], got f32[3]",
    ),
    (
        lambda b, v: b.SelectAndScatter(v.vector, v.less, [1], [1], Padding.kValid, v.vector, v.scalar, v.less),
        "SelectAndScatter: scatter must be a computation of type (f32, f32) -> f32",
    ),
    # Control.
    (lambda b, v: b.Call(v.add, v.scalar), "Call: computation must be a computation of type (f32) -> any shape, got (f32, f32) -> f32"),
    (lambda b, v: b.Map([], v.add), "Map: operands must have at least one array, got none"),
    (lambda b, v: b.Map([v.vector, v.matrix], v.add), "Map: operands[1] must have the dimensions of operands[0], f32[3], got f32[2x3]"),
    (lambda b, v: b.Map([v.matrix, v.matrix], v.add, [0]), "Map: dimensions must be all dimensions of f32[2x3] in their order, got [0]"),
    (lambda b, v: b.Map([v.vector], v.add), "Map: computation must be a computation of type (f32) -> any shape"),
    (lambda b, v: b.Map([v.vector], widen()), "Map: computation must return a scalar, got (f32) -> f32[2]"),
    (lambda b, v: b.While(v.less, v.add, v.scalar), "While: condition must be a computation of type (f32) -> pred, got (f32, f32) -> pred"),
    (lambda b, v: b.GetTupleElement(v.vector, 0), "GetTupleElement: tuple_data must be a tuple, got f32[3]"),
    (
        lambda b, v: b.GetTupleElement(v.pair, 2),
        "GetTupleElement: index must be the position of an element of (s32, f32[3]), from 0 to 1, got 2",
    ),
    # Normalization.
    (lambda b, v: b.BatchNormTraining(v.integers, v.vector, v.vector, 0.1, 0), "operand must have floating-point numbers as elements"),
    (lambda b, v: b.BatchNormTraining(v.scalar, v.vector, v.vector, 0.1, 0), "BatchNormTraining: operand must have a rank of at least 1"),
    (
        lambda b, v: b.BatchNormTraining(v.matrix, v.vector, v.vector, 0.1, 2),
        "feature_index must be a dimension of f32[2x3], from 0 to 1, got 2",
    ),
    (
        lambda b, v: b.BatchNormTraining(v.matrix, v.vector, v.scalar, 0.1, 1),
        "offset must have an element for each feature, f32[3], got f32",
    ),
    (
        lambda b, v: b.BatchNormGrad(v.matrix, v.vector, v.vector, v.vector, v.vector, 0.1, 1),
        "BatchNormGrad: grad_output must have the shape of operand, f32[2x3], got f32[3]",
    ),
    # Parameters, constants, results.
    (lambda b, v: b.Parameter(0, MakeShape(F32)), "Parameter: parameter_number must be that of no other parameter, got 0 twice"),
    (lambda b, v: b.Parameter(-1, MakeShape(F32)), "Parameter: parameter_number must be a position, from 0 to"),
    (lambda b, v: b.ConstantLiteral(1 << 31), "ConstantLiteral: literal must be from -2147483648 to 2147483647 for s32, got 2147483648"),
    (lambda b, v: ComputationBuilder().Build(), "Build: needs a builder with at least one operation or parameter, got none"),
    (lambda b, v: without_the_first(), "Build: needs parameters with the numbers from 0 to 0, got [1]"),
    (lambda b, v: b.Build(v.other), "Build: root must be a value of this builder"),
    (lambda b, v: [b.Build(), b.Abs(v.vector)], "Abs: needs a builder that has not built its computation, got 'main', after Build()"),
    # Shapes.
    (lambda b, v: MakeShape(F32, [-1]), "MakeShape: dimensions must be 0 or greater, got [-1]"),
    (lambda b, v: MakeShape(F32, [1 << 63]), "MakeShape: dimensions must be integers of 64 bits, got 9223372036854775808"),
    (lambda b, v: nest(65), "TupleShape: shapes must have at most 64 levels and 10000 arrays, got 65 and 1"),
    (lambda b, v: TupleShape((MakeShape(F32),) * 10_001), "must have at most 64 levels and 10000 arrays, got 1 and 10001"),
]

#: Objects of another kind.
TYPE_ERRORS: list[tuple[Wrong, str]] = [
    (lambda b, v: b.Abs(1.0), "Abs: operand must be a ComputationDataHandle (ConstantLiteral makes one of a number or an array), got 1.0"),
    (lambda b, v: b.Abs(v.add), "Abs: operand must be a ComputationDataHandle, got"),
    (lambda b, v: b.Reduce(v.vector, v.scalar, v.scalar, [0]), "Reduce: computation must be a Computation, which Build() returns, got"),
    (lambda b, v: b.Reduce(v.vector, v.add, v.scalar, [0]), "Reduce: init_value must be a ComputationDataHandle, got"),
    (lambda b, v: b.Rev(v.vector, 0), "Rev: dimensions must be a sequence of integers, got 0"),
    (lambda b, v: b.Rev(v.vector, [True]), "Rev: dimensions must be a sequence of integers, got [True]"),
    (lambda b, v: b.Rev(v.vector, [0.0]), "Rev: dimensions must be a sequence of integers, got [0.0]"),
    (lambda b, v: b.Rev(v.vector, np.zeros((1, 1), int)), "Rev: dimensions must be a sequence of integers, got a NumPy array"),
    (lambda b, v: b.Reshape(v.vector), "Reshape: new_sizes must be a sequence of integers, got None"),
    (lambda b, v: b.Concatenate(v.vector, 0), "Concatenate: operands must be a sequence of ComputationDataHandles, got"),
    (lambda b, v: b.Concatenate([v.vector], 0.5), "Concatenate: dimension must be an integer, got 0.5"),
    (lambda b, v: b.Concatenate([v.vector], True), "Concatenate: dimension must be an integer, got True"),
    (lambda b, v: b.Pad(v.vector, v.scalar, 0), "Pad: padding_config must be a sequence of PaddingConfigDimensions, got 0"),
    (lambda b, v: b.Conv(v.image, v.image, [1, 1], "SAME"), "Conv: padding must be Padding.kSame or Padding.kValid, got 'SAME'"),
    (
        lambda b, v: b.ConvWithGeneralPadding(v.image, v.image, [1, 1], Padding.kSame),
        "padding must be a sequence of pairs of integers, got",
    ),
    (lambda b, v: b.Map([v.vector], v.add, None, 0), "Map: static_operands must be a sequence of ComputationDataHandles, got 0"),
    (lambda b, v: b.Tuple([v.vector]), "Tuple: elements[0] must be a ComputationDataHandle"),
    (
        lambda b, v: b.ConvertElementType(v.vector, "f32"),
        "ConvertElementType: new_element_type must be a PrimitiveType, for example F32, got 'f32'",
    ),
    (lambda b, v: b.BatchNormTraining(v.matrix, v.vector, v.vector, "0", 1), "BatchNormTraining: epsilon must be a number, got '0'"),
    (lambda b, v: b.Parameter(7, [2, 3]), "Parameter: shape must be a Shape or a TupleShape, which MakeShape makes, got [2, 3]"),
    (lambda b, v: b.Parameter(7, MakeShape(F32), 7), "Parameter: name must be a string, got 7"),
    (lambda b, v: b.ConstantLiteral("1"), "ConstantLiteral: literal must be an array, or numbers in lists of equal lengths, got '1'"),
    (lambda b, v: b.ConstantLiteral([[1], [1, 2]]), "literal must be an array, or numbers in lists of equal lengths"),
    (lambda b, v: b.ConstantLiteral(1 << 70), "literal must be an array, or numbers in lists of equal lengths"),
    (lambda b, v: b.ConstantLiteral(np.zeros(1, np.complex64)), "literal must have one of the data types bool, int8"),
    (lambda b, v: b.Build("x"), "Build: root must be a ComputationDataHandle"),
    (lambda b, v: ComputationBuilder(5), "ComputationBuilder: name must be a string, got 5"),
    (lambda b, v: MakeShape("f32", []), "MakeShape: element_type must be one of PRED, S8, "),
    (lambda b, v: MakeShape(F32, 3), "MakeShape: dimensions must be a sequence of integers, got 3"),
    (lambda b, v: TupleShape(v), "TupleShape: shapes must be a sequence of shapes, got"),
    (lambda b, v: LiteralUtil.MinValue("f32"), "MinValue: element_type must be a PrimitiveType, got 'f32'"),
    (lambda b, v: scalars("Add", F32).execute(None), "execute: context must be an MLContext, got None"),
    (lambda b, v: scalars("Add", F32).lower(b, []), "lower: builder must be an MLGraphBuilder, got"),
]

#: Wrong arguments of a computation of (f32[2], (s32, pred)) -> f32[2], with the names x and y.
RUNS: list[tuple[list[Any], dict[str, Any], str]] = [
    ([[1, 2]], {}, "execute: arrays must be given for the 2 parameters x: f32[2], y: (s32, pred); got 1"),
    ([[1, 2, 3], (1, True)], {}, "execute: arrays[0] must have the dimensions [2] of f32[2], got [3]"),
    ([np.zeros(2), (1, True)], {}, "execute: arrays[0] must be float32 for f32[2], got a NumPy array of float64 [2]"),
    ([[1, 2], (1.5, True)], {}, "execute: arrays[1][0] must be numbers of s32, got 1.5"),
    ([[1, 2], (1 << 40, True)], {}, "execute: arrays[1][0] must be from -2147483648 to 2147483647 for s32"),
    ([[1, 2], (1, 1)], {}, "execute: arrays[1][1] must be numbers of pred, got 1"),
    ([[1, 2], (1,)], {}, "execute: arrays[1] must have 2 elements for (s32, pred), got 1"),
    ([[1, 2], 1], {}, "execute: arrays[1] must be a tuple for (s32, pred), got 1"),
    (
        [[1, 2], (1, True)],
        {"constants": {"z": 1}},
        "execute: constants must name arrays of parameters, which are 'x', 'y.0', 'y.1', got 'z'",
    ),
    ([[1, 2], (1, True)], {"constants": {"y.0": 1}}, "execute: arrays[1][0] must be None for 'y.0', which is one of the constants, got 1"),
    ([[1, 2]], {"constants": {"y.0": 1, "y.1": 2}}, "execute: constants['y.1'] must be numbers of pred, got 2"),
    ([[1, 2]], {"constants": []}, "execute: constants must be a mapping, got []"),
]


def widen() -> Computation:
    builder = ComputationBuilder()
    builder.Broadcast(builder.Parameter(0, MakeShape(F32)), [2])
    return builder.Build()


def without_the_first() -> Computation:
    builder = ComputationBuilder()
    builder.Parameter(1, MakeShape(F32))
    return builder.Build()


def nest(depth: int) -> TupleShape | Shape:
    shape: TupleShape | Shape = MakeShape(F32)
    for _ in range(depth):
        shape = TupleShape((shape,))
    return shape


def program() -> Computation:
    builder = ComputationBuilder()
    x = builder.Parameter(0, MakeShape(F32, [2]), "x")
    y = builder.Parameter(1, TupleShape((MakeShape(S32), MakeShape(PRED))), "y")
    number = builder.ConvertElementType(builder.GetTupleElement(y, 0), F32)
    builder.Select(builder.GetTupleElement(y, 1), builder.Mul(x, number), x)
    return builder.Build()


@pytest.mark.parametrize(("wrong", "message"), ERRORS, ids=[message[:60] for _, message in ERRORS])
def test_an_error(wrong: Wrong, message: str) -> None:
    given = values()
    with pytest.raises(XlaError) as caught:
        wrong(given.builder, given)
    assert message in str(caught.value)
    assert not isinstance(caught.value, TypeError)


@pytest.mark.parametrize(("wrong", "message"), TYPE_ERRORS, ids=[message[:60] for _, message in TYPE_ERRORS])
def test_an_object_of_another_kind(wrong: Wrong, message: str) -> None:
    given = values()
    with pytest.raises(XlaTypeError) as caught:
        wrong(given.builder, given)
    assert message in str(caught.value)
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(("arrays", "options", "message"), RUNS, ids=[message[:60] for *_, message in RUNS])
def test_wrong_arrays(arrays: list[Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(XlaError) as caught:
        program().execute(context("2026-06"), *arrays, **options)
    assert message in str(caught.value)


def test_the_attributes_of_an_error() -> None:
    given = values()
    with pytest.raises(XlaError) as caught:
        given.builder.Slice(given.vector, [0], [9])
    error = caught.value
    assert (error.operation, error.argument) == ("Slice", "limit_indices")
    assert str(error) == f"Slice: limit_indices {error.message}"


def test_a_failed_call_changes_nothing() -> None:
    given = values()
    last = given.builder.Abs(given.vector)
    with pytest.raises(XlaError):
        given.builder.Add(given.vector, given.matrix)
    built = given.builder.Build()
    assert built.result_shape == last.shape
    operations = [operation.name for operation in built.module.functions[0].body.operations]
    assert operations == ["stablehlo.abs", "func.return"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("CrossReplicaSum", "a WebNN graph runs on one device"),
        ("CustomCall", "a WebNN graph cannot call functions of the program"),
        ("Infeed", "pass the data as a parameter"),
        ("Recv", "pass the data as a parameter"),
        ("RecvDone", "pass the data as a parameter"),
        ("RngBernoulli", "WebNN has no source of random numbers"),
        ("RngNormal", "WebNN has no source of random numbers"),
        ("RngUniform", "WebNN has no source of random numbers"),
        ("Send", "return the data as a result"),
        ("SendDone", "return the data as a result"),
    ],
)
def test_a_refused_operation(name: str, reason: str) -> None:
    method = getattr(ComputationBuilder(), name)
    required = [each for each in inspect.signature(method).parameters.values() if each.kind is each.POSITIONAL_OR_KEYWORD]
    with pytest.raises(NotSupportedError, match=f"^{name}: .*{reason}") as caught:
        method(*[None for _ in required])
    assert caught.value.operation == name


def test_operands_that_do_not_fit() -> None:
    builder, other = (MLGraphBuilder(context("2026-06")) for _ in range(2))
    x = builder.input("x", {"dataType": "float32", "shape": [2]})
    with pytest.raises(XlaError, match=r"lower: arguments must be an operand of float32 \[2\] for the parameter 'x', got float32 \[1\]"):
        program().lower(builder, [builder.input("z", {"dataType": "float32", "shape": [1]}), (1, True)])
    with pytest.raises(XlaError, match=r"lower: arguments must be operands of the builder, got one of another for the parameter 'x'"):
        program().lower(other, [x, (1, True)])
    with pytest.raises(XlaError, match=r"lower: arguments must be given for the parameters f32\[2\], \(s32, pred\); got 1"):
        program().lower(builder, [x])
    with pytest.raises(XlaTypeError, match="lower: arguments must be a sequence, got"):
        program().lower(builder, x)


def test_what_webnn_lacks() -> None:
    """The widest type of WebNN is float32."""
    builder = ComputationBuilder("wide")
    builder.Floor(builder.Parameter(0, MakeShape(F64, [2]), "x"))
    wide = builder.Build()
    with pytest.raises(NotSupportedError, match=r'float64 must be allowed to become float32; give precision="f32"'):
        wide.execute(context("2026-06"), np.zeros(2))
    found = wide.execute(context("2026-06"), np.array([-1.5, 2]), precision="f32")
    assert found.dtype == np.float64
    assert found.tolist() == [-2, 2]


@pytest.mark.parametrize("element_type", [S8, U8], ids=str)
def test_types_of_limits(element_type: Any) -> None:
    limits = np.iinfo(element_type.dtype)
    assert LiteralUtil.MinValue(element_type) == limits.min
    assert LiteralUtil.MaxValue(element_type) == limits.max
    assert LiteralUtil.MinValue(PRED).tolist() is False
    assert LiteralUtil.MaxValue(F32) == np.inf
