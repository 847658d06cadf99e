"""Products of quantized numbers by kernels of integers: within one step, and as near to real numbers as without them."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.property.quantized import FAMILIES, Errors, check

#: The products of each family by day and at night.
PRODUCTS, NIGHTLY = 25, 5_000

#: Of two integers around a number, the farther one is at most this much farther, relatively, where roundings decide.
MIDDLE = 1e-4


def hold(family: str, count: int, start: int) -> Errors:
    """Check products of a family; the errors of all together must not be larger than without kernels of integers."""
    errors = Errors()
    for number in range(count):
        try:
            check(FAMILIES[family](np.random.default_rng(start + number)), errors)
        except AssertionError as error:
            raise AssertionError(f"the seed {start + number}: {error}") from error
    assert errors.results == count
    # In the middle between two integers, which lies at random on one side, a rounding decides for either kind of kernel.
    assert errors.actual <= errors.plain * (1 + MIDDLE), errors
    return errors


@pytest.mark.parametrize("family", FAMILIES)
def test_random_products(family: str) -> None:
    hold(family, PRODUCTS, 0)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("family", FAMILIES)
def test_many_random_products(family: str) -> None:
    start = random.SystemRandom().randrange(2**31)
    print(f"{family}, from the seed {start}: {hold(family, NIGHTLY, start)}")
