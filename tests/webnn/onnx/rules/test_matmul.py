"""Matrix products and determinants, compared with ONNX Runtime and with NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from onnx import helper

import webnn.onnx
from tests.webnn.onnx.models import check, compute, make

Array = np.ndarray[Any, np.dtype[Any]]


def _random(*shape: int, dtype: str = "float32", seed: int = 0) -> Any:
    random = np.random.default_rng([seed, *shape])
    if dtype.startswith("float"):
        return random.standard_normal(shape).astype(dtype)
    info = np.iinfo(dtype)
    return random.integers(max(info.min, -1000), min(info.max, 1000), shape, dtype, endpoint=True)


def _feeds(*arrays: Any) -> dict[str, Array]:
    return {name: np.asarray(array) for name, array in zip("abcd", arrays, strict=False) if array is not None}


def _node(operator: str, arrays: Sequence[Any], **attributes: Any) -> Any:
    names = [name if array is not None else "" for name, array in zip("abcd", arrays, strict=False)]
    return helper.make_node(operator, names, ["y"], **attributes)


SHAPES = [
    ([3, 4], [4, 5]),
    ([4], [4]),
    ([4], [4, 5]),
    ([3, 4], [4]),
    ([2, 3, 4], [4]),
    ([4], [2, 4, 5]),
    ([2, 1, 3, 4], [5, 4, 2]),
    ([3, 4], [2, 4, 5]),
]


@pytest.mark.parametrize("dtype", ["float32", "int32", "uint32", "int64"])
@pytest.mark.parametrize(("left", "right"), SHAPES)
def test_matmul(left: list[int], right: list[int], dtype: str) -> None:
    feeds = _feeds(_random(*left, dtype=dtype), _random(*right, dtype=dtype, seed=1))
    check(make(_node("MatMul", [*feeds.values()]), feeds, 13), feeds, 1e-5)


GEMM: dict[str, tuple[tuple[Any, ...], dict[str, Any], int]] = {
    "without c": ((_random(3, 4), _random(4, 5)), {}, 13),
    "scaled": ((_random(3, 4), _random(4, 5), _random(5)), {"alpha": 0.5, "beta": 2.0}, 13),
    "transposed": ((_random(4, 3), _random(5, 4), _random(3, 1)), {"transA": 1, "transB": 1}, 9),
    "scalar": ((_random(3, 4), _random(4, 5), _random()), {}, 11),
    "one element": ((_random(3, 4), _random(4, 5), _random(1)), {}, 7),
}


@pytest.mark.parametrize("case", GEMM)
def test_gemm(case: str) -> None:
    arrays, attributes, version = GEMM[case]
    feeds = _feeds(*arrays)
    check(make(_node("Gemm", arrays, **attributes), feeds, version), feeds, 1e-5)


def test_gemm_of_integers() -> None:
    """ONNX Runtime takes floating-point numbers only."""
    a, b, c = _random(4, 3, dtype="int32"), _random(5, 4, dtype="int32"), _random(5, dtype="int32")
    feeds = _feeds(a, b, c)
    assert compute(make(_node("Gemm", [a, b, c], transA=1, transB=1), feeds, 13), feeds)["y"].tolist() == (a.T @ b.T + c).tolist()


INTEGERS: dict[str, tuple[Any, ...]] = {
    "no zero points": (_random(3, 4, dtype="uint8"), _random(4, 5, dtype="int8")),
    "scalars": (_random(3, 4, dtype="uint8"), _random(4, 5, dtype="uint8"), np.uint8(9), np.uint8(200)),
    "columns": (_random(2, 3, 4, dtype="uint8"), _random(4, 5, dtype="int8"), np.uint8(9), np.arange(-2, 3, dtype=np.int8)),
    "the right one only": (_random(3, 4, dtype="int8"), _random(4, 5, dtype="int8"), None, np.int8(3)),
    "long": (np.full((2, 2000), 255, np.uint8), np.full((2000, 3), 254, np.uint8), np.uint8(0), np.uint8(1)),
    "long, computed zero points": (_random(2, 2000, dtype="uint8"), _random(2000, 3, dtype="int8"), np.uint8(255), np.int8(-128)),
}


@pytest.mark.parametrize("constants", ["", "bcd"])
@pytest.mark.parametrize("case", INTEGERS)
def test_matmul_integer(case: str, constants: str) -> None:
    arrays = INTEGERS[case]
    feeds = _feeds(*arrays)
    check(make(_node("MatMulInteger", arrays), feeds, 10), feeds, constants=[each for each in constants if each in feeds])


@pytest.mark.parametrize(("weight", "products"), [(100, 1), (127, 2)])
def test_matmul_integer_is_split_where_sums_are_not_exact(weight: int, products: int) -> None:
    feeds = _feeds(np.full((1, 600), 255, np.uint8), np.full((600, 2), weight, np.int8))
    model = make(_node("MatMulInteger", [*feeds.values()]), feeds, 10)
    imported = webnn.onnx.load(model, constants={"b": feeds["b"]})
    assert [each.operation for each in imported.description.operators].count("matmul") == products
    assert compute(model, feeds, constants=["b"])["y"].tolist() == [[255 * 600 * weight] * 2]


@pytest.mark.parametrize("zero", [np.arange(3, dtype=np.uint8), np.arange(6, dtype=np.uint8).reshape(2, 3, 1)])
def test_matmul_integer_by_rows(zero: Any) -> None:
    """ONNX Runtime has no zero point for each row."""
    a, b = _random(2, 3, 4, dtype="uint8"), _random(4, 5, dtype="int8")
    feeds = _feeds(a, b, zero)
    actual = compute(make(_node("MatMulInteger", [a, b, zero]), feeds, 10), feeds)["y"]
    rows = zero.reshape(3, 1) if zero.ndim == 1 else zero
    assert actual.tolist() == ((a.astype(np.int32) - rows) @ b.astype(np.int32)).tolist()


@pytest.mark.parametrize("shape", [[1, 1], [2, 2], [3, 3], [4, 2, 3, 3], [2, 2, 2]])
def test_det(shape: list[int]) -> None:
    feeds = _feeds(_random(*shape))
    check(make(_node("Det", [*feeds.values()]), feeds, 11), feeds, 1e-5)


REFUSED: dict[str, tuple[str, tuple[Any, ...], dict[str, Any], str]] = {
    "scalars": ("MatMul", (_random(), _random(3)), {}, r"the factors must have at least one dimension, got \[\] and \[3\]"),
    "sizes": ("MatMul", (_random(3), _random(4)), {}, r"the same number of columns and rows, got \[3\] and \[4\]"),
    "stacks": ("MatMul", (_random(2, 3, 4), _random(3, 4, 2)), {}, "WebNN refuses it"),
    "integers": (
        "Gemm",
        (_random(3, 4, dtype="int32"), _random(4, 3, dtype="int32")),
        {"alpha": 0.5},
        "must be 1 for integers, got 0.5 and 1",
    ),
    "vectors": ("Gemm", (_random(4, dtype="int32"), _random(4, 3, dtype="int32")), {}, r"must be matrices, got \[4\] and \[4, 3\]"),
    "zero point": ("MatMulInteger", (_random(3, 4, dtype="int8"), _random(4, 3, dtype="int8"), np.zeros(2, np.int8)), {}, "axis -2"),
    "wide integers": (
        "MatMulInteger",
        (_random(3, 4, dtype="uint32"), _random(4, 3, dtype="int8")),
        {},
        "must be one of int8, uint8, got uint32",
    ),
    "a large matrix": ("Det", (_random(4, 4),), {}, r"must be square, with at most 3 rows, got \[4, 4\]"),
    "no matrix": ("Det", (_random(2, 3),), {}, r"must be square, with at most 3 rows, got \[2, 3\]"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str) -> None:
    operator, arrays, attributes, reason = REFUSED[case]
    feeds = _feeds(*arrays)
    with pytest.raises(webnn.onnx.RefusedModelError, match=reason):
        webnn.onnx.load(make(_node(operator, arrays, **attributes), feeds, 13))
