"""Operands without elements, through every operation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import mutually_broadcastable_shapes

import webnn
from tests.support import Case, Shape, check_cases, each_row, infer, run
from tests.webnn.proposals.test_low_precision_values import dispatch
from webnn.inspect import compare
from webnn.validation import unary
from webnn.validation.descriptor import NUMPY_DTYPES
from webnn.validation.drafts import find_revision

REVISION = "2026-06+zero-size"
#: That, and together with another proposal.
REVISIONS = [REVISION, "2026-06+low-precision+subgraphs+zero-size", "2026-06+compute-policy+zero-size+browsers"]
ROWS = find_revision(REVISION).operations
FLOATS = ("float32", "float16")


def zeros(*shape: int, dtype: str = "float32") -> Any:
    return np.zeros(shape, dtype)


def ones(*shape: int, dtype: str = "float32") -> Any:
    return np.ones(shape, dtype)


def indices(*shape: int) -> Any:
    return np.zeros(shape, np.int32)


#: Operations that compute element by element; the others have rows below.
ELEMENTWISE = [
    *(row.name for row in unary.OPERATIONS),
    *("clamp", "elu", "gelu", "hardSigmoid", "hardSwish", "leakyRelu", "linear", "relu", "sigmoid", "softplus", "softsign", "tanh"),
]
ARITHMETIC = ["add", "div", "max", "min", "mul", "pow", "prelu", "sub"]
COMPARISONS = ["equal", "greater", "greaterOrEqual", "lesser", "lesserOrEqual", "notEqual"]
LOGICAL = ["logicalAnd", "logicalOr", "logicalXor"]
REDUCTIONS = {
    "reduceL1": 0,
    "reduceL2": 0,
    "reduceLogSum": -math.inf,
    "reduceLogSumExp": -math.inf,
    "reduceMax": -math.inf,
    "reduceMean": math.nan,
    "reduceMin": math.inf,
    "reduceProduct": 1,
    "reduceSum": 0,
    "reduceSumSquare": 0,
}

CASES = [
    # calls, with the result that NumPy gives or that follows from the definition
    (Case("argMax", zeros(0, 3), 1), np.empty(0, np.int32)),
    (Case("argMin", zeros(3, 0), 0, keepDimensions=True), np.empty((1, 0), np.int32)),
    (Case("averagePool2d", zeros(0, 2, 4, 4), windowDimensions=[2, 2]), zeros(0, 2, 3, 3)),
    (Case("batchNormalization", zeros(2, 0, 3), zeros(0), zeros(0)), zeros(2, 0, 3)),
    (Case("batchNormalization", zeros(0, 2), zeros(2), ones(2), scale=ones(2), bias=ones(2)), zeros(0, 2)),
    (Case("cast", zeros(2, 0), "int8"), zeros(2, 0, dtype="int8")),
    (Case("concat", [zeros(0, 3), ones(2, 3), zeros(0, 3), ones(1, 3)], 0), ones(3, 3)),
    (Case("concat", [zeros(2, 0), zeros(2, 0)], 1), zeros(2, 0)),
    (Case("concat", [zeros(2, 0), ones(2, 2)], 1), ones(2, 2)),
    (Case("conv2d", zeros(0, 2, 4, 4), ones(3, 2, 2, 2)), zeros(0, 3, 3, 3)),
    (Case("conv2d", zeros(1, 0, 4, 4), ones(3, 0, 2, 2)), zeros(1, 3, 3, 3)),
    (Case("conv2d", zeros(1, 4, 4, 0), ones(3, 2, 2, 0), inputLayout="nhwc", filterLayout="ohwi", bias=ones(3)), ones(1, 3, 3, 3)),
    (Case("conv2d", ones(1, 2, 4, 4), zeros(0, 2, 2, 2), padding=[1, 1, 1, 1]), zeros(1, 0, 5, 5)),
    (Case("convTranspose2d", zeros(0, 2, 4, 4), ones(2, 3, 2, 2)), zeros(0, 3, 5, 5)),
    (Case("convTranspose2d", zeros(1, 0, 4, 4), ones(0, 3, 2, 2), bias=ones(3)), ones(1, 3, 5, 5)),
    (Case("cumulativeSum", zeros(2, 0), 1), zeros(2, 0)),
    (Case("cumulativeSum", zeros(2, 0), 0, exclusive=True, reversed=True), zeros(2, 0)),
    (Case("dequantizeLinear", zeros(0, 2, dtype="int8"), ones(1, 2), zeros(1, 2, dtype="int8")), zeros(0, 2)),
    (Case("dequantizeLinear", zeros(0, 2, dtype="int8"), ones(0, 1), zeros(0, 1, dtype="int8")), zeros(0, 2)),
    (Case("expand", ones(1, 3), [0, 3]), zeros(0, 3)),
    (Case("expand", zeros(0), [2, 0]), zeros(2, 0)),
    (Case("gather", ones(2, 3), indices(0)), zeros(0, 3)),
    (Case("gather", zeros(0, 3), indices(2), axis=1), zeros(0, 2)),
    (Case("gather", zeros(0, 3), indices(0)), zeros(0, 3)),
    (Case("gatherElements", ones(2, 3), indices(0, 3)), zeros(0, 3)),
    (Case("gatherElements", zeros(0, 3), indices(0, 3)), zeros(0, 3)),
    (Case("gatherND", ones(2, 3), indices(0, 1)), zeros(0, 3)),
    (Case("gatherND", zeros(2, 0), indices(4, 1)), zeros(4, 0)),
    (Case("gemm", zeros(2, 0), zeros(0, 3)), zeros(2, 3)),
    (Case("gemm", zeros(0, 2), zeros(3, 0), aTranspose=True, bTranspose=True, c=ones(3), beta=4.0, alpha=5.0), 4 * ones(2, 3)),
    (Case("gemm", zeros(0, 2), ones(2, 3), c=ones(3)), zeros(0, 3)),
    (Case("gru", zeros(0, 2, 3), ones(1, 12, 3), ones(1, 12, 4), 0, 4), zeros(1, 2, 4)),
    (Case("gru", zeros(0, 2, 3), ones(1, 12, 3), ones(1, 12, 4), 0, 4, initialHiddenState=ones(1, 2, 4)), ones(1, 2, 4)),
    (Case("gru", zeros(3, 0, 2), ones(1, 12, 2), ones(1, 12, 4), 3, 4), zeros(1, 0, 4)),
    (Case("gru", zeros(3, 2, 0), zeros(1, 12, 0), ones(1, 12, 4), 3, 4), zeros(1, 2, 4)),
    (Case("gruCell", zeros(0, 3), ones(12, 3), ones(12, 4), zeros(0, 4), 4), zeros(0, 4)),
    (Case("gruCell", zeros(2, 0), zeros(12, 0), ones(12, 4), zeros(2, 4), 4), zeros(2, 4)),
    (Case("instanceNormalization", zeros(0, 2, 3, 3)), zeros(0, 2, 3, 3)),
    (Case("instanceNormalization", zeros(2, 3, 0, 3)), zeros(2, 3, 0, 3)),
    (Case("l2Pool2d", zeros(2, 0, 4, 4), windowDimensions=[2, 2]), zeros(2, 0, 3, 3)),
    (Case("layerNormalization", zeros(2, 0)), zeros(2, 0)),
    (Case("layerNormalization", zeros(0, 3), axes=[1], scale=ones(3), bias=ones(3)), zeros(0, 3)),
    (Case("logicalNot", zeros(0, 2, dtype="uint8")), zeros(0, 2, dtype="uint8")),
    (Case("lstmCell", zeros(0, 3), ones(16, 3), ones(16, 4), zeros(0, 4), zeros(0, 4), 4), [zeros(0, 4)] * 2),
    (Case("lstmCell", zeros(2, 0), zeros(16, 0), ones(16, 4), zeros(2, 4), zeros(2, 4), 4), [zeros(2, 4)] * 2),
    (Case("lstm", zeros(0, 2, 3), ones(1, 16, 3), ones(1, 16, 4), 0, 4), [zeros(1, 2, 4)] * 2),
    (
        Case("lstm", zeros(0, 2, 3), ones(1, 16, 3), ones(1, 16, 4), 0, 4, initialCellState=ones(1, 2, 4), returnSequence=True),
        [zeros(1, 2, 4), ones(1, 2, 4), zeros(0, 1, 2, 4)],
    ),
    (Case("matmul", zeros(2, 0), zeros(0, 3)), zeros(2, 3)),
    (Case("matmul", zeros(0, 2), ones(2, 3)), zeros(0, 3)),
    (Case("matmul", zeros(0, 1, 2, 3), ones(4, 3, 2)), zeros(0, 4, 2, 2)),
    (Case("matmul", zeros(5, 2, 0), zeros(1, 0, 3)), zeros(5, 2, 3)),
    (Case("maxPool2d", zeros(0, 4, 4, 2), windowDimensions=[2, 2], layout="nhwc"), zeros(0, 3, 3, 2)),
    (Case("pad", zeros(0, 2), [1, 0], [1, 0], value=3), 3 * ones(2, 2)),
    (Case("pad", zeros(0, 2), [0, 1], [0, 1], mode="edge"), zeros(0, 4)),
    (Case("pad", zeros(0, 2), [0, 1], [0, 0], mode="reflection"), zeros(0, 3)),
    (Case("quantizeLinear", zeros(2, 0), ones(1, 1), zeros(1, 1, dtype="int8")), zeros(2, 0, dtype="int8")),
    (Case("resample2d", zeros(0, 2, 3, 3), sizes=[6, 6]), zeros(0, 2, 6, 6)),
    (Case("resample2d", ones(1, 2, 3, 3), sizes=[0, 3]), zeros(1, 2, 0, 3)),
    (Case("resample2d", zeros(1, 2, 0, 3), scales=[2.0, 2.0]), zeros(1, 2, 0, 6)),
    (Case("reshape", zeros(2, 0, 3), [0, 7]), zeros(0, 7)),
    (Case("reverse", zeros(2, 0)), zeros(2, 0)),
    (Case("scatterElements", ones(2, 3), indices(0, 3), zeros(0, 3)), ones(2, 3)),
    (Case("scatterElements", zeros(0, 3), indices(0, 3), zeros(0, 3)), zeros(0, 3)),
    (Case("scatterND", ones(2, 3), indices(0, 1), zeros(0, 3)), ones(2, 3)),
    (Case("slice", ones(2, 3), [2, 1], [0, 2]), zeros(0, 2)),
    (Case("slice", zeros(2, 0), [0, 0], [1, 0], strides=[1, 2]), zeros(1, 0)),
    (Case("softmax", zeros(2, 0), 1), zeros(2, 0)),
    (Case("softmax", zeros(0, 3), 1), zeros(0, 3)),
    (Case("split", ones(2, 3), [0, 2], axis=0), [zeros(0, 3), ones(2, 3)]),
    (Case("split", zeros(0, 3), 2, axis=0), [zeros(0, 3)] * 2),
    (Case("tile", ones(2, 3), [0, 2]), zeros(0, 6)),
    (Case("tile", zeros(0, 3), [2, 2]), zeros(0, 6)),
    (Case("transpose", zeros(2, 0, 3)), zeros(3, 0, 2)),
    (Case("triangular", zeros(2, 0)), zeros(2, 0)),
    (Case("where", zeros(0, 1, dtype="uint8"), ones(1, 3), ones(3)), zeros(0, 3)),
    *((Case(name, zeros(2, 0, 3)), zeros(2, 0, 3)) for name in ELEMENTWISE),
    *((Case(name, zeros(2, 0, 3)), zeros(2, 0, 3, dtype="uint8")) for name in ("isInfinite", "isNaN")),
    *((Case(name, zeros(2, 0, 3), ones(3)), zeros(2, 0, 3)) for name in ARITHMETIC),
    *((Case(name, zeros(2, 0, 3), ones(3)), zeros(2, 0, 3, dtype="uint8")) for name in COMPARISONS),
    *((Case(name, zeros(2, 0, dtype="uint8"), ones(1, dtype="uint8")), zeros(2, 0, dtype="uint8")) for name in LOGICAL),
    *((Case(name, zeros(2, 0, 3), axes=[1]), np.full((2, 3), value, np.float32)) for name, value in REDUCTIONS.items()),
    *((Case(name, zeros(2, 0, 3), axes=[2], keepDimensions=True), zeros(2, 0, 1)) for name in REDUCTIONS),
    *((Case(name, zeros(0)), np.array(value, np.float32)) for name, value in REDUCTIONS.items()),
    (Case("reduceMax", zeros(0, dtype="int8")), np.array(-128, np.int8)),
    (Case("reduceMin", zeros(0, dtype="uint32")), np.array(2**32 - 1, np.uint32)),
    (Case("reduceProduct", zeros(0, dtype="int64")), np.array(1, np.int64)),
]


def test_every_operation_has_a_row() -> None:
    assert {case.name for case, _ in CASES} == ROWS.keys()


@each_row(("case", "expected"), CASES)
@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("constants", [False, True], ids=["inputs", "constants"])
def test_values(case: Case, expected: Any, constants: bool, revision: str) -> None:
    found = run(case.name, *case.arguments, constants=constants, revision=revision, **case.options)
    wanted = expected if isinstance(expected, list) else [expected]
    assert [each.dtype for each in found] == [each.dtype for each in wanted]
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


def equal(_: Case, actual: Any, wanted: Any) -> None:
    np.testing.assert_array_equal(actual, wanted, strict=True)


def test_the_reference_agrees() -> None:
    check_cases([case for case, _ in CASES], equal, revision=REVISION)


@each_row("dtype", FLOATS)
def test_other_floats(dtype: str) -> None:
    names = {"conv2d", "gemm", "gruCell", "matmul", "pad", "reduceMax"}
    cases = [case.astype(dtype) for case, _ in CASES if case.name in names and case.arguments[0].dtype == "float32"]
    check_cases(cases, equal, revision=REVISION)


@settings(deadline=None)
@given(mutually_broadcastable_shapes(num_shapes=2, min_side=0, max_side=3, max_dims=4))
def test_broadcasting(shapes: Any) -> None:
    [(_, shape)] = infer("add", *(Shape("float32", list(each)) for each in shapes.input_shapes), revision=REVISION)
    assert tuple(shape) == shapes.result_shape


@settings(deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=4), st.data())
def test_shapes(sizes: list[int], data: st.DataObject) -> None:
    """The operations that move elements give the results of NumPy for any shape."""
    x = Shape("float32", sizes)
    values = np.zeros(sizes, np.int8)
    axis = data.draw(st.integers(0, len(sizes) - 1))
    axes = data.draw(st.lists(st.integers(0, len(sizes) - 1), unique=True))
    starts = [data.draw(st.integers(0, size)) for size in sizes]
    lengths = [data.draw(st.integers(0, size - start)) for size, start in zip(sizes, starts, strict=True)]
    counts = data.draw(st.lists(st.integers(0, 2), min_size=len(sizes), max_size=len(sizes)))
    taken = data.draw(st.integers(0, 2 if sizes[axis] else 0))
    parts = data.draw(st.integers(0, sizes[axis]))
    found = {
        "gather": infer("gather", x, Shape("int32", [taken]), axis=axis, revision=REVISION),
        "reduce": infer("reduceSum", x, axes=axes, keepDimensions=True, revision=REVISION),
        "slice": infer("slice", x, starts, lengths, revision=REVISION),
        "tile": infer("tile", x, counts, revision=REVISION),
        "split": infer("split", x, [parts, sizes[axis] - parts], axis=axis, revision=REVISION),
        "pad": infer("pad", x, counts, counts, revision=REVISION),
    }
    wanted = {
        "gather": [values.take([0] * taken, axis).shape],
        "reduce": [values.sum(tuple(axes), keepdims=True).shape],
        "slice": [values[tuple(slice(start, start + length) for start, length in zip(starts, lengths, strict=True))].shape],
        "tile": [np.tile(values, counts).shape],
        "split": [each.shape for each in np.split(values, [parts], axis)],
        "pad": [np.pad(values, [(count, count) for count in counts]).shape],
    }
    assert {name: [tuple(shape) for _, shape in each] for name, each in found.items()} == wanted


WRONG = [
    (Case("argMax", zeros(0, 3), 0), "argMax: input must have elements along the axis"),
    (Case("averagePool2d", zeros(1, 2, 0, 4)), "averagePool2d: "),
    (
        Case("conv2d", zeros(1, 2, 0, 4), ones(3, 2, 1, 1), padding=[1, 1, 0, 0]),
        "conv2d: input must have a height and a width of at least 1",
    ),
    (Case("conv2d", ones(1, 2, 4, 4), zeros(3, 2, 0, 1)), "conv2d: filter must have a height and a width of at least 1"),
    (Case("conv2d", ones(1, 2, 1, 4), ones(3, 2, 2, 1)), "conv2d: input must be at least as large as the filter or window"),
    (Case("convTranspose2d", zeros(1, 2, 0, 4), ones(2, 3, 2, 2)), "convTranspose2d: input must have a height"),
    (Case("gather", zeros(0, 3), indices(1)), "gather: input must have elements, because the indices take some"),
    (Case("gatherElements", zeros(0, 3), indices(2, 3)), "gatherElements: input must have elements"),
    (Case("gatherND", ones(2, 3), indices(4, 0)), "gatherND: indices must have a last dimension of at least 1"),
    (Case("gatherND", zeros(0, 3), indices(4, 1)), "gatherND: input must have elements"),
    (Case("maxPool2d", ones(1, 2, 1, 1), windowDimensions=[2, 2]), "maxPool2d: "),
    (Case("pad", zeros(0, 2), [1, 0], [0, 0], mode="edge"), 'pad: input must have elements, which the mode "edge" copies'),
    (Case("pad", zeros(0, 2), [1, 0], [0, 0], mode="reflection"), r"pad: beginningPadding\[0\] must be less than the size of axis 0, 0"),
    (Case("resample2d", zeros(1, 2, 0, 3), sizes=[1, 1]), "resample2d: input must have elements, of which others are computed"),
    (
        Case("scatterElements", zeros(0, 3), indices(1, 3), ones(1, 3)),
        "scatterElements: input must have elements, because the indices name some",
    ),
    (Case("scatterND", ones(2, 3), indices(1, 0), ones(1, 2, 3)), "scatterND: indices must have a last dimension of at least 1"),
    (Case("scatterND", zeros(0, 3), indices(1, 1), ones(1, 3)), "scatterND: input must have elements"),
    (Case("slice", ones(2, 3), [3, 0], [0, 3]), r"slice: starts\[0\] must be less than the size of axis 0, 2"),
    (Case("slice", ones(2, 3), [2, 0], [1, 3]), r"slice: starts\[0\] must be less than the size of axis 0, 2"),
    (Case("split", zeros(0, 3), 0, axis=0), "split: splits must divide the size of axis 0, 0, evenly"),
    (Case("quantizeLinear", ones(2, 3), zeros(0, 1), zeros(0, 1, dtype="int8")), "quantizeLinear: scale must have sizes that divide"),
    (Case("reshape", zeros(2, 0), [2, 1]), "reshape: newShape must have 0 elements"),
]


@each_row(("case", "message"), WRONG)
def test_calls_that_are_refused(case: Case, message: str) -> None:
    with pytest.raises(webnn.WebNNTypeError, match=f"^{message}"):
        run(case.name, *case.arguments, revision=REVISION, **case.options)


def test_without_the_proposal() -> None:
    for revision in ("2024-06", "2026-06"):
        with pytest.raises(webnn.WebNNTypeError, match="must have dimensions from 1 to"):
            run("relu", zeros(0), revision=revision)


def test_tensors() -> None:
    context = webnn.ML(revision=REVISION).createContextSync()
    tensor = context.createTensorSync({"dataType": "float32", "shape": [0, 3], "readable": True, "writable": True})
    context.writeTensor(tensor, zeros(0, 3))
    assert context.readTensorSync(tensor).nbytes == 0
    with pytest.raises(webnn.WebNNTypeError, match="must have 0 bytes"):
        context.writeTensor(tensor, zeros(1))
    constant = context.createConstantTensorSync({"dataType": "float32", "shape": [0]}, zeros(0))
    assert list(constant.shape) == [0]


def test_with_low_precision() -> None:
    context = webnn.ML(revision=find_revision(REVISIONS[1])).createContextSync()
    builder = webnn.MLGraphBuilder(context)
    x, a, b = (
        builder.input(name, {"dataType": "bfloat16", "shape": shape}) for name, shape in (("x", [0, 2]), ("a", [2, 0]), ("b", [0, 3]))
    )
    outputs = {"greatest": builder.reduceMax(x, axes=[0]), "product": builder.matmul(a, b), "sliced": builder.slice(a, [0, 0], [1, 0])}
    description = webnn.describe(outputs)
    nothing = {name: np.zeros(descriptor.shape, NUMPY_DTYPES["bfloat16"]) for name, descriptor in description.inputs.items()}
    found = dispatch(description, nothing)
    assert found["greatest"].astype(np.float32).tolist() == [-math.inf, -math.inf]
    assert found["product"].astype(np.float32).tolist() == [[0, 0, 0], [0, 0, 0]]
    assert found["sliced"].nbytes == 0


def test_a_network_of_nothing_with_constants() -> None:
    """The inputs have no features: what is left are the biases."""
    weights, peephole = zeros(1, 4, 0), np.full((1, 3), 0.5, np.float32)
    states = run(
        "lstm", zeros(2, 1, 0), weights, zeros(1, 4, 1), 2, 1, bias=ones(1, 4), peepholeWeight=peephole, constants=True, revision=REVISION
    )
    network = run("lstm", zeros(2, 1, 1), zeros(1, 4, 1), zeros(1, 4, 1), 2, 1, bias=ones(1, 4), peepholeWeight=peephole, revision=REVISION)
    for found, wanted in zip(states, network, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_inspections() -> None:
    context = webnn.ML(revision=REVISION).createContextSync()
    builder = webnn.MLGraphBuilder(context)
    nothing = builder.tile(builder.input("x", {"dataType": "float32", "shape": [1, 2]}), [0, 1])
    graph = builder.buildSync({"y": builder.relu(nothing), "z": builder.reduceSum(nothing, axes=[0])})
    accuracy = graph.accuracy({"x": ones(1, 2)}, whole=True)
    assert {(each.operation, each.relative, each.position) for each in accuracy.operators} == {
        ("tile", 0, ()),
        ("relu", 0, ()),
        ("reduceSum", 0, (0,)),
    }
    assert [each.absolute for each in accuracy.outputs] == [0, 0]
    assert graph.firstNaN({"x": ones(1, 2)}) is None
    assert all(each.relative == 0 for each in compare(graph.description, {"x": ones(1, 2)}, context, context).values)


def test_the_first_draft_has_no_counterpart() -> None:
    builder = webnn.MLGraphBuilder(webnn.ML(revision=REVISION).createContextSync())
    x = builder.input("x", {"dataType": "uint32", "shape": [2, 1, 3]})
    description = webnn.describe({"y": builder.tile(x, [2, 1, 0])})
    with pytest.raises(webnn.DescriptionError, match="tile has no counterpart in the draft 2024-06: its result has no elements"):
        description.lower("2024-06")
    image = builder.input("image", {"dataType": "float32", "shape": [2, 1, 2, 0]})
    with pytest.raises(webnn.DescriptionError, match=r"the draft 2024-06 refuses it: input: .* must have dimensions from 1 to"):
        webnn.describe({"y": builder.resample2d(image, scales=[1, 2])}).lower("2024-06")


def constant(builder: Any, values: Any) -> Any:
    return builder.constant({"dataType": values.dtype.name, "shape": list(values.shape)}, values)


def scaled(builder: Any, x: Any) -> Any:
    return builder.mul(builder.matmul(x, constant(builder, zeros(0, 3))), builder.constant("float32", 0.5))


def quantized(builder: Any, x: Any) -> Any:
    one = constant(builder, ones(1, 1)), constant(builder, zeros(1, 1, dtype="int8"))
    return builder.matmul(x, builder.dequantizeLinear(constant(builder, zeros(0, 3, dtype="int8")), *one))


def dynamically_quantized(builder: Any, x: Any) -> Any:
    zero = builder.constant("float32", 0)
    low, high = builder.min(builder.reduceMin(x), zero), builder.max(builder.reduceMax(x), zero)
    scale = builder.div(builder.sub(high, low), builder.constant("float32", 255))
    scale = builder.where(builder.equal(scale, zero), builder.constant("float32", 1), scale)
    point = builder.quantizeLinear(builder.neg(low), scale, builder.constant("uint8", 0))
    return builder.quantizeLinear(x, builder.reshape(scale, [1, 1]), builder.reshape(point, [1, 1]))


def normalized(builder: Any, x: Any) -> Any:
    image = builder.reshape(x, [1, 0, 5, 5])
    y = builder.conv2d(image, constant(builder, zeros(4, 0, 3, 3)), padding=[1, 1, 1, 1])
    return builder.relu(builder.batchNormalization(y, constant(builder, ones(4)), constant(builder, ones(4))))


@each_row("network", [scaled, quantized, dynamically_quantized, normalized])
def test_what_is_translated_together(network: Any) -> None:
    found = []
    for reference in (False, True):
        context = webnn.ML(revision=REVISION, reference=reference).createContextSync()
        builder = webnn.MLGraphBuilder(context)
        y = network(builder, builder.input("x", {"dataType": "float32", "shape": [2, 0]}))
        graph = builder.buildSync({"y": y})
        given = context.createTensorSync({"dataType": "float32", "shape": [2, 0]})
        wanted = context.createTensorSync({"dataType": y.dataType, "shape": list(y.shape), "readable": True})
        context.dispatch(graph, {"x": given}, {"y": wanted})
        found.append(context.readTensorSync(wanted))
    np.testing.assert_array_equal(*found, strict=True)
