"""The values of binary operations, against the NumPy reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support import Arguments, Case, check_cases, compute_directly, each_row, equal, run, shared_context
from webnn import MLGraphBuilder, MLOperand
from webnn.reference.operations import REFERENCE

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


def check_one_constant(name: str, operands: list[tuple[Array, Array]]) -> None:
    """Check an operation whose second operand alone is known when the graph is built: its values choose the translation."""
    converter = Arguments(MLGraphBuilder(shared_context("2024-06")))
    outputs: dict[str, MLOperand] = {}
    for index, (a, b) in enumerate(operands):
        converter.constants = False
        first = converter.convert(a)
        converter.constants = True
        outputs[str(index)] = getattr(converter.builder, name)(first, converter.convert(b))
    computed = compute_directly(converter.builder.buildSync(outputs), converter.inputs)
    for (a, b), actual in zip(operands, computed, strict=True):
        np.testing.assert_array_equal(actual, REFERENCE[name](a, b), f"{a} {name} {b}", strict=True)


@pytest.mark.parametrize(("name", "rtol"), FLOATS.items())
def test_floats(name: str, rtol: float) -> None:
    cases = [(SPECIAL[:, None], SPECIAL), *((RNG.uniform(-4, 4, a), RNG.uniform(-4, 4, b)) for a, b in SHAPES)]

    def near(_: Case, actual: Array, expected: Array) -> None:
        np.testing.assert_allclose(actual, expected, rtol=rtol if actual.dtype == np.float32 else rtol * 1000, atol=0, strict=True)

    check_cases([Case(name, np.asarray(a, dtype), np.asarray(b, dtype)) for a, b in cases for dtype in ("float32", "float16")], near)


@pytest.mark.parametrize("dtype", INTEGER_TYPES)
@pytest.mark.parametrize("name", NAMES)
def test_integers(name: str, dtype: str) -> None:
    info = np.iinfo(dtype)
    values = special(dtype)
    pairs = [(values[:, None], values)]
    pairs += [(RNG.choice(values, a), RNG.integers(info.min, info.max, b, dtype, endpoint=True)) for a, b in SHAPES]
    operands = [(np.asarray(a, dtype), np.asarray(b, dtype)) for a, b in pairs]
    check_cases([Case(name, a, b) for a, b in operands], equal)
    check_one_constant(name, operands)


@pytest.mark.parametrize("dtype", INTEGER_TYPES)
@pytest.mark.parametrize("name", ["div", "pow"])
def test_one_constant(name: str, dtype: str) -> None:
    a = special(dtype)
    shapes: list[tuple[int, ...]] = [(), (1,), (3, 1)]
    check_one_constant(name, [(a, np.full(shape, value)) for shape in shapes for value in a])


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


@each_row("constants", [False, True])
@each_row(("name", "dtype", "rows"), KNOWN)
def test_known(name: str, dtype: str, rows: list[tuple[int, int, int]], *, constants: bool) -> None:
    a, b, expected = (np.array(column, dtype) for column in zip(*rows, strict=True))
    [actual] = run(name, a, b, constants=constants)
    np.testing.assert_array_equal(actual, expected, strict=True)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("name", ["max", "min"])
def test_nan_wins_in_every_position(name: str, dtype: Any) -> None:
    sizes = range(1, 20)
    builder = MLGraphBuilder(shared_context("2024-06"))
    three = builder.input("three", dataType=dtype, dimensions=[])
    outputs: dict[str, MLOperand] = {}
    for size in sizes:
        a, ones = (builder.input(f"{kind} {size}", dataType=dtype, dimensions=[size]) for kind in ("a", "ones"))
        for index, operands in enumerate([(a, three), (three, a), (a, ones), (ones, a)]):
            outputs[f"{size} {index}"] = getattr(builder, name)(*operands)
    graph = builder.buildSync(outputs)
    inputs = {"three": np.array(3, dtype), **{f"ones {size}": np.ones(size, dtype) for size in sizes}}
    for position in range(max(sizes)):
        for size in sizes:
            inputs[f"a {size}"] = np.arange(size, dtype=dtype)
            inputs[f"a {size}"][position % size] = np.nan
        results = iter(compute_directly(graph, inputs))
        for size in sizes:
            number, other = (REFERENCE[name](inputs[f"a {size}"], inputs[b]) for b in ("three", f"ones {size}"))
            for expected in (number, number, other, other):
                np.testing.assert_array_equal(next(results), expected)
