"""The neutral form: building, checks, equality."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.support import each_row
from webnn.hlo.attributes import DotDimensionNumbers, Symbol
from webnn.hlo.ir import Function, Location, Module, Operation, Region, RegionBuilder, Value
from webnn.hlo.types import DTYPES, FunctionType, QuantizedType, TensorType, TokenType, TupleType, find_dtype

ROW = TensorType(shape=(2,), element="f32")
TRUTH = TensorType(shape=(), element="i1")


def count_down(*, limit: float = 0.5, outside: bool = True, type: TensorType = ROW, location: str = "", direction: str = "GT") -> Module:
    """A function that halves its argument while it is greater than a limit."""
    place = Location(name=location)
    main = RegionBuilder([type])
    (half,) = main.append("stablehlo.constant", (), [type], {"value": np.full(2, limit, np.float32)}, location=place)
    condition = RegionBuilder([type])
    (more,) = condition.append(
        "stablehlo.compare", [condition.arguments[0], half], [TRUTH], {"comparison_direction": direction}, location=place
    )
    condition.append("stablehlo.return", [more])
    body = RegionBuilder([type])
    (less,) = body.append("stablehlo.multiply", [body.arguments[0], half if outside else body.arguments[0]], [type])
    body.append("stablehlo.return", [less])
    (result,) = main.append("stablehlo.while", [main.arguments[0]], [type], regions=[condition.build(), body.build()])
    main.append("func.return", [result])
    return Module(functions=(Function(name="main", body=main.build()),))


def of_attribute(value: Any) -> Module:
    return Module(functions=(), attributes={"a": value})


def test_a_module() -> None:
    module = count_down()
    main = module.find("main")
    assert main is not None
    assert main.type == FunctionType((ROW,), (ROW,))
    assert main.body is not None
    assert [operation.name for operation in main.body.walk()] == [
        *("stablehlo.constant", "stablehlo.while", "stablehlo.compare", "stablehlo.return", "stablehlo.multiply", "stablehlo.return"),
        "func.return",
    ]
    assert module.find("other") is None


def test_equality_is_that_of_the_structure() -> None:
    assert count_down() == count_down()
    assert count_down() == count_down(location="elsewhere")


@each_row(
    "other",
    [
        count_down(limit=0.25),
        count_down(outside=False),
        count_down(direction="GE"),
        count_down(type=TensorType(shape=(2,), element="f64")),
        replace(count_down(), name="named"),
        replace(count_down(), attributes={"a": 1}),
        Module(functions=(replace(count_down().functions[0], public=False),)),
        Module(functions=(replace(count_down().functions[0], argument_attributes=({"a": True},)),)),
        Module(functions=()),
    ],
)
def test_modules_that_differ(other: Module) -> None:
    assert count_down() != other


@each_row(
    ("one", "other", "same"),
    [
        (1, 1, True),
        (1, True, False),
        (1, 1.0, False),
        (0.0, -0.0, False),
        (math.nan, math.nan, True),
        ("1", b"1", False),
        ((1, 2), [1, 2], True),
        ((1, 2), (1,), False),
        (Symbol("f"), Symbol("f"), True),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1}, {"b": 1}, False),
        (np.array([math.nan]), np.array([math.nan]), True),
        (np.zeros(2), -np.zeros(2), False),
        (np.zeros(2), np.broadcast_to(0.0, 2), True),
        (np.broadcast_to(0.0, (1 << 40, 2)), np.broadcast_to(0.0, (1 << 40, 2)), True),
        (np.broadcast_to(0.0, (1 << 40, 2)), np.broadcast_to(1.0, (1 << 40, 2)), False),
        (np.zeros(2, np.int32), np.zeros(2, np.float32), False),
        (DotDimensionNumbers(lhs_contracting_dimensions=(1,)), DotDimensionNumbers(lhs_contracting_dimensions=(1,)), True),
        (DotDimensionNumbers(lhs_contracting_dimensions=(1,)), DotDimensionNumbers(), False),
    ],
)
def test_equality_of_attributes(one: Any, other: Any, same: bool) -> None:
    assert (of_attribute(one) == of_attribute(other)) is same


def test_nothing_can_be_changed() -> None:
    array = np.zeros(2)
    module = of_attribute([array, {"b": [1]}])
    given: Any = module.attributes["a"]
    kept, inner = given
    assert array.flags.writeable
    assert not kept.flags.writeable
    assert inner["b"] == (1,)
    with pytest.raises(TypeError):
        module.attributes["c"] = 1  # type: ignore[index]
    with pytest.raises(TypeError, match="unhashable"):
        hash(module)


def twice() -> Module:
    return Module(functions=(Function(name="f", body=Region()), Function(name="f", body=Region())))


def unmade() -> Module:
    return Module(functions=(), operations=(Operation(name="x.y", operands=(Value(ROW),)),))


def made_twice() -> Module:
    value = Value(ROW)
    return Module(functions=(), operations=(Operation(name="x.y", results=(value,)), Operation(name="x.z", results=(value,))))


def inner() -> Module:
    """Uses a value of a region outside of it."""
    value = Value(ROW)
    region = Region(operations=(Operation(name="x.y", results=(value,)),))
    return Module(functions=(), operations=(Operation(name="x.if", regions=(region,)), Operation(name="x.z", operands=(value,))))


def of_another_function() -> Module:
    body = RegionBuilder([ROW])
    user = Region(operations=(Operation(name="x.y", operands=body.arguments),))
    return Module(functions=(Function(name="f", body=body.build()), Function(name="g", body=user)))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (twice, "functions must have different names, got @f twice"),
        (unmade, r"module.operations\[0\] x.y: operands\[0\], tensor<2xf32>, must be made before, and be visible here"),
        (made_twice, r"module.operations\[1\] x.z: a value must be made by one operation or region, got the same tensor<2xf32> twice"),
        (inner, r"operations\[1\] x.z: operands\[0\], tensor<2xf32>, must be made before"),
        (of_another_function, r"@g.operations\[0\] x.y: operands\[0\]"),
        (lambda: Function(name="f", body=Region(), type=FunctionType((ROW,), ())), r"@f: the type must be that of the body, \(\) -> \(\)"),
        (lambda: Function(name="f", body=Region(), argument_attributes=({},)), "@f: there must be attributes for each argument, 0, got 1"),
        (lambda: TensorType(shape=(1,), element="f33"), "the element type must be one of i1, .*, got f33"),
        (lambda: TensorType(shape=(-1,), element="f32"), "sizes must be 0 or greater, got tensor<-1xf32>"),
        (lambda: TensorType(shape=(1,), element="f32", bounds=(1, 2)), "a bound for each of 1 dimensions, got 2"),
        (lambda: QuantizedType(storage="i8", expressed="f32", scales=(1.0,), zero_points=()), "as many zero points as scales, got 0 and 1"),
        (lambda: QuantizedType(storage="i8", expressed="f32", scales=(1.0, 2.0), zero_points=(0, 0)), "1 scale without an axis, got 2"),
        (lambda: QuantizedType(storage="i9", expressed="f32", scales=(1.0,), zero_points=(0,)), "got i9"),
        (lambda: find_dtype("f33"), "the element type must be one of i1, .*, got f33"),
    ],
)
def test_what_is_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@each_row(
    ("type", "text"),
    [
        (TensorType(shape=(), element="bf16"), "tensor<bf16>"),
        (TensorType(shape=(2, None), element="complex<f32>", bounds=(None, 3)), "tensor<2x?xcomplex<f32>, bounds<?, 3>>"),
        (TupleType((ROW, TokenType())), "tuple<tensor<2xf32>, token>"),
        (FunctionType((ROW,), (ROW, TRUTH)), "(tensor<2xf32>) -> (tensor<2xf32>, tensor<i1>)"),
        (QuantizedType(storage="i8", expressed="f32", scales=(0.5,), zero_points=(3,)), "quant<i8:f32, 0.5:3>"),
        (
            QuantizedType(storage="ui4", expressed="f32", scales=(0.5, 1.0), zero_points=(3, 0), axis=1, minimum=0, maximum=10),
            "quant<ui4<0:10>:f32:1, {0.5:3, 1.0}>",
        ),
    ],
)
def test_types_as_text(type: object, text: str) -> None:
    assert str(type) == text


def test_sizes() -> None:
    assert (ROW.rank, ROW.size) == (1, 2)
    assert TensorType(shape=(2, None), element="f32").size is None
    assert TensorType(shape=(2, 0), element="f32").size == 0


@each_row("element", [name for name, dtype in DTYPES.items() if "." not in dtype])
def test_data_types_of_numpy(element: str) -> None:
    bits = {"i1": 8, "index": 64, "complex<f32>": 64, "complex<f64>": 128}.get(element) or int(element.lstrip("uif"))
    assert find_dtype(element).itemsize * 8 == bits


@each_row(
    ("location", "text"),
    [
        (Location(), ""),
        (Location(file="f.py", line=3, column=4), "f.py:3:4"),
        (Location(file="f.py", line=3, name="add"), "add (f.py:3)"),
        (Location(name="add"), "add"),
    ],
)
def test_locations_as_text(location: Location, text: str) -> None:
    assert str(location) == text
