"""The values of operations that move elements or change their type: exact, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support import Arguments, Array, Case, check_cases, compute_directly, each_row, make_context, run, shared_context
from webnn import MLGraphBuilder
from webnn.reference.operations import REFERENCE
from webnn.validation.descriptor import DATA_TYPES, FLOAT_TYPES

INTEGER_TYPES = [name for name in DATA_TYPES if name not in FLOAT_TYPES]
#: Infinities, negative zero, the smallest and largest numbers, NaNs with a sign and a payload: as bits.
SPECIAL_BITS = {
    "float32": [0x7F800000, 0xFF800000, 0x80000000, 0x00000001, 0x807FFFFF, 0x7F7FFFFF, 0x7FC00000, 0xFFC12345],
    "float16": [0x7C00, 0xFC00, 0x8000, 0x0001, 0x83FF, 0x7BFF, 0x7E00, 0xFE55],
}


def special(dtype: str) -> Array:
    """The values of a type that are the hardest to keep."""
    if dtype in SPECIAL_BITS:
        return np.array(SPECIAL_BITS[dtype], f"uint{8 * np.dtype(dtype).itemsize}").view(dtype)
    info = np.iinfo(dtype)
    high = int(info.max)
    return np.array([info.min, high, 0, 1, high - 1, high // 2, high // 3, 2], dtype)


def values(dtype: str, *shape: int, offset: int = 1) -> Array:
    """Distinct numbers with the special ones among them."""
    numbers = (np.arange(int(np.prod(shape))) + offset).astype(dtype)
    numbers[::3] = np.resize(special(dtype), len(numbers[::3]))
    return numbers.reshape(shape)


def without_denormals(numbers: Array) -> Array:
    """Put the smallest normal number in the place of denormal ones of float32, which some processors take for zero in arithmetic."""
    if numbers.dtype == np.float32:
        least = np.finfo(np.float32).smallest_normal
        denormal = (numbers != 0) & (np.abs(numbers) < least)
        numbers[denormal] = np.copysign(least, numbers[denormal])
    return numbers


def bits(*shape: int) -> Array:
    """A condition: zeros and several kinds of true."""
    return np.resize(np.array([0, 1, 0, 255, 2, 0, 128], np.uint8), shape)


def assert_same(actual: Any, expected: Any) -> None:
    """Compare type, shape and every bit."""
    for one, other in zip(actual, expected if isinstance(expected, list) else [expected], strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        assert one.tobytes() == other.tobytes(), f"{one} != {other}"


def compare(_: Case, actual: Array, expected: Array) -> None:
    assert_same([actual], expected)


#: Operation, shapes of the operands (a list of shapes for a sequence), other arguments, options.
MOVEMENTS: list[tuple[str, tuple[Any, ...], tuple[Any, ...], dict[str, Any]]] = [
    ("concat", ([(2, 3)],), (1,), {}),
    ("concat", ([(2, 3), (2, 1), (2, 4)],), (1,), {}),
    ("concat", ([(1,)] * 100,), (0,), {}),
    ("concat", ([(1, 2, 1, 2, 1, 2, 1, 2), (1, 2, 1, 2, 3, 2, 1, 2)],), (4,), {}),
    ("expand", ((),), ([],), {}),
    ("expand", ((),), ([2, 3],), {}),
    ("expand", ((4,),), ([4],), {}),
    ("expand", ((3, 1, 5),), ([2, 3, 4, 5],), {}),
    ("expand", ((1, 2, 1, 2),), ([2, 1, 2, 1, 3, 2, 2, 2],), {}),
    ("reshape", ((),), ([],), {}),
    ("reshape", ((),), ([1, 1, 1],), {}),
    ("reshape", ((1,),), ([],), {}),
    ("reshape", ((2, 3, 4),), ([2, 3, 4],), {}),
    ("reshape", ((2, 3, 4),), ([4, 1, 6],), {}),
    ("reshape", ((2, 3, 4),), ([1, 2, 1, 3, 1, 2, 2, 1],), {}),
    ("slice", ((),), ([], []), {}),
    ("slice", ((3, 4),), ([0, 0], [3, 4]), {}),
    ("slice", ((3, 4, 5),), ([1, 0, 4], [2, 3, 1]), {}),
    ("slice", ((2, 1, 2, 3, 1, 2, 2, 3),), ([1, 0, 0, 1, 0, 0, 1, 0], [1, 1, 2, 2, 1, 1, 1, 3]), {}),
    ("split", ((4,),), (1,), {}),
    ("split", ((4,),), ([4],), {}),
    ("split", ((6, 2),), (3,), {}),
    ("split", ((2, 7),), ([1, 4, 2],), {"axis": 1}),
    ("split", ((2, 1, 2, 1, 2, 1, 4, 2),), (2,), {"axis": 6}),
    ("transpose", ((),), (), {}),
    ("transpose", ((5,),), (), {}),
    ("transpose", ((2, 3, 4),), (), {}),
    ("transpose", ((2, 3, 4),), (), {"permutation": [0, 1, 2]}),
    ("transpose", ((2, 3, 4),), (), {"permutation": [1, 2, 0]}),
    ("transpose", ((2, 1, 2, 3, 1, 2, 2, 1),), (), {"permutation": [7, 3, 0, 5, 1, 6, 2, 4]}),
    ("triangular", ((3, 4),), (), {}),
    ("triangular", ((4, 3),), (), {"upper": False}),
    ("triangular", ((2, 4, 4),), (), {"diagonal": -1}),
    ("triangular", ((2, 4, 4),), (), {"upper": False, "diagonal": 2}),
    ("triangular", ((3, 4),), (), {"diagonal": 2**31 - 1}),
    ("triangular", ((3, 4),), (), {"diagonal": -(2**31)}),
    ("triangular", ((3, 4),), (), {"upper": False, "diagonal": 2**31 - 1}),
    ("triangular", ((3, 4),), (), {"upper": False, "diagonal": -(2**31)}),
    ("triangular", ((1, 1),), (), {"diagonal": 1}),
    ("triangular", ((2, 1, 2, 1, 2, 1, 3, 3),), (), {}),
    ("pad", ((3,),), ([0], [0]), {}),
    ("pad", ((2, 3),), ([1, 0], [0, 2]), {"value": 7.9}),
    ("pad", ((2, 3),), ([1, 2], [2, 1]), {"mode": "edge"}),
    ("pad", ((2, 3),), ([0, 9], [7, 0]), {"mode": "edge"}),
    ("pad", ((3, 4),), ([2, 0], [1, 3]), {"mode": "reflection"}),
    ("pad", ((3, 1),), ([9, 2], [8, 1]), {"mode": "reflection"}),
    ("pad", ((3, 4),), ([2, 0], [3, 4]), {"mode": "symmetric"}),
    ("pad", ((3, 1),), ([9, 2], [10, 1]), {"mode": "symmetric"}),
    *[
        ("pad", ((2, 1, 2, 1, 2, 1, 2, 2),), ([1, 0, 0, 2, 0, 0, 0, 1], [0, 0, 1, 0, 0, 1, 0, 1]), {"mode": mode})
        for mode in ("constant", "edge", "reflection", "symmetric")
    ],
]


@pytest.mark.parametrize("dtype", DATA_TYPES)
def test_movements(dtype: str) -> None:
    cases = []
    for name, shapes, arguments, options in MOVEMENTS:
        operands = [
            [values(dtype, *one, offset=index) for index, one in enumerate(shape)] if isinstance(shape, list) else values(dtype, *shape)
            for shape in shapes
        ]
        cases.append(Case(name, *operands, *arguments, **options))
    check_cases(cases, compare)


#: Numbers around the ends of every integer type and around the halves between two floats.
CAST_FLOATS = [
    *(0.0, 0.1, 0.49999997, 0.5, 0.99999994, 1.0, 1.5, 2.5, 3.7, 126.99, 127.0, 127.5, 128.0, 128.9, 129.0, 255.0, 255.5, 256.0, 300.0),
    *(2048.5, 2049.0, 2049.0002, 65504.0, 65519.996, 65520.0, 1e-8, 2.0**-24, 2.0**-25, 6.1e-5, 1e-45, 1e10, 3e38, np.inf, np.nan),
    *(2.0**24 + 2, 2147483520.0, 2.0**31, 2147483904.0, 4294967040.0, 2.0**32, 2.0**53, 2.0**63 - 2.0**39, 2.0**63),
    *(2.0**64 - 2.0**40, 2.0**64),
]


def cast_numbers(dtype: str) -> Array:
    """The numbers of a type at which a cast to some other type may go wrong."""
    if dtype in FLOAT_TYPES:
        with np.errstate(over="ignore"):
            return np.array([*CAST_FLOATS, *(-number for number in CAST_FLOATS)], np.float32).astype(dtype)
    powers = [2**bit for bit in range(65)]
    # Halves between two neighbouring float16 (11 bits) and float32 (24 bits) numbers.
    halves = [odd << shift for odd in (2**11 + 1, 2**11 + 3, 2**24 + 1, 2**24 + 3) for shift in range(40)]
    numbers = [sign * (number + delta) for number in [0, *powers, *halves, 65504, 65520] for delta in (-1, 0, 1) for sign in (1, -1)]
    info = np.iinfo(dtype)
    return np.array([number for number in numbers if info.min <= number <= info.max], dtype)


@pytest.mark.parametrize("source", DATA_TYPES)
def test_cast(source: str) -> None:
    def equal(_: Case, actual: Array, expected: Array) -> None:
        assert actual.dtype == expected.dtype
        np.testing.assert_array_equal(actual, expected)
        np.testing.assert_array_equal(np.signbit(actual), np.signbit(expected))

    numbers = cast_numbers(source)
    check_cases([Case("cast", numbers, target) for target in DATA_TYPES], equal)


@pytest.mark.parametrize("source", DATA_TYPES)
def test_cast_of_a_scalar_and_of_many_dimensions(source: str) -> None:
    shapes: list[tuple[int, ...]] = [(), (1, 2, 1, 2, 1, 2, 1, 3)]
    operands = [np.resize(cast_numbers(source), shape) for shape in shapes]
    check_cases([Case("cast", numbers, target) for numbers in operands for target in DATA_TYPES], compare, constants=[False])


@pytest.mark.parametrize("source", DATA_TYPES)
def test_casts_in_a_row(source: str) -> None:
    """The engine's optimizer must not join casts: each one wraps, saturates or rounds."""
    numbers = cast_numbers(source)
    numbers = numbers[~np.isnan(numbers)]
    context = make_context()
    builder = MLGraphBuilder(context)
    descriptor: Any = {"dataType": source, "dimensions": [len(numbers)]}
    input = builder.input("x", descriptor)
    chains = {f"{second} {third}": (second, third) for second in DATA_TYPES for third in DATA_TYPES}
    graph = builder.buildSync({name: builder.cast(builder.cast(input, second), third) for name, (second, third) in chains.items()})
    outputs = {name: np.zeros(len(numbers), third) for name, (_, third) in chains.items()}
    result = context.computeSync(graph, {"x": numbers}, outputs)["outputs"]
    for name, (second, third) in chains.items():
        expected = REFERENCE["cast"](REFERENCE["cast"](numbers, second), third)
        np.testing.assert_array_equal(result[name], expected, err_msg=f"{source} {name}")


