"""The values of unary operations, against the NumPy reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.reference import REFERENCE
from tests.support import make_context, run
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
    "sin": 4e-7,
    "sqrt": 2e-7,
    "tan": 4e-7,
}
INTEGERS = [("abs", "int32"), ("abs", "int8"), ("neg", "int32"), ("neg", "int8")] + [
    ("identity", dtype) for dtype in ("int32", "uint32", "int64", "uint64", "int8", "uint8")
]


def check(name: str, input: Array, rtol: float, *, constants: bool) -> None:
    [actual] = run(name, input, constants=constants)
    expected = REFERENCE[name](input)
    if input.dtype == np.float16 and rtol > 0:
        rtol = 2**-10  # computed in float32 and rounded once: at most one unit
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=0, strict=True)
    if rtol == 0 and input.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(actual), np.signbit(expected))


@pytest.mark.parametrize("constants", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize(("name", "rtol"), FLOATS.items())
def test_floats(name: str, rtol: float, dtype: str, *, constants: bool) -> None:
    check(name, np.array(SPECIAL, dtype), rtol, constants=constants)
    for shape in SHAPES:
        check(name, RNG.uniform(-4, 4, shape).astype(dtype), rtol, constants=constants)


@pytest.mark.parametrize("constants", [False, True])
@pytest.mark.parametrize(("name", "dtype"), INTEGERS)
def test_integers(name: str, dtype: str, *, constants: bool) -> None:
    info = np.iinfo(dtype)
    check(name, np.array([info.min, info.min + 1, 0, 1, info.max], dtype), 0, constants=constants)
    for shape in SHAPES:
        check(name, RNG.integers(info.min, info.max, shape, dtype, endpoint=True), 0, constants=constants)


def test_every_operation_rounds_float16() -> None:
    builder = MLGraphBuilder(context := make_context())
    x = builder.input("x", dataType="float16", dimensions=[3])
    # 300 squared is beyond float16, and what lies between the operations is float16 too.
    y = builder.div(builder.identity(builder.abs(builder.mul(x, x))), x)
    result = context.computeSync(builder.buildSync({"y": y}), {"x": np.array([300, -300, 2], np.float16)}, {"y": np.zeros(3, np.float16)})
    np.testing.assert_array_equal(result["outputs"]["y"], np.array([np.inf, -np.inf, 2], np.float16))
