"""Elementwise operations of StableHLO, compared with NumPy: as a graph, and folded."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.webnn.stablehlo.programs import Array, body, check, compute, operators, program, refusal, type_of
from webnn.hlo import Function, Module, RegionBuilder
from webnn.hlo.types import TensorType

INTEGERS = ("int8", "uint8", "int32", "uint32", "int64", "uint64")
FLOATS = ("float32", "float16")
#: The relative error of a function that is rounded a few times.
TOLERANCE = {"float32": 6e-7, "float16": 1.1e-3}
#: Where functions differ most.
SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1e-3, -1e-3, 300.0, -300.0, math.inf, -math.inf, math.nan)


def numbers_of(dtype: str) -> Array:
    """Return numbers of a type: of integers the limits, too."""
    if dtype == "bool":
        return np.array([False, True])
    if dtype in FLOATS:
        return np.array(SPECIAL, dtype)
    info = np.iinfo(dtype)
    return np.array(
        sorted({int(info.min), int(info.min) + 1, *(max(each, int(info.min)) for each in (-3, -1, 0, 1, 2, 7, 100)), int(info.max)}), dtype
    )


def pairs_of(dtype: str) -> tuple[Array, Array]:
    """Return all pairs of numbers of a type."""
    one, other = np.meshgrid(numbers_of(dtype), numbers_of(dtype))
    return one.reshape(-1).copy(), other.reshape(-1).copy()


def integer(compute_: Any, *arrays: Array) -> Array:
    """Compute with Python's integers, and wrap around."""
    dtype = arrays[0].dtype
    bits = 8 * dtype.itemsize
    found = [compute_(*map(int, numbers)) % (1 << bits) for numbers in zip(*arrays, strict=True)]
    return np.array(found, np.uint64).astype(f"uint{bits}").view(dtype)


def divide(one: int, other: int) -> int:
    """Divide toward zero; by zero all bits are set."""
    return -1 if other == 0 else abs(one) // abs(other) * (1 if (one < 0) == (other < 0) else -1)


def power(base: int, exponent: int) -> int:
    """Raise to a power; with a negative exponent only 1 and -1 are not 0."""
    if exponent >= 0:
        return pow(base, exponent, 1 << 64)
    return base ** (exponent & 1) if abs(base) == 1 else 0


BINARY_INTEGERS = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": divide,
    "remainder": lambda a, b: a - divide(a, b) * b,
    "power": power,
    "maximum": max,
    "minimum": min,
}


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", BINARY_INTEGERS)
def test_integers_wrap_around(name: str, dtype: str) -> None:
    one, other = pairs_of(dtype)
    if name == "power":
        # 1 / 0 has no value.
        one, other = one[(one != 0) | (other.astype(float) >= 0)], other[(one != 0) | (other.astype(float) >= 0)]
    check(name, [one, other], integer(BINARY_INTEGERS[name], one, other))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_alone(dtype: str) -> None:
    x = numbers_of(dtype)
    for name, compute_ in (("negate", lambda a: -a), ("abs", abs), ("sign", lambda a: (a > 0) - (a < 0))):
        check(name, [x], integer(compute_, x))


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "maximum", "minimum", "remainder"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_floating_point_arithmetic_is_exact(name: str, dtype: str) -> None:
    one, other = pairs_of(dtype)
    compute_ = {"remainder": np.fmod}.get(name) or getattr(np, name)
    with np.errstate(all="ignore"):
        wanted = compute_(one, other)
    if name in ("maximum", "minimum"):
        # The order of zeros is open.
        one, other, wanted = (array[(one != 0) | (other != 0)] for array in (one, other, wanted))
    check(name, [one, other], wanted)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("add", np.logical_or), ("multiply", np.logical_and), ("maximum", np.logical_or), ("minimum", np.logical_and)],
)
def test_arithmetic_of_i1(name: str, wanted: Any) -> None:
    one, other = pairs_of("bool")
    check(name, [one, other], wanted(one, other))


