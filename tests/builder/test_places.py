"""The places of elements that operations read, compared with their definitions one by one."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from webnn.builder.places import clamp_indices, find_padding, find_positions, find_samples


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64"])
def test_indices(dtype: str) -> None:
    numbers = np.array([0, 1, 2, 3, 2**31 - 1] if dtype == "uint32" else [-(2**31), -4, -3, -1, 0, 2, 3, 2**31 - 1], dtype)
    clamped = [min(max(each, -3), 2) for each in numbers.tolist()]
    assert clamp_indices(numbers, 3).tolist() == clamped
    assert find_positions(numbers, 3).tolist() == [each % 3 for each in clamped]
    # One size for each element of the last dimension.
    pairs = np.stack([numbers, numbers], axis=-1)
    assert find_positions(pairs, [3, 1]).tolist() == [[each % 3, 0] for each in clamped]
    assert clamp_indices(numbers[0], [3]).shape == ()


@pytest.mark.parametrize(("mode", "period"), [("edge", [0]), ("reflection", [0, 1, 2, 1]), ("symmetric", [0, 1, 2, 2, 1, 0])])
def test_padding(mode: str, period: list[int]) -> None:
    for before, after in itertools.product(range(10), repeat=2):
        expected = [min(max(each, 0), 2) if mode == "edge" else period[each % len(period)] for each in range(-before, 3 + after)]
        assert find_padding(before, 3, after, mode).tolist() == expected
    assert find_padding(2, 1, 3, mode).tolist() == [0] * 6


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1, 2), Fraction(1), Fraction(7, 3), Fraction(float(np.float32(0.7)))])
def test_samples(scale: Fraction) -> None:
    size, count = 10, int(10 * scale)
    below, part, whole = find_samples(size, count, scale)
    half = Fraction(1, 2)
    expected = [min(max((place + half) / scale - half, Fraction(0)), Fraction(size - 1)) for place in range(count)]
    assert [int(one) + Fraction(int(rest), whole) for one, rest in zip(below, part, strict=True)] == expected
    assert all(0 <= rest < whole for rest in part.tolist())
