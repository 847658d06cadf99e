"""``quantizeLinear`` and ``dequantizeLinear``: inferred descriptors, every step that can fail, and which operations take int4 and uint4."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import BROWSERS, CURRENT, Arguments, Shape, each_row, infer, limits_of, make_context, refused
from webnn import ML, MLGraphBuilder
from webnn.validation.descriptor import DATA_TYPES, FLOAT_TYPES, SMALL_TYPES, DataType, OperandDescriptor, integer_range
from webnn.validation.drafts import find_revision
from webnn.validation.drafts.browsers import EXTENSIONS
from webnn.validation.quantization import is_blockwise_broadcastable

F, H = "float32", "float16"
INTEGERS = ("int32", "uint32", "int8", "uint8")
EIGHT = [2, 1, 3, 1, 2, 1, 2, 1]

#: Shapes of an input and of a scale that divides it.
FITTING: list[tuple[list[int], list[int]]] = [
    ([], []),
    ([1], [1]),
    ([6], [1]),
    ([6], [2]),
    ([6], [6]),
    ([3, 2, 5], [3, 2, 5]),
    ([3, 2, 5], [1, 1, 5]),
    ([3, 2, 5], [1, 1, 1]),
    ([6, 4, 5], [3, 2, 1]),
    ([16, 10], [4, 5]),
    (EIGHT, [1] * 8),
    (EIGHT, EIGHT),
]

#: The input's shape, the scale's, the zero point's, the argument at fault, and what its message says.
MISFITS: list[tuple[list[int], list[int], list[int], str, str]] = [
    # 7.
    ([3, 2, 5], [5], [5], "scale", "rank"),
    ([3, 2, 5], [], [], "scale", "rank"),
    ([5], [1, 5], [1, 5], "scale", "rank"),
    ([], [1], [1], "scale", "rank"),
    ([3, 2, 5], [1, 1, 5], [5], "zeroPoint", "rank"),
    # 8.
    ([3, 2, 5], [1, 1, 5], [1, 2, 5], "zeroPoint", "shape"),
    # 9.
    ([3, 2, 5], [1, 1, 2], [1, 1, 2], "scale", "divisible"),
    ([3, 2, 5], [3, 2, 10], [3, 2, 10], "scale", "divisible"),
    ([9, 3], [4, 5], [4, 5], "scale", "divisible"),
]

#: The operation, the types of its operands, the argument at fault, and what its message says.
MISTYPED: list[tuple[str, tuple[str, str, str], str, str]] = [
    # 3.-5., 3., 4. and 6.
    *(("dequantizeLinear", (t, F, t), "input", "type") for t in (F, H, "int64", "uint64")),
    *(("dequantizeLinear", ("int8", t, "int8"), "scale", "type") for t in DATA_TYPES if t not in FLOAT_TYPES),
    *(("dequantizeLinear", ("int8", F, t), "zeroPoint", "type") for t in (F, H, "int64", "uint64")),
    *(("quantizeLinear", (t, t, "int8"), "input", "type") for t in DATA_TYPES if t not in FLOAT_TYPES),
    *(("quantizeLinear", (F, t, "int8"), "scale", "type") for t in DATA_TYPES if t not in FLOAT_TYPES),
    *(("quantizeLinear", (F, F, t), "zeroPoint", "type") for t in (F, H, "int64", "uint64")),
    # 6.
    ("dequantizeLinear", ("int8", F, "uint8"), "zeroPoint", "type"),
    ("dequantizeLinear", ("int8", F, "int32"), "zeroPoint", "type"),
    # 5.
    ("quantizeLinear", (F, H, "int8"), "scale", "type"),
]


@each_row(("input", "scale"), FITTING)
def test_shapes(input: list[int], scale: list[int]) -> None:
    for real in FLOAT_TYPES:
        for integer in INTEGERS:
            operands = Shape(integer, input), Shape(real, scale), Shape(integer, scale)
            assert infer("dequantizeLinear", *operands, revision=CURRENT) == [(real, input)]
            operands = Shape(real, input), Shape(real, scale), Shape(integer, scale)
            assert infer("quantizeLinear", *operands, revision=CURRENT) == [(integer, input)]


@pytest.mark.parametrize(("input", "scale", "zeroPoint", "argument", "rule"), MISFITS)
@pytest.mark.parametrize("name", ["dequantizeLinear", "quantizeLinear"])
def test_shapes_that_do_not_fit(name: str, input: list[int], scale: list[int], zeroPoint: list[int], argument: str, rule: str) -> None:
    first = "uint8" if name == "dequantizeLinear" else F
    with refused(rule=rule, operation=name, argument=argument, label="q") as failure:
        infer(name, Shape(first, input), Shape(F, scale), Shape("uint8", zeroPoint), revision=CURRENT, label="q")
    assert failure.value.anchor == f"#api-mlgraphbuilder-{name.lower()}"


@each_row(("name", "types", "argument", "rule"), MISTYPED)
def test_types_that_are_not_allowed(name: str, types: tuple[str, str, str], argument: str, rule: str) -> None:
    with refused(rule=rule, operation=name, argument=argument):
        infer(name, *(Shape(each, [2, 3]) for each in types), revision=CURRENT)


def test_an_output_that_is_too_large() -> None:
    operands = Shape("int8", [2**30, 1]), Shape(F, [1, 1]), Shape("int8", [1, 1])
    with refused(rule="limit", operation="dequantizeLinear", argument="output"):
        infer("dequantizeLinear", *operands, revision=CURRENT)


@pytest.mark.parametrize("name", ["dequantizeLinear", "quantizeLinear"])
def test_the_draft_of_june_2024_has_neither(name: str) -> None:
    with refused(rule="draft", operation=name):
        infer(name, Shape(F, []), Shape(F, []), Shape("int8", []))


# Beyond the draft: int4 and uint4.


def test_the_revision_is_the_drafts_and_small_integers() -> None:
    draft, browsers = find_revision(CURRENT), find_revision(BROWSERS)
    assert (set(browsers.types) - set(draft.types), "int4" in draft.types) == ({"int4", "uint4"}, False)
    assert browsers.draft == draft.draft == draft.name == CURRENT
    assert browsers.ranks == draft.ranks
    changed = {name for name, types in browsers.data_types.items() if types != draft.data_types[name]}
    assert changed == set(EXTENSIONS)
    for name in changed:
        for operand, types in browsers.data_types[name].items():
            assert types == draft.data_types[name][operand] + EXTENSIONS[name].get(operand, ())


def test_the_limits_are_the_drafts_and_small_integers() -> None:
    draft, browsers = limits_of(CURRENT), limits_of(BROWSERS)
    assert browsers.data_types == draft.data_types + SMALL_TYPES
    assert list(browsers.operations) == list(draft.operations)
    for name, extensions in EXTENSIONS.items():
        assert set(extensions) <= set(browsers.operations[name])
    limits = ML(revision=BROWSERS).createContextSync().opSupportLimits()
    assert limits["constant"]["dataTypes"] == list(DATA_TYPES + SMALL_TYPES)
    assert limits["concat"]["inputs"]["dataTypes"] == [*DATA_TYPES, "int4"]
    assert limits["add"]["a"]["dataTypes"] == list(DATA_TYPES)


def test_an_unknown_addition() -> None:
    with pytest.raises(ValueError, match=r"no addition 'others' .*'browsers'"):
        find_revision("2026-06+others")
    with pytest.raises(ValueError, match="'browsers' comes after '2026-06', not after '2024-06'"):
        find_revision("2024-06+browsers")


@pytest.mark.parametrize(
    ("dataType", "shape", "byteLength"),
    [("int4", (), 1), ("uint4", (1,), 1), ("int4", (2,), 1), ("uint4", (3,), 2), ("int4", (3, 5), 8), ("uint4", (2, 3, 4), 12)],
)
def test_byte_lengths(dataType: DataType, shape: tuple[int, ...], byteLength: int) -> None:
    descriptor = OperandDescriptor(dataType, shape)
    assert descriptor.byte_length == byteLength
    assert descriptor.array_shape == (byteLength,)


def test_ranges() -> None:
    assert integer_range("int4") == (-8, 7)
    assert integer_range("uint4") == (0, 15)
    assert integer_range("int8") == (-128, 127)


@pytest.mark.parametrize("small", SMALL_TYPES)
def test_descriptors(small: DataType) -> None:
    for revision, fails in (("2024-06", True), (CURRENT, True), (BROWSERS, False)):
        context = make_context(revision)
        builder = MLGraphBuilder(context)
        shape: Any = {"dimensions" if revision == "2024-06" else "shape": [3]}
        calls: list[Any] = [
            lambda builder=builder, shape=shape: builder.input("x", {"dataType": small, **shape}),
            lambda builder=builder, shape=shape: builder.constant({"dataType": small, **shape}, b"\x21\x03"),
            lambda builder=builder: builder.constant(small, 5),
            lambda builder=builder: builder.cast(builder.constant("float32", 5), small),
        ]
        if revision != "2024-06":
            calls += [
                lambda context=context, shape=shape: context.createTensorSync({"dataType": small, **shape}),
                lambda context=context, shape=shape: context.createConstantTensorSync({"dataType": small, **shape}, b"\x21\x03"),
            ]
        for call in calls:
            if fails:
                with refused(rule="conversion"):
                    call()
            else:
                assert call().dataType == small


@pytest.mark.parametrize(
    ("data", "rule"), [(b"\x21", "byte-length"), (b"\x21\x43\x05", "byte-length"), (memoryview(b"\x21\x03").cast("b"), "type")]
)
def test_constants_of_other_bytes(data: Any, rule: str) -> None:
    builder = MLGraphBuilder(make_context(BROWSERS))
    with refused(rule=rule, operation="constant", argument="bufferView"):
        builder.constant({"dataType": "int4", "shape": [3]}, data)


#: Calls with small integers, and what they return; ``None`` where no browser takes them.
SMALL: list[tuple[str, tuple[Any, ...], list[tuple[str, list[int]]] | None]] = [
    ("dequantizeLinear", (Shape("int4", [2, 6]), Shape(F, [2, 3]), Shape("int4", [2, 3])), [(F, [2, 6])]),
    ("dequantizeLinear", (Shape("uint4", []), Shape(H, []), Shape("uint4", [])), [(H, [])]),
    ("dequantizeLinear", (Shape("uint4", [2]), Shape(F, [2]), Shape("int4", [2])), None),
    ("dequantizeLinear", (Shape("uint4", [2]), Shape(F, [2]), Shape("uint8", [2])), None),
    ("quantizeLinear", (Shape(F, [2, 6]), Shape(F, [1, 1]), Shape("uint4", [1, 1])), [("uint4", [2, 6])]),
    ("quantizeLinear", (Shape(H, [3]), Shape(H, [3]), Shape("int4", [3])), [("int4", [3])]),
    ("cast", (Shape("int4", [3]), "float32"), [(F, [3])]),
    ("cast", (Shape("uint64", [3]), "uint4"), [("uint4", [3])]),
    ("identity", (Shape("uint4", [3]),), [("uint4", [3])]),
    ("transpose", (Shape("uint4", [3, 2]),), [("uint4", [2, 3])]),
    ("reshape", (Shape("int4", [3, 2]), [6]), [("int4", [6])]),
    ("reshape", (Shape("uint4", [3, 2]), [6]), None),
    ("concat", ([Shape("int4", [3]), Shape("int4", [2])], 0), [("int4", [5])]),
    ("concat", ([Shape("uint4", [3]), Shape("uint4", [2])], 0), None),
    ("add", (Shape("int4", [3]), Shape("int4", [3])), None),
    ("slice", (Shape("int4", [3]), [0], [1]), None),
    ("relu", (Shape("int4", [3]),), None),
]


@pytest.mark.parametrize(("name", "arguments", "outputs"), SMALL)
def test_operations_of_small_integers(name: str, arguments: tuple[Any, ...], outputs: list[tuple[str, list[int]]] | None) -> None:
    if outputs is not None:
        assert infer(name, *arguments, revision=BROWSERS) == outputs
        return
    converter = Arguments(MLGraphBuilder(make_context(BROWSERS)))
    operands = [converter.convert(argument) for argument in arguments]
    with refused(rule="type", operation=name):
        getattr(converter.builder, name)(*operands)


@pytest.mark.parametrize(
    ("shapeFrom", "shapeTo", "expected"),
    [
        ((), (), True),
        ((1, 2), (3, 4), True),
        ((3, 4), (3, 4), True),
        ((3,), (4,), False),
        ((2, 3), (4, 4), False),
        ((2,), (2, 2), False),
        ((2, 2), (2,), False),
    ],
)
def test_blockwise_broadcasting(shapeFrom: tuple[int, ...], shapeTo: tuple[int, ...], expected: bool) -> None:
    assert is_blockwise_broadcastable(shapeFrom, shapeTo) is expected