UNARY: dict[str, Any] = {
    "abs": np.abs,
    "cbrt": np.cbrt,
    "ceil": np.ceil,
    "cosine": np.cos,
    "exponential": np.exp,
    "exponential_minus_one": np.expm1,
    "floor": np.floor,
    "log": np.log,
    "log_plus_one": np.log1p,
    "logistic": lambda x: 1 / (1 + np.exp(-x)),
    "negate": np.negative,
    "round_nearest_afz": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
    "round_nearest_even": np.rint,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sign": np.sign,
    "sine": np.sin,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
}
#: Functions of a few values, all of which are exact, with the signs of zeros.
EXACT = ("abs", "ceil", "floor", "negate", "round_nearest_afz", "round_nearest_even")


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", UNARY)
def test_functions(name: str, dtype: str) -> None:
    rng = np.random.default_rng(5)
    x = np.concatenate([numbers_of(dtype), rng.uniform(-6, 6, 300).astype(dtype), rng.uniform(-1e-2, 1e-2, 50).astype(dtype)])
    with np.errstate(all="ignore"):
        wanted = UNARY[name](x.astype(np.float64)).astype(dtype)
        # The results of engines for large numbers are no better than their reductions.
        limit = 4.5 * np.finfo(dtype).eps if name in ("tanh", "logistic") else TOLERANCE[dtype]
    if dtype == "float16" and name in ("sine", "cosine", "tan"):
        x, wanted = x[np.abs(wanted) > 1e-2], wanted[np.abs(wanted) > 1e-2]
    check(name, [x], wanted, tolerance=0 if name in EXACT else limit)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["cbrt", "exponential_minus_one", "log_plus_one", "sign", "sine", "tan", "tanh", "sqrt"])
def test_zeros_keep_their_signs(name: str, dtype: str) -> None:
    zeros = np.array([0.0, -0.0], dtype)
    check(name, [zeros], zeros)


def test_ties_are_rounded_away_from_zero() -> None:
    below = np.nextafter(np.float32(0.5), np.float32(0))
    x = np.array([0.5, -0.5, 1.5, 2.5, -2.5, below, -below, 8388607.5, 8388609.0, 1e30], np.float32)
    check("round_nearest_afz", [x], np.array([1, -1, 2, 3, -3, 0, -0.0, 8388608, 8388609, 1e30], np.float32))