#: Shapes of condition, input and other.
WHERE_SHAPES: list[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]] = [
    ((), (), ()),
    ((9,), (9,), (9,)),
    ((2, 3), (), ()),
    ((), (2, 3), (3,)),
    ((2, 1, 4), (2, 3, 4), (1, 4)),
    ((4, 1, 1), (3, 1), (5,)),
    ((1, 3), (2, 1), (1, 3)),
    ((1,), (2, 3), ()),
    ((1,), (1,), (2, 3)),
    ((2, 1, 1, 1, 2, 1, 1, 2), (1, 2, 1, 1, 2, 1, 2), (2, 1, 1, 1)),
]


@pytest.mark.parametrize("dtype", DATA_TYPES)
def test_where(dtype: str) -> None:
    cases = []
    for condition, input, other in WHERE_SHAPES:
        # The engine adds up what it takes from the one and from the other.
        chosen = [without_denormals(each) for each in (values(dtype, *input), values(dtype, *other, offset=50))]
        cases.append((bits(*condition), *chosen))
    check_cases([Case("where", *operands) for operands in cases], compare)
    for constant in range(3):
        converter = Arguments(MLGraphBuilder(shared_context("2024-06")))
        outputs = {}
        for number, operands in enumerate(cases):
            connected = []
            for position, value in enumerate(operands):
                converter.constants = position == constant
                connected.append(converter.convert(value))
            outputs[str(number)] = converter.builder.where(*connected)
        computed = compute_directly(converter.builder.buildSync(outputs), converter.inputs)
        assert_same(computed, [REFERENCE["where"](*operands) for operands in cases])


