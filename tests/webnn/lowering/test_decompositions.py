"""Operations that the draft 2024-06 does not have, made of its own: both drafts compute the same."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support import compute_directly, each_row, make_context
from webnn import DescriptionError, MLGraphBuilder, describe
from webnn.lowering.decompositions import DECOMPOSITIONS

Array = np.ndarray[Any, np.dtype[Any]]
Make = Callable[[Array], Any]

_random = np.random.default_rng(7)
X = np.array([-math.inf, -2.5, -1.5, -1.0, -0.5, -0.25, -0.0, 0.0, 0.25, 0.5, 1.5, 2.5, 3.7, 8388609.0, math.inf, math.nan], np.float32)
F = _random.normal(size=(3, 4, 5)).astype(np.float32)
N = _random.integers(-(2**31), 2**31, (3, 7)).astype(np.int32)
LONG = np.array([-(2**63), -(2**53) - 1, -1, 0, 1, 2**53 + 1, 2**63 - 1], np.int64)
U8 = _random.integers(0, 3, (4, 5)).astype(np.uint8)
ROWS = np.array([[-9, 0, 2, 1, -4], [1, 9, -1, 3, 0]], np.int32)
COLUMNS = np.array([[-9, 0], [4, 9], [-1, 1], [2, -5]], np.int32)
COORDINATES = np.array([[0, -1], [2, 3], [-3, 0], [9, -9]], np.int32)
#: Indices that are negative numbers of int32.
FAR = np.array([[0, 2**31 - 1], [2**31, 2**32 - 1], [1, 2**31 + 1], [2**32 - 2, 2]], np.uint32)
UNIQUE = np.array([[2, 0, 1], [4, 3, 0], [0, 1, 2], [3, -2, 1]], np.int32)
SCALE, ZERO = np.array([[0.5, 0.25, 2.0], [1.5, 0.125, 4.0]], np.float32), np.array([[3, 0, 255], [128, 7, 1]], np.uint8)
BLOCKS = _random.normal(scale=300, size=(4, 3)).astype(np.float32)
TWO, MINUS_THREE = np.full((1, 1), 2.0, np.float32), np.full((1, 1), -3, np.int8)


def _constant(b: Any, array: Array) -> Any:
    return b.constant({"dataType": array.dtype.name, "shape": list(array.shape)}, array)


CASES: list[Callable[[Any, Make], Any]] = [
    lambda b, x: b.notEqual(x(X), b.constant("float32", 0.5)),
    lambda b, x: b.isNaN(x(X)),
    lambda b, x: b.isInfinite(x(X)),
    lambda b, x: b.logicalAnd(x(U8), x(U8[::-1].copy())),
    lambda b, x: b.logicalOr(x(U8), x(U8[::-1].copy())),
    lambda b, x: b.logicalXor(x(U8), x(U8[::-1].copy())),
    lambda b, x: b.abs(x(LONG)),
    lambda b, x: b.neg(x(LONG)),
    lambda b, x: b.relu(x(LONG)),
    lambda b, x: b.abs(x(X)),
    lambda b, x: b.relu(x(N)),
    lambda b, x: b.sign(x(X)),
    lambda b, x: b.sign(x(N)),
    lambda b, x: b.sign(x(N.astype(np.int8))),
    lambda b, x: b.roundEven(x(X)),
    lambda b, x: b.roundEven(x(np.array([2049.0, 1023.5, 1024.0, -0.3, -65504.0], np.float16))),
    lambda b, x: b.reverse(x(F)),
    lambda b, x: b.reverse(x(F), axes=[1]),
    lambda b, x: b.reverse(x(F), axes=[]),
    lambda b, x: b.slice(x(F), [1, 0, 1], [2, 4, 4], strides=[1, 3, 2]),
    lambda b, x: b.tile(x(F), [2, 1, 3]),
    lambda b, x: b.tile(x(F), [1, 1, 1]),
    lambda b, x: b.pad(x(F), [1, 0, 2], [0, 0, 3], value=-math.inf),
    lambda b, x: b.pad(x(N), [1, 0], [0, 2], value=2**31 - 1),
    lambda b, x: b.pad(x(F), [0, 0, 0], [0, 0, 0], value=math.inf),
    lambda b, x: b.pad(x(F), [1, 0, 2], [0, 0, 3], mode="edge", value=math.inf),
    lambda b, x: b.pad(x(N), [1, 0], [0, 2], mode="reflection", value=math.nan),
    lambda b, x: b.argMax(x(F), 1, keepDimensions=True),
    lambda b, x: b.argMin(x(F), 2),
    lambda b, x: b.cumulativeSum(x(N), 1),
    lambda b, x: b.cumulativeSum(x(N), 1, exclusive=True),
    lambda b, x: b.cumulativeSum(x(N), 0, reversed=True),
    lambda b, x: b.cumulativeSum(x(N), 1, reversed=True, exclusive=True),
    lambda b, x: b.cumulativeSum(x(N[:, :1].copy()), 1, exclusive=True),
    lambda b, x: b.cumulativeSum(x(N[:, :1].copy()), 1),
    lambda b, x: b.cumulativeSum(x(X[:, None].copy()), 1, exclusive=True),
    lambda b, x: b.clamp(x(N), minValue=1.5, maxValue=6.5),
    lambda b, x: b.clamp(x(N), maxValue=2.5),
    lambda b, x: b.clamp(x(N), minValue=math.nan),
    lambda b, x: b.clamp(x(N), minValue=2, maxValue=math.inf),
    lambda b, x: b.clamp(x(np.array([2**24, 2**24 + 1, 2**24 + 2], np.int32)), minValue=2**24 + 1),
    lambda b, x: b.clamp(x(F), minValue=-0.3, maxValue=0.7),
    lambda b, x: b.gatherElements(x(F[0]), x(ROWS), axis=0),
    lambda b, x: b.gatherElements(x(F[0]), _constant(b, COLUMNS), axis=1),
    lambda b, x: b.gatherElements(x(F[0]), x(np.abs(COLUMNS).astype(np.uint32)), axis=1),
    lambda b, x: b.gatherElements(x(F[0]), x(FAR), axis=1),
    lambda b, x: b.gatherElements(x(F[0]), _constant(b, FAR), axis=1),
    lambda b, x: b.gatherND(x(F), x(FAR)),
    lambda b, x: b.gatherND(x(F), _constant(b, FAR)),
    lambda b, x: b.scatterElements(x(F[0]), x(FAR[:, 1:].copy()), x(F[1, :, :1].copy()), axis=1),
    lambda b, x: b.scatterND(x(F), x(FAR[1:3]), x(F[0, :2].copy())),
    lambda b, x: b.scatterND(x(F), _constant(b, FAR[1:3]), x(F[0, :2].copy())),
    lambda b, x: b.gatherND(x(F), x(COORDINATES)),
    lambda b, x: b.gatherND(x(F), _constant(b, COORDINATES.astype(np.int64))),
    lambda b, x: b.gatherND(x(F[0, 0]), x(np.array([[-2]], np.int64))),
    lambda b, x: b.scatterElements(x(F[0]), x(UNIQUE), x(F[1, :, :3].copy()), axis=1),
    lambda b, x: b.scatterElements(x(F[0]), x(np.zeros((2, 5), np.int32)), x(F[1, :2].copy()), axis=0),
    lambda b, x: b.scatterElements(x(F[0]), _constant(b, np.zeros((2, 5), np.int32)), x(F[1, :2].copy()), axis=0),
    lambda b, x: b.scatterND(x(F), x(COORDINATES), x(F[0, :4].copy())),
    lambda b, x: b.scatterND(x(F), _constant(b, COORDINATES), x(F[0, :4].copy())),
    lambda b, x: b.scatterND(x(F[0, 0]), x(np.array([[1], [-1], [1]], np.int64)), x(F[1, 0, :3].copy())),
    lambda b, x: b.quantizeLinear(x(BLOCKS), x(SCALE), x(ZERO)),
    lambda b, x: b.quantizeLinear(x(BLOCKS), _constant(b, TWO), _constant(b, MINUS_THREE)),
    lambda b, x: b.dequantizeLinear(x(BLOCKS.astype(np.int32).astype(np.uint8)), x(SCALE), x(ZERO)),
    lambda b, x: b.dequantizeLinear(
        x(BLOCKS.astype(np.int32).astype(np.int8)),
        _constant(b, TWO),
        _constant(b, MINUS_THREE),
    ),
]


@each_row("calls", CASES)
def test_both_drafts_compute_the_same(calls: Callable[[Any, Make], Any]) -> None:
    """Elements are moved, and integers computed, without an error; sums of floating-point numbers are not tried."""
    builder, older = MLGraphBuilder(make_context("2026-06")), MLGraphBuilder(make_context("2024-06"))
    feeds: dict[str, Array] = {}

    def make(array: Array) -> Any:
        name = f"x{len(feeds)}"
        feeds[name] = array
        descriptor: Any = {"dataType": array.dtype.name, "shape": list(array.shape)}
        return builder.input(name, descriptor)

    outputs = {"y": calls(builder, make)}
    lowered = describe(outputs).lower("2024-06")
    assert lowered.operators[-1].outputs == ("y",)
    # The program's own feeds are taken.
    assert list(lowered.inputs) == list(feeds)
    (wanted,) = compute_directly(builder.buildSync(outputs), feeds)
    (got,) = compute_directly(older.buildSync(lowered.build(older)), feeds)
    assert got.dtype == wanted.dtype
    np.testing.assert_array_equal(got, wanted)
    if got.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(got), np.signbit(wanted))


def test_every_decomposition_is_tried() -> None:
    called: set[str] = set()

    class Recorder:
        """A builder that notes the names of its methods."""

        def __getattr__(self, name: str) -> Callable[..., None]:
            called.add(name)
            return lambda *_, **__: None

    for calls in CASES:
        calls(Recorder(), lambda array: array)
    assert DECOMPOSITIONS["2026-06"].keys() <= called


def test_the_largest_scatter() -> None:
    """One more place, or one more update, is refused: tests/builder/test_transform.py."""
    builder = MLGraphBuilder(make_context("2026-06"))
    x, updates = (builder.input(name, {"dataType": "float32", "shape": [4096]}) for name in ("x", "updates"))
    indices = builder.input("indices", {"dataType": "int32", "shape": [4096]})
    lowered = describe({"y": builder.scatterElements(x, indices, updates)}).lower("2024-06")
    assert "scatterElements" not in [each.operation for each in lowered.operators]


def test_labels_and_names_stay() -> None:
    builder = MLGraphBuilder(make_context("2026-06"))
    x = builder.input("x", {"dataType": "float32", "shape": [3]})
    lowered = describe({"y": builder.relu(builder.sign(x, label="s"), label="r")}).lower("2024-06")
    assert [each.label for each in lowered.operators] == ["s"] * 4 + ["r"]
    assert [each.operation for each in lowered.operators] == ["lesser", "where", "greater", "where", "relu"]


def test_a_type_of_browsers() -> None:
    """A decomposition may use an operation that does not take the type."""
    builder = MLGraphBuilder(make_context("2026-06+browsers"))
    x = builder.input("x", {"dataType": "float32", "shape": [4, 3]})
    scale = builder.input("scale", {"dataType": "float32", "shape": [2, 3]})
    zero = builder.input("zero", {"dataType": "uint4", "shape": [2, 3]})
    with pytest.raises(DescriptionError) as caught:
        describe({"y": builder.quantizeLinear(x, scale, zero)}).lower("2024-06")
    assert caught.value.path == "operators[0]"
