"""The values of the current draft's unary operations, against the NumPy reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.reference import REFERENCE_2026
from tests.support import CURRENT, compute_directly, make_context, run
from webnn import MLGraphBuilder

Array = np.ndarray[Any, np.dtype[Any]]

RNG = np.random.default_rng(0)
SHAPES: list[tuple[int, ...]] = [(), (1,), (7,), (2, 3, 5), (1, 2, 1, 2, 3, 1, 2, 2)]
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
FLOATS: dict[str, Array] = {"float16": FLOAT16, "float32": FLOAT32}


def check(name: str, input: Array, *, constants: bool) -> None:
    [actual] = run(name, input, constants=constants, revision=CURRENT)
    expected = REFERENCE_2026[name](input)
    np.testing.assert_array_equal(actual, expected, strict=True)
    if input.dtype.kind == "f":
        known = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(actual)[known], np.signbit(expected)[known])


@pytest.mark.parametrize("constants", [False, True])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["roundEven", "sign"])
def test_floats(name: str, dtype: str, *, constants: bool) -> None:
    check(name, FLOATS[dtype], constants=constants)
    for shape in SHAPES:
        check(name, RNG.uniform(-4, 4, shape).astype(dtype), constants=constants)


@pytest.mark.parametrize("constants", [False, True])
@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
@pytest.mark.parametrize("name", ["abs", "neg", "sign"])
def test_integers(name: str, dtype: str, *, constants: bool) -> None:
    limits = np.iinfo(dtype)
    check(name, np.array([limits.min, limits.min + 1, -1, 0, 1, limits.max], dtype), constants=constants)
    for shape in SHAPES:
        check(name, np.asarray(RNG.integers(limits.min, limits.max, shape, dtype, endpoint=True)), constants=constants)


def test_the_draft_of_2024_and_the_current_one_agree() -> None:
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