@pytest.mark.parametrize("dtype", FLOAT_TYPES)
def test_where_keeps_signs(dtype: str) -> None:
    condition = np.array([0, 3], np.uint8)
    cases = [
        Case("where", condition, np.array([input], dtype), np.array([other], dtype))
        for input in (-0.0, 0.0, 5.0, -np.inf, -np.nan)
        for other in (-0.0, 0.0, 5.0, np.inf, np.nan)
    ]

    def equal(case: Case, actual: Array, _: Array) -> None:
        assert_same([actual], np.concatenate([case.arguments[2], case.arguments[1]]))

    check_cases(cases, equal)


@each_row(
    ("dtype", "value", "expected"),
    [
        ("float32", 0.1, 0.1),
        ("float32", -0.0, -0.0),
        ("float16", 0.1, 0.1),
        ("float16", 65520, np.inf),
        ("float16", -1e30, -np.inf),
        *[(name, -1.9, -1) for name in INTEGER_TYPES if name.startswith("int")],
        *[(name, -1.9, 0) for name in INTEGER_TYPES if name.startswith("uint")],
        *[(name, 1e30, np.iinfo(name).max) for name in INTEGER_TYPES],
        *[(name, -1e30, np.iinfo(name).min) for name in INTEGER_TYPES],
        ("int64", 2**53 + 1, 2**53),
        ("int32", 2**31 - 1, 2**31 - 1),
        ("uint64", 2.0**63, 2**63),
        ("uint8", 300, 255),
    ],
)
def test_pad_converts_the_constant(dtype: str, value: float, expected: float) -> None:
    """As `cast` does: it saturates."""
    assert_same(run("pad", values(dtype, 2), [1], [0], value=value), np.concatenate([np.array([expected], dtype), values(dtype, 2)]))


