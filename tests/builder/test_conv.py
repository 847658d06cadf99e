"""The values of convolutions, against the NumPy reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.reference import REFERENCE
from tests.support import run

RNG = np.random.default_rng(0)


def f32(*shape: int) -> Any:
    return RNG.uniform(-1, 1, shape).astype(np.float32)


CASES: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("conv2d", (f32(1, 2, 5, 5), f32(4, 1, 3, 3)), {"groups": 2, "bias": f32(4), "padding": [1, 0, 2, 1]}),
    ("conv2d", (f32(1, 5, 6, 2), f32(4, 3, 3, 2)), {"inputLayout": "nhwc", "filterLayout": "ohwi", "strides": [2, 1]}),
]


@pytest.mark.parametrize("constants", [False, True])
@pytest.mark.parametrize(("name", "arguments", "options"), CASES)
def test_values(name: str, arguments: tuple[Any, ...], options: dict[str, Any], *, constants: bool) -> None:
    [actual] = run(name, *arguments, constants=constants, **options) if not constants else run(name, *arguments, **options)
    np.testing.assert_allclose(actual, REFERENCE[name](*arguments, **options), rtol=1e-5, atol=1e-6)
