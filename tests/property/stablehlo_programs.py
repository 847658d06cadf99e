"""Small valid StableHLO programs of every family: what mutations begin with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tests.webnn.stablehlo.programs import body, compare
from webnn.hlo import Function, Module, RegionBuilder
from webnn.hlo.attributes import (
    Attribute,
    ConvDimensionNumbers,
    DotDimensionNumbers,
    GatherDimensionNumbers,
    ScatterDimensionNumbers,
    Symbol,
)
from webnn.hlo.ir import Region
from webnn.hlo.text import parse_type
from webnn.hlo.types import TensorType, TokenType, TupleType, Type

__all__ = ["make_programs", "tensor"]


def tensor(text: str) -> Type:
    """Return a type: ``"2x3xf32"`` is that of a tensor."""
    return parse_type(f"tensor<{text}>")


def _types(text: str) -> list[Type]:
    return [tensor(each) for each in text.split()]


_NCHW = ConvDimensionNumbers(
    input_batch_dimension=0,
    input_feature_dimension=1,
    input_spatial_dimensions=(2, 3),
    kernel_output_feature_dimension=0,
    kernel_input_feature_dimension=1,
    kernel_spatial_dimensions=(2, 3),
    output_batch_dimension=0,
    output_feature_dimension=1,
    output_spatial_dimensions=(2, 3),
)
_ROWS = GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,), index_vector_dim=1)
_INTO = ScatterDimensionNumbers(update_window_dims=(1,), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,), index_vector_dim=1)
_SQUARE = DotDimensionNumbers(lhs_contracting_dimensions=(1,), rhs_contracting_dimensions=(0,))
_BATCHED = DotDimensionNumbers(
    lhs_batching_dimensions=(0,), rhs_batching_dimensions=(0,), lhs_contracting_dimensions=(2,), rhs_contracting_dimensions=(1,)
)
_ADD, _MAX = body("f32", "add"), body("f32", "maximum")
_POOL: Mapping[str, Attribute] = {
    "window_dimensions": (1, 1, 2, 2),
    "window_strides": (1, 1, 2, 2),
    "base_dilations": (1, 1, 1, 1),
    "window_dilations": (1, 1, 1, 1),
    "padding": np.zeros((4, 2), np.int64),
}
_CONVOLUTION: Mapping[str, Attribute] = {
    "dimension_numbers": _NCHW,
    "window_strides": (1, 1),
    "padding": np.ones((2, 2), np.int64),
    "lhs_dilation": (1, 1),
    "rhs_dilation": (1, 1),
    "window_reversal": (False, False),
    "feature_group_count": 1,
    "batch_group_count": 1,
}
_QUANTIZED = "2x3x!quant.uniform<i8:f32,5.000000e-01:3>"
_EDGES: Mapping[str, Attribute] = {"edge_padding_low": (1, 0), "edge_padding_high": (0, -1), "interior_padding": (0, 2)}
_UNORDERED: Mapping[str, Attribute] = {"indices_are_sorted": False, "unique_indices": False}
_LEFT: Mapping[str, Attribute] = {"left_side": True, "lower": True, "unit_diagonal": False, "transpose_a": "NO_TRANSPOSE"}

_ARITHMETIC, _ROUNDING = "add multiply divide maximum minimum remainder", "ceil floor round_nearest_afz round_nearest_even"
_FUNCTIONS = "cbrt cosine exponential exponential_minus_one log log_plus_one logistic rsqrt sine sqrt tan tanh"
#: The types of the operands and of the results, the attributes and the regions of one operation each.
OPERATIONS: Sequence[tuple[str, str, str, Mapping[str, Attribute], Sequence[Region]]] = [
    *[(name, "2x3xf32 2x3xf32", "2x3xf32", {}, ()) for name in f"{_ARITHMETIC} subtract power atan2".split()],
    *[(name, "2x3xi32 2x3xi32", "2x3xi32", {}, ()) for name in f"{_ARITHMETIC} and or xor shift_left shift_right_logical".split()],
    *[(name, "4xi1 4xi1", "4xi1", {}, ()) for name in ("add", "and", "maximum")],
    *[(name, "2x3xf32", "2x3xf32", {}, ()) for name in f"{_FUNCTIONS} {_ROUNDING} abs negate sign".split()],
    *[(name, "2x3xui8", "2x3xui8", {}, ()) for name in ("not", "popcnt", "count_leading_zeros", "sign")],
    ("is_finite", "2x3xf32", "2x3xi1", {}, ()),
    ("compare", "2x3xf32 2x3xf32", "2x3xi1", {"comparison_direction": "LT", "compare_type": "TOTALORDER"}, ()),
    ("compare", "2x3xi64 2x3xi64", "2x3xi1", {"comparison_direction": "NE"}, ()),
    ("select", "2x3xi1 2x3xf32 2x3xf32", "2x3xf32", {}, ()),
    ("select", "i1 2x3xf32 2x3xf32", "2x3xf32", {}, ()),
    ("clamp", "f32 2x3xf32 2x3xf32", "2x3xf32", {}, ()),
    ("convert", "2x3xf32", "2x3xi8", {}, ()),
    ("convert", "2x3xi1", "2x3xf16", {}, ()),
    ("bitcast_convert", "2x3xf32", "2x3xi32", {}, ()),
    ("bitcast_convert", "2x3xf32", "2x3x4xi8", {}, ()),
    ("reduce_precision", "2x3xf32", "2x3xf32", {"exponent_bits": 5, "mantissa_bits": 10}, ()),
    ("complex", "2xf32 2xf32", "2xcomplex<f32>", {}, ()),
    ("iota", "", "2x3xi32", {"iota_dimension": 1}, ()),
    ("constant", "", "2x3xf32", {"value": np.arange(6, dtype=np.float32).reshape(2, 3)}, ()),
    ("broadcast_in_dim", "2x1xf32", "4x2x3xf32", {"broadcast_dimensions": (1, 2)}, ()),
    ("reshape", "2x3xf32", "3x2x1xf32", {}, ()),
    ("transpose", "2x3x4xf32", "4x2x3xf32", {"permutation": (2, 0, 1)}, ()),
    ("slice", "4x5xf32", "2x2xf32", {"start_indices": (1, 0), "limit_indices": (3, 4), "strides": (1, 2)}, ()),
    ("concatenate", "2x3xf32 1x3xf32", "3x3xf32", {"dimension": 0}, ()),
    ("reverse", "2x3xf32", "2x3xf32", {"dimensions": (0, 1)}, ()),
    ("pad", "2x3xf32 f32", "3x6xf32", _EDGES, ()),
    ("dynamic_slice", "4x5xf32 i32 i32", "2x5xf32", {"slice_sizes": (2, 5)}, ()),
    ("dynamic_update_slice", "4x5xf32 2x5xf32 i32 i32", "4x5xf32", {}, ()),
    ("dynamic_broadcast_in_dim", "2x1xf32 3xi32", "?x2x?xf32", {"broadcast_dimensions": (1, 2)}, ()),
    ("dynamic_iota", "2xi32", "?x?xi32", {"iota_dimension": 0}, ()),
    ("dynamic_pad", "3xf32 f32 1xi32 1xi32 1xi32", "?xf32", {}, ()),
    ("dynamic_reshape", "2x3xf32 2xi32", "?x?xf32", {}, ()),
    ("real_dynamic_slice", "5xf32 1xi32 1xi32 1xi32", "?xf32", {}, ()),
    ("set_dimension_size", "2x3xf32 i32", "2x?xf32", {"dimension": 1}, ()),
    ("get_dimension_size", "2x3xf32", "i32", {"dimension": 1}, ()),
    ("dynamic_gather", "4x3xf32 2x1xi32 2xi32", "2x3xf32", {"dimension_numbers": _ROWS}, ()),
    ("dot", "2x3xf32 3x4xf32", "2x4xf32", {}, ()),
    ("dot_general", "2x3xf32 3x4xf32", "2x4xf32", {"dot_dimension_numbers": _SQUARE}, ()),
    ("dot_general", "2x3x4xi8 2x4x5xi8", "2x3x5xi32", {"dot_dimension_numbers": _BATCHED}, ()),
    ("convolution", "1x2x4x4xf32 3x2x3x3xf32", "1x3x4x4xf32", _CONVOLUTION, ()),
    ("convolution", "1x2x4x4xi32 3x2x3x3xi32", "1x3x4x4xi32", _CONVOLUTION, ()),
    ("convolution", "1x2x4x4xf32 3x2x3x3xf32", "1x3x7x7xf32", {**_CONVOLUTION, "lhs_dilation": (2, 2)}, ()),
    ("cholesky", "3x3xf32", "3x3xf32", {"lower": True}, ()),
    ("triangular_solve", "3x3xf32 3x2xf32", "3x2xf32", _LEFT, ()),
    ("batch_norm_inference", "2x3xf32 3xf32 3xf32 3xf32 3xf32", "2x3xf32", {"epsilon": 0.5, "feature_index": 1}, ()),
    ("batch_norm_training", "2x3xf32 3xf32 3xf32", "2x3xf32 3xf32 3xf32", {"epsilon": 0.5, "feature_index": 1}, ()),
    ("batch_norm_grad", "2x3xf32 3xf32 3xf32 3xf32 2x3xf32", "2x3xf32 3xf32 3xf32", {"epsilon": 0.5, "feature_index": 1}, ()),
    ("reduce", "2x3xf32 f32", "2xf32", {"dimensions": (1,)}, (_ADD,)),
    ("reduce", "2x3xf32 f32", "f32", {"dimensions": (0, 1)}, (body("f32", "divide"),)),
    ("reduce", "2x3xi1 i1", "3xi1", {"dimensions": (0,)}, (body("i1", "and"),)),
    ("reduce_window", "1x1x4x4xf32 f32", "1x1x2x2xf32", _POOL, (_MAX,)),
    ("reduce_window", "1x1x4x4xf32 f32", "1x1x2x2xf32", _POOL, (body("f32", "subtract"),)),
    (
        "select_and_scatter",
        "1x1x4x4xf32 1x1x2x2xf32 f32",
        "1x1x4x4xf32",
        {name: _POOL[name] for name in ("window_dimensions", "window_strides", "padding")},
        (compare("f32", "GE"), _ADD),
    ),
    ("gather", "4x3xf32 2x1xi32", "2x3xf32", {"dimension_numbers": _ROWS, "slice_sizes": (1, 3), "indices_are_sorted": False}, ()),
    ("torch_index_select", "4x3xf32 2xi32", "2x3xf32", {"dim": 0, "batch_dims": 0}, ()),
    ("scatter", "4x3xf32 2x1xi32 2x3xf32", "4x3xf32", {"scatter_dimension_numbers": _INTO, **_UNORDERED}, (_ADD,)),
    ("sort", "2x3xf32", "2x3xf32", {"dimension": 1, "is_stable": True}, (compare("f32", "LT"),)),
    ("sort", "5xf32 5xi32", "5xf32 5xi32", {"dimension": 0, "is_stable": True}, (compare(["f32", "i32"], "GT"),)),
    ("map", "2x3xf32 2x3xf32", "2x3xf32", {"dimensions": (0, 1)}, (body("f32", "multiply"),)),
    ("rng_bit_generator", "2xui64", "2xui64 4xui32", {"rng_algorithm": "THREE_FRY"}, ()),
    ("optimization_barrier", "2xf32 3xi32", "2xf32 3xi32", {}, ()),
    ("uniform_quantize", "2x3xf32", _QUANTIZED, {}, ()),
    ("uniform_dequantize", "2x3x!quant.uniform<i8:f32:1,{5.000000e-01,1.0:2,2.0}>", "2x3xf32", {}, ()),
    ("add", f"{_QUANTIZED} {_QUANTIZED}", _QUANTIZED, {}, ()),
    ("custom_call", "2xf32", "2xf32", {"call_target_name": "Sharding"}, ()),
]


def _single(name: str, operands: Sequence[Type], results: Sequence[Type], attributes: Any, regions: Sequence[Region]) -> Module:
    main = RegionBuilder(operands)
    main.append("func.return", main.append(f"stablehlo.{name}", main.arguments, results, attributes, regions))
    return Module(functions=(Function(name="main", body=main.build()),))


_SCALAR, _ROW, _BIT = tensor("i32"), tensor("3xf32"), tensor("i1")


def _constant(region: RegionBuilder, value: Any) -> Any:
    array = np.asarray(value)
    element = {"int32": "i32", "float32": "f32", "bool": "i1"}[array.dtype.name]
    (made,) = region.append("stablehlo.constant", (), [TensorType(shape=array.shape, element=element)], {"value": array})
    return made


def _loop() -> Module:
    """Return a loop of three steps that adds an argument."""
    condition = RegionBuilder([_SCALAR, _ROW])
    limit = _constant(condition, np.int32(3))
    wanted = condition.append("stablehlo.compare", [condition.arguments[0], limit], [_BIT], {"comparison_direction": "LT"})
    condition.append("stablehlo.return", wanted)
    main = RegionBuilder([_ROW])
    step = RegionBuilder([_SCALAR, _ROW])
    one = _constant(step, np.int32(1))
    (count,) = step.append("stablehlo.add", [step.arguments[0], one], [_SCALAR])
    (total,) = step.append("stablehlo.add", [step.arguments[1], main.arguments[0]], [_ROW])
    step.append("stablehlo.return", [count, total])
    zero = _constant(main, np.int32(0))
    found = main.append("stablehlo.while", [zero, main.arguments[0]], [_SCALAR, _ROW], {}, [condition.build(), step.build()])
    main.append("func.return", [found[1]])
    return Module(functions=(Function(name="main", body=main.build()),))


def _branches(name: str, element: str, count: int) -> Module:
    """Return `if` or `case`, whose branches use an argument of the function."""
    main = RegionBuilder([tensor(element), _ROW])
    regions = []
    for index in range(count):
        branch = RegionBuilder()
        operation = "stablehlo.sine" if index else "stablehlo.negate"
        branch.append("stablehlo.return", branch.append(operation, [main.arguments[1]], [_ROW]))
        regions.append(branch.build())
    main.append("func.return", main.append(f"stablehlo.{name}", [main.arguments[0]], [_ROW], {}, regions))
    return Module(functions=(Function(name="main", body=main.build()),))


def _calls() -> Module:
    """Return a function that calls another one, as a call and as a composite, which calls a third one."""
    inner = RegionBuilder([_ROW])
    inner.append("func.return", inner.append("stablehlo.add", [inner.arguments[0], inner.arguments[0]], [_ROW]))
    outer = RegionBuilder([_ROW])
    outer.append("func.return", outer.append("func.call", outer.arguments, [_ROW], {"callee": Symbol("inner")}))
    main = RegionBuilder([_ROW])
    (value,) = main.append("func.call", main.arguments, [_ROW], {"callee": Symbol("outer")})
    attributes: dict[str, Attribute] = {
        "name": "chlo.asin", "decomposition": Symbol("outer"), "composite_attributes": {"x": 1}, "version": 1,
    }  # fmt: skip
    main.append("func.return", main.append("stablehlo.composite", [value], [_ROW], attributes))
    bodies = {"main": main, "outer": outer, "inner": inner}
    return Module(functions=tuple(Function(name=name, body=each.build(), public=name == "main") for name, each in bodies.items()))


def _tuples() -> Module:
    """Return tuples and tokens that come in, and go out."""
    pair = TupleType((_ROW, TupleType((_SCALAR,))))
    main = RegionBuilder([pair, TokenType()])
    (row,) = main.append("stablehlo.get_tuple_element", [main.arguments[0]], [_ROW], {"index": 0})
    (twice,) = main.append("stablehlo.add", [row, row], [_ROW])
    (token,) = main.append("stablehlo.after_all", [main.arguments[1]], [TokenType()])
    (result,) = main.append("stablehlo.tuple", [twice, row], [TupleType((_ROW, _ROW))])
    main.append("func.return", [result, token, twice])
    return Module(functions=(Function(name="main", body=main.build()),))


def _network() -> Module:
    """Return a layer with constants, of several operations."""
    main = RegionBuilder([tensor("2x3xf32")])
    weights = _constant(main, np.arange(12, dtype=np.float32).reshape(3, 4))
    (product,) = main.append("stablehlo.dot_general", [main.arguments[0], weights], [tensor("2x4xf32")], {"dot_dimension_numbers": _SQUARE})
    zero = _constant(main, np.float32(0))
    (zeros,) = main.append("stablehlo.broadcast_in_dim", [zero], [tensor("2x4xf32")], {"broadcast_dimensions": ()})
    (positive,) = main.append("stablehlo.maximum", [product, zeros], [tensor("2x4xf32")])
    (total,) = main.append("stablehlo.reduce", [positive, zero], [tensor("2xf32")], {"dimensions": (1,)}, [_ADD])
    (column,) = main.append("stablehlo.broadcast_in_dim", [total], [tensor("2x4xf32")], {"broadcast_dimensions": (0,)})
    main.append("func.return", [*main.append("stablehlo.divide", [positive, column], [tensor("2x4xf32")]), total])
    return Module(functions=(Function(name="main", body=main.build()),))


def _dynamic_convolution() -> Module:
    """Return a convolution whose padding is a constant."""
    main = RegionBuilder([tensor("1x2x4x4xf32"), tensor("3x2x3x3xf32")])
    padding = _constant(main, np.ones((2, 2), np.int32))
    main.append("func.return", main.append("stablehlo.dynamic_conv", [*main.arguments, padding], [tensor("1x3x4x4xf32")], _CONVOLUTION))
    return Module(functions=(Function(name="main", body=main.build()),))


def make_programs() -> list[Module]:
    """Return the programs."""
    single = [
        _single(name, _types(operands), _types(results), attributes, regions) for name, operands, results, attributes, regions in OPERATIONS
    ]
    return [
        *single,
        _loop(),
        _branches("if", "i1", 2),
        _branches("case", "i32", 3),
        _calls(),
        _tuples(),
        _network(),
        _dynamic_convolution(),
    ]
