"""Quantization, compared with ONNX Runtime and with exact arithmetic."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, parser

import webnn
import webnn.onnx
from tests.webnn.onnx.models import check, compute, make, operations, run_onnx
from webnn.validation.drafts import for_devices

Array = np.ndarray[Any, np.dtype[Any]]


def _random(*shape: int, dtype: str = "float32", seed: int = 0) -> Any:
    random = np.random.default_rng([seed, *shape])
    if dtype.startswith("float"):
        return (random.standard_normal(shape) * 3).astype(dtype)
    info = np.iinfo(dtype)
    return random.integers(info.min, info.max, shape, dtype, endpoint=True)


def _scale(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng([seed, *shape]).uniform(0.02, 0.06, shape).astype(np.float32)


def _feeds(*arrays: Any) -> dict[str, Array]:
    return {name: np.asarray(array) for name, array in zip("abcdefghi", arrays, strict=False) if array is not None}


def _node(operator: str, arrays: Iterable[Any], **attributes: Any) -> Any:
    names = [name if array is not None else "" for name, array in zip("abcdefghi", arrays, strict=False)]
    return helper.make_node(operator, names, ["y"], **attributes)


QUANTIZE: dict[str, tuple[tuple[Any, ...], dict[str, Any], int]] = {
    "a tensor": ((_random(2, 3, 4), np.float32(0.03), np.uint8(7)), {}, 21),
    "opset 10": ((_random(2, 3, 4), np.float32(0.03), np.int8(-7)), {}, 10),
    "no zero point": ((_random(2, 3, 4), np.float32(0.03)), {}, 13),
    "one element": ((_random(5), _scale(1), _random(1, dtype="int8")), {}, 19),
    "an axis": ((_random(2, 3, 4), _scale(3), _random(3, dtype="uint8")), {}, 13),
    "the last axis": ((_random(2, 3, 4), _scale(4), _random(4, dtype="int8")), {"axis": -1}, 19),
    "float16": ((_random(2, 3, dtype="float16"), np.float16(0.05), np.int8(9)), {}, 19),
    "blocks": ((_random(2, 6, 4), _scale(2, 2, 4), _random(2, 2, 4, dtype="int8")), {"axis": 1, "block_size": 3}, 21),
    "a shorter block": ((_random(2, 7, 4), _scale(2, 3, 4), _random(2, 3, 4, dtype="uint8")), {"axis": 1, "block_size": 3}, 21),
    "blocks that are not the equal ones": ((_random(6, 2), _scale(2, 2), _random(2, 2, dtype="uint8")), {"axis": 0, "block_size": 4}, 21),
    "a type": ((_random(2, 3, 4), np.float32(0.03)), {"output_dtype": TensorProto.INT8}, 21),
}


@pytest.mark.parametrize("constants", ["", "bc"])
@pytest.mark.parametrize("case", QUANTIZE)
def test_quantize(case: str, constants: str) -> None:
    arrays, attributes, version = QUANTIZE[case]
    feeds = _feeds(*arrays)
    check(
        make(_node("QuantizeLinear", arrays, **attributes), feeds, version), feeds, constants=[each for each in constants if each in feeds]
    )


@pytest.mark.parametrize(
    ("numbers", "scale", "zero", "version", "wanted"),
    [
        # ONNX Runtime takes floating-point numbers only.
        (np.array([[-9, 2, 3], [70, 71, 999]], np.int32), np.float32(0.75), np.uint8(9), 13, [[0, 12, 13], [102, 104, 255]]),
        # The division is one of float32, whatever the numbers are: with float16's 2048 these would be in the middle between two integers.
        *((np.array([3072, 7168, -3072], each), np.int32(2049), np.int8(0), 23, [1, 3, -1]) for each in ("float16", "float32", "int32")),
        # It saturates, and rounds to even.
        (np.float32([-1e30, -400, -0.5, 0.5, 1.5, 2.5, 400, np.inf]), np.float32(1), np.int8(1), 21, [-128, -128, 1, 1, 3, 3, 127, 127]),
    ],
)
def test_quantized_numbers(numbers: Any, scale: Any, zero: Any, version: int, wanted: Any) -> None:
    feeds = _feeds(numbers, scale, zero)
    assert compute(make(_node("QuantizeLinear", feeds.values()), feeds, version), feeds)["y"].tolist() == wanted


DEQUANTIZE: dict[str, tuple[tuple[Any, ...], dict[str, Any], int]] = {
    "a tensor": ((_random(2, 3, 4, dtype="uint8"), np.float32(0.03), np.uint8(7)), {}, 21),
    "opset 10": ((_random(2, 3, 4, dtype="int8"), np.float32(0.03), np.int8(-7)), {}, 10),
    "no zero point": ((_random(2, 3, 4, dtype="int8"), np.float32(0.03)), {}, 13),
    "int32": ((_random(2, 3, 4, dtype="int32"), np.float32(0.03)), {}, 13),
    "int32 with an axis": ((_random(2, 3, 4, dtype="int32"), _scale(3)), {}, 13),
    "a scalar": ((np.uint8(200), np.float32(0.03), np.uint8(7)), {}, 21),
    "an axis": ((_random(2, 3, 4, dtype="uint8"), _scale(2), _random(2, dtype="uint8")), {"axis": 0}, 13),
    "float16": ((_random(2, 3, dtype="int8"), np.float16(0.05), np.int8(9)), {}, 19),
    "blocks": ((_random(2, 6, 4, dtype="int8"), _scale(2, 2, 4), _random(2, 2, 4, dtype="int8")), {"axis": 1, "block_size": 3}, 21),
    "a shorter block": ((_random(8, 2, dtype="int8"), _scale(3, 2), _random(3, 2, dtype="int8")), {"axis": -2, "block_size": 3}, 21),
}


@pytest.mark.parametrize("constants", ["", "bc", "abc"])
@pytest.mark.parametrize("case", DEQUANTIZE)
def test_dequantize(case: str, constants: str) -> None:
    arrays, attributes, version = DEQUANTIZE[case]
    feeds = _feeds(*arrays)
    model = make(_node("DequantizeLinear", arrays, **attributes), feeds, version)
    check(model, feeds, constants=[each for each in constants if each in feeds])


SMALL = """
<ir_version: 10, opset_import: ["" : 21]>
m (float[2, 4] x) => (float[2, 4] y)
<float[2] s = {0.5, 0.25}>
{
    q = QuantizeLinear <axis = 0, output_dtype = TYPE> (x, s, z)
    y = DequantizeLinear <axis = 0> (q, s, z)
}
"""


@pytest.mark.parametrize("zeros", [[1, 2], None])
@pytest.mark.parametrize("type", [TensorProto.INT4, TensorProto.UINT4])
def test_small_integers(type: int, zeros: list[int] | None) -> None:
    text = SMALL.replace("TYPE", str(type))
    model = parser.parse_model(text if zeros else text.replace(", z", ""))
    if zeros:
        model.graph.node.insert(0, helper.make_node("Constant", [], ["z"], value=helper.make_tensor("z", type, [2], zeros)))
    x = np.array([[-9, -0.75, 0.25, 1.75], [-9, 0.125, 0.375, 3]], np.float32)
    context = webnn.ML(revision=for_devices().name).createContextSync()
    assert compute(model, {"x": x}, context=context)["y"].tolist() == run_onnx(model, {"x": x})["y"].tolist()


def test_quantized_weights_stay_quantized() -> None:
    arrays, attributes, version = DEQUANTIZE["an axis"]
    feeds = _feeds(*arrays)
    assert operations(make(_node("DequantizeLinear", arrays, **attributes), feeds, version), **feeds) == ["dequantizeLinear"]


#: Left factor, scale, zero point; right factor, scale, zero point; scale and zero point of the result.
PRODUCTS: dict[str, tuple[Any, ...]] = {
    "unsigned": (_random(4, 9, dtype="uint8"), 0.02, np.uint8(99), _random(9, 5, dtype="uint8"), 0.03, np.uint8(3), 0.4, np.uint8(128)),
    "signed": (_random(4, 9, dtype="int8"), 0.02, np.int8(9), _random(9, 5, dtype="int8"), 0.03, np.int8(-3), 0.1, np.int8(8)),
    "stacks": (_random(2, 4, 9, dtype="uint8"), 0.02, np.uint8(9), _random(9, 5, dtype="int8"), 0.03, np.int8(-3), 0.1, np.uint8(8)),
    "columns": (
        *(_random(4, 9, dtype="uint8"), 0.02, np.uint8(9)),
        *(_random(9, 5, dtype="int8"), _scale(5), np.zeros(5, np.int8), 0.1, np.uint8(8)),
    ),
    "long": (_random(2, 5000, dtype="uint8"), 0.02, np.uint8(128), _random(5000, 3, dtype="int8"), 0.03, np.int8(0), 2.5, np.uint8(128)),
}


@pytest.mark.parametrize("constants", ["", "defgh", "bcefgh"])
@pytest.mark.parametrize("case", PRODUCTS)
def test_qlinear_matmul(case: str, constants: str) -> None:
    arrays = [np.float32(each) if isinstance(each, float) else each for each in PRODUCTS[case]]
    feeds = _feeds(*arrays)
    check(make(_node("QLinearMatMul", arrays), feeds, 10), feeds, constants=list(constants))


def test_qlinear_matmul_is_exact() -> None:
    """Scales in which each sum is a tie between two integers, or none: it depends on no rounding."""
    a, b = _random(64, 3, dtype="uint8", seed=1), _random(3, 64, dtype="int8", seed=2)
    arrays = (a, np.float32(0.5), np.uint8(100), b, np.float32(0.25), np.int8(3), np.float32(64), np.int8(-5))
    feeds = _feeds(*arrays)
    actual = compute(make(_node("QLinearMatMul", arrays), feeds, 21), feeds)["y"]
    sums = (a.astype(np.int64) - 100) @ (b.astype(np.int64) - 3)
    assert actual.tolist() == np.clip(np.rint(sums / 512) - 5, -128, 127).astype(np.int8).tolist()
    assert np.count_nonzero(sums % 512 == 256)


def test_qlinear_matmul_by_rows() -> None:
    """ONNX Runtime has no scale for each row."""
    a, b = _random(2, 4, 9, dtype="int8"), _random(9, 5, dtype="int8")
    arrays = (
        a,
        _scale(2, 4, 1),
        _random(2, 4, 1, dtype="int8"),
        b,
        _scale(1, 5),
        _random(1, 5, dtype="int8"),
        _scale(4),
        np.arange(4, dtype=np.int8),
    )
    feeds = _feeds(*arrays)
    for constants in ("", "bcefgh"):
        actual = compute(make(_node("QLinearMatMul", arrays), feeds, 21), feeds, constants=list(constants))["y"]
        a64, b64 = ((arrays[index].astype(np.float64) - arrays[index + 2]) * arrays[index + 1] for index in (0, 3))
        wanted = np.rint(a64 @ b64 / arrays[6].reshape(4, 1).astype(np.float64)) + np.arange(4).reshape(4, 1)
        assert actual.tolist() == np.clip(wanted, -128, 127).tolist()


#: Input, scale, zero point; filter, scale, zero point; scale and zero point of the result; bias; attributes.
CONVOLUTIONS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "plain": (
        (
            _random(1, 2, 5, 6, dtype="uint8"),
            0.02,
            np.uint8(9),
            _random(3, 2, 3, 3, dtype="uint8"),
            0.03,
            np.uint8(120),
            0.3,
            np.uint8(128),
        ),
        {},
    ),
    "bias": (
        (
            *(_random(1, 2, 5, 6, dtype="int8"), 0.02, np.int8(9), _random(3, 2, 3, 3, dtype="int8"), 0.03, np.int8(0), 0.3, np.int8(-8)),
            np.array([2000, -3000, 70], np.int32),
        ),
        {"pads": [1, 0, 1, 2], "strides": [2, 1]},
    ),
    "channels": (
        (
            *(_random(2, 4, 5, 5, dtype="uint8"), 0.02, np.uint8(128), _random(4, 2, 3, 3, dtype="int8"), _scale(4), np.zeros(4, np.int8)),
            *(0.3, np.uint8(128), np.array([2000, -3000, 70, 0], np.int32)),
        ),
        {"group": 2, "auto_pad": "SAME_UPPER"},
    ),
    "one dimension": (
        (_random(1, 2, 9, dtype="uint8"), 0.02, np.uint8(9), _random(3, 2, 3, dtype="uint8"), 0.03, np.uint8(120), 0.3, np.uint8(128)),
        {"dilations": [2]},
    ),
}


@pytest.mark.parametrize("constants", ["", "bcdefgh"])
@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_qlinear_conv(case: str, constants: str) -> None:
    given, attributes = CONVOLUTIONS[case]
    arrays = [np.float32(each) if isinstance(each, float) else each for each in given]
    feeds = _feeds(*arrays)
    check(make(_node("QLinearConv", arrays, **attributes), feeds, 10), feeds, constants=list(constants))


REFUSED: dict[str, tuple[str, tuple[Any, ...], dict[str, Any], str]] = {
    "rank": ("QuantizeLinear", (_random(2, 3), _scale(2, 3)), {}, r"must have one dimension if there is no block_size, got \[2, 3\]"),
    "size": (
        "QuantizeLinear",
        (_random(2, 3), _scale(2)),
        {},
        r"the scale must have one element or one for each index of axis 1 of \[2, 3\], got \[2\]",
    ),
    "axis": ("DequantizeLinear", (_random(2, 3, dtype="int8"), _scale(3)), {"axis": 2}, "axis must be from -2 to 1, got 2"),
    "blocks": (
        "DequantizeLinear",
        (_random(2, 6, dtype="int8"), _scale(2, 3)),
        {"block_size": 3},
        r"the scale must have the shape \[2, 2\] for blocks of 3 along axis 1, got \[2, 3\]",
    ),
    "a negative block": ("QuantizeLinear", (_random(2, 6), _scale(2, 3)), {"block_size": -1}, "block_size must be at least 0, got -1"),
    "an axis that is not there": (
        "QLinearConv",
        (
            *(_random(3, dtype="int8"), _scale(), np.zeros(3, np.int8)),
            *(_random(3, dtype="int8"), _scale(), np.int8(0)),
            _scale(),
            np.int8(0),
        ),
        {},
        r"one for each index of axis 1 of \[3\], got \[3\]",
    ),
    "a large block": (
        "QuantizeLinear",
        (_random(4), _scale(2)),
        {"axis": 0, "block_size": 1 << 40},
        r"must have the shape \[1\] for blocks",
    ),
    "zero point": ("QuantizeLinear", (_random(2, 3), _scale(3), np.uint8(1)), {}, "scales and zero points must have the same shape"),
    "float8": (
        "QuantizeLinear",
        (_random(2, 3), _scale()),
        {"output_dtype": TensorProto.FLOAT8E5M2},
        "must be one of WebNN, got float8_e5m2",
    ),
    "factors": (
        "QLinearMatMul",
        (*(_random(2, 3, dtype="int8"), _scale(), np.int8(0)), *(_random(2, 3, dtype="int8"), _scale(), np.int8(0)), _scale(), np.int8(0)),
        {},
        "the factors must have the same number of columns and rows",
    ),
    "filter": (
        "QLinearConv",
        (
            *(_random(1, 2, 3, dtype="int8"), _scale(), np.int8(0)),
            *(_random(2, 3, dtype="int8"), _scale(), np.int8(0)),
            _scale(),
            np.int8(0),
        ),
        {},
        "the filter must have 3 dimensions",
    ),
}


@pytest.mark.parametrize("constants", ["", "bc"])
@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str, constants: str) -> None:
    operator, arrays, attributes, reason = REFUSED[case]
    feeds = _feeds(*arrays)
    known = {name: feeds[name] for name in constants if name in feeds}
    with pytest.raises(webnn.onnx.RefusedModelError, match=reason):
        webnn.onnx.load(make(_node(operator, arrays, **attributes), feeds, 21), constants=known)


#: Numbers that are known at import, and whether they are quantized then.
KNOWN: dict[str, tuple[Any, bool]] = {
    "both signs": (_random(3, 4, 5), True),
    "one sign": (np.abs(_random(40)) + 2, True),
    "the other sign": (-np.abs(_random(40)) - 2, True),
    "ties": (np.arange(-100, 411) / 2, True),
    "zeros": (np.zeros((2, 3)), True),
    "one number": (np.array(-2.5), True),
    "large numbers": (np.array([3e38, -2e37]), True),
    "an infinite span": (np.array([3e38, -3e38]), False),
    "a subnormal scale": (np.array([1e-37, -1e-37]), False),
    "an infinity": (np.array([1, np.inf]), False),
    "NaN": (np.array([1, np.nan, 2]), False),
}


@pytest.mark.parametrize("case", KNOWN)
def test_numbers_that_are_known_are_quantized_at_import(case: str) -> None:
    numbers, folded = KNOWN[case]
    feeds = {"x": np.asarray(numbers, np.float32)}
    model = make(helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]), feeds, 21)
    imported = webnn.onnx.load(model, constants=feeds)
    assert imported.report.count("folded") == folded
    if folded:
        assert {each.operation for each in imported.description.operators} == {"identity"}
        check(model, feeds, constants=["x"])


def test_integer_convolutions_have_no_casts() -> None:
    """A sum of integers is exact in float32, in which the model goes on."""
    w = _random(2, 3, 3, 3, dtype="int8")
    model = parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        m (float[1, 3, 6, 6] x, int8[2, 3, 3, 3] w, float scale) => (y)
        {
            q, s, z = DynamicQuantizeLinear(x)
            c = ConvInteger(q, w, z)
            f = Cast <to = 1> (c)
            both = Mul(s, scale)
            y = Mul(f, both)
        }
    """)
    check(model, {"x": _random(1, 3, 6, 6), "w": w, "scale": np.array(0.5, np.float32)}, constants=["w"])
    imported = webnn.onnx.load(model, constants={"w": w})
    operations = [each.operation for each in imported.description.operators]
    assert "cast" not in operations
    assert operations.count("dequantizeLinear") == 2
    # None is made that nothing uses.
    assert [len(node.operators) for node in imported.report.nodes if node.operator in {"ConvInteger", "Cast"}] == [3, 0]


def test_integer_products_of_vectors_have_no_casts() -> None:
    feeds = {"a": _random(3, dtype="uint8"), "b": _random(3, 4, dtype="int8")}
    model = parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        m (uint8[3] a, int8[3, 4] b) => (float[4] half)
        <float two = {2}>
        {
            sums = MatMulInteger(a, b)
            numbers = Cast <to = 1> (sums)
            half = Div(numbers, two)
        }
    """)
    check(model, feeds)
    assert "cast" not in operations(model)


def test_integer_sums_that_are_outputs_are_integers() -> None:
    feeds = {"a": _random(2, 3, dtype="uint8"), "b": _random(3, 4, dtype="int8")}
    model = parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        m (uint8[2, 3] a, int8[3, 4] b) => (int32[2, 4] sums, float[2, 4] half)
        <float two = {2}>
        {
            sums = MatMulInteger(a, b)
            numbers = Cast <to = 1> (sums)
            half = Div(numbers, two)
        }
    """)
    assert check(model, feeds)["sums"].dtype == np.int32
    assert operations(model).count("cast") == 1
