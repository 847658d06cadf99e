"""The rows of each provider: their nodes, and that their values are right where the CPU provider runs these nodes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.property.quantized import nodes_of, run
from tests.support import BROWSERS, Arguments, Array, Case, shared_context
from webnn import MLGraphBuilder, MLOperand
from webnn.builder.describe import describe_graph
from webnn.builder.graph import collect
from webnn.builder.numerics import Numerics
from webnn.builder.onnx.devices import MODULES, change_rows
from webnn.builder.onnx.translate import TRANSLATIONS, OnnxModel, translate
from webnn.reference import compute

QNN, WEBGPU = "QNNExecutionProvider", "WebGpuExecutionProvider"
RNG = np.random.default_rng(36)
#: Five dimensions, which the QNN provider gets as four.
SHAPE = (2, 3, 1, 2, 4)


def floats(*shape: int) -> Array:
    return np.asarray(RNG.normal(size=shape) * 3, np.float32)


def integers(dtype: str, *shape: int, low: int = 0, high: int = 100) -> Array:
    return np.asarray(RNG.integers(low, high, shape), dtype)


#: Neither dimension of size 1 is broadcast alike in all operands.
PAIRS = ((SHAPE, SHAPE), (SHAPE, ()), (SHAPE, (1, 2, 4)), ((2, 3, 1, 2, 1), (1, 1, 5, 2, 4)), ((3,), (3,)))
UNARY = (
    *("abs", "ceil", "cos", "elu", "erf", "exp", "floor", "gelu", "hardSigmoid", "hardSwish", "identity", "isInfinite", "isNaN"),
    *("leakyRelu", "linear", "neg", "reciprocal", "relu", "roundEven", "sigmoid", "sign", "sin", "softplus", "softsign", "tan", "tanh"),
)
REDUCTIONS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Product", "Sum", "SumSquare")
COMPARISONS = ("equal", "notEqual", "greater", "greaterOrEqual", "lesser", "lesserOrEqual")
#: Values for masks: everything but 0 is true.
MASK = np.array([0, 1, 2, 128, 255], np.uint8)[RNG.integers(0, 5, SHAPE)]


#: Some are negative, and some are out of range.
INDICES = np.array([[-1, 0, 9], [2, -9, -3]], np.int32)
PRODUCTS = (((2, 3, 2, 4, 5), (2, 3, 2, 5, 4)), ((2, 3, 2, 4, 5), (1, 1, 2, 5, 3)), ((3, 4), (4, 2)))
LSTM = floats(2, 3, 4), floats(1, 8, 4), floats(1, 8, 2), 2, 2
IMAGES = (("nchw", (2, 3, 4, 5)), ("nhwc", (2, 4, 5, 3)))

CASES: list[Case] = [
    *(Case(name, floats(*SHAPE)) for name in UNARY),
    *(Case(name, np.abs(floats(*SHAPE))) for name in ("log", "sqrt")),
    Case("sign", integers("int32", *SHAPE, low=-2, high=3)),
    Case("sign", np.float32([np.nan, -0.0, 0, 5, -np.inf])),
    Case("linear", floats(*SHAPE), alpha=2.0, beta=-1.0),
    Case("hardSigmoid", floats(*SHAPE), alpha=0.3, beta=0.4),
    Case("cast", floats(*SHAPE), "int32"),
    *(Case(name, floats(*a), floats(*b)) for name in ("add", "sub", "mul", "div", "max", "min", "prelu") for a, b in PAIRS),
    *(Case(name, integers("uint8", *a), integers("uint8", *b, high=255)) for name in ("add", "sub", "mul", "max", "min") for a, b in PAIRS),
    *(Case(name, integers(t, *a, high=3), integers(t, *b, high=3)) for name in COMPARISONS for t in ("float32", "uint8") for a, b in PAIRS),
    *(Case(name, MASK, np.roll(MASK, 5)) for name in ("logicalAnd", "logicalOr", "logicalXor")),
    Case("logicalNot", MASK),
    *(Case("where", MASK, *(RNG.integers(0, 9, SHAPE).astype(t) for _ in range(2))) for t in ("float32", "float16", "int32", "uint8")),
    Case("where", MASK, np.array(-0.0, np.float32), floats(*SHAPE)),
    *(
        Case("clamp", np.array([9, 3, -4, np.nan, np.inf, -np.inf, 0], t), **bounds)
        for t in ("float32", "float16")
        for bounds in ({"minValue": -1.0, "maxValue": 4.0}, {"minValue": 0.0}, {"maxValue": 2.0}, {})
    ),
    Case("clamp", np.array([-(2**31), 2**31 - 1, 2**31 - 3, 5], np.int32), minValue=-7, maxValue=2**31 - 2),
    Case("clamp", np.array([-(2**63), 2**63 - 1, 2**40, -5, 3], np.int64), minValue=-(2**33), maxValue=2**41),
    Case("clamp", integers("uint8", *SHAPE, high=255), minValue=3, maxValue=200),
    *(Case(f"reduce{kind}", np.abs(floats(*SHAPE)) + 1) for kind in REDUCTIONS),
    *(Case(f"reduce{kind}", np.abs(floats(*SHAPE)) + 1, axes=axes) for kind in REDUCTIONS for axes in ([], [1, 2], [4, 0], [3])),
    *(Case(f"reduce{kind}", floats(*SHAPE), axes=[0, 1, 3], keepDimensions=True) for kind in ("Sum", "Max", "Mean")),
    *(Case(f"reduce{kind}", integers(t, *SHAPE, high=120)) for kind in ("Max", "Min") for t in ("uint8", "int32", "int64")),
    *(
        Case(name, integers(t, 3, 4, 5, high=4), axis, outputDataType=output)
        for name in ("argMax", "argMin")
        for t in ("float32", "int32", "uint8", "int8", "int64")  # the CPU provider has no `ReduceMax` of uint32
        for axis, output in ((0, "int32"), (2, "int64"))
    ),
    Case("concat", [integers("uint8", 2, 3), integers("uint8", 2, 1)], 1),
    *(Case(name, integers("uint8", 2, 3)) for name in ("transpose", "identity", "reverse")),
    Case("split", integers("uint8", 4, 3), 2),
    Case("tile", integers("uint8", 2, 3), [2, 3]),
    Case("pad", integers("uint8", 2, 3), [1, 0], [0, 2], value=7),
    Case("pad", floats(2, 3, 1), [0, 2, 1], [1, 0, 0], value=-math.inf),
    Case("pad", floats(2, 3).astype(np.float16), [1, 0], [0, 2], value=1e9),
    Case("pad", np.zeros((), np.float32), [], [], value=3),
    *(Case("slice", values, [1, 0, 0, 1, 1], [1, 3, 1, 1, 3], strides=[1, 2, 1, 1, 2]) for values in (floats(*SHAPE), MASK)),
    Case("slice", integers("int32", 4, 5), [1, 0], [2, 5]),
    *(Case("reverse", integers(t, *SHAPE), axes=[1, 4]) for t in ("float32", "int32", "uint8")),
    Case("cumulativeSum", integers("int32", 3, 4), 1, exclusive=True),
    *(Case("matmul", floats(*a), floats(*b)) for a, b in PRODUCTS),
    Case("batchNormalization", floats(2, 3, 4), floats(3), np.abs(floats(3)), axis=1),
    *(
        Case("layerNormalization", floats(2, 3, 4), scale=floats(*sizes), bias=floats(*sizes), axes=axes)
        for axes, sizes in (([2], (4,)), ([2, 1], (4, 3)), ([0], (2,)))
    ),
    *(Case("layerNormalization", floats(2, 3, 4), axes=axes) for axes in ([], [1, 2])),
    *(Case("instanceNormalization", floats(*s), scale=floats(3), bias=floats(3), layout=layout) for layout, s in IMAGES),
    *(
        Case("maxPool2d", floats(1, 2, 5, 5) - 9, windowDimensions=[3, 3], padding=padding, strides=[2, 2])
        for padding in ([1, 1, 1, 1], [0, 0, 0, 0], [0, 1, 1, 0])
    ),
    *(Case("conv2d", floats(1, 2, 3, 3), floats(2, 2, 3, 3), bias=floats(2), padding=p) for p in ([0, 1, 0, 0], [0, 0, 0, 2])),
    *(
        Case("convTranspose2d", floats(1, 1, 3, 3), floats(1, 2, 3, 3), bias=floats(2), strides=[3, 2], padding=p, outputSizes=s)
        for p, s in (([0, 0, 0, 0], [10, 8]), ([1, 1, 1, 1], [8, 6]), ([0, 0, 0, 0], [9, 7]), ([0, 0, 0, 1], [11, 7]))
    ),
    *(
        Case("resample2d", floats(1, 3, 2, 2), mode=mode, axes=axes, sizes=[6, 5])
        for mode in ("linear", "nearest-neighbor")
        for axes in ([1, 2], [2, 3], [3, 0])
    ),
    Case("resample2d", integers("uint8", 1, 3, 2, 2), mode="nearest-neighbor", axes=[1, 2], sizes=[6, 5]),
    Case("l2Pool2d", floats(1, 2, 5, 5), windowDimensions=[2, 1], dilations=[1, 3], padding=[0, 3, 1, 0]),
    Case("maxPool2d", integers("int64", 1, 4, 3, 2), windowDimensions=[2, 2], padding=[1, 0, 0, 1], layout="nhwc"),
    *(
        Case("dequantizeLinear", np.array(values, t), np.abs(floats(*sizes)), np.array(zeros, t))
        for t, values, sizes, zeros in (
            ("int32", [2**31 - 1, -(2**31), 2**24 + 1, -7], (4,), [-5, 3, 2, 1]),
            ("uint32", [2**32 - 1, 0, 2**24 + 1, 7], (2,), [5, 2**32 - 1]),
            ("uint8", [200, 3, 0, 255], (2,), [3, 200]),
            ("uint8", [[200, 3], [0, 255]], (1, 2), [[3, 200]]),
        )
    ),
    *(Case("quantizeLinear", floats(3, 4), np.abs(floats(1, n)) + 1, integers(t, 1, n)) for t in ("int8", "uint8") for n in (1, 4)),
    Case("dequantizeLinear", integers("int8", 3, 4, low=-128), np.float32([[0.5]]), np.int8([[-3]])),
    Case("maxPool2d", integers("int8", 1, 2, 5, 5, low=-128, high=-9), windowDimensions=[3, 3], padding=[1, 1, 1, 1]),
    *(Case("averagePool2d", floats(1, 2, 5, 5), windowDimensions=[3, 3], padding=p, strides=[2, 2]) for p in ([0, 2, 1, 0], [3, 0, 0, 0])),
    *(Case("relu", np.array([5, -5, 2**bits - 1, -(2**bits)], t)) for t, bits in (("int8", 7), ("int32", 31), ("int64", 63))),
    Case("pow", integers("uint8", 3, 4, high=7), integers("uint8", 4, high=7)),
    *(Case("resample2d", floats(1, 1, 4, 6), mode="nearest-neighbor", sizes=sizes) for sizes in ([2, 2], [3, 9], [8, 12])),
    *(Case(name, np.array([-6, 6, -6.5], "float16")) for name in ("ceil", "floor")),
    *(Case("gatherElements", floats(4, 3), INDICES.astype(t), axis=0) for t in ("int32", "int64")),
    Case("scatterElements", floats(4, 3), INDICES, floats(2, 3), axis=0),
    Case("lstm", *LSTM, bias=floats(1, 8)),
    Case("lstm", *LSTM, activations=["relu", "tanh", "relu"]),
    *(
        Case("gather", floats(3, 4, 5), indices, axis=axis)
        for axis in range(3)
        for indices in (integers("int32", 2, 2, low=-3, high=3), np.array(1, np.uint32), np.array([9, -9], np.int64))
    ),
    *(
        Case("gather", floats(*shape), integers("int32", *indices), axis=axis)
        for shape, axis, indices in (((1, 4), 0, (2, 3)), ((3, 1), 1, (5,)), ((1,), 0, ()), ((2, 3), 1, (2, 1, 1, 2)))
    ),
    *(
        Case("gatherElements", floats(*shape), integers(t, *shape, low=0 if t == "uint32" else -4, high=5), axis=axis)
        for shape, axis in (((3, 4), 0), ((2, 3, 1, 2, 4), 1), ((1,), 0))
        for t in ("int32", "int64", "uint32")
    ),
    *(
        Case("gatherND", floats(*shape), integers("int32", *indices, high=5))
        for shape, indices in (((3, 4), (2, 1)), ((1, 4), (6, 1)), ((1, 1), (3, 2)), ((3, 4), (1, 2, 1, 2, 1)))
    ),
    *(
        Case("gemm", floats(4, 3), floats(5, 4), c=floats(*c), alpha=0.5, beta=beta, aTranspose=True, bTranspose=True)
        for c, beta in (((5,), 2.0), ((3, 1), 1.0), ((), 0.0))
    ),
    Case("gemm", floats(3, 4), floats(4, 5)),
    *(Case("triangular", floats(2, 3, 4), upper=upper, diagonal=n) for upper in (True, False) for n in (-9, -1, 0, 2, 9)),
    Case("triangular", integers("uint8", 3, 3)),
    *(
        Case("pad", floats(*shape), before, after, mode=mode)
        for mode in ("edge", "reflection")
        for shape, before, after in (((1, 3, 3, 1), [0, 1, 2, 0], [0, 2, 1, 0]), (SHAPE, [0, 1, 0, 1, 0], [1, 0, 0, 0, 3]))
    ),
    Case("pad", floats(1), [2], [3], mode="edge"),
    Case("reduceProduct", floats(3, 7, 2), axes=[1, 0]),
    *(Case(name, floats(*SHAPE).astype(np.float16)) for name in ("abs", "sin", "reduceSum")),
    *(Case(name, integers("int32", *SHAPE), 3, outputDataType="int64") for name in ("argMax", "argMin")),
    *(Case("layerNormalization", floats(2, 3, 4).astype(np.float16), axes=axes) for axes in ([2], [0, 1])),
    Case("instanceNormalization", floats(2, 3, 4, 5).astype(np.float16), scale=floats(3).astype(np.float16)),
    Case("where", MASK[0, 0, 0], floats(1, 4), floats(2, 1)),
    Case("scatterElements", floats(3, 4), np.array([[-9, 2, 0, 9]]), floats(1, 4), axis=0),
    Case("scatterND", floats(3, 4), np.array([[1, -9], [9, 9]]), floats(2)),
    Case("gatherND", floats(3, 4), np.array([[1, -9], [9, 9]])),
    Case("elu", np.array([-1e3, -0.5, -0.0, 2, np.nan, np.inf], np.float32), alpha=2.0),
    Case("gru", floats(2, 3, 4), floats(1, 6, 4), floats(1, 6, 2), 2, 2),
]  # fmt: skip


def connect(case: Case) -> tuple[MLOperand, dict[str, Array]]:
    converter = Arguments(MLGraphBuilder(shared_context(BROWSERS)))
    return case.connect(converter)[0], converter.inputs


def model_of(output: MLOperand, provider: str, numerics: Numerics = "fast") -> OnnxModel:
    return translate(collect({"y": output}), numerics, provider=provider)


@pytest.mark.parametrize("provider", MODULES)
def test_every_row_has_a_case(provider: str) -> None:
    changed = {name for name, row in change_rows(TRANSLATIONS, provider).items() if row != TRANSLATIONS[name]}
    assert changed <= {case.name for case in CASES}


@pytest.fixture(scope="module")
def together() -> tuple[dict[str, MLOperand], dict[str, Array], dict[str, Array]]:
    """Make one graph of all cases: its outputs by the number of the case, the inputs, and the outputs by the reference."""
    converter = Arguments(MLGraphBuilder(shared_context(BROWSERS)))
    outputs = {str(number): case.connect(converter)[0] for number, case in enumerate(CASES)}
    return outputs, converter.inputs, compute(describe_graph(collect(outputs)), converter.inputs)


@pytest.mark.parametrize(("provider", "numerics"), [*product(MODULES, ("fast", "exact"))])
def test_values(together: tuple[dict[str, MLOperand], dict[str, Array], dict[str, Array]], provider: str, numerics: Numerics) -> None:
    outputs, inputs, expected = together
    found = run(translate(collect(outputs), numerics, provider=provider), inputs)
    relative = {name: 2e-5 if each.dataType == "float32" else 2e-3 for name, each in outputs.items()}
    wrong = [
        f"{case}: {found[name].ravel()[:8]}, expected {expected[name].ravel()[:8]}"
        for case, name in zip(CASES, outputs, strict=True)
        if not np.allclose(found[name], expected[name], rtol=relative[name], atol=1e-5, equal_nan=True)
    ]
    assert not wrong, "\n".join(wrong)


#: A case, the provider, and the nodes.
NODES: list[tuple[Case, str, Sequence[str]]] = [
    (Case("sigmoid", floats(2)), WEBGPU, ["Sigmoid"]),
    (Case("sigmoid", floats(2)), QNN, ["Sigmoid"]),
    (Case("sigmoid", floats(*SHAPE)), QNN, ["Reshape", "Sigmoid", "Reshape"]),
    (Case("softsign", floats(2)), WEBGPU, ["Abs", "Add", "Div"]),
    (Case("softsign", floats(2)), QNN, ["Abs", "Add", "Div"]),
    (Case("reduceMax", floats(2, 3), axes=[1]), WEBGPU, ["ReduceMax"]),
    (Case("reduceMax", floats(2, 3), axes=[1]), QNN, ["ReduceMax"]),
    (Case("reduceSum", floats(*SHAPE)), QNN, ["Reshape", "ReduceSum"]),
    (Case("argMax", floats(2, 3), 1), WEBGPU, ["Reshape", "ReduceMax", "Equal", "Where", "ReduceMin", "Reshape"]),
    (Case("argMax", floats(2, 3), 1), QNN, ["Reshape", "ArgMax", "Reshape", "Cast"]),
    (Case("where", MASK, floats(4), floats(4)), WEBGPU, ["Cast", "Where"]),
    (Case("logicalNot", MASK[0, 0, 0]), WEBGPU, ["Cast", "Not", "Cast"]),
    (Case("logicalNot", MASK[0, 0, 0]), QNN, ["Cast", "Greater", "Not", "Cast"]),
    (Case("logicalOr", MASK, MASK), WEBGPU, ["Cast", "Not", "Cast", "Not", "And", "Not", "Cast"]),
    (Case("equal", MASK, MASK), WEBGPU, ["Cast", "Cast", "Equal", "Cast"]),
    (Case("clamp", floats(2), minValue=0, maxValue=6), WEBGPU, ["Max", "Min"]),
    (Case("clamp", integers("uint8", 2), minValue=1, maxValue=6), WEBGPU, ["Cast", "Clip", "Cast"]),
    (Case("slice", integers("int32", 4, 5), [1, 0], [2, 5]), WEBGPU, ["Gather"]),
    (Case("conv2d", floats(1, 1, 3, 3), floats(1, 1, 3, 3), padding=[0, 1, 0, 1]), WEBGPU, ["Concat", "Concat", "Conv"]),
    (Case("conv2d", floats(1, 1, 4, 3), floats(1, 1, 3, 3), padding=[0, 1, 0, 1]), WEBGPU, ["Conv"]),
    (
        Case("layerNormalization", floats(2, 3), axes=[1]),
        QNN,
        ["Reshape", "ReduceMean", "Sub", "Mul", "ReduceMean", "Add", "Sqrt", "Div", "Reshape"],
    ),
    (
        Case("maxPool2d", floats(1, 1, 4, 4), windowDimensions=[3, 3], padding=[1, 1, 1, 1]),
        QNN,
        ["Concat"] * 2 + ["Reshape"] * 2 + ["MaxPool"],
    ),
    (Case("averagePool2d", floats(1, 1, 4, 4), windowDimensions=[3, 3], padding=[1, 1, 1, 1]), QNN, ["AveragePool", "Mul", "Mul"]),
    (Case("averagePool2d", floats(1, 1, 4, 4), windowDimensions=[3, 3]), QNN, ["AveragePool"]),
    (Case("resample2d", floats(1, 1, 4, 4), mode="nearest-neighbor", sizes=[2, 4]), QNN, ["Gather", "Gather"]),
    (Case("resample2d", floats(1, 1, 4, 4), mode="nearest-neighbor", sizes=[8, 8]), QNN, ["Resize"]),
    (Case("resample2d", floats(1, 4, 4, 2), axes=[1, 2], sizes=[8, 8]), QNN, ["Transpose", "Resize", "Transpose"]),
    (Case("pad", floats(2, 3), [0, 0], [1, 0]), QNN, ["Concat"]),
    (Case("gather", floats(3, 4), np.array([1], np.int64), axis=0), QNN, ["Cast", "Max", "Min", "Cast", "Reshape", "GatherND"]),
    (Case("sin", floats(*SHAPE).astype(np.float16)), QNN, ["Reshape", "Cast", "Sin", "Cast", "Reshape"]),
    (Case("layerNormalization", floats(2, 3).astype(np.float16), axes=[1]), QNN, ["Reshape", "LayerNormalization", "Reshape"]),
    (Case("where", MASK, MASK, MASK), QNN, ["Cast", "Greater", "Where"]),
    (Case("elu", floats(2), alpha=2), QNN, ["Min", "Exp", "Sub", "Div", "Max", "Add"]),
    (Case("gemm", floats(2, 3), floats(3, 2), alpha=2), QNN, ["MatMul", "Mul"]),
    (Case("reduceProduct", floats(3)), QNN, ["Reshape", "Split", "Mul", "Concat", "Split", "Mul", "Reshape"]),
    (Case("matmul", floats(2, 3, 1, 4, 5), floats(2, 3, 1, 5, 4)), QNN, ["Reshape", "Reshape", "MatMul", "Reshape"]),
]


@pytest.mark.parametrize(("case", "provider", "nodes"), NODES, ids=[f"{case.name}-{provider[:3]}" for case, provider, _ in NODES])
def test_nodes(case: Case, provider: str, nodes: Sequence[str]) -> None:
    found = nodes_of(model_of(connect(case)[0], provider))
    assert sorted(found) == sorted(nodes)


@pytest.mark.parametrize("name", ["sigmoid", "softsign", "where", "reduceMax"])
def test_a_provider_without_rows_gets_those_of_the_cpu(name: str) -> None:
    output, _ = connect(next(case for case in CASES if case.name == name))
    assert model_of(output, "CUDAExecutionProvider").proto == model_of(output, "").proto


@pytest.mark.parametrize("provider", MODULES)
def test_constants_are_computed_by_exact_rows_of_the_cpu(provider: str) -> None:
    """The engine computes them at the build, with the kernels of the CPU provider."""
    builder = MLGraphBuilder(shared_context(BROWSERS))
    descriptor: Any = {"dataType": "float32", "shape": [2]}
    fixed = builder.sigmoid(builder.sigmoid(builder.constant(descriptor, np.float32([-20, 3]))))
    output = builder.add(fixed, builder.sigmoid(builder.input("x", descriptor)))
    found = nodes_of(model_of(output, provider))
    assert sorted(found) == sorted([*["Clip", "Exp", "Softsign"] * 2, "Sigmoid", "Add"])


@pytest.mark.parametrize(
    ("numerics", "divisor", "node"),
    [("fast", 3, "Mul"), ("fast", 0, "Div"), ("fast", 1e-45, "Div"), ("fast", np.inf, "Div"), ("exact", 3, "Div"), ("exact", 0.25, "Mul")],
)
def test_a_division_by_a_number_is_a_product_on_qnn(numerics: Numerics, divisor: float, node: str) -> None:
    builder = MLGraphBuilder(shared_context(BROWSERS))
    x: Any = {"dataType": "float32", "shape": [3]}
    output = builder.div(builder.input("x", x), builder.constant({"dataType": "float32", "shape": []}, np.array(divisor, np.float32)))
    model = model_of(output, QNN, numerics)
    assert nodes_of(model) == [node]
    values = np.array([1, -7, 0.1], np.float32)
    with np.errstate(divide="ignore", over="ignore"):
        np.testing.assert_allclose(run(model, {"x": values})["y"], values / np.float32(divisor), rtol=2e-7)


def test_a_large_result_is_not_picked_on_qnn() -> None:
    builder = MLGraphBuilder(shared_context(BROWSERS))
    x: Any = {"dataType": "float32", "shape": [300, 300]}
    assert nodes_of(model_of(builder.triangular(builder.input("x", x)), QNN)) == ["Trilu"]
