"""The error function and gelu that the export writes, computed in float32 by NumPy, operation by operation."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from tests.support import Array
from webnn import reference
from webnn.hlo.export.emitter import Emitter, Functions, Tensor
from webnn.hlo.export.erf import erf, gelu
from webnn.hlo.ir import Location, Operation, RegionBuilder, Value
from webnn.hlo.types import TensorType


def _round_to_12_bits(operation: Operation, x: Array) -> Array:
    """Round as `reduce_precision` does, to nearest, ties to even."""
    assert (operation.attributes["exponent_bits"], operation.attributes["mantissa_bits"]) == (8, 11)
    bits = x.view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FF + (bits >> 12 & 1)) & 0xFFFFF000).astype(np.uint32).view(np.float32)


#: NumPy's function for each operation that the two functions use.
COMPUTE: Mapping[str, Callable[..., Any]] = {
    "stablehlo.abs": lambda _, x: np.abs(x),
    "stablehlo.add": lambda _, a, b: a + b,
    "stablehlo.subtract": lambda _, a, b: a - b,
    "stablehlo.multiply": lambda _, a, b: a * b,
    "stablehlo.divide": lambda _, a, b: a / b,
    "stablehlo.minimum": lambda _, a, b: np.minimum(a, b),
    "stablehlo.negate": lambda _, x: -x,
    "stablehlo.exponential": lambda _, x: np.exp(x.astype(np.float64)).astype(np.float32),
    "stablehlo.compare": lambda operation, a, b: {"LT": np.less}[operation.attributes["comparison_direction"]](a, b),
    "stablehlo.select": lambda _, condition, a, b: np.where(condition, a, b),
    "stablehlo.reduce_precision": _round_to_12_bits,
    "stablehlo.constant": lambda operation: operation.attributes["value"],
}


def compute(function: Callable[[Emitter, Tensor], Tensor], x: Array) -> Array:
    """Write a function, and compute each of its operations in float32."""
    region = RegionBuilder([TensorType(shape=x.shape, element="f32")])
    emitter = Emitter(region, Functions(), Location())
    result = function(emitter, emitter.tensor(region.arguments[0]))
    values: dict[Value, Array] = {region.arguments[0]: x}
    for operation in region.build().operations:
        (made,) = operation.results
        with np.errstate(all="ignore"):
            values[made] = COMPUTE[operation.name](operation, *[values[each] for each in operation.operands])
    found = values[result.value]
    assert found.dtype == np.float32
    return found


def points(end: float) -> Array:
    """Return numbers of both signs, close to zero, too."""
    steps = np.linspace(0, end, 40_001)
    small = np.logspace(-30, 0, 2_001)
    return np.concatenate([steps, -steps, small, -small]).astype(np.float32)


def test_erf() -> None:
    x = points(6)
    exact = np.array([math.erf(each) for each in x.tolist()])
    assert reference.ulp_distance(compute(erf, x), exact, "float32").max() < 3


def test_gelu() -> None:
    x = points(13)
    exact = np.array([0.5 * each * math.erfc(-each / math.sqrt(2)) for each in x.tolist()])
    assert reference.ulp_distance(compute(gelu, x), exact, "float32").max() < 8


@pytest.mark.parametrize(
    ("function", "pairs"), [(erf, [(-np.inf, -1), (np.inf, 1), (9, 1)]), (gelu, [(np.inf, np.inf), (1e30, 1e30), (-1e30, 0)])]
)
def test_the_ends(function: Callable[[Emitter, Tensor], Tensor], pairs: list[tuple[float, float]]) -> None:
    x, wanted = np.array([*pairs, (np.nan, np.nan)], np.float32).T
    np.testing.assert_array_equal(compute(function, np.ascontiguousarray(x)), wanted)
