"""Composites and custom calls in place of functions of CHLO, compared with NumPy in float64."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import webnn.stablehlo
from tests.webnn.stablehlo.programs import Array, compute, operators, type_of
from webnn.hlo import Function, Module, RegionBuilder
from webnn.hlo.attributes import Symbol

SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1e-3, -1e-3, 30.0, -30.0, math.inf, -math.inf, math.nan)


def composite(name: str, *operands: Any) -> Module:
    """Return a program of a composite, whose function negates: what comes from it is wrong, and so can be seen."""
    types = [type_of(each) for each in operands]
    made = RegionBuilder(types)
    made.append("func.return", made.append("stablehlo.negate", made.arguments[:1], types[:1]))
    main = RegionBuilder(types)
    attributes = {"name": f"chlo.{name}", "decomposition": Symbol("made")}
    main.append("func.return", main.append("stablehlo.composite", main.arguments, types[:1], attributes))
    return Module(functions=(Function(name="main", body=main.build()), Function(name="made", body=made.build(), public=False)))


def custom_call(target: str, operand: Any) -> Module:
    """Return a program of a custom call."""
    main = RegionBuilder([type_of(operand)])
    main.append("func.return", main.append("stablehlo.custom_call", main.arguments, [type_of(operand)], {"call_target_name": target}))
    return Module(functions=(Function(name="main", body=main.build()),))


FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atanh": np.arctanh,
    "erf": np.vectorize(math.erf),
    "erfc": np.vectorize(math.erfc),
    "tan": np.tan,
}


def numbers(dtype: str) -> Array:
    """Return numbers where the functions differ most, and others."""
    rng = np.random.default_rng(23)
    return np.concatenate([np.array(SPECIAL, dtype), rng.uniform(-1, 1, 200).astype(dtype), rng.uniform(-9, 9, 200).astype(dtype)])


def assert_near(got: Array, wanted: Array, dtype: str) -> None:
    """Check a relative error, and a smaller one of results that the type hardly holds."""
    least = float(np.finfo(dtype).smallest_normal)
    np.testing.assert_allclose(got, wanted.astype(dtype), rtol=8e-7 if dtype == "float32" else 1.1e-3, atol=least)
    zeros = wanted == 0
    np.testing.assert_array_equal(np.signbit(got[zeros]), np.signbit(wanted[zeros]))


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str, dtype: str) -> None:
    x = numbers(dtype)
    with np.errstate(all="ignore"):
        wanted = FUNCTIONS[name](x.astype(np.float64))
        (got,) = compute(composite(name, x), [x])
    assert_near(got, wanted, dtype)


@pytest.mark.parametrize("name", [*sorted(FUNCTIONS.keys() - {"erfc"}), "cosh", "sinh"])
def test_custom_calls(name: str) -> None:
    x = numbers("float32")
    with np.errstate(all="ignore"):
        wanted = (FUNCTIONS.get(name) or getattr(np, name))(x.astype(np.float64))
        (got,) = compute(custom_call(f"mhlo.{name}", x), [x])
    assert_near(got, wanted, "float32")


def test_erf_and_tan_are_operations_of_webnn() -> None:
    x = np.zeros(2, np.float32)
    assert operators(composite("erf", x)) == ["erf"]
    assert operators(composite("tan", x)) == ["tan"]


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_next_after(dtype: str) -> None:
    info = np.finfo(dtype)
    least = float(info.smallest_subnormal)
    values = np.array([*SPECIAL, least, -least, float(info.smallest_normal), 1.5, 2.0, float(info.max), -float(info.max), 1e-5], dtype)
    rng = np.random.default_rng(29)
    bits = f"uint{8 * np.dtype(dtype).itemsize}"
    any_ = rng.integers(0, np.iinfo(bits).max, 4000, bits, endpoint=True).view(dtype)
    one, other = (array.reshape(-1) for array in np.meshgrid(values, values))
    one, other = np.concatenate([one, any_]), np.concatenate([other, any_[::-1]])
    with np.errstate(all="ignore"):
        wanted = np.nextafter(one, other)
        (got,) = compute(composite("next_after", one, other), [one, other])
    np.testing.assert_array_equal(got, wanted)


def test_what_is_known_is_computed_by_the_function() -> None:
    x = np.array([1.0, 2.0], np.float32)
    (got,) = compute(composite("erf", x), [x], [0])
    np.testing.assert_array_equal(got, -x)


def test_other_composites_are_computed_by_their_functions() -> None:
    x = np.array([1.0, 2.0], np.float32)
    assert operators(composite("bessel_i1e", x)) == ["neg"]


def test_operands_of_another_type_are_refused() -> None:
    _, report = webnn.stablehlo.survey(composite("erf", np.zeros(2, np.int32)), webnn.stablehlo.Settings())
    assert [each.reason for each in report.refusals] == ["operands and result must be floating-point numbers of one type, got int32"]
    _, report = webnn.stablehlo.survey(composite("erf", np.float32(0), np.float32(0)), webnn.stablehlo.Settings())
    assert [each.reason for each in report.refusals] == ["there must be 1 operand and 1 result, got 2 and 1"]


def test_custom_calls_of_an_unknown_meaning_are_refused() -> None:
    _, report = webnn.stablehlo.survey(custom_call("lapack_sgetrf", np.float32(0)), webnn.stablehlo.Settings())
    assert [each.reason for each in report.refusals] == ["a custom call must have a known meaning, got lapack_sgetrf"]
