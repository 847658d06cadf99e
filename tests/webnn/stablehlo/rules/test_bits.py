"""Operations of StableHLO on bits, compared with Python's integers: as a graph, with a known operand, and folded."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.support import CURRENT
from tests.webnn.stablehlo.programs import Array, check, compute, operators, program, type_of
from webnn.hlo import Function, Module, RegionBuilder
from webnn.hlo.types import TensorType
from webnn.validation.drafts import find_revision, for_devices

INTEGERS = ("int8", "uint8", "int32", "uint32", "int64", "uint64")


def words_of(dtype: str) -> Array:
    """Return integers of a type: with few bits, all bits, and any."""
    bits = 8 * np.dtype(dtype).itemsize
    words = [0, 1, 2, 3, (1 << bits) - 1, 1 << bits - 1, (1 << bits - 1) - 1, 0x5A]
    words += [int(each) % (1 << bits) for each in np.random.default_rng(3).integers(0, 1 << 63, 8)]
    return np.array(words, np.uint64).astype(f"uint{bits}").view(dtype)


def python(compute: Callable[..., int], *arrays: Array, signed: bool = False) -> Array:
    """Compute with Python's integers, unsigned unless said otherwise, and wrap around."""
    dtype = arrays[0].dtype
    bits = 8 * dtype.itemsize
    views = [array.view(f"{'int' if signed and not index else 'uint'}{bits}") for index, array in enumerate(arrays)]
    found = [compute(bits, *map(int, words)) % (1 << bits) for words in zip(*views, strict=True)]
    return np.array(found, np.uint64).astype(f"uint{bits}").view(dtype)


COMBINATIONS: dict[str, Callable[..., int]] = {"and": lambda _, a, b: a & b, "or": lambda _, a, b: a | b, "xor": lambda _, a, b: a ^ b}


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", COMBINATIONS)
def test_combinations(name: str, dtype: str) -> None:
    one, other = (array.reshape(-1).copy() for array in np.meshgrid(words_of(dtype), words_of(dtype)))
    check(name, [one, other], python(COMBINATIONS[name], one, other), known=[[], [1], [0, 1]])


@pytest.mark.parametrize("dtype", INTEGERS)
def test_counts_and_complements(dtype: str) -> None:
    x = words_of(dtype)
    check("not", [x], ~x)
    check("popcnt", [x], python(lambda _, a: a.bit_count(), x))
    check("count_leading_zeros", [x], python(lambda bits, a: bits - a.bit_length(), x))


