"""A small program for each operation of the StableHLO specification, in each element type that the operation may have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

import numpy as np

from webnn.hlo import Function, Module, RegionBuilder
from webnn.hlo.attributes import (
    Attribute,
    ChannelHandle,
    ConvDimensionNumbers,
    DotDimensionNumbers,
    GatherDimensionNumbers,
    ScatterDimensionNumbers,
)
from webnn.hlo.ir import Region, Value
from webnn.hlo.types import ElementType, QuantizedType, TensorType, TokenType, TupleType, Type, find_dtype

__all__ = ["COLUMNS", "EXAMPLES", "Column", "Example", "make_program"]

#: Integers of 8 bits that represent numbers.
QUANTIZED = QuantizedType(storage="i8", expressed="f32", scales=(0.5,), zero_points=(0,))


@dataclass(frozen=True, slots=True)
class Column:
    """An element type.

    Attributes:
        title: Its name.
        kinds: Letters for groups that it is one of: ``"b"`` i1, ``"s"`` signed and ``"u"`` unsigned integers, ``"n"`` ui32, ``"h"``
            floating-point numbers of 16 bits, ``"f"`` other ones, ``"c"`` complex numbers, ``"q"`` quantized types, ``"t"`` tokens.
        element: The type; ``"token"`` is one, too.
        precision: How f64 is computed.
    """

    title: str
    kinds: str
    element: ElementType
    precision: Literal["f32"] | None = None


#: The element types of the page.
COLUMNS: Sequence[Column] = (
    Column("i1", "b", "i1"),
    *(Column(f"i{bits}", "s", f"i{bits}") for bits in (4, 8, 16, 32, 64)),
    *(Column(f"ui{bits}", "un" if bits == 32 else "u", f"ui{bits}") for bits in (4, 8, 16, 32, 64)),
    *(Column(name, "h", name) for name in ("bf16", "f16")),
    Column("f32", "f", "f32"),
    Column("f64", "f", "f64", "f32"),
    Column("complex", "c", "complex<f32>"),
    Column("quantized", "q", QUANTIZED),
    Column("token", "t", "token"),
)


@dataclass(frozen=True, slots=True)
class Example:
    """An operation on small operands.

    Attributes:
        kinds: The letters of the element types that it may have.
        operands: The arguments of the program: ``"2x3xE"`` is a tensor of the element type. ``R`` is the type of the real part,
            ``C`` for that of complex numbers, ``B`` for one of as many bits.
        results: The results of the operation.
        attributes: Its attributes.
        regions: A function that makes its regions.
        append: Appends the operation and what it needs to the program, and returns the results; otherwise it takes all arguments.
    """

    kinds: str
    operands: str
    results: str
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    regions: Sequence[Callable[[ElementType], Region]] = ()
    append: Callable[[RegionBuilder, str, ElementType], Sequence[Value]] | None = None

    def has(self, column: Column) -> bool:
        """Tell whether it may have an element type."""
        return any(kind in self.kinds for kind in column.kinds)


def make_program(name: str, element: ElementType) -> Module:
    """Return the program of an operation.

    Args:
        name: One of `EXAMPLES`.
        element: The element type.
    """
    example = EXAMPLES[name]
    main = RegionBuilder([_type(each, element) for each in example.operands.split()])
    if example.append is not None:
        results = example.append(main, f"stablehlo.{name}", element)
    else:
        types = [_type(each, element) for each in example.results.split()]
        regions = [make(element) for make in example.regions]
        results = main.append(f"stablehlo.{name}", main.arguments, types, example.attributes, regions)
    main.append("func.return", results)
    return Module(functions=(Function(name="main", body=main.build()),))


_BITS: Mapping[str, str] = MappingProxyType(
    {
        **{f"{one}i{bits}": f"{other}i{bits}" for one, other in (("", "u"), ("u", "")) for bits in (4, 8, 16, 32, 64)},
        **{"bf16": "i16", "f16": "i16", "f32": "i32", "f64": "i64"},
    }
)
_PARTS: Mapping[str, str] = MappingProxyType({"complex<f32>": "f32"})
_COMPLEX: Mapping[str, str] = MappingProxyType({"f32": "complex<f32>", "f64": "complex<f64>"})


def _type(text: str, element: ElementType) -> Type:
    """Return a type such as ``"2x3xE"``."""
    *sizes, letter = text.split("x")
    found: ElementType = letter
    if letter in ("E", "R", "C", "B"):
        table = {"E": {}, "R": _PARTS, "C": _COMPLEX, "B": _BITS}[letter]
        found = table.get(element, element) if isinstance(element, str) else element
    return TokenType() if found == "token" else TensorType(shape=tuple(map(int, sizes)), element=found)


# Regions.


def _scalars(element: ElementType, count: int = 2) -> RegionBuilder:
    return RegionBuilder([_type("E", element)] * count)


def _adding(element: ElementType) -> Region:
    region = _scalars(element)
    region.append("stablehlo.return", region.append("stablehlo.add", region.arguments, [region.arguments[0].type]))
    return region.build()


def _replacing(element: ElementType) -> Region:
    region = _scalars(element)
    region.append("stablehlo.return", region.arguments[1:])
    return region.build()


def _comparing(direction: str) -> Callable[[ElementType], Region]:
    """Return what makes a region that compares two scalars, of complex numbers the real parts."""

    def make(element: ElementType) -> Region:
        region = _scalars(element)
        one, other = region.arguments
        if element in _PARTS:
            (one,), (other,) = (region.append("stablehlo.real", [each], [_type("R", element)]) for each in (one, other))
        found = region.append("stablehlo.compare", [one, other], [_type("i1", element)], {"comparison_direction": direction})
        region.append("stablehlo.return", found)
        return region.build()

    return make


def _returning(*values: Value) -> Region:
    region = RegionBuilder()
    region.append("stablehlo.return", values)
    return region.build()


# Programs of more than one operation, or with values of other types.


def _constant(main: RegionBuilder, name: str, element: ElementType) -> Sequence[Value]:
    value = np.ones((2, 3), find_dtype(element.storage if isinstance(element, QuantizedType) else element))
    value.setflags(write=False)
    return main.append(name, [], [_type("2x3xE", element)], {"value": value})


def _branch(main: RegionBuilder, name: str, element: ElementType) -> Sequence[Value]:
    del element
    chosen, one, other = main.arguments
    return main.append(name, [chosen], [one.type], {}, [_returning(one), _returning(other)])


def _loop(main: RegionBuilder, name: str, element: ElementType) -> Sequence[Value]:
    """Count to 2, and exchange two values each time."""
    types = [_type("i32", element), *(each.type for each in main.arguments)]
    zero, one, two = (main.append("stablehlo.constant", [], types[:1], {"value": np.array(each, np.int32)})[0] for each in range(3))
    condition, body = RegionBuilder(types), RegionBuilder(types)
    less = condition.append("stablehlo.compare", [condition.arguments[0], two], [_type("i1", element)], {"comparison_direction": "LT"})
    condition.append("stablehlo.return", less)
    count, left, right = body.arguments
    (more,) = body.append("stablehlo.add", [count, one], types[:1])
    body.append("stablehlo.return", [more, right, left])
    return main.append(name, [zero, *main.arguments], types, {}, [condition.build(), body.build()])


def _tuple(main: RegionBuilder, name: str, element: ElementType) -> Sequence[Value]:
    del name, element
    return main.append("stablehlo.tuple", main.arguments, [TupleType(tuple([each.type for each in main.arguments]))])


def _element(main: RegionBuilder, name: str, element: ElementType) -> Sequence[Value]:
    return main.append(name, _tuple(main, name, element), [main.arguments[1].type], {"index": 1})


def _fourier(main: RegionBuilder, name: str, element: ElementType) -> Sequence[Value]:
    kind, result = ("FFT", "4xE") if element in _PARTS else ("RFFT", "3xC")
    return main.append(name, main.arguments, [_type(result, element)], {"fft_type": kind, "fft_length": (4,)})


def _random(main: RegionBuilder, name: str, element: ElementType) -> Sequence[Value]:
    shape = main.append("stablehlo.constant", [], [_type("2xi64", element)], {"value": np.array([2, 3])})
    return main.append(name, [*main.arguments, *shape], [_type("2x3xE", element)], {"rng_distribution": "UNIFORM"})


# The table.

_ALL = "bsuhfcq"
_GROUPS = np.array([[0]])
_FROM_HOST: Mapping[str, Attribute] = {"channel_handle": ChannelHandle(handle=1, type=3), "is_host_transfer": True}
_TO_HOST: Mapping[str, Attribute] = {"channel_handle": ChannelHandle(handle=1, type=2), "is_host_transfer": True}
_NORM: Mapping[str, Attribute] = {"epsilon": 0.5, "feature_index": 1}
_TRIANGLE: Mapping[str, Attribute] = {"left_side": True, "lower": True, "unit_diagonal": False, "transpose_a": "NO_TRANSPOSE"}
_CONVOLUTION: Mapping[str, Attribute] = {
    "dimension_numbers": ConvDimensionNumbers(
        input_batch_dimension=0, input_spatial_dimensions=(1, 2), input_feature_dimension=3,
        kernel_spatial_dimensions=(0, 1), kernel_input_feature_dimension=2, kernel_output_feature_dimension=3,
        output_batch_dimension=0, output_spatial_dimensions=(1, 2), output_feature_dimension=3,
    ),
    "feature_group_count": 1,
    "batch_group_count": 1,
}  # fmt: skip
_CONTRACTION: Mapping[str, Attribute] = {
    "dot_dimension_numbers": DotDimensionNumbers(lhs_contracting_dimensions=(1,), rhs_contracting_dimensions=(0,))
}
_GATHER: Mapping[str, Attribute] = {
    "dimension_numbers": GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,), index_vector_dim=1),
    "slice_sizes": (1, 3),
}
_SCATTER: Mapping[str, Attribute] = {
    "scatter_dimension_numbers": ScatterDimensionNumbers(
        update_window_dims=(1,), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,), index_vector_dim=1
    )
}


def _elementwise(kinds: str, names: str, operands: str = "2x3xE", **attributes: Attribute) -> dict[str, Example]:
    return {name: Example(kinds, operands, "2x3xE", attributes) for name in names.split()}


#: The operations of the specification, by name.
EXAMPLES: Mapping[str, Example] = MappingProxyType(
    dict(
        sorted(
            {
                **_elementwise("shfcq", "sign"),
                **_elementwise("suhfcq", "negate"),
                **_elementwise("hfcq", "cbrt cosine exponential exponential_minus_one log log_plus_one logistic rsqrt sine sqrt tanh"),
                **_elementwise("hfq", "ceil floor round_nearest_afz round_nearest_even"),
                **_elementwise("hfq", "reduce_precision", exponent_bits=5, mantissa_bits=7),
                **_elementwise("bsu", "not"),
                **_elementwise("su", "count_leading_zeros popcnt"),
                **_elementwise(_ALL, "add maximum minimum multiply", "2x3xE 2x3xE"),
                **_elementwise("suhfcq", "divide power remainder subtract", "2x3xE 2x3xE"),
                **_elementwise("hfcq", "atan2", "2x3xE 2x3xE"),
                **_elementwise("bsu", "and or xor", "2x3xE 2x3xE"),
                **_elementwise("su", "shift_left shift_right_arithmetic shift_right_logical", "2x3xE 2x3xE"),
                **_elementwise(_ALL, "clamp", "2x3xE 2x3xE 2x3xE"),
                **_elementwise(_ALL, "select", "2x3xi1 2x3xE 2x3xE"),
                **_elementwise(f"{_ALL}t", "custom_call", call_target_name="Sharding"),
                "abs": Example("shfcq", "2x3xE", "2x3xR"),
                "after_all": Example("t", "E E", "E"),
                "all_gather": Example(_ALL, "2x3xE", "2x3xE", {"all_gather_dim": 1, "replica_groups": _GROUPS}),
                "all_reduce": Example(_ALL, "2x3xE", "2x3xE", {"replica_groups": _GROUPS}, [_adding]),
                "all_to_all": Example(
                    _ALL, "2x3xE", "2x3xE",
                    {"split_dimension": 0, "concat_dimension": 1, "split_count": 1, "replica_groups": _GROUPS},
                ),
                "batch_norm_grad": Example("hfq", "2x3xE 3xE 3xE 3xE 2x3xE", "2x3xE 3xE 3xE", _NORM),
                "batch_norm_inference": Example("hfq", "2x3xE 3xE 3xE 3xE 3xE", "2x3xE", _NORM),
                "batch_norm_training": Example("hfq", "2x3xE 3xE 3xE", "2x3xE 3xE 3xE", _NORM),
                "bitcast_convert": Example(_ALL, "2x3xE", "2x3xB"),
                "broadcast_in_dim": Example(_ALL, "3xE", "2x3xE", {"broadcast_dimensions": (1,)}),
                "case": Example(f"{_ALL}t", "i32 E E", "", append=_branch),
                "cholesky": Example("hfcq", "2x2xE", "2x2xE", {"lower": True}),
                "collective_permute": Example(_ALL, "2x3xE", "2x3xE", {"source_target_pairs": _GROUPS.repeat(2, 1)}),
                "compare": Example(_ALL, "2x3xE 2x3xE", "2x3xi1", {"comparison_direction": "EQ"}),
                "complex": Example("f", "2x3xE 2x3xE", "2x3xC"),
                "concatenate": Example(_ALL, "2x3xE 2x3xE", "4x3xE", {"dimension": 0}),
                "constant": Example(_ALL, "", "", append=_constant),
                "convert": Example("bsuhfc", "2x3xE", "2x3xf32"),
                "convolution": Example(_ALL, "1x4x4x1xE 2x2x1x1xE", "1x3x3x1xE", _CONVOLUTION),
                "dot_general": Example(_ALL, "2x3xE 3x4xE", "2x4xE", _CONTRACTION),
                "dynamic_slice": Example(_ALL, "2x3xE i32 i32", "1x2xE", {"slice_sizes": (1, 2)}),
                "dynamic_update_slice": Example(_ALL, "2x3xE 1x2xE i32 i32", "2x3xE"),
                "fft": Example("fc", "4xE", "", append=_fourier),
                "gather": Example(_ALL, "4x3xE 2xi32", "2x3xE", _GATHER),
                "get_dimension_size": Example(_ALL, "2x3xE", "i32", {"dimension": 1}),
                "get_tuple_element": Example(f"{_ALL}t", "E E", "", append=_element),
                "if": Example(f"{_ALL}t", "i1 E E", "", append=_branch),
                "imag": Example("hfc", "2x3xE", "2x3xR"),
                "infeed": Example(_ALL, "token", "E token", {"infeed_config": ""}),
                "iota": Example("suhfcq", "", "2x3xE", {"iota_dimension": 1}),
                "is_finite": Example("hfq", "2x3xE", "2x3xi1"),
                "map": Example(_ALL, "2x3xE 2x3xE", "2x3xE", {"dimensions": (0, 1)}, [_adding]),
                "optimization_barrier": Example(f"{_ALL}t", "E", "E"),
                "outfeed": Example(_ALL, "2x3xE token", "token", {"outfeed_config": ""}),
                "pad": Example(
                    _ALL, "2x3xE E", "3x4xE", {"edge_padding_low": (1, 0), "edge_padding_high": (0, 1), "interior_padding": (0, 0)}
                ),
                "partition_id": Example("n", "", "ui32"),
                "real": Example("hfc", "2x3xE", "2x3xR"),
                "recv": Example(_ALL, "token", "E token", _FROM_HOST),
                "reduce": Example(_ALL, "2x3xE E", "2xE", {"dimensions": (1,)}, [_adding]),
                "reduce_scatter": Example(
                    _ALL, "2x3xE", "2x3xE", {"scatter_dimension": 1, "replica_groups": _GROUPS}, [_adding]
                ),
                "reduce_window": Example(_ALL, "4xE E", "3xE", {"window_dimensions": (2,)}, [_adding]),
                "replica_id": Example("n", "", "ui32"),
                "reshape": Example(_ALL, "2x3xE", "6xE"),
                "reverse": Example(_ALL, "2x3xE", "2x3xE", {"dimensions": (1,)}),
                "rng": Example("bsuhf", "E E", "", append=_random),
                "rng_bit_generator": Example("suhf", "2xui64", "2xui64 2x3xE", {"rng_algorithm": "THREE_FRY"}),
                "scatter": Example(_ALL, "4x3xE 2x1xi32 2x3xE", "4x3xE", _SCATTER, [_replacing]),
                "select_and_scatter": Example(
                    _ALL, "4xE 2xE E", "4xE", {"window_dimensions": (2,), "window_strides": (2,)}, [_comparing("GE"), _adding]
                ),
                "send": Example(_ALL, "2x3xE token", "token", _TO_HOST),
                "slice": Example(_ALL, "2x3xE", "2x2xE", {"start_indices": (0, 1), "limit_indices": (2, 3), "strides": (1, 1)}),
                "sort": Example(_ALL, "5xE", "5xE", {"dimension": 0}, [_comparing("LT")]),
                "transpose": Example(_ALL, "2x3xE", "3x2xE", {"permutation": (1, 0)}),
                "triangular_solve": Example("hfc", "2x2xE 2x1xE", "2x1xE", _TRIANGLE),
                "tuple": Example(f"{_ALL}t", "E E", "", append=_tuple),
                "while": Example(f"{_ALL}t", "E E", "", append=_loop),
            }.items()
        )
    )
)  # fmt: skip