@pytest.mark.parametrize(("mode", "numpy_mode"), [("edge", "edge"), ("reflection", "reflect"), ("symmetric", "symmetric")])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int64"])
def test_pad_is_as_numpy(dtype: str, mode: str, numpy_mode: Any) -> None:
    def equal(case: Case, actual: Array, _: Array) -> None:
        input, (_, before), (_, after) = case.arguments
        assert_same([actual], np.pad(input, [(0, 0), (before, after)], mode=numpy_mode))

    cases = [
        Case("pad", values(dtype, 2, size), [0, before], [0, after], mode=mode)
        for size in (1, 2, 3, 5)
        for before, after in [(0, 1), (1, 0), (size - 1, size - 1), (size, size), (size + 1, 3 * size), (4 * size + 1, 0)]
    ]
    check_cases(cases, equal, constants=[False])


def test_padding_with_a_large_axis() -> None:
    input = values("float32", 3, 5000)
    for mode in ("edge", "reflection", "symmetric"):
        expected = REFERENCE["pad"](input, [1, 10], [1, 6000], mode=mode)
        assert_same(run("pad", input, [1, 10], [1, 6000], mode=mode), expected)


def test_what_moves_nothing_emits_nothing() -> None:
    """An operand that passes through unchanged is an output of its own, as often as it is asked for."""
    context = make_context()
    builder = MLGraphBuilder(context)
    x = builder.input("x", {"dataType": "float32", "dimensions": [2, 2]})
    y = builder.concat([x, x], 0)
    same = [
        builder.cast(y, "float32"),
        builder.concat([y], 1),
        builder.expand(y, [4, 2]),
        builder.pad(y, [0, 0], [0, 0]),
        builder.reshape(y, [4, 2]),
        builder.slice(y, [0, 0], [4, 2]),
        *builder.split(y, 1),
        builder.transpose(y, permutation=[0, 1]),
    ]
    graph = builder.buildSync({"x": builder.reshape(x, [2, 2]), "y": y, **{f"same{index}": operand for index, operand in enumerate(same)}})
    outputs = {"x": np.zeros((2, 2), np.float32), "y": np.zeros((4, 2), np.float32)}
    outputs |= {f"same{index}": np.zeros((4, 2), np.float32) for index in range(len(same))}
    input = values("float32", 2, 2)
    result = context.computeSync(graph, {"x": input.copy()}, outputs)["outputs"]
    assert_same([result["x"]], input)
    for name in outputs:
        if name != "x":
            assert_same([result[name]], np.concatenate([input, input]))


@pytest.mark.parametrize("dataType", ["float32", "int8", "uint8"])
@pytest.mark.parametrize("amount", [1, 3])
def test_padding_is_not_merged_into_a_pooling(dataType: str, amount: int) -> None:
    # The engine's optimizer does so, wrongly for 8-bit types, and refuses paddings that are larger than the window.
    x = np.arange(-8, 8).astype(dataType).reshape(1, 1, 4, 4)
    context = make_context()
    builder = MLGraphBuilder(context)
    padded = builder.pad(
        builder.input("x", {"dataType": x.dtype.name, "dimensions": x.shape}),  # type: ignore[typeddict-item]
        [0, 0, amount, amount],
        [0, 0, amount, amount],
    )
    y = builder.maxPool2d(padded, windowDimensions=[2, 2], strides=[2, 2])
    graph = builder.buildSync({"y": y})
    result = context.computeSync(graph, {"x": x.copy()}, {"y": np.zeros(y.shape(), x.dtype)})["outputs"]["y"]
    expected = REFERENCE["maxPool2d"](
        np.pad(x, [(0, 0), (0, 0), (amount, amount), (amount, amount)]), windowDimensions=[2, 2], strides=[2, 2]
    )
    np.testing.assert_array_equal(result, expected)
