"""The values of matmul and gemm, against the NumPy reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support import Case, check_cases, near, run

RNG = np.random.default_rng(0)
NAN, INF = np.nan, np.inf


def f32(*shape: int) -> Any:
    return RNG.uniform(-1, 1, shape).astype(np.float32)


CASES: list[tuple[str, Any, Any, dict[str, Any]]] = [
    ("matmul", f32(4, 3), f32(3, 2), {}),
    ("matmul", f32(1, 1), f32(1, 1), {}),
    ("matmul", f32(4, 3), f32(2, 5, 3, 2), {}),
    ("matmul", f32(2, 5, 4, 3), f32(3, 2), {}),
    ("matmul", f32(2, 1, 4, 3), f32(1, 5, 3, 2), {}),
    ("matmul", f32(5, 4, 3), f32(2, 1, 3, 1), {}),
    ("matmul", f32(2, 1, 2, 1, 2, 1, 2, 3), f32(1, 2, 1, 2, 1, 2, 3, 2), {}),
    ("matmul", f32(2, 3), f32(2, 1, 2, 1, 1, 2, 3, 2), {}),
    *(
        ("gemm", f32(*((3, 2) if aTranspose else (2, 3))), f32(*((4, 3) if bTranspose else (3, 4))), {**options, **transposes})
        for aTranspose in (False, True)
        for bTranspose in (False, True)
        for transposes in [{"aTranspose": aTranspose, "bTranspose": bTranspose}]
        for options in ({}, {"alpha": -0.5, "beta": 2.0, "c": f32(2, 4)})
    ),
    *(
        ("gemm", f32(2, 3), f32(3, 4), {"c": f32(*shape), "beta": beta})
        for shape in ((), (1,), (4,), (1, 4), (2, 1), (1, 1), (2, 4))
        for beta in (1.0, -1.5, 0.0)
    ),
    ("gemm", f32(2, 3), f32(3, 4), {"alpha": 0.0, "c": f32(4)}),
    ("gemm", f32(2, 3), f32(3, 4), {"alpha": 0.1, "beta": 3.0}),
]

X = np.array([[1, INF], [NAN, 2]], np.float32)
I = np.array([[1, 0], [0, 2]], np.float32)  # noqa: E741

#: The formula's own NaN: 0 * infinity, also where alpha or beta is 0.
SPECIAL: list[tuple[str, Any, Any, dict[str, Any]]] = [
    ("matmul", X, I, {}),
    ("gemm", X, I, {"alpha": 0.0}),
    ("gemm", f32(2, 2), f32(2, 2), {"beta": 0.0, "c": np.array([NAN, 1], np.float32)}),
    ("gemm", f32(2, 2), f32(2, 2), {"beta": 0.0, "c": np.array([[INF], [1]], np.float32)}),
    ("gemm", f32(2, 2), f32(2, 2), {"beta": -0.0, "c": np.array(NAN, np.float32)}),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("table", [CASES, SPECIAL], ids=["ordinary", "special"])
def test_values(table: list[tuple[str, Any, Any, dict[str, Any]]], dtype: Any) -> None:
    check_cases(
        [Case(name, a, b, **options).astype(dtype) for name, a, b, options in table],
        near(1e-5, 1e-6) if dtype is np.float32 else near(1e-3, 1e-4),
    )


@pytest.mark.parametrize("name", ["matmul", "gemm"])
def test_float16_accumulates_in_float32_and_rounds_once(name: str) -> None:
    a = np.array([[60000, 60000, -60000, 2048, 1], [60000, 60000, 0, 0, 0]], np.float16)
    # 62049 lies between the float16 values 62048 and 62080.
    np.testing.assert_array_equal(run(name, a, np.ones((5, 1), np.float16))[0], [[62048], [INF]])
