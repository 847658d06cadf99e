"""Strategies that several others share: shapes, values, axes, numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.support import Array
from webnn.reference.numbers import idl_float
from webnn.validation.descriptor import DATA_TYPES, MAX_RANK

__all__ = ["ANY", "NUMBERS", "PATTERNS", "TAME", "Draw", "arrays", "floats", "make", "shapes"]

Draw = Any

#: Which operands are constants: none, all, or some.
PATTERNS = st.sampled_from([(False,), (True,), (False, True), (True, False), (True, False, False), (False, False, True)])

#: The most elements of an operand, and of a broadcast result.
MOST = 150

#: Styles of floating-point values, from the simplest. "special" has NaN, the infinities, both zeros, the largest and the smallest numbers;
#: those of float32 are normal, because some processors take denormals for zero.
ANY = ("small", "uniform", "wide", "special")
#: The same without NaN.
NUMBERS = ("small", "uniform", "wide", "extreme")
TAME = ("small", "uniform")

_LARGEST = {"float32": float(np.finfo(np.float32).max), "float16": 65504.0}
_EXPONENTS = {"float32": 40.0, "float16": 14.0}
_SEEDS = st.integers(0, 2**32 - 1)


def _specials(dtype: str) -> list[float]:
    info = np.finfo(dtype)
    largest, normal = float(info.max), float(info.smallest_normal)
    least = normal if dtype == "float32" else float(info.smallest_subnormal)
    numbers = [0.0, 1.0, 0.5, 1.5, 2.5, np.inf, np.nan, largest, normal, least]
    return [*numbers, *(-number for number in numbers)]


_SPECIALS = {dtype: np.array(_specials(dtype)).astype(dtype) for dtype in ("float32", "float16")}


def _floats(rng: np.random.Generator, style: str, dtype: str, shape: Sequence[int]) -> Array:
    if style == "small":
        values = rng.integers(-8, 9, shape) / rng.choice([1, 2])
    elif style == "uniform":
        values = rng.uniform(-4, 4, shape)
    elif style == "positive":
        values = rng.uniform(0.1, 4, shape)
    elif style == "unit":
        values = rng.uniform(-1, 1, shape)
    else:
        values = rng.choice([-1.0, 1.0], shape) * 2 ** rng.uniform(-_EXPONENTS[dtype], _EXPONENTS[dtype], shape)
    array = np.asarray(values).astype(dtype)
    if style in ("special", "extreme"):
        specials = _SPECIALS[dtype]
        specials = specials[~np.isnan(specials)] if style == "extreme" else specials
        return np.where(rng.random(shape) < 0.5, rng.choice(specials, shape), array)
    return array


def _special_integers(dtype: str) -> list[int]:
    """List the ends of the type, small numbers, and those around the ends of narrower types: some kernels compare halves."""
    info = np.iinfo(dtype)
    low, high = int(info.min), int(info.max)
    around = [side * 2**bits + offset for bits in (7, 8, 31, 32, 53, 62, 63) for side in (-1, 1) for offset in (-1, 0, 1)]
    numbers = [0, 1, 2, 3, -1, -2, low, low + 1, high, high - 1, *around, 3 * 10**9, -3 * 10**9]
    return sorted({number for number in numbers if low <= number <= high})


_SPECIAL_INTEGERS: dict[str, Array] = {
    dtype: np.array(_special_integers(dtype), dtype) for dtype in DATA_TYPES if not dtype.startswith("float")
}


def _integers(rng: np.random.Generator, style: str, dtype: str, shape: Sequence[int]) -> Array:
    info = np.iinfo(dtype)
    if style in ("small", "uniform", "positive"):
        return rng.integers(1 if style == "positive" else max(-8, info.min), 9, shape).astype(dtype)
    array = rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    if style in ("special", "extreme"):
        return np.where(rng.random(shape) < 0.8, rng.choice(_SPECIAL_INTEGERS[dtype], shape), array)
    return array


def make(seed: int, style: str, dtype: str, shape: Sequence[int]) -> Array:
    """Make values from a seed: one by one they would take most of the time, and large arrays of equal values find little.

    Integers know "small", "positive", "wide" and "special" values.
    """
    of_type = _floats if dtype.startswith("float") else _integers
    array = np.asarray(of_type(np.random.default_rng(seed), style, dtype, shape))
    return array.reshape(tuple(shape))


def arrays(dtype: str, shape: Sequence[int], styles: Sequence[str] = ANY) -> st.SearchStrategy[Array]:
    """Return arrays of a type and shape, each in one of the styles."""
    return st.builds(make, _SEEDS, st.sampled_from(styles), st.just(dtype), st.just(tuple(shape)))


@st.composite
def shapes(draw: Draw, low: int = 0, high: int = MAX_RANK, most: int = MOST) -> list[int]:
    """Draw a shape of few elements; the engine's vector loops need a long dimension now and then."""
    rank = draw(st.integers(low, high))
    sizes = []
    for _ in range(rank):
        longest = draw(st.sampled_from([3, 5, 40]))
        size = draw(st.integers(1, min(longest, most)))
        most //= size
        sizes.append(size)
    return sizes[::-1] if draw(st.booleans()) else sizes


def floats(low: float, high: float) -> st.SearchStrategy[float]:
    """Return numbers for an option: integers, fractions, and what single precision must round."""
    return st.one_of(
        st.integers(int(np.ceil(low)), int(np.floor(high))),
        st.floats(low, high).map(idl_float).filter(lambda number: low <= number <= high),
        st.floats(low, high).filter(lambda number: number == 0 or abs(number) > 1e-6),
    )
