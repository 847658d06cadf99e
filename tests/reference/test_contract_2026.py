"""Hold the reference of the current draft's operations to `docs/numerics.md` and to the draft's own examples."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from . import REFERENCE_2026

INF, NAN = math.inf, math.nan

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
    actual = np.asarray(REFERENCE_2026[operation](np.array(input, dtype), *arguments, **options))
    wanted = np.array(expected, dtype)
    np.testing.assert_array_equal(actual, wanted, strict=True)
    known = ~np.isnan(wanted.astype(np.float64))
    np.testing.assert_array_equal(np.signbit(actual.astype(np.float64))[known], np.signbit(wanted.astype(np.float64))[known])


@pytest.mark.parametrize(("operation", "dtype", "operands", "expected"), TRUTHS)
def test_truths(operation: str, dtype: str, operands: list[list[Any]], expected: list[int]) -> None:
    actual = REFERENCE_2026[operation](*(np.array(operand, dtype) for operand in operands))
    np.testing.assert_array_equal(actual, np.array(expected, np.uint8), strict=True)