@pytest.mark.parametrize("dtype", FLOATS)
def test_power(dtype: str) -> None:
    one, other = pairs_of(dtype)
    with np.errstate(all="ignore"):
        wanted = np.power(one.astype(np.float64), other.astype(np.float64)).astype(dtype)
    check("power", [one, other], wanted, tolerance=TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", FLOATS)
def test_atan2_has_all_quadrants_zeros_and_infinities(dtype: str) -> None:
    one, other = pairs_of(dtype)
    wanted = np.arctan2(one.astype(np.float64), other.astype(np.float64)).astype(dtype)
    check("atan2", [one, other], wanted, tolerance=TOLERANCE[dtype])
    zeros, signs = np.array([0.0, -0.0, 0.0, -0.0], dtype), np.array([1, 1, np.inf, np.inf], dtype)
    check("atan2", [zeros, signs], zeros)


@pytest.mark.parametrize("dtype", FLOATS)
def test_remainders_are_exact(dtype: str) -> None:
    rng = np.random.default_rng(11)
    bits = f"uint{8 * np.dtype(dtype).itemsize}"
    x, y = (rng.integers(0, np.iinfo(bits).max, 20_000, bits, endpoint=True).view(dtype) for _ in range(2))
    # Quotients of all sizes.
    factors = 2.0 ** rng.integers(0, 30, y.shape) * rng.uniform(0.4, 1.6, y.shape)
    with np.errstate(all="ignore"):
        check("remainder", [x, y], np.fmod(x, y))
        near = (y.astype(np.float64) * factors).astype(dtype)
        check("remainder", [near, y], np.fmod(near, y))


@pytest.mark.parametrize("divisor", [1.0, -3.0, 2 * math.pi, 0.1, 1e-5, 1e30, 3e38, math.inf, 0.0, math.nan])
def test_remainders_by_a_known_divisor_are_exact(divisor: float) -> None:
    x = np.random.default_rng(13).integers(0, 1 << 32, 5000, np.uint64).astype(np.uint32).view(np.float32)
    y = np.broadcast_to(np.float32(divisor), x.shape)
    with np.errstate(all="ignore"):
        check("remainder", [x, y], np.fmod(x, y), known=[[1]])


def test_a_known_divisor_takes_less_operations() -> None:
    x, y = np.float32(5), np.float32(3)
    module = program("remainder", [x, y], [type_of(x)])
    assert len(operators(module, {"arg1": y})) < 90 < len(operators(module)) < 260
    short = program("remainder", [np.float16(5), np.float16(3)], [TensorType(shape=(), element="f16")])
    assert len(operators(short)) < 30


# Comparisons and choices.


@pytest.mark.parametrize("direction", ["EQ", "NE", "GE", "GT", "LE", "LT"])
@pytest.mark.parametrize("dtype", ["bool", *INTEGERS, *FLOATS])
def test_compare(dtype: str, direction: str) -> None:
    one, other = pairs_of(dtype)
    compare = {"EQ": np.equal, "NE": np.not_equal, "GE": np.greater_equal, "GT": np.greater, "LE": np.less_equal, "LT": np.less}[direction]
    check("compare", [one, other], compare(one, other), {"comparison_direction": direction})


@pytest.mark.parametrize("direction", ["EQ", "NE", "GE", "GT", "LE", "LT"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_compare_in_the_total_order(dtype: str, direction: str) -> None:
    ordered = np.array([-np.inf, -1, -0.0, 0.0, 1, np.inf, np.nan], dtype)
    one, other = (array.reshape(-1) for array in np.meshgrid(np.arange(7), np.arange(7)))
    compare = {"EQ": np.equal, "NE": np.not_equal, "GE": np.greater_equal, "GT": np.greater, "LE": np.less_equal, "LT": np.less}[direction]
    attributes = {"comparison_direction": direction, "compare_type": "TOTALORDER"}
    check("compare", [ordered[one], ordered[other]], compare(one, other), attributes)


def test_the_sign_of_nan_is_known_at_import() -> None:
    x = np.array([np.nan, -1, -np.nan], np.float32)
    x[2] = np.copysign(np.float32(np.nan), np.float32(-1))
    attributes = {"comparison_direction": "LT", "compare_type": "TOTALORDER"}
    check("compare", [x, np.full(3, -np.inf, np.float32)], np.array([False, False, True]), attributes, known=[[0, 1]])


def test_select_with_a_scalar_predicate_and_a_tensor_of_them() -> None:
    one, other = np.arange(6, dtype=np.int32).reshape(2, 3), -np.arange(6, dtype=np.int32).reshape(2, 3)
    mask = np.array([[True, False, True], [False, False, True]])
    check("select", [mask, one, other], np.where(mask, one, other))
    check("select", [np.array(True), one, other], one)
    check("select", [mask, mask, ~mask], np.where(mask, mask, ~mask))


@pytest.mark.parametrize("dtype", ["bool", *INTEGERS, *FLOATS])
def test_clamp(dtype: str) -> None:
    x = numbers_of(dtype)
    low, high = (np.array(each, dtype) for each in ((0, 1) if dtype == "bool" else (1, 7)))
    wanted = np.minimum(np.maximum(x, low), high)
    check("clamp", [low, x, high], wanted, known=[[], [0, 2], [0, 1, 2]])
    check("clamp", [np.full(x.shape, low), x, np.full(x.shape, high)], wanted)
    # Limits in the wrong order: the greater one.
    check("clamp", [high, x, low], np.broadcast_to(np.where(np.isnan(x.astype(float)), x, low), x.shape), known=[[], [0, 2], [0, 1, 2]])


def test_clamp_with_known_limits_is_one_operation() -> None:
    x = np.zeros(3, np.float32)
    limits = {"arg0": np.float32(0), "arg2": np.float32(6)}
    assert operators(program("clamp", [limits["arg0"], x, limits["arg2"]], [type_of(x)]), limits) == ["clamp"]


@pytest.mark.parametrize("dtype", FLOATS)
def test_is_finite(dtype: str) -> None:
    x = numbers_of(dtype)
    check("is_finite", [x], np.isfinite(x))


def test_repeated_operands_are_not_expanded() -> None:
    rows = TensorType(shape=(4, 3), element="f32")
    main = RegionBuilder([rows, TensorType(shape=(3,), element="f32")])
    (wide,) = main.append("stablehlo.broadcast_in_dim", [main.arguments[1]], [rows], {"broadcast_dimensions": (1,)})
    main.append("func.return", main.append("stablehlo.add", [wide, main.arguments[0]], [rows]))
    assert operators(Module(functions=(Function(name="main", body=main.build()),))) == ["add"]


# Types.


@pytest.mark.parametrize("source", ["bool", *INTEGERS, *FLOATS])
@pytest.mark.parametrize("target", ["bool", *INTEGERS, *FLOATS])
def test_convert(source: str, target: str) -> None:
    x = numbers_of(source)
    if target == "bool":
        wanted: Array = x != 0
    elif target in FLOATS or source not in FLOATS:
        with np.errstate(over="ignore"):
            wanted = x.astype(target)
    else:
        info = np.iinfo(target)
        whole = [
            0
            if math.isnan(each)
            else max(info.min, min(info.max, math.trunc(each) if math.isfinite(each) else (1 << 70) * int(np.sign(each))))
            for each in x.tolist()
        ]
        wanted = np.array(whole, target)
    check("convert", [x], wanted)


def test_bits_of_integers_stay() -> None:
    x = numbers_of("uint32")
    check("bitcast_convert", [x], x.view(np.int32))
    check("bitcast_convert", [x.view(np.int32)], x)
    check("bitcast_convert", [numbers_of("int8")], numbers_of("int8").view(np.uint8))


def test_bits_of_known_elements_are_found() -> None:
    x = np.array([[1.5, -2.0], [math.inf, 1e-3]], np.float32)
    check("bitcast_convert", [x], x.view(np.int32), known=[[0]])
    check("bitcast_convert", [x.view(np.uint32)], x, known=[[0]])
    check("bitcast_convert", [x], x.view(np.uint8).reshape(2, 2, 4), known=[[0]])
    check("bitcast_convert", [x.view(np.uint8).reshape(2, 2, 4)], x, known=[[0]])


@pytest.mark.parametrize(("exponent", "mantissa"), [(8, 23), (8, 7), (5, 10), (5, 2), (4, 3), (2, 1), (1, 0), (8, 0), (3, 22), (20, 40)])
@pytest.mark.parametrize("dtype", FLOATS)
def test_reduce_precision(dtype: str, exponent: int, mantissa: int) -> None:
    own_mantissa, own_exponent = (10, 5) if dtype == "float16" else (23, 8)
    rng = np.random.default_rng(17)
    bits = f"uint{8 * np.dtype(dtype).itemsize}"
    x = np.concatenate([numbers_of(dtype), rng.integers(0, np.iinfo(bits).max, 2000, bits, endpoint=True).view(dtype)])
    # Ties, and numbers that round up to the next power of 2.
    halves = (1 + (np.arange(64) + 0.5) * 2.0 ** -min(mantissa, own_mantissa)).astype(dtype)
    x = np.concatenate([x, halves, -halves])
    wanted = [reduce_precision(each, exponent, mantissa, own_exponent, own_mantissa) for each in x.tolist()]
    check("reduce_precision", [x], np.array(wanted, dtype), {"exponent_bits": exponent, "mantissa_bits": mantissa})


def reduce_precision(x: float, exponent: int, mantissa: int, own_exponent: int, own_mantissa: int) -> float:
    """Round with Python's integers."""
    if math.isnan(x):
        return x if mantissa else math.inf
    if math.isinf(x) or x == 0:
        return x
    power = max(math.frexp(abs(x))[1] - 1, 2 - (1 << own_exponent - 1))
    if mantissa < own_mantissa:
        x = math.copysign(math.ldexp(round(math.ldexp(abs(x), mantissa - power)), power - mantissa), x)
    if x and exponent < own_exponent:
        bias = (1 << exponent - 1) - 1
        if abs(x) >= 2.0 ** (bias + 1):
            return math.copysign(math.inf, x)
        if abs(x) < 2.0 ** (1 - bias):
            return math.copysign(0, x)
    return math.copysign(math.inf, x) if abs(x) >= 2.0 ** (1 << own_exponent - 1) else x


def test_real_numbers_have_parts() -> None:
    x = numbers_of("float32")
    check("real", [x], x)
    check("imag", [x], np.zeros_like(x))


def test_complex_numbers_that_are_known_are_computed() -> None:
    z = np.array([1 + 2j, -0.5j, 3], np.complex64)
    module = RegionBuilder([type_of(z), TensorType(shape=(3,), element="f32")])
    (square,) = module.append("stablehlo.multiply", [module.arguments[0]] * 2, [type_of(z)])
    (real,) = module.append("stablehlo.real", [square], [TensorType(shape=(3,), element="f32")])
    module.append("func.return", module.append("stablehlo.add", [real, module.arguments[1]], [real.type]))
    program_ = Module(functions=(Function(name="main", body=module.build()),))
    (got,) = compute(program_, [z, np.ones(3, np.float32)], [0])
    np.testing.assert_allclose(got, (z * z).real + 1)


# Bodies and wrong programs.


def test_map_runs_its_computation_on_whole_tensors() -> None:
    one, other = np.arange(4, dtype=np.int32), np.array([5, 6, 7, 8], np.int32)
    check("map", [one, other], one * other, {"dimensions": (0,)}, [body("i32", "multiply")])


def test_map_of_a_constant_is_expanded() -> None:
    region = RegionBuilder([TensorType(shape=(), element="f32")])
    region.append(
        "stablehlo.return",
        region.append("stablehlo.constant", (), [TensorType(shape=(), element="f32")], {"value": np.array(3, np.float32)}),
    )
    check("map", [np.zeros((2, 2), np.float32)], np.full((2, 2), 3, np.float32), {"dimensions": (0, 1)}, [region.build()])


F32, I32, I1 = (TensorType(shape=(2,), element=each) for each in ("f32", "i32", "i1"))
X, N, B = np.zeros(2, np.float32), np.zeros(2, np.int32), np.zeros(2, np.bool_)


@pytest.mark.parametrize("known", [(), (0, 1)])
@pytest.mark.parametrize(
    ("name", "operands", "result", "attributes", "reason"),
    [
        ("subtract", [B, B], I1, {}, "the elements must be integers or floating-point numbers or complex numbers, got bool"),
        ("add", [X, N], F32, {}, "the operands must have one element type, got float32, int32"),
        ("add", [X, X], I32, {}, "the result must have elements of float32, got int32"),
        ("add", [X, X[:, np.newaxis]], F32, {}, "the operands must have one shape, got [2], [2, 1]"),
        (
            "add",
            [X, X],
            TensorType(shape=(3,), element="f32"),
            {},
            "the result must have the shape of the operands, [2], got tensor<3xf32>",
        ),
        ("add", [X], F32, {}, "there must be 2 operands and 1 result, got 1 and 1"),
        ("not", [X], F32, {}, "the elements must be i1 or integers, got float32"),
        ("shift_left", [X, X], F32, {}, "the elements must be integers, got float32"),
        ("compare", [X, X], I1, {"comparison_direction": "UP"}, "comparison_direction must be one of EQ, NE, GE, GT, LE, LT, got UP"),
        ("select", [N, X, X], F32, {}, "the predicate must have elements of type i1, got int32"),
        (
            "reduce_precision",
            [X],
            F32,
            {"exponent_bits": 0, "mantissa_bits": -1},
            "exponent_bits must be at least 1 and mantissa_bits at least 0, got 0 and -1",
        ),
    ],
)
def test_wrong_programs_are_refused(
    name: str, operands: list[Array], result: TensorType, attributes: Any, reason: str, known: tuple[int, ...]
) -> None:
    assert refusal(name, operands, [result], attributes, known=[index for index in known if index < len(operands)]) == reason


def test_bits_of_floating_point_numbers_are_refused() -> None:
    assert refusal("bitcast_convert", [X], [I32]) == "the bits must stay integers of a size, got float32 and int32"


def test_a_map_of_another_shape_is_refused() -> None:
    assert (
        refusal("map", [X, X[:1]], [F32], {"dimensions": (0,)}, [body("f32", "add")])
        == "there must be operands of the result's shape, [2], and 1 region"
    )
