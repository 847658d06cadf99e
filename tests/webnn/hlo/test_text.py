"""Parse what MLIR writes: types, attributes, locations and elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support import each_row
from webnn.hlo.attributes import (
    Attribute,
    ChannelHandle,
    ConvDimensionNumbers,
    DotAlgorithm,
    DotDimensionNumbers,
    GatherDimensionNumbers,
    OtherAttribute,
    OutputOperandAlias,
    ResultAccuracy,
    ScatterDimensionNumbers,
)
from webnn.hlo.ir import Location
from webnn.hlo.text import parse_attribute, parse_elements, parse_location, parse_type
from webnn.hlo.types import FunctionType, OtherType, QuantizedType, TensorType, TokenType, TupleType, Type


def tensor(*shape: int | None, element: Any = "f32", bounds: tuple[int | None, ...] = ()) -> TensorType:
    return TensorType(shape=shape, element=element, bounds=bounds)


@each_row(
    ("text", "type"),
    [
        ("tensor<f32>", tensor()),
        ("tensor<2x0x?xui4>", tensor(2, 0, None, element="ui4")),
        ("tensor<3xcomplex<f64>>", tensor(3, element="complex<f64>")),
        ("tensor<?x3xf32, #stablehlo.bounds<4, ?>>", tensor(None, 3, bounds=(4, None))),
        (
            "tensor<2x!quant.uniform<i8:f32, 0.0039189298947652183:-128>>",
            tensor(2, element=QuantizedType(storage="i8", expressed="f32", scales=(0.0039189298947652183,), zero_points=(-128,))),
        ),
        (
            "tensor<2x!quant.uniform<u4<0:10>:f32:0, {5.000000e-01:3,2.0}>>",
            tensor(
                2,
                element=QuantizedType(storage="ui4", expressed="f32", scales=(0.5, 2.0), zero_points=(3, 0), axis=0, minimum=0, maximum=10),
            ),
        ),
        ("!stablehlo.token", TokenType()),
        ("tuple<>", TupleType(())),
        ("tuple<tensor<2xf32>, tuple<!stablehlo.token>>", TupleType((tensor(2), TupleType((TokenType(),))))),
        ("() -> ()", FunctionType((), ())),
        ("(tensor<2xf32>, tensor<f32>) -> tensor<f32>", FunctionType((tensor(2), tensor()), (tensor(),))),
        ("() -> (tensor<f32>, !stablehlo.token)", FunctionType((), (tensor(), TokenType()))),
        ("(tensor<f32>) -> (() -> tensor<f32>)", FunctionType((tensor(),), (FunctionType((), (tensor(),)),))),
        *(
            (text, OtherType(text))
            for text in (
                "f32",
                "tensor<*xf32>",
                "tensor<2xi3>",
                "memref<2xf32>",
                "!stablehlo.future<tensor<f32>>",
                "tensor<2xf32, #sparse<1>>",
                "tensor<2x2x!quant.uniform<i8:f32:{0:2,1:1}, {{0.5:3},{0.25}}>>",
            )
        ),
    ],
)
def test_types(text: str, type: Type) -> None:
    assert parse_type(text) == type


def test_types_that_are_nested_too_deep() -> None:
    with pytest.raises(ValueError, match="types may be nested 100 deep"):
        parse_type("tuple<" * 200 + ">" * 200)


@each_row(
    ("text", "attribute"),
    [
        ("#stablehlo<comparison_direction LT>", "LT"),
        ("#chlo<comparison_type TOTALORDER>", "TOTALORDER"),
        ("#stablehlo.result_accuracy_mode<HIGHEST>", "HIGHEST"),
        (
            "#stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_contracting_dimensions = [2]>",
            DotDimensionNumbers(lhs_batching_dimensions=(0, 1), rhs_contracting_dimensions=(2,)),
        ),
        (
            "#stablehlo.gather<offset_dims = [1], start_index_map = [0], index_vector_dim = 1>",
            GatherDimensionNumbers(offset_dims=(1,), start_index_map=(0,), index_vector_dim=1),
        ),
        ("#stablehlo.scatter<update_window_dims = [0]>", ScatterDimensionNumbers(update_window_dims=(0,))),
        (
            "#stablehlo.conv<[b, 1, 0, f]x[0, 1, i, o]->[f, 0, b, 1]>",
            ConvDimensionNumbers(
                input_batch_dimension=0,
                input_feature_dimension=3,
                input_spatial_dimensions=(2, 1),
                kernel_input_feature_dimension=2,
                kernel_output_feature_dimension=3,
                kernel_spatial_dimensions=(0, 1),
                output_batch_dimension=2,
                output_feature_dimension=0,
                output_spatial_dimensions=(1, 3),
            ),
        ),
        ("#stablehlo.channel_handle<handle = 1, type = 2>", ChannelHandle(handle=1, type=2)),
        (
            "#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 1, operand_tuple_indices = []>",
            OutputOperandAlias(output_tuple_indices=(0,), operand_index=1),
        ),
        (
            "#stablehlo.result_accuracy<atol = 1.000000e-05, ulps = 3, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>",
            ResultAccuracy(atol=1e-5, ulps=3, mode="TOLERANCE"),
        ),
        (
            "#stablehlo.dot_algorithm<lhs_precision_type = tf32, rhs_precision_type = f32, accumulation_type = f32, "
            "lhs_component_count = 1, rhs_component_count = 2, num_primitive_operations = 3, allow_imprecise_accumulation = true>",
            DotAlgorithm(
                lhs_precision_type="tf32",
                rhs_precision_type="f32",
                accumulation_type="f32",
                lhs_component_count=1,
                rhs_component_count=2,
                num_primitive_operations=3,
                allow_imprecise_accumulation=True,
            ),
        ),
        *(
            (text, OtherAttribute(text))
            for text in (
                "affine_map<(d0) -> (d0)>",
                '#sdy.sharding<@mesh, [{"a"}]>',
                "#stablehlo.dot<surprise = [0]>",
                "#stablehlo.channel_handle<handle = 1>",
                "#stablehlo.conv<[b, f]x[0, i, o]->[x, y]>",
                "#stablehlo.surprise<1>",
            )
        ),
    ],
)
def test_attributes(text: str, attribute: Attribute) -> None:
    assert parse_attribute(text) == attribute


@each_row(
    ("text", "location"),
    [
        ("loc(unknown)", Location()),
        ('loc("-":3:4)', Location(file="here.mlir", line=3, column=4)),
        ('loc("f.py":3:4 to :5)', Location(file="f.py", line=3, column=4)),
        ('loc("add"("f.py":3:4))', Location(file="f.py", line=3, column=4, name="add")),
        ('loc("jit(f)/add"(callsite("g"("g.py":1:2) at "f"("f.py":3:4))))', Location(file="g.py", line=1, column=2, name="jit(f)/add")),
        ('loc(fused<"meta">["a.py":1:2, "b.py":3:4])', Location(file="a.py", line=1, column=2, name="meta")),
        (r'loc("a\22b\\c\E2\82\AC")', Location(name='a"b\\c€')),
    ],
)
def test_locations(text: str, location: Location) -> None:
    assert parse_location(text, "here.mlir") == location


@each_row(
    ("text", "type", "elements"),
    [
        ("[1, -2]", tensor(2, element="i32"), np.array([1, -2], np.int32)),
        ("[[1, 2], [3, 4]]", tensor(2, 2, element="index"), np.array([[1, 2], [3, 4]])),
        ("", tensor(0, 3), np.empty((0, 3), np.float32)),
        ("1.5", tensor(), np.float32(1.5)),
        ("1.5", tensor(2, 2), np.full((2, 2), 1.5, np.float32)),
        ("[0x7FC00000, 0xFF800000, 1.0e-01]", tensor(3), np.array([np.nan, -np.inf, 0.1], np.float32)),
        ("(1.0, 0x7F800000)", tensor(element="complex<f32>"), np.complex64(complex(1, np.inf))),
        ("[(1.0,2.0), (-0.0,4.0)]", tensor(2, element="complex<f64>"), np.array([1 + 2j, complex(-0.0, 4)])),
    ],
)
def test_elements(text: str, type: TensorType, elements: Any) -> None:
    found = parse_elements(text, type)
    assert found.dtype == elements.dtype
    np.testing.assert_array_equal(found, elements)


@each_row("text", ["[1, 2, 3]", "[1, x]", "[1]"])
def test_elements_that_do_not_fit(text: str) -> None:
    with pytest.raises(ValueError, match=r"reshape|literal"):
        parse_elements(text, tensor(2, element="i32"))
