"""The values of normalizations, against the NumPy reference."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from tests.support import Case, check_cases, near

RNG = np.random.default_rng(0)
NAN, INF = np.nan, np.inf


def f32(*shape: int) -> Any:
    return RNG.uniform(-1, 1, shape).astype(np.float32)


def batch(axis: int, *shape: int, **options: Any) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    """Make a case of batchNormalization; ``True`` means a parameter of the right size."""
    size = shape[axis]
    given = {key: f32(size) if value is True else value for key, value in options.items()}
    return "batchNormalization", (f32(*shape), f32(size), f32(size) + 1.5), {"axis": axis, **given}


CASES: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    *(
        batch(axis, *(2, 3, 1, 2, 2, 1, 2, 2)[:rank], scale=True, bias=True)
        for rank in range(1, 9)
        for axis in {0, min(1, rank - 1), rank - 1}
    ),
    batch(1, 2, 3, 4),
    batch(1, 2, 3, 4, scale=True, epsilon=0.5),
    batch(2, 2, 3, 4, bias=True, epsilon=0.0),
    *(
        ("instanceNormalization", (f32(2, 3, 4, 5),), {"layout": layout, **parameters})
        for layout, channels in (("nchw", 3), ("nhwc", 5))
        for parameters in ({}, {"scale": f32(channels)}, {"bias": f32(channels)}, {"scale": f32(channels), "bias": f32(channels)})
    ),
    ("instanceNormalization", (f32(2, 3, 4, 5),), {"epsilon": 0.5}),
    ("instanceNormalization", (f32(2, 3, 1, 1) * 1000,), {"bias": f32(3)}),
    # The mean is large against the deviation.
    ("instanceNormalization", (np.round(f32(1, 2, 16, 16) * 64) + 1024,), {"scale": f32(2)}),
    *(
        ("layerNormalization", (f32(2, 3, 4),), {"axes": list(axes), "scale": f32(*shape), "bias": f32(*shape)})
        for count in range(4)
        for axes in itertools.permutations(range(3), count)
        for shape in [[(2, 3, 4)[axis] for axis in axes]]
    ),
    *(("layerNormalization", (f32(*(2, 3, 1, 2, 2, 1, 2, 2)[:rank]),), {}) for rank in range(9)),
    ("layerNormalization", (f32(2, 3, 4),), {"axes": [2], "bias": f32(4), "epsilon": 0.5}),
    ("layerNormalization", (f32(2, 3, 4),), {"axes": [1, 0], "scale": f32(3, 2)}),
    ("layerNormalization", (f32(2, 1, 3, 1, 2, 2, 1, 2),), {"axes": [6, 0, 4], "scale": f32(1, 2, 2), "bias": f32(1, 2, 2)}),
    ("layerNormalization", (f32(),), {"scale": f32()}),
    ("layerNormalization", (f32(4),), {"bias": f32()}),
]

SPECIAL: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("batchNormalization", (f32(2, 3), f32(3), np.array([0, -1, 1], np.float32)), {"epsilon": 0.0}),
    ("batchNormalization", (np.array([[1, INF], [NAN, -INF]], np.float32), f32(2), np.ones(2, np.float32)), {}),
    ("instanceNormalization", (np.array([[[[1, INF]], [[NAN, 2]], [[1, 3]]]], np.float32),), {}),
    ("instanceNormalization", (np.ones((1, 2, 2, 2), np.float32),), {"epsilon": 0.0}),
    ("instanceNormalization", (np.ones((1, 2, 2, 2), np.float32),), {"epsilon": -1.0}),
    ("layerNormalization", (np.array([[1, INF, NAN], [1, 2, 3]], np.float32),), {}),
    ("layerNormalization", (np.ones((2, 3), np.float32),), {"epsilon": 0.0}),
    ("layerNormalization", (np.ones((2, 3), np.float32),), {"epsilon": -1.0}),
    ("layerNormalization", (np.array([1, INF, NAN], np.float32),), {"bias": f32()}),
    ("layerNormalization", (f32(3),), {"axes": [], "epsilon": 0.0}),
    ("layerNormalization", (f32(3),), {"axes": [], "epsilon": -1.0}),
    ("layerNormalization", (f32(2, 3),), {"axes": [], "scale": np.array(INF, np.float32)}),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("name", sorted({name for name, *_ in CASES}))
def test_values(name: str, dtype: Any) -> None:
    cases = [Case(each, *arguments, **options).astype(dtype) for each, arguments, options in CASES if each == name]
    check_cases(cases, near(1e-5, 2e-6) if dtype is np.float32 else near(1e-3, 1e-4))


@pytest.mark.parametrize("name", sorted({name for name, *_ in SPECIAL}))
def test_special_values(name: str) -> None:
    check_cases([Case(each, *arguments, **options) for each, arguments, options in SPECIAL if each == name], near(1e-5, 1e-5))


@pytest.mark.parametrize("name", ["instanceNormalization", "layerNormalization"])
def test_float16_accumulates_in_float32(name: str) -> None:
    x = (f32(1, 1, 64, 64) * 60000).astype(np.float16)
    check_cases([Case(name, x)], near(1e-3, 1e-4), constants=[False])
