"""Hold the reference to `docs/numerics.md`, one row per line of its tables, and to the draft's list of operations."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.support import FIRST
from webnn.reference.operations import REFERENCE, REFERENCE_NEWEST

INF, NAN = math.inf, math.nan
SPECIFICATION = Path(__file__).resolve().parents[3].parent / "shared" / "spec" / "webnn-2024-06.bs"
#: Methods that return operands but are not operations.
NOT_OPERATIONS = {"input", "constant"}


def test_the_draft_has_these_operations() -> None:
    assert set(REFERENCE) == set(FIRST.operations)
    if not SPECIFICATION.is_file():
        pytest.skip(f"no copy of the draft at {SPECIFICATION}")
    declared = re.findall(r"^ +(?:sequence<MLOperand>|MLOperand) (\w+)\(", SPECIFICATION.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(declared) - NOT_OPERATIONS == set(REFERENCE)


INTEGERS = [
    # operation, type, inputs, expected
    ("add", "int8", ([127], [1]), [-128]),
    ("add", "uint64", ([2**64 - 1], [2]), [1]),
    ("sub", "uint8", ([0], [1]), [255]),
    ("mul", "int64", ([2**62], [2]), [-(2**63)]),
    ("neg", "int32", ([-(2**31), 5],), [-(2**31), -5]),
    ("abs", "int8", ([-128, -5],), [-128, 5]),
    ("prelu", "int8", ([-100, 100], [2, 2]), [56, 100]),
    ("div", "int32", ([7, -7, 7, -7], [2, 2, -2, -2]), [3, -3, -3, 3]),
    ("div", "int8", ([5, 0, -5], [0, 0, 0]), [-1, -1, -1]),
    ("div", "uint32", ([5, 0], [0, 0]), [2**32 - 1, 2**32 - 1]),
    ("div", "int64", ([-(2**63)], [-1]), [-(2**63)]),
    ("div", "uint64", ([2**64 - 1], [3]), [(2**64 - 1) // 3]),
    ("pow", "int32", ([3, 0, 2, -3], [21, 0, 31, 3]), [1870418611, 1, -(2**31), -27]),
    ("pow", "uint64", ([3, 2], [41, 64]), [36472996377170786403 % 2**64, 0]),
    ("pow", "int8", ([1, -1, -1, 0, 2, -3], [-5, -2, -3, -1, -1, -1]), [1, 1, -1, -1, 0, 0]),
    ("max", "uint64", ([2**63, 2**64 - 1], [2**63 + 1, 0]), [2**63 + 1, 2**64 - 1]),
    ("reduceSum", "int32", ([2**31 - 1, 2**31 - 1, 1],), -1),
    ("reduceSum", "uint32", ([2**32 - 1, 2],), 1),
    ("reduceL1", "int32", ([-(2**31), 1],), -(2**31) + 1),
    ("reduceSumSquare", "int32", ([2**16, 3],), 9),
    ("reduceProduct", "uint32", ([2**31, 2, 7],), 0),
    ("reduceMax", "uint64", ([2**64 - 1, 2**64 - 2],), 2**64 - 1),
    ("reduceMin", "int64", ([2**62 + 1, 2**62],), 2**62),
    ("where", "int64", ([2**62 + 1], [0]), [2**62 + 1]),
]


@pytest.mark.parametrize(("operation", "dtype", "inputs", "expected"), INTEGERS)
def test_integers(operation: str, dtype: str, inputs: tuple[list[int], ...], expected: Any) -> None:
    tensors = [np.array(values, dtype=dtype) for values in inputs]
    if operation == "where":
        tensors = [np.array([2], dtype=np.uint8), *tensors]
    same(REFERENCE[operation](*tensors), np.array(expected, dtype=dtype))


CASTS = [
    # from, to, values, expected
    ("float32", "int8", [-1.9, 1.9, 300, -300, NAN, INF, -INF], [-1, 1, 127, -128, 0, 127, -128]),
    ("float32", "uint8", [-1, 255.9, 256], [0, 255, 255]),
    ("float32", "int64", [1e30, -1e30, 2.0**62], [2**63 - 1, -(2**63), 2**62]),
    ("float32", "uint64", [INF, -INF], [2**64 - 1, 0]),
    ("int32", "uint8", [300, -1], [44, 255]),
    ("uint64", "int64", [2**64 - 1], [-1]),
    ("int64", "float32", [2**24 + 1, 2**24 + 3], [2**24, 2**24 + 4]),
    ("float32", "float16", [65519, 65520, 1 + 2**-11, 1 + 3 * 2**-11], [65504, INF, 1, 1 + 2**-9]),
    ("int32", "float16", [-70000], [-INF]),
    ("float16", "float32", [-0.0], [-0.0]),
]


@pytest.mark.parametrize(("source", "target", "values", "expected"), CASTS)
def test_casts(source: str, target: str, values: list[float], expected: list[float]) -> None:
    same(REFERENCE["cast"](np.array(values, dtype=source), target), np.array(expected, dtype=target))


FLOATS = [
    # operation, inputs, options, expected
    ("max", ([1, NAN], [NAN, 1]), {}, [NAN, NAN]),
    ("min", ([1, NAN], [NAN, 1]), {}, [NAN, NAN]),
    ("clamp", ([NAN, -2, 2, INF],), {"minValue": -1, "maxValue": 1}, [NAN, -1, 1, 1]),
    ("relu", ([NAN, -1, 1],), {}, [NAN, 0, 1]),
    ("reduceMax", ([1, NAN, 3],), {}, NAN),
    ("reduceMin", ([NAN, 1, 3],), {}, NAN),
    ("neg", ([0.0, -0.0],), {}, [-0.0, 0.0]),
    ("identity", ([-0.0, NAN],), {}, [-0.0, NAN]),
    ("div", ([1, -1, 0], [0, 0, 0]), {}, [INF, -INF, NAN]),
    ("prelu", ([1, -1], [INF, 2]), {}, [1, -2]),
    ("reduceL1", ([-1, 2],), {"axes": []}, [1, 2]),
    ("reduceSumSquare", ([-3, 2],), {"axes": []}, [9, 4]),
    ("reduceLogSumExp", ([1000, -INF],), {}, 1000),
]


@pytest.mark.parametrize(("operation", "inputs", "options", "expected"), FLOATS)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_floats(operation: str, inputs: tuple[list[float], ...], options: dict[str, Any], expected: Any, dtype: str) -> None:
    tensors = [np.array(values, dtype=dtype) for values in inputs]
    same(REFERENCE[operation](*tensors, **options), np.array(expected, dtype=dtype))


@pytest.mark.parametrize("name", ["equal", "greater", "greaterOrEqual", "lesser", "lesserOrEqual"])
def test_comparisons_with_nan_are_false(name: str) -> None:
    nan = np.array([NAN, NAN, 1], dtype=np.float32)
    other = np.array([NAN, 1, NAN], dtype=np.float32)
    same(REFERENCE[name](nan, other), np.zeros(3, dtype=np.uint8))


def test_zeros_are_equal() -> None:
    same(REFERENCE["equal"](float32([-0.0]), float32([0.0])), np.array([1], dtype=np.uint8))


@pytest.mark.parametrize(
    ("name", "values", "last", "expected"),
    [
        ("argMax", [1, 3, 3], False, 1),
        ("argMax", [1, 3, 3], True, 2),
        ("argMax", [9, NAN, 3, NAN], False, 1),
        ("argMin", [-9, NAN, 3, NAN], False, 1),
        ("argMin", [-9, NAN, 3, NAN], True, 3),
    ],
)
def test_arg_reductions(name: str, values: list[float], last: bool, expected: int) -> None:
    same(REFERENCE[name](float32(values), selectLastIndex=last), np.array(expected, dtype=np.int64))


@pytest.mark.parametrize(
    ("dtype", "values", "low", "high", "expected"),
    [
        ("int8", [-128, 0, 127], -1.5, 1.5, [-1, 0, 1]),
        ("uint8", [0, 7, 255], -1e9, 1e9, [0, 7, 255]),
        ("uint8", [0, 255], 300, 400, [255, 255]),
        ("uint64", [0, 2**64 - 1], None, 2.0**63, [0, 2**63]),
        ("int64", [2**62 + 1], None, None, [2**62 + 1]),
    ],
)
def test_clamp_of_integers(dtype: str, values: list[int], low: float, high: float, expected: list[int]) -> None:
    result = REFERENCE["clamp"](np.array(values, dtype=dtype), minValue=low, maxValue=high)
    same(result, np.array(expected, dtype=dtype))


def test_max_pooling() -> None:
    pool = REFERENCE["maxPool2d"]
    big = np.array([[[[-(2**62) - 1, -(2**62)]]]], dtype=np.int64)
    same(pool(big, windowDimensions=[1, 2], padding=[0, 0, 1, 1]), np.array([[[[big.min(), big.max(), big.max()]]]]))
    # NaN means "unspecified".
    assert np.isnan(pool(float32([[[[NAN, -5]]]]))).all()


def test_gather_clamps_indices() -> None:
    result = REFERENCE["gather"](float32([10, 11, 12]), np.array([-9, -3, -1, 2, 3, 2**62]))
    same(result, float32([10, 10, 12, 12, 12, 12]))


def test_float16_is_rounded_once() -> None:
    x = float16([300])
    same(REFERENCE["mul"](x, x), float16([INF]))
    # 2049 is not a float16: a sum rounded at every step would stay at 2048.
    same(REFERENCE["reduceSum"](float16([2048, 1, 1])), np.array(2050, dtype=np.float16))


def float32(values: Any) -> NDArray[np.float32]:
    return np.array(values, dtype=np.float32)


def float16(values: Any) -> NDArray[np.float16]:
    return np.array(values, dtype=np.float16)


def same(actual: Any, expected: NDArray[Any]) -> None:
    """Require the type, the shape, and every value, the sign of zero included."""
    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(actual, expected)
    if actual.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(actual) & (actual == 0), np.signbit(expected) & (expected == 0))


# Since 2026-06

#: Operation, data type, input, the arguments behind it, options, and what the result is; all worked out by hand.
CASES: list[tuple[str, str, list[Any], tuple[Any, ...], dict[str, Any], list[Any]]] = [
    # The draft's example.
    ("roundEven", "float32", [0.1, 0.9, 1.1, 1.9, -3.5, -2.5, -1.5, 1.5, 2.5, 3.5], (), {}, [0, 1, 1, 2, -4, -2, -2, 2, 2, 4]),
    ("roundEven", "float16", [0.5, -0.5, -0.0, 1e-7, -1e-7, INF, -INF, NAN], (), {}, [0, -0.0, -0.0, 0, -0.0, INF, -INF, NAN]),
    ("sign", "float32", [NAN, INF, -INF, 0, -0.0, 1e-45, -1e-45], (), {}, [0, 1, -1, 0, 0, 1, -1]),
    ("sign", "int64", [-(2**63), -1, 0, 1, 2**63 - 1], (), {}, [-1, -1, 0, 1, 1]),
    ("sign", "int8", [-128, 0, 127], (), {}, [-1, 0, 1]),
    # The draft's examples.
    ("cumulativeSum", "int32", [1, 2, 3, 4], (0,), {}, [1, 3, 6, 10]),
    ("cumulativeSum", "int32", [1, 2, 3, 4], (0,), {"exclusive": True}, [0, 1, 3, 6]),
    ("cumulativeSum", "int32", [1, 2, 3, 4], (0,), {"reversed": True}, [10, 9, 7, 4]),
    ("cumulativeSum", "int32", [1, 2, 3, 4], (0,), {"exclusive": True, "reversed": True}, [9, 7, 4, 0]),
    ("cumulativeSum", "uint32", [2**32 - 1, 2, 2**31], (0,), {}, [2**32 - 1, 1, 2**31 + 1]),
    ("cumulativeSum", "int64", [2**63 - 1, 1, 2**53 + 1], (0,), {}, [2**63 - 1, -(2**63), -(2**63) + 2**53 + 1]),
    ("cumulativeSum", "float16", [60000, 60000, -60000], (0,), {}, [60000, INF, 60000]),
    ("cumulativeSum", "float32", [1, INF, -INF, 1], (0,), {}, [1, INF, NAN, NAN]),
    ("cumulativeSum", "float32", [NAN, 1], (0,), {"exclusive": True}, [0, NAN]),
    ("cumulativeSum", "int32", [[1, 2], [3, 4]], (0,), {}, [[1, 2], [4, 6]]),
    ("reverse", "int32", [[1, 2, 3], [4, 5, 6]], (), {}, [[6, 5, 4], [3, 2, 1]]),
    ("reverse", "int32", [[1, 2, 3], [4, 5, 6]], (), {"axes": [1]}, [[3, 2, 1], [6, 5, 4]]),
    ("reverse", "int32", [[1, 2, 3], [4, 5, 6]], (), {"axes": []}, [[1, 2, 3], [4, 5, 6]]),
    ("tile", "int32", [[1, 2], [3, 4]], ([2, 3],), {}, [[1, 2] * 3, [3, 4] * 3] * 2),
    ("tile", "float32", [-0.0, NAN], ([2],), {}, [-0.0, NAN, -0.0, NAN]),
]

#: Operation, data type, operands, and where the result is 1.
TRUTHS: list[tuple[str, str, list[list[Any]], list[int]]] = [
    ("notEqual", "float32", [[NAN, 0, 1, INF], [NAN, -0.0, 2, INF]], [1, 0, 1, 0]),
    ("notEqual", "uint64", [[2**64 - 1, 2**53], [2**64 - 1, 2**53 + 1]], [0, 1]),
    ("logicalAnd", "uint8", [[0, 0, 2, 2], [0, 128, 0, 128]], [0, 0, 0, 1]),
    ("logicalOr", "uint8", [[0, 0, 2, 2], [0, 128, 0, 128]], [0, 1, 1, 1]),
    ("logicalXor", "uint8", [[0, 0, 2, 2], [0, 128, 0, 128]], [0, 1, 1, 0]),
    ("isNaN", "float16", [[NAN, -NAN, INF, 0]], [1, 1, 0, 0]),
    ("isInfinite", "float16", [[NAN, INF, -INF, 65504]], [0, 1, 1, 0]),
]


@pytest.mark.parametrize(("operation", "dtype", "input", "arguments", "options", "expected"), CASES)
def test_values(operation: str, dtype: str, input: list[Any], arguments: tuple[Any, ...], options: dict[str, Any], expected: Any) -> None:
    actual = np.asarray(REFERENCE_NEWEST[operation](np.array(input, dtype), *arguments, **options))
    wanted = np.array(expected, dtype)
    np.testing.assert_array_equal(actual, wanted, strict=True)
    known = ~np.isnan(wanted.astype(np.float64))
    np.testing.assert_array_equal(np.signbit(actual.astype(np.float64))[known], np.signbit(wanted.astype(np.float64))[known])


@pytest.mark.parametrize(("operation", "dtype", "operands", "expected"), TRUTHS)
def test_truths(operation: str, dtype: str, operands: list[list[Any]], expected: list[int]) -> None:
    actual = REFERENCE_NEWEST[operation](*(np.array(operand, dtype) for operand in operands))
    np.testing.assert_array_equal(actual, np.array(expected, np.uint8), strict=True)
