"""Quantized types: operations that compute with numbers, and those that move the integers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import webnn.stablehlo
from tests.webnn.stablehlo.programs import Array, compute, operators
from webnn.hlo import Function, Module, RegionBuilder
from webnn.hlo.attributes import Attribute, DotDimensionNumbers
from webnn.hlo.ir import Region
from webnn.hlo.types import QuantizedType, TensorType, find_dtype

BYTES = QuantizedType(storage="i8", expressed="f32", scales=(0.5,), zero_points=(-4,))
ODD = QuantizedType(storage="i8", expressed="f32", scales=(0.25,), zero_points=(3,))
NARROW = QuantizedType(storage="ui8", expressed="f32", scales=(2.0,), zero_points=(128,), minimum=1, maximum=255)
WIDE = QuantizedType(storage="i32", expressed="f32", scales=(0.125,), zero_points=(0,))
ROWS = QuantizedType(storage="i8", expressed="f32", scales=(0.5, 0.25, 2.0), zero_points=(0, 2, -6), axis=0)
COLUMNS = QuantizedType(storage="i8", expressed="f32", scales=(0.5, 0.25, 2.0), zero_points=(0, 2, -6), axis=1)
NUMBERS = np.array([[-70, -2.25, -0.25, 0], [0.25, 0.75, 1.125, 3], [20, 63.5, 64, 1000]], np.float32)


def parameters(type: QuantizedType, rank: int) -> tuple[Array, Array]:
    shape = [1] * rank
    if type.axis is not None:
        shape[type.axis] = len(type.scales)
    return np.array(type.scales).reshape(shape), np.array(type.zero_points).reshape(shape)


def limits(type: QuantizedType) -> tuple[int, int]:
    whole = np.iinfo(find_dtype(type.storage))
    return int(whole.min if type.minimum is None else type.minimum), int(whole.max if type.maximum is None else type.maximum)


def quantize(array: Array, type: QuantizedType) -> Array:
    scales, zeros = parameters(type, array.ndim)
    found = np.rint((np.asarray(array, np.float64) / scales + zeros).clip(*limits(type)))
    return np.asarray(found.astype(find_dtype(type.storage)))


def dequantize(array: Array, type: QuantizedType) -> Array:
    scales, zeros = parameters(type, array.ndim)
    return ((array.astype(np.float64) - zeros) * scales).astype(np.float32)


def tensor(shape: Sequence[int], element: Any) -> TensorType:
    return TensorType(shape=tuple(shape), element=element)


def chain(shape: Sequence[int], *steps: tuple[str, TensorType, Mapping[str, Attribute]], inputs: int = 1, element: Any = "f32") -> Module:
    """Return a program in which each operation takes the result of the one before it; the first one takes all inputs."""
    main = RegionBuilder([tensor(shape, element)] * inputs)
    values: tuple[Any, ...] = main.arguments
    for name, type, attributes in steps:
        values = main.append(f"stablehlo.{name}", values, [type], attributes)
    main.append("func.return", values)
    return Module(functions=(Function(name="main", body=main.build()),))


def verify(module: Module, operands: Sequence[Array], wanted: Array) -> None:
    for known in ((), range(len(operands))):
        (got,) = compute(module, operands, known)
        np.testing.assert_array_equal(got, wanted, f"known: {list(known)}")
        assert got.dtype == wanted.dtype


@pytest.mark.parametrize("type", [BYTES, ODD, NARROW, WIDE, ROWS])
def test_quantize(type: QuantizedType) -> None:
    verify(chain(NUMBERS.shape, ("uniform_quantize", tensor(NUMBERS.shape, type), {})), [NUMBERS], quantize(NUMBERS, type))


@pytest.mark.parametrize("type", [BYTES, ODD, NARROW, WIDE, ROWS])
def test_dequantize(type: QuantizedType) -> None:
    stored = quantize(NUMBERS, type)
    module = chain(NUMBERS.shape, ("uniform_dequantize", tensor(NUMBERS.shape, "f32"), {}), element=type)
    verify(module, [stored], dequantize(stored, type))


@pytest.mark.parametrize(("before", "after"), [(BYTES, ODD), (ROWS, BYTES), (ODD, ROWS), (WIDE, NARROW)])
def test_requantize(before: QuantizedType, after: QuantizedType) -> None:
    stored = quantize(NUMBERS, before)
    module = chain(NUMBERS.shape, ("uniform_quantize", tensor(NUMBERS.shape, after), {}), element=before)
    verify(module, [stored], quantize(dequantize(stored, before), after))


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "subtract"])
@pytest.mark.parametrize("type", [BYTES, ODD, ROWS])
def test_arithmetic(name: str, type: QuantizedType) -> None:
    one, other = quantize(NUMBERS, type), quantize(NUMBERS[::-1] / 4, type)
    function = {"add": np.add, "multiply": np.multiply, "maximum": np.maximum, "subtract": np.subtract}[name]
    wanted = quantize(function(dequantize(one, type), dequantize(other, type)), type)
    verify(chain(one.shape, (name, tensor(one.shape, type), {}), inputs=2, element=type), [one, other], wanted)


@pytest.mark.parametrize("type", [BYTES, ODD, NARROW])
def test_what_is_undefined_is_stored_as_0(type: QuantizedType) -> None:
    zero = quantize(np.zeros(2, np.float32), type)
    wanted = np.zeros(2, zero.dtype).clip(*limits(type))
    verify(chain((2,), ("divide", tensor((2,), type), {}), inputs=2, element=type), [zero, zero], wanted)
    least = quantize(np.full(2, -1e9, np.float32), type)
    verify(chain((2,), ("sqrt", tensor((2,), type), {}), element=type), [least], wanted)


def test_comparison() -> None:
    """The result is not quantized."""
    one, other = quantize(NUMBERS, BYTES), quantize(NUMBERS[::-1], BYTES)
    module = chain(one.shape, ("compare", tensor(one.shape, "i1"), {"comparison_direction": "LT"}), inputs=2, element=BYTES)
    verify(module, [one, other], (one < other).astype(np.uint8))


def test_product_of_matrices() -> None:
    """Both matrices quantized, or one of them."""
    stored = quantize(NUMBERS, BYTES)
    numbers = DotDimensionNumbers(lhs_contracting_dimensions=(1,), rhs_contracting_dimensions=(1,))
    for left in (BYTES, "f32"):
        main = RegionBuilder([tensor((3, 4), left), tensor((3, 4), BYTES)])
        result = tensor((3, 3), WIDE if left == BYTES else "f32")
        main.append("func.return", main.append("stablehlo.dot_general", main.arguments, [result], {"dot_dimension_numbers": numbers}))
        module = Module(functions=(Function(name="main", body=main.build()),))
        one = dequantize(stored, BYTES) if left == BYTES else NUMBERS
        product = one.astype(np.float64) @ dequantize(stored, BYTES).astype(np.float64).T
        verify(
            module, [stored if left == BYTES else NUMBERS, stored], quantize(product, WIDE) if left == BYTES else product.astype(np.float32)
        )


@pytest.mark.parametrize(
    ("before", "after", "name", "attributes", "function"),
    [
        (BYTES, BYTES, "transpose", {"permutation": (1, 0)}, np.transpose),
        (ROWS, COLUMNS, "transpose", {"permutation": (1, 0)}, np.transpose),
        (BYTES, BYTES, "reshape", {}, lambda array: array.reshape(4, 3)),
    ],
)
def test_movement(before: QuantizedType, after: QuantizedType, name: str, attributes: Mapping[str, Attribute], function: Any) -> None:
    """Integers move; there is no arithmetic."""
    stored = quantize(NUMBERS, before)
    module = chain(stored.shape, (name, tensor((4, 3), after), attributes), element=before)
    verify(module, [stored], function(stored))
    assert operators(module) == [name]


def test_movement_to_another_scale() -> None:
    stored = quantize(NUMBERS, BYTES)
    module = chain(stored.shape, ("reshape", tensor((4, 3), WIDE), {}), element=BYTES)
    verify(module, [stored], quantize(dequantize(stored, BYTES), WIDE).reshape(4, 3))


def _reducer(type: QuantizedType, name: str) -> Region:
    scalar = tensor((), type)
    region = RegionBuilder([scalar] * 2)
    region.append("stablehlo.return", region.append(f"stablehlo.{name}", region.arguments, [scalar]))
    return region.build()


def test_reduction_quantizes_each_step() -> None:
    main = RegionBuilder([tensor((4,), BYTES), tensor((), BYTES)])
    attributes: dict[str, Attribute] = {"dimensions": (0,)}
    main.append("func.return", main.append("stablehlo.reduce", main.arguments, [tensor((), BYTES)], attributes, [_reducer(BYTES, "add")]))
    module = Module(functions=(Function(name="main", body=main.build()),))
    zero = np.array(-4, np.int8)
    # 60 + 60 is more than the greatest number, 65.5.
    operands = [quantize(np.array([60, 60, -50, -40], np.float32), BYTES), zero]
    verify(module, operands, _by_pairs(operands[0]))


def _by_pairs(stored: Array) -> Array:
    """Add pairs of quantized numbers, and then the pair of their sums."""

    def add(one: Array, other: Array) -> Array:
        return quantize(dequantize(one, BYTES) + dequantize(other, BYTES), BYTES)

    pairs = add(stored[::2], stored[1::2])
    return np.asarray(add(pairs[:1], pairs[1:])[0])


def test_operators() -> None:
    def names(type: QuantizedType) -> list[str]:
        return operators(chain((2,), ("uniform_quantize", tensor((2,), type), {}), ("uniform_dequantize", tensor((2,), "f32"), {})))

    assert names(BYTES) == ["quantizeLinear", "dequantizeLinear"]
    assert names(NARROW) == ["quantizeLinear", "clamp", "dequantizeLinear"]
    assert names(ODD) == ["div", "add", "clamp", "roundEven", "cast", "dequantizeLinear"]


def test_four_bits() -> None:
    pytest.importorskip("ml_dtypes")
    type = QuantizedType(storage="i4", expressed="f32", scales=(0.5,), zero_points=(2,))
    module = chain((4,), ("uniform_quantize", tensor((4,), type), {}), ("uniform_dequantize", tensor((4,), "f32"), {}))
    imported = webnn.stablehlo.load(module)
    assert [operator.operation for operator in imported.description.operators] == ["quantizeLinear", "dequantizeLinear"]
    folded = webnn.stablehlo.load(module, constants={"arg0": np.array([-70, 0.3, 1, 70], np.float32)})
    (constant,) = folded.description.outputs.values()
    assert constant is not None


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (chain((2,), ("uniform_quantize", tensor((2,), "f32"), {})), "the result must be quantized, got tensor<2xf32>"),
        (chain((2,), ("uniform_dequantize", tensor((2,), "f32"), {})), "the operand must be quantized, got tensor<2xf32>"),
        (
            chain((2, 3), ("uniform_quantize", tensor((2, 3), ROWS), {})),
            r"there must be a scale for each position of the dimension 0 of \[2, 3\], got 3",
        ),
        (
            chain(
                (2,),
                ("uniform_quantize", tensor((2,), QuantizedType(storage="i8", expressed="f32", scales=(1.0,), zero_points=(300,))), {}),
            ),
            r"the zero points must be from -128 to 127, got \[300\]",
        ),
        (
            chain(
                (2,), ("uniform_quantize", tensor((2,), QuantizedType(storage="i16", expressed="f32", scales=(1.0,), zero_points=(0,))), {})
            ),
            "the element type must be one that WebNN has",
        ),
    ],
)
def test_refusals(module: Module, message: str) -> None:
    _, report = webnn.stablehlo.survey(module, webnn.stablehlo.Settings())
    assert re.search(message, report.refusals[0].reason)
