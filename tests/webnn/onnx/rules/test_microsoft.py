"""Operators of ONNX Runtime's optimizer and quantizer, compared with ONNX Runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, helper

import webnn.onnx
from tests.webnn.onnx.models import check, compute, make, operations

Array = np.ndarray[Any, np.dtype[Any]]
NAMES = "abcdefghijklmn"


def _random(*shape: int, dtype: str = "float32", seed: int = 0) -> Any:
    random = np.random.default_rng([seed, *shape])
    if dtype.startswith("float"):
        return random.standard_normal(shape).astype(dtype)
    info = np.iinfo(dtype)
    return random.integers(info.min, info.max, shape, dtype, endpoint=True)


def _scales(*shape: int) -> Any:
    return np.random.default_rng(shape).uniform(0.02, 0.06, shape).astype(np.float32)


def _model(operator: str, inputs: tuple[Any, ...], attributes: dict[str, Any], outputs: str = "y") -> tuple[ModelProto, dict[str, Array]]:
    """Make a model of one node; floating-point numbers are scales, and None is an input that is not given."""
    arrays = [np.float32(each) if isinstance(each, float) else each for each in inputs]
    feeds = {name: np.asarray(array) for name, array in zip(NAMES, arrays, strict=False) if array is not None}
    names = [name if name in feeds else "" for name in NAMES[: len(inputs)]]
    domain, _, short = operator.rpartition(".")
    domain = "com.microsoft" if not domain else ""
    node = helper.make_node(short, names, [name if name in "yzs" else "" for name in outputs], domain=domain, **attributes)
    return make(node, feeds, 21, domains={"com.microsoft": 1}), feeds


X = _random(2, 3, 8)
IMAGE = _random(1, 2, 6, 7)
FILTER = _random(4, 2, 3, 3)
#: The inputs, the attributes, the outputs.
FUSED: dict[str, tuple[Any, ...]] = {
    "Gelu": ("Gelu", (X,), {}),
    "FastGelu": ("FastGelu", (X,), {}),
    "FastGelu with a bias": ("FastGelu", (X, _random(8)), {}),
    "BiasGelu": ("BiasGelu", (X, _random(8)), {}),
    "QuickGelu": ("QuickGelu", (X,), {}),
    "QuickGelu with alpha": ("QuickGelu", (X,), {"alpha": 1.0}),
    "FusedMatMul": ("FusedMatMul", (_random(2, 3, 4), _random(2, 4, 5)), {"alpha": 0.5}),
    "FusedMatMul transposed": ("FusedMatMul", (_random(2, 4, 3), _random(2, 5, 4)), {"transA": 1, "transB": 1}),
    "FusedMatMul batches": ("FusedMatMul", (_random(3, 2, 4), _random(4, 2, 5)), {"transBatchA": 1, "transBatchB": 1}),
    "FusedMatMul both": (
        "FusedMatMul",
        (_random(4, 2, 6, 3), _random(5, 2, 6, 4)),
        {"transBatchA": 1, "transBatchB": 1, "transA": 1, "transB": 1},
    ),
    "FusedConv": ("FusedConv", (IMAGE, FILTER, _random(4)), {"activation": "Relu", "pads": [1, 1, 1, 1]}),
    "FusedConv with a sum": ("FusedConv", (IMAGE, FILTER, None, _random(1, 4, 4, 5)), {"activation": "Sigmoid"}),
    "FusedConv leaky": ("FusedConv", (IMAGE, FILTER), {"activation": "LeakyRelu", "activation_params": [0.3]}),
    "FusedConv clipped": ("FusedConv", (IMAGE, FILTER), {"activation": "Clip", "activation_params": [-0.5, 1.0]}),
    "FusedConv hard": ("FusedConv", (IMAGE, FILTER), {"activation": "HardSigmoid", "activation_params": [0.3, 0.4]}),
    "FusedGemm": ("FusedGemm", (_random(3, 4), _random(5, 4), _random(5)), {"transB": 1, "activation": "Tanh", "alpha": 2.0}),
    "FusedGemm leaky": ("FusedGemm", (_random(3, 4), _random(4, 5)), {"activation": "LeakyRelu", "activation_alpha": 0.3}),
    "SkipLayerNormalization": ("SkipLayerNormalization", (X, _random(2, 3, 8, seed=1), _random(8), _random(8, seed=2)), {}),
    # The default epsilon is about the variance of these.
    "SkipLayerNormalization of small numbers": (
        "SkipLayerNormalization",
        (1e-6 * X, 1e-6 * _random(2, 3, 8, seed=1), _random(8), _random(8, seed=2)),
        {},
    ),
    "SkipSimplifiedLayerNormalization of small numbers": (
        "SkipSimplifiedLayerNormalization",
        (1e-6 * X, 1e-6 * _random(2, 3, 8, seed=1), _random(8)),
        {},
    ),
    "SkipLayerNormalization with a sum": (
        "SkipLayerNormalization",
        (X, _random(3, 8, seed=1), _random(8), None, _random(8, seed=2)),
        {"epsilon": 1e-3},
        "y--s",
    ),
    "SkipSimplifiedLayerNormalization": (
        "SkipSimplifiedLayerNormalization",
        (X, _random(1, 3, 8, seed=1), _random(8), _random(8, seed=2)),
        {"epsilon": 1e-3},
        "y--s",
    ),
    "SimplifiedLayerNormalization": ("ai.onnx.SimplifiedLayerNormalization", (X, _random(8)), {"axis": -1, "epsilon": 1e-3}),
    "SimplifiedLayerNormalization with a deviation": ("ai.onnx.SimplifiedLayerNormalization", (X, _random(8)), {"axis": -1}, "yz"),
}


@pytest.mark.parametrize("case", FUSED)
def test_fused(case: str) -> None:
    model, feeds = _model(*FUSED[case])
    check(model, feeds, 5e-6)


def _q(*shape: int, dtype: str = "uint8", seed: int = 0) -> Any:
    return _random(*shape, dtype=dtype, seed=seed)


U8, I8 = np.uint8, np.int8
#: A right factor whose products no kernel saturates: those of some processors do with larger numbers of int8.
FACTOR = _q(8, 4, dtype="int8") // 2
#: The inputs and the attributes, and the largest difference from ONNX Runtime, whose tables and kernels round in other places.
QUANTIZED: dict[str, tuple[Any, ...]] = {
    "QLinearAdd": ("QLinearAdd", (_q(2, 3), 0.02, U8(9), _q(1, 3, seed=1), 0.03, U8(200), 0.04, U8(100)), {}),
    "QLinearAdd signed": ("QLinearAdd", (_q(2, 3, dtype="int8"), 0.02, I8(9), _q(2, 3, dtype="int8"), 0.03, I8(-20), 0.05, I8(3)), {}),
    "QLinearMul": ("QLinearMul", (_q(20, 30), 0.02, U8(9), _q(30, seed=1), 0.03, U8(200), 0.09, U8(100)), {}),
    "QLinearSigmoid": ("QLinearSigmoid", (_q(300), 0.02, U8(128), 1 / 256, U8(0)), {}, 1),
    "QLinearLeakyRelu": ("QLinearLeakyRelu", (_q(300, dtype="int8"), 0.02, I8(3), 0.03, I8(-9)), {"alpha": 0.2}, 1),
    "QLinearSoftmax": ("QLinearSoftmax", (_q(4, 9), 0.02, U8(128), 1 / 256, U8(0)), {"axis": -1, "opset": 13}, 1),
    "QLinearSoftmax 11": ("QLinearSoftmax", (_q(4, 3, 2), 0.02, U8(128), 1 / 256, U8(0)), {"axis": 1, "opset": 11}, 1),
    "QLinearAveragePool": ("QLinearAveragePool", (_q(1, 2, 6, 7), 0.02, U8(128), 0.01, U8(3)), {"kernel_shape": [2, 3], "strides": [2, 1]}),
    "QLinearAveragePool padded": (
        "QLinearAveragePool",
        (_q(1, 2, 6, 7), 0.02, U8(100), 0.02, U8(3)),
        {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": 1},
    ),
    "QLinearAveragePool last": (
        "QLinearAveragePool",
        (_q(1, 6, 7, 2), 0.02, U8(100), 0.02, U8(3)),
        {"kernel_shape": [3, 3], "channels_last": 1},
    ),
    "QLinearGlobalAveragePool": ("QLinearGlobalAveragePool", (_q(2, 3, 4, 5), 0.02, U8(128), 0.01, U8(3)), {}),
    "QLinearGlobalAveragePool last": ("QLinearGlobalAveragePool", (_q(2, 4, 5, 3), 0.02, U8(128), 0.01, U8(3)), {"channels_last": 1}),
    "QLinearConcat": ("QLinearConcat", (0.02, U8(100), _q(2, 3), 0.02, U8(100), _q(2, 4), 0.03, U8(90)), {"axis": -1}),
    "MatMulIntegerToFloat": ("MatMulIntegerToFloat", (_q(2, 3, 8), FACTOR, 0.02, 0.03, U8(9), I8(3)), {}),
    "MatMulIntegerToFloat by columns": (
        "MatMulIntegerToFloat",
        (_q(3, 8), _q(8, 4), 0.02, _scales(4), U8(9), _q(4, seed=3), _random(4)),
        {},
    ),
    "MatMulIntegerToFloat, one zero point": ("MatMulIntegerToFloat", (_q(3, 8), _q(8, 4), 0.02, _scales(4), None, U8(7)), {}),
    "DynamicQuantizeMatMul": ("DynamicQuantizeMatMul", (X, FACTOR, 0.03, I8(0), _random(4)), {}),
    "DynamicQuantizeMatMul by columns": ("DynamicQuantizeMatMul", (X[0], _q(8, 4), _scales(4), _q(4, seed=3)), {}),
    "DynamicQuantizeMatMul of zeros": ("DynamicQuantizeMatMul", (X * 0, _q(8, 4), 0.03), {}),
    "QGemm": ("QGemm", (_q(3, 8), 0.02, U8(9), _q(8, 4), 0.03, U8(90), None, 0.3, U8(128)), {}),
    "QGemm transposed": (
        "QGemm",
        (_q(8, 3), 0.02, U8(9), _q(4, 8, dtype="int8"), _scales(4), np.zeros(4, I8), np.arange(-2000, 2000, 1000, np.int32), 0.3, U8(128)),
        {"transA": 1, "transB": 1, "alpha": 0.5},
    ),
    "QGemm to float": ("QGemm", (_q(3, 8), 0.02, U8(9), _q(8, 4), 0.03, U8(90), np.arange(4, dtype=np.int32)), {}),
    "QuantizeLinear": ("QuantizeLinear", (X, 0.03, U8(128)), {}),
    "DequantizeLinear": ("DequantizeLinear", (_q(2, 3, 4), _scales(3), _q(3)), {"axis": 1}),
}


@pytest.mark.parametrize("constants", [False, True])
@pytest.mark.parametrize("case", QUANTIZED)
def test_quantized(case: str, constants: bool) -> None:
    operator, inputs, attributes, *most = QUANTIZED[case]
    model, feeds = _model(operator, inputs, attributes)
    check(model, feeds, *(most or [2e-6]), constants=[name for name, array in feeds.items() if array.ndim < 2] if constants else [])


def test_zero_points_that_are_not_given() -> None:
    """ONNX Runtime does not take this, although its schema says that they are optional."""
    a, b = _q(2, 3), _q(2, 3, seed=1)
    model, feeds = _model("QLinearAdd", (a, 0.5, None, b, 0.25, None, 1.0), {})
    wanted = np.clip(np.rint(a * 0.5 + b * 0.25), 0, 255)
    assert compute(model, feeds)["y"].tolist() == wanted.tolist()


def _pack(integers: Array, bits: int) -> Array:
    """Pack the integers of each row into bytes, the lowest bits first."""
    each = 8 // bits
    padded = np.pad(integers, [(0, 0), (0, -integers.shape[1] % each)]).reshape(len(integers), -1, each)
    return np.asarray(sum(padded[..., index].astype(np.uint32) << (bits * index) for index in range(each)), np.uint8)


@pytest.mark.parametrize("shape", [(3,), (2, 3), ()])
@pytest.mark.parametrize(
    ("bits", "zeros", "bias", "rows"), [(4, False, False, 64), (4, True, False, 96), (4, True, True, 40), (8, True, False, 64)]
)
def test_matmul_of_packed_weights(bits: int, zeros: bool, bias: bool, rows: int, shape: tuple[int, ...]) -> None:
    columns, block = 5, 32
    blocks = -(-rows // block)
    random = np.random.default_rng(rows)
    integers = random.integers(0, 1 << bits, (columns, blocks * block))
    inputs = [
        _random(*shape, rows),
        _pack(integers, bits).reshape(columns, blocks, -1),
        _scales(columns * blocks),
        _pack(random.integers(0, 1 << bits, (columns, blocks)), bits).reshape(-1) if zeros else None,
        None,
        _random(columns) if bias else None,
    ]
    attributes = {"bits": bits, "block_size": block, "K": rows, "N": columns}
    model, feeds = _model("MatMulNBits", tuple(inputs if bias else inputs[:4] if zeros else inputs[:3]), attributes)
    check(model, feeds, 1e-4, constants=[name for name in "bcdf" if name in feeds])


REFUSED: dict[str, tuple[Any, ...]] = {
    "an activation": ("FusedConv", (IMAGE, FILTER), {"activation": "Sine"}, "the activation must be one of .*, got 'Sine'"),
    "numbers": ("FusedConv", (IMAGE, FILTER), {"activation": "Clip", "activation_params": [1.0]}, "Clip must have 2 numbers, got 1"),
    "training": ("SkipLayerNormalization", (X, X, _random(8)), {}, "the outputs of the mean and the deviation must not be used", "yz"),
    "skip": ("SkipLayerNormalization", (X[:1], X, _random(8)), {}, r"skip must broadcast to the input, \[1, 3, 8\], got \[2, 3, 8\]"),
    "a missing input": ("BiasGelu", (X,), {}, "the input 1 must be given"),
    "opset": ("QLinearSoftmax", (_q(4, 9), 0.02, U8(1), 0.1, U8(0)), {}, "the attribute opset must be given"),
    "scales": (
        "QLinearAdd",
        (_q(2, 3), _scales(3), U8(9), _q(2, 3), 0.03, U8(2), 0.04, U8(1)),
        {},
        r"the same shape, got \[3\] for \[1, 1\]",
    ),
    "concat": ("QLinearConcat", (0.02, U8(100), _q(2, 3), 0.02), {"axis": 0}, "there must be 2 inputs, and 3 for each tensor, got 4"),
    "matrices": ("QGemm", (_q(3), 0.02, U8(9), _q(8, 4), 0.03, U8(90)), {}, r"the factors must be matrices, got \[3\] and \[8, 4\]"),
    "a factor": ("FusedMatMul", (_random(2, 3), _random(2, 3)), {"transA": 2}, "the attribute transA must be 0 or 1, got 2"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str) -> None:
    operator, inputs, attributes, reason, *outputs = REFUSED[case]
    model, _ = _model(operator, inputs, attributes, *outputs)
    with pytest.raises(webnn.onnx.RefusedModelError, match=reason):
        webnn.onnx.load(model)


@pytest.mark.parametrize(
    ("changed", "attributes", "reason"),
    [
        ({}, {"bits": 3}, "bits must be 2, 4 or 8"),
        ({}, {"block_size": 0}, "block_size, K and N at least 1, got 4, 0, 64 and 5"),
        ({}, {"K": 99}, "B must have 320 elements, got"),
        ({1: np.zeros(160, np.int8)}, {}, "B must be uint8, got int8"),
        ({2: _scales(3)}, {}, r"scales must have 10 elements, got \[3\]"),
        ({3: _random(9)}, {}, r"zero_points must have 10 elements, got \[9\]"),
        ({3: np.zeros(4, np.uint8)}, {}, r"zero_points must have 5 elements, got \[4\]"),
        ({4: np.zeros(64, np.int32)}, {}, "g_idx must give each block as many rows as it has; export the model with blocks of rows"),
        ({0: _random(2, 63)}, {}, r"A must have K columns, 64, got \[2, 63\]"),
    ],
)
def test_refused_weights(changed: dict[int, Any], attributes: dict[str, Any], reason: str) -> None:
    inputs = [_random(2, 64), np.zeros((5, 2, 16), np.uint8), _scales(10), None, None]
    for index, array in changed.items():
        inputs[index] = array
    model, feeds = _model("MatMulNBits", tuple(inputs), {"bits": 4, "block_size": 32, "K": 64, "N": 5, **attributes})
    with pytest.raises(webnn.onnx.RefusedModelError, match=reason):
        webnn.onnx.load(model, constants={name: array for name, array in feeds.items() if name != "a"})


def test_weights_must_be_known() -> None:
    model, _ = _model("MatMulNBits", (_random(2, 32), np.zeros((5, 1, 16), np.uint8), _scales(5)), {"block_size": 32, "K": 32, "N": 5})
    with pytest.raises(webnn.onnx.RefusedModelError, match="B must be known at import, got the value 'b'"):
        webnn.onnx.load(model)


def test_equal_scales_are_not_quantized_again() -> None:
    model, feeds = _model("QLinearConcat", (0.02, U8(100), _q(2, 3), 0.02, U8(100), _q(2, 4), 0.02, U8(100)), {"axis": -1})
    assert operations(model, **{name: array for name, array in feeds.items() if array.ndim == 0}) == ["concat"]


def test_dynamic_quantization_of_zeros() -> None:
    """Its body in ONNX divides 0 by 0."""
    feeds = {"x": np.zeros((2, 3), np.float32)}
    results = compute(make(helper.make_node("DynamicQuantizeLinear", ["x"], ["y", "s", "z"]), feeds, 11), feeds)
    assert [array.tolist() for array in results.values()] == [[[0, 0, 0]] * 2, 1, 0]