SHIFTS: dict[str, Callable[..., int]] = {
    "shift_left": lambda bits, a, by: a << by if by < bits else 0,
    "shift_right_arithmetic": lambda bits, a, by: a >> min(by, bits - 1),
    "shift_right_logical": lambda bits, a, by: a >> by if by < bits else 0,
}


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", SHIFTS)
def test_shifts(name: str, dtype: str) -> None:
    bits = 8 * np.dtype(dtype).itemsize
    distances = np.array([0, 1, 2, bits // 2, bits - 1, bits, bits + 1, (1 << bits) - 1], np.uint64).astype(f"uint{bits}").view(dtype)
    one, by = (array.reshape(-1).copy() for array in np.meshgrid(words_of(dtype), distances))
    wanted = python(SHIFTS[name], one, by, signed=name == "shift_right_arithmetic")
    check(name, [one, by], wanted, known=[[], [1], [0, 1]])
    short = (by.view(f"uint{bits}") < bits).nonzero()
    check(name, [one[short], by[short]], wanted[short], known=[[1]])


@pytest.mark.parametrize(("name", "wanted"), [("and", np.logical_and), ("or", np.logical_or), ("xor", np.logical_xor)])
def test_i1(name: str, wanted: Callable[[Array, Array], Array]) -> None:
    one, other = np.array([False, False, True, True]), np.array([False, True, False, True])
    check(name, [one, other], wanted(one, other))
    check("not", [one], ~one)


def test_a_shift_by_a_known_distance_is_one_operation() -> None:
    x, by = np.uint32(5), np.uint32(3)
    for name, wanted in (("shift_left", ["mul"]), ("shift_right_logical", ["div"])):
        assert operators(program(name, [x, by], [type_of(x)]), {"arg1": by}) == wanted


def test_random_bits_of_a_known_key_are_computed_at_import() -> None:
    """A round of threefry: sums, rotations and exclusive disjunctions of words."""
    words = TensorType(shape=(4,), element="ui32")
    rng = np.random.default_rng(1)
    first, second = (rng.integers(0, 1 << 32, 4, np.uint64).astype(np.uint32) for _ in range(2))
    main = RegionBuilder([words, words, TensorType(shape=(4,), element="i32")])
    x, y, offset = main.arguments

    def constant(number: int) -> Array:
        return np.broadcast_to(np.uint32(number), (4,))

    for rotation in (13, 15, 26, 6):
        (x,) = main.append("stablehlo.add", [x, y], [words])
        (left,) = main.append("stablehlo.constant", (), [words], {"value": constant(rotation)})
        (right,) = main.append("stablehlo.constant", (), [words], {"value": constant(32 - rotation)})
        (high,) = main.append("stablehlo.shift_left", [y, left], [words])
        (low,) = main.append("stablehlo.shift_right_logical", [y, right], [words])
        (y,) = main.append("stablehlo.or", [high, low], [words])
        (y,) = main.append("stablehlo.xor", [x, y], [words])
    (bits,) = main.append("stablehlo.bitcast_convert", [y], [offset.type])
    main.append("func.return", main.append("stablehlo.add", [bits, offset], [offset.type]))
    module = Module(functions=(Function(name="main", body=main.build()),))
    assert operators(module, {"arg0": first, "arg1": second}) == ["add"]


NIBBLES: dict[str, Callable[..., int]] = {
    **COMBINATIONS,
    **SHIFTS,
    "add": lambda _, a, b: a + b,
    "subtract": lambda _, a, b: a - b,
    "multiply": lambda _, a, b: a * b,
    "maximum": lambda _, a, b: max(a, b),
    "minimum": lambda _, a, b: min(a, b),
}


@pytest.mark.parametrize("element", ["i4", "ui4"])
@pytest.mark.parametrize("name", NIBBLES)
def test_integers_of_4_bits(name: str, element: str) -> None:
    """All pairs, which come and go as integers of 8 bits."""
    wide = np.int8 if element == "i4" else np.uint8
    numbers = np.arange(-8, 8) if element == "i4" else np.arange(16)
    one, other = (array.reshape(-1).astype(wide) for array in np.meshgrid(numbers, numbers))
    types = TensorType(shape=one.shape, element=element), type_of(one)
    main = RegionBuilder([types[1]] * 2)
    operands = [main.append("stablehlo.convert", [each], types[:1])[0] for each in main.arguments]
    result = main.append(f"stablehlo.{name}", operands, types[:1])
    main.append("func.return", main.append("stablehlo.convert", result, types[1:]))
    module = Module(functions=(Function(name="main", body=main.build()),))
    # A number below 0 counts as the unsigned number with its bits, except where the sign matters.
    first = one if name in ("maximum", "minimum") else one % 16
    if name == "shift_right_arithmetic":
        first = np.where(first >= 8, first.astype(np.int8) - 16, first)
    second = other if name in ("maximum", "minimum") else other % 16
    wanted = [NIBBLES[name](4, a, b) % 16 for a, b in zip(first.tolist(), second.tolist(), strict=True)]
    for known in ((), (0, 1)):
        (got,) = compute(module, [one, other], known, for_devices(find_revision(CURRENT)).name)
        np.testing.assert_array_equal(got % 16, wanted)
        assert got.min() >= numbers.min()
        assert got.max() <= numbers.max()
