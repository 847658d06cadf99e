"""The values of binary operations, against the NumPy reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.reference import REFERENCE
from tests.support import Arguments, compute_directly, make_context, run
from webnn import MLGraphBuilder

Array = np.ndarray[Any, np.dtype[Any]]

RNG = np.random.default_rng(0)
INTEGER_TYPES = ["int32", "uint32", "int64", "uint64", "int8", "uint8"]
SHAPES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((), ()),
    ((2, 3), ()),
    ((), (1, 1)),
    ((4, 2, 1), (4,)),
    ((2, 1, 2, 1, 2, 1, 2, 1), (1, 3, 1, 2, 1, 2, 1, 5)),
]
#: The relative accuracy expected in float32: correctly rounded, but for the power.
FLOATS = {"add": 0, "sub": 0, "mul": 0, "div": 0, "max": 0, "min": 0, "pow": 1e-6}
SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, 0.3, -2.0, 3.0, 0.5, 300.0, -6e4, np.nan, np.inf, -np.inf])
NAMES = list(FLOATS)


def special(dtype: str) -> Array:
    """Return values of an integer type at which operations overflow, divide by zero or lose digits."""
    info = np.iinfo(dtype)
    signed = [-1, -2, -3] if info.min < 0 else []
    ends = [info.min, info.min + 1, info.max // 2, info.max // 2 + 1, info.max - 1, info.max]
    return np.array([*ends, *signed, 0, 1, 2, 3, 7, 10, 100, 2 ** (info.bits // 2) + 1 if info.bits > 8 else 17], dtype)


def compute(name: str, a: Array, b: Array, *, constant: bool) -> Array:
    """Compute an operation whose second operand is a constant or an input."""
    if not constant:
        [actual] = run(name, a, b)
        return actual
    builder = MLGraphBuilder(context := make_context())
    descriptors: list[Any] = [{"dataType": x.dtype.name, "dimensions": x.shape} for x in (a, b)]
    first, second = builder.input("a", descriptors[0]), builder.constant(descriptors[1], b)
    result = getattr(builder, name)(first, second)
    buffers = {"result": np.zeros(result.shape(), result.dataType())}
    return context.computeSync(builder.buildSync({"result": result}), {"a": np.array(a)}, buffers)["outputs"]["result"]


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize(("name", "rtol"), FLOATS.items())
def test_floats(name: str, rtol: float, dtype: str) -> None:
    cases = [(SPECIAL[:, None], SPECIAL), *((RNG.uniform(-4, 4, a), RNG.uniform(-4, 4, b)) for a, b in SHAPES)]
    for a, b in cases:
        operands = np.asarray(a, dtype), np.asarray(b, dtype)
        expected = REFERENCE[name](*operands)
        for constants in (False, True):
            [actual] = run(name, *operands, constants=constants)
            np.testing.assert_allclose(actual, expected, rtol=rtol if dtype == "float32" else rtol * 1000, atol=0, strict=True)


@pytest.mark.parametrize("dtype", INTEGER_TYPES)
@pytest.mark.parametrize("name", NAMES)
def test_integers(name: str, dtype: str) -> None:
    info = np.iinfo(dtype)
    values = special(dtype)
    cases = [(values[:, None], values)]
    cases += [(RNG.choice(values, a), RNG.integers(info.min, info.max, b, dtype, endpoint=True)) for a, b in SHAPES]
    for a, b in cases:
        operands = np.asarray(a, dtype), np.asarray(b, dtype)
        expected = REFERENCE[name](*operands)
        for constants in (False, True):
            [actual] = run(name, *operands, constants=constants)
            np.testing.assert_array_equal(actual, expected, strict=True)
        # The second operand alone is known when the graph is built: its values choose the translation.
        np.testing.assert_array_equal(compute(name, *operands, constant=True), expected, strict=True)


@pytest.mark.parametrize("shape", [(), (1,), (3, 1)])
@pytest.mark.parametrize("dtype", INTEGER_TYPES)
@pytest.mark.parametrize("name", ["div", "pow"])
def test_one_constant(name: str, dtype: str, shape: tuple[int, ...]) -> None:
    a = special(dtype)
    for value in a:
        b = np.full(shape, value)
        np.testing.assert_array_equal(compute(name, a, b, constant=True), REFERENCE[name](a, b), strict=True)


# The operation, the type, and triples a, b, result: the table of docs/numerics.md.
KNOWN: list[tuple[str, str, list[tuple[int, int, int]]]] = [
    ("add", "int8", [(127, 1, -128)]),
    ("mul", "uint32", [(2**16, 2**16, 0)]),
    ("div", "int32", [(7, -2, -3), (-7, 2, -3), (5, 0, -1), (0, 0, -1), (-(2**31), -1, -(2**31)), (-(2**31), 0, -1)]),
    ("div", "int64", [(-(2**63), -1, -(2**63)), (2**62 + 1, 1, 2**62 + 1), (9, 0, -1)]),
    ("div", "uint64", [(2**64 - 1, 2, 2**63 - 1), (0, 0, 2**64 - 1), (5, 2**63, 0)]),
    ("div", "uint8", [(7, 2, 3), (7, 0, 255)]),
    ("pow", "int32", [(0, 0, 1), (3, 20, 3**20 - 2**32), (0, -1, -1), (1, -9, 1), (-1, -9, -1), (-1, -8, 1), (2, -1, 0), (7, 0, 1)]),
    ("pow", "int64", [(3, 39, 3**39), (-3, 39, -(3**39)), (2, 64, 0), (0, -(2**63), -1), (-1, -(2**63), 1), (5, -(2**63), 0)]),
    ("pow", "uint64", [(2**64 - 1, 2**64 - 1, 2**64 - 1), (3, 40, 3**40), (2, 2**63, 0)]),
    ("pow", "int8", [(2, 7, -128), (-2, 7, -128), (3, 5, 243 - 256)]),
]


@pytest.mark.parametrize("constants", [False, True])
@pytest.mark.parametrize(("name", "dtype", "rows"), KNOWN)
def test_known(name: str, dtype: str, rows: list[tuple[int, int, int]], *, constants: bool) -> None:
    a, b, expected = (np.array(column, dtype) for column in zip(*rows, strict=True))
    [actual] = run(name, a, b, constants=constants)
    np.testing.assert_array_equal(actual, expected, strict=True)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("name", ["max", "min"])
def test_nan_wins_in_every_position(name: str, dtype: str) -> None:
    context = make_context()
    for size in range(1, 20):
        cases = []
        for position in range(size):
            a, b = np.arange(size, dtype=dtype), np.array(3, dtype)
            a[position] = np.nan
            cases += [(a, b), (b, a), (a, np.ones_like(a)), (np.ones_like(a), a)]
        converter = Arguments(MLGraphBuilder(context), constants=False)
        connected = [getattr(converter.builder, name)(*map(converter.convert, operands)) for operands in cases]
        graph = converter.builder.buildSync({str(index): operand for index, operand in enumerate(connected)})
        for operands, actual in zip(cases, compute_directly(graph, converter.inputs), strict=True):
            np.testing.assert_array_equal(actual, REFERENCE[name](*operands))
