"""The values of unary operations, against the NumPy reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support import CURRENT, FIRST, Case, check_cases, compute_directly, make_context, run
from webnn import MLGraphBuilder

Array = np.ndarray[Any, np.dtype[Any]]

RNG = np.random.default_rng(0)
SHAPES: list[tuple[int, ...]] = [(), (1,), (7,), (2, 3, 5), (1, 2, 1, 2, 3, 1, 2, 2)]
#: Some processors flush denormals to zero: the exponential of none of these is one.
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -1.5, 2.5, 20.0, -20.0, 90.0, -80.0, 6e4, -6e4, 1e-4, np.nan, np.inf, -np.inf]
#: Each function of floats, and the relative accuracy expected of it in float32: some units in the last place.
FLOATS = {
    "abs": 0,
    "ceil": 0,
    "cos": 4e-7,
    "erf": 4e-7,
    "exp": 4e-7,
    "floor": 0,
    "identity": 0,
    "log": 6e-7,
    "neg": 0,
    "reciprocal": 2e-7,
    "roundEven": 0,
    "sign": 0,
    "sin": 4e-7,
    "sqrt": 2e-7,
    "tan": 4e-7,
}
INTEGERS = [("abs", "int32"), ("abs", "int8"), ("neg", "int32"), ("neg", "int8")] + [
    ("identity", dtype) for dtype in ("int32", "uint32", "int64", "uint64", "int8", "uint8")
]


def check(name: str, inputs: list[Array], rtol: float) -> None:
    def compare(_: Case, actual: Array, expected: Array) -> None:
        # float16 is computed in float32 and rounded once: at most one unit.
        least = 2**-10 if actual.dtype == np.float16 and rtol > 0 else rtol
        np.testing.assert_allclose(actual, expected, rtol=least, atol=0, strict=True)
        if rtol == 0 and actual.dtype.kind == "f":
            np.testing.assert_array_equal(np.signbit(actual), np.signbit(expected))

    check_cases([Case(name, input) for input in inputs], compare, revision=FIRST.name if name in FIRST.operations else CURRENT)


def floats(dtype: str) -> list[Array]:
    return [np.asarray(RNG.uniform(-4, 4, shape)).astype(dtype) for shape in SHAPES]


def integers(dtype: str) -> list[Array]:
    info = np.iinfo(dtype)
    return [np.asarray(RNG.integers(info.min, info.max, shape, dtype, endpoint=True)) for shape in SHAPES]


@pytest.mark.parametrize(("name", "rtol"), FLOATS.items())
def test_floats(name: str, rtol: float) -> None:
    check(name, [values for dtype in ("float32", "float16") for values in (np.array(SPECIAL, dtype), *floats(dtype))], rtol)


@pytest.mark.parametrize(("name", "dtype"), INTEGERS)
def test_integers(name: str, dtype: str) -> None:
    info = np.iinfo(dtype)
    check(name, [np.array([info.min, info.min + 1, 0, 1, info.max], dtype), *integers(dtype)], 0)


def test_every_operation_rounds_float16() -> None:
    builder = MLGraphBuilder(context := make_context())
    x = builder.input("x", dataType="float16", dimensions=[3])
    # 300 squared is beyond float16, and what lies between the operations is float16 too.
    y = builder.div(builder.identity(builder.abs(builder.mul(x, x))), x)
    result = context.computeSync(builder.buildSync({"y": y}), {"x": np.array([300, -300, 2], np.float16)}, {"y": np.zeros(3, np.float16)})
    np.testing.assert_array_equal(result["outputs"]["y"], np.array([np.inf, -np.inf, 2], np.float16))


# Since 2026-06

#: Every number of float16; of float32 every exponent with some fractions, and the halves with their neighbours, without the denormals,
#: which some processors take for zero.
FLOAT16 = np.arange(2**16, dtype=np.uint16).view(np.float16)
EXPONENTS = np.arange(2**9, dtype=np.uint32)[:, None] * 2**23
HALVES = np.array([*np.arange(-20.5, 21), 2.0**21 + 0.5, 2.0**22 + 0.5, 2.0**22 + 1.5, 2.0**23 - 0.5, 2.0**23 + 1], np.float32)
NUMBERS = np.concatenate(
    [
        (EXPONENTS + np.array([0, 1, 2**22, 2**23 - 1], np.uint32)).view(np.float32).ravel(),
        *(np.nextafter(HALVES, direction) for direction in (np.float32(-np.inf), HALVES, np.float32(np.inf))),
    ]
)
FLOAT32 = NUMBERS[(NUMBERS == 0) | ~(np.abs(NUMBERS) < np.finfo(np.float32).smallest_normal)]
NUMBERS_OF: dict[str, Array] = {"float16": FLOAT16, "float32": FLOAT32}


def check_exactly(name: str, inputs: list[Array]) -> None:
    def compare(_: Case, actual: Array, expected: Array) -> None:
        np.testing.assert_array_equal(actual, expected, strict=True)
        if actual.dtype.kind == "f":
            known = ~np.isnan(expected)
            np.testing.assert_array_equal(np.signbit(actual)[known], np.signbit(expected)[known])

    check_cases([Case(name, input) for input in inputs], compare, revision=CURRENT)


@pytest.mark.parametrize("dtype", NUMBERS_OF)
@pytest.mark.parametrize("name", ["roundEven", "sign"])
def test_rounding_and_signs(name: str, dtype: str) -> None:
    check_exactly(name, [NUMBERS_OF[dtype], *floats(dtype)])


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
@pytest.mark.parametrize("name", ["abs", "neg", "sign"])
def test_signed_integers(name: str, dtype: str) -> None:
    limits = np.iinfo(dtype)
    check_exactly(name, [np.array([limits.min, limits.min + 1, -1, 0, 1, limits.max], dtype), *integers(dtype)])


def test_the_drafts_agree() -> None:
    values = np.array([-2.5, -0.0, 0.5, np.nan, np.inf], np.float32)
    for name in ("abs", "ceil", "floor", "identity", "neg"):
        np.testing.assert_array_equal(run(name, values, revision=CURRENT), run(name, values))


def test_rounds_what_was_rounded_to_float16() -> None:
    # 2049 lies between two numbers of float16, and 2048 is the even one: three quarters of that are 1536, of the other 1536.75.
    context = make_context(CURRENT)
    builder = MLGraphBuilder(context)
    x = builder.input("x", dataType="float16", shape=[1])
    y = builder.roundEven(builder.mul(builder.add(x, builder.constant("float16", 1)), builder.constant("float16", 0.75)))
    graph = builder.buildSync({"y": y})
    [actual] = compute_directly(graph, {"x": np.array([2048], np.float16)})
    np.testing.assert_array_equal(actual, np.array([1536], np.float16), strict=True)
