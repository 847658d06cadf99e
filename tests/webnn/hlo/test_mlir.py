"""The text that MLIR reads: constants, attributes, names. With jaxlib, what is written is read again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support import Array, each_row
from tests.webnn.hlo.test_reader import jaxlib, read_here
from webnn.hlo.attributes import Attribute, ResultAccuracy, Symbol
from webnn.hlo.ir import Function, Location, Module, RegionBuilder
from webnn.hlo.mlir import write_mlir
from webnn.hlo.types import QuantizedType, TensorType, Type


def constant(value: Array, element: str) -> Module:
    body = RegionBuilder()
    results = body.append("stablehlo.constant", [], [TensorType(shape=value.shape, element=element)], {"value": value})
    body.append("func.return", results)
    return Module(functions=(Function(name="main", body=body.build()),))


def written(value: Array, element: str = "f32") -> str:
    """Return what a constant is written as."""
    text = "".join(write_mlir(constant(value, element)))
    return text.partition("<{value = ")[2].partition("}>")[0]


MANY = np.arange(101, dtype=np.uint16).astype(np.uint8)


@each_row(
    ("value", "element", "text"),
    [
        (np.float32(0.1), "f32", "dense<0.1> : tensor<f32>"),
        (np.float32([1, -0.0, 1e-5, 3e38]), "f32", "dense<[1.0, -0.0, 1.0e-05, 3.0e+38]> : tensor<4xf32>"),
        (np.float32([np.inf, -np.inf, np.nan]), "f32", "dense<[0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<3xf32>"),
        (np.array([0.1, 65504, np.nan], np.float16), "f16", "dense<[0.1, 6.55e+04, 0x7E00]> : tensor<3xf16>"),
        (np.array([[-(2**63), 2**63 - 1]]), "i64", "dense<[[-9223372036854775808, 9223372036854775807]]> : tensor<1x2xi64>"),
        (np.array([2**64 - 1], np.uint64), "ui64", "dense<18446744073709551615> : tensor<1xui64>"),
        (np.array([True, False]), "i1", "dense<[true, false]> : tensor<2xi1>"),
        # One number for all, however it lies in memory.
        (np.broadcast_to(np.float32(2), (2, 3)), "f32", "dense<2.0> : tensor<2x3xf32>"),
        (np.zeros((200,), np.float32), "f32", "dense<0.0> : tensor<200xf32>"),
        # Many numbers are digits, in the order of the elements and not of memory.
        (MANY, "ui8", f'dense<"0x{"".join([f"{each:02X}" for each in range(101)])}"> : tensor<101xui8>'),
        (
            np.arange(200, dtype=">i2").reshape(2, 100).T,
            "i16",
            f'dense<"0x{np.arange(200, dtype="<i2").reshape(2, 100).T.tobytes().hex().upper()}"> : tensor<100x2xi16>',
        ),
    ],
)
def test_constants(value: Any, element: str, text: str) -> None:
    assert written(np.asarray(value), element) == text


@jaxlib
@each_row(
    ("value", "element"),
    [
        (np.random.default_rng(0).normal(size=(7, 9)).astype("f"), "f32"),
        (np.random.default_rng(0).integers(0, 2**32, 100, np.uint32).view("f"), "f32"),
        (np.random.default_rng(0).integers(0, 2**16, 100, np.uint16).view(np.float16), "f16"),
        (np.random.default_rng(0).integers(0, 2**32, (40, 50), np.uint32).view("f"), "f32"),
        (np.random.default_rng(0).integers(0, 2**16, 1000, np.uint16).view(np.float16), "f16"),
        (np.random.default_rng(0).integers(0, 2**64, (11, 12), np.uint64), "ui64"),
        (np.random.default_rng(0).integers(-128, 128, 1 << 21, np.int8), "i8"),
        (np.random.default_rng(0).integers(0, 2, 300) > 0, "i1"),
    ],
)
def test_mlir_reads_the_same_bits(value: Array, element: str) -> None:
    module = constant(value, element)
    assert read_here("".join(write_mlir(module))) == module


def test_large_constants_are_written_in_pieces() -> None:
    value = np.arange(1 << 20, dtype=np.float32)
    assert max(len(piece) for piece in write_mlir(constant(value, "f32"))) <= 1 << 21


TEXT = r"""
module @"a b" attributes {x.text = "\22\00\C3\A9"} {
  func.func public @"my main"(%a: tensor<2x3x4x5xf32> {jax.arg_info = "x"}, %b: tensor<6x3x3x3xf32>, %t: !stablehlo.token)
      -> (tensor<2x6x4x5xf32> {jax.result_info = "y"}, tensor<2x3x5x5xf32>, tensor<2xi1>, !stablehlo.token) {
    %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]],
      reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64,
      precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision DEFAULT>]}
      : (tensor<2x3x4x5xf32>, tensor<6x3x3x3xf32>) -> tensor<2x6x4x5xf32> loc("conv \22\0A")
    %1 = stablehlo.dot_general %a, %a, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2] : (tensor<2x3x4x5xf32>,
      tensor<2x3x4x5xf32>) -> tensor<2x3x5x5xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2:2 = stablehlo.while(%i = %c, %x = %1) : tensor<i32>, tensor<2x3x5x5xf32>
      cond {
        %n = stablehlo.constant dense<4> : tensor<i32>
        %3 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %3 : tensor<i1>
      } do {
        %n = stablehlo.constant dense<1> : tensor<i32>
        %3 = stablehlo.add %i, %n : tensor<i32>
        %4 = stablehlo.reduce_precision %x, format = e8m11 : tensor<2x3x5x5xf32>
        %5 = func.call @helper(%4) : (tensor<2x3x5x5xf32>) -> tensor<2x3x5x5xf32>
        stablehlo.return %3, %5 : tensor<i32>, tensor<2x3x5x5xf32>
      }
    %z = stablehlo.constant dense<[true, false]> : tensor<2xi1>
    %t2 = stablehlo.after_all %t : !stablehlo.token
    return %0, %2#1, %z, %t2 : tensor<2x6x4x5xf32>, tensor<2x3x5x5xf32>, tensor<2xi1>, !stablehlo.token
  }
  func.func private @helper(%a: tensor<2x3x5x5xf32>) -> tensor<2x3x5x5xf32> {
    %0 = stablehlo.transpose %a, dims = [0, 1, 3, 2] : (tensor<2x3x5x5xf32>) -> tensor<2x3x5x5xf32>
    return %0 : tensor<2x3x5x5xf32>
  }
}
"""


@jaxlib
def test_what_is_read_is_written() -> None:
    module = read_here(TEXT)
    text = "".join(write_mlir(module, "a comment"))
    assert text.startswith('// a comment\nmodule @"a b"')
    again = read_here(text)
    assert again == module
    body = again.functions[0].body
    assert body is not None
    assert 'conv "\n' in {operation.location.name for operation in body.operations}


def attribute(name: str, value: Attribute) -> str:
    body = RegionBuilder()
    body.append("x.y", attributes={name: value}, location=Location(name="here"))
    body.append("func.return")
    return "".join(write_mlir(Module(functions=(Function(name="f", body=body.build()),)))).splitlines()[2].strip()


@each_row(
    ("name", "value", "text"),
    [
        ("n", 5, "n = 5 : i64"),
        ("mantissa_bits", 5, "mantissa_bits = 5 : i32"),
        ("f", 0.5, "f = 0.5 : f64"),
        ("is_stable", True, "is_stable = true"),
        ("a b", "c", '"a b" = "c"'),
        ("compare_type", "FLOAT", "compare_type = #stablehlo<comparison_type FLOAT>"),
        ("dimensions", (), "dimensions = array<i64>"),
        ("dimensions", (1, 2), "dimensions = array<i64: 1, 2>"),
        ("window_reversal", (True, False), "window_reversal = array<i1: true, false>"),
        ("called_computations", (Symbol("f"),), "called_computations = [@f]"),
        ("callee", Symbol("a b"), 'callee = @"a b"'),
        ("config", {"x": 1}, "config = {x = 1 : i64}"),
    ],
)
def test_attributes(name: str, value: Attribute, text: str) -> None:
    assert attribute(name, value) == f'"x.y"() <{{{text}}}> : () -> () loc("here")'


def test_what_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="attributes such as result_accuracy = ResultAccuracy"):
        attribute("result_accuracy", ResultAccuracy())
    with pytest.raises(ValueError, match=r"a constant must have elements of .*, got complex64"):
        written(np.zeros(2, np.complex64), "complex<f32>")
    quantized = QuantizedType(storage="i8", expressed="f32", scales=(1.0,), zero_points=(0,))
    types: list[tuple[Type, str]] = [
        (TensorType(shape=(2,), element=quantized), "quantized elements"),
        (TensorType(shape=(None,), element="f32", bounds=(3,)), "bounds of sizes"),
    ]
    for type, message in types:
        body = RegionBuilder([type])
        body.append("func.return")
        with pytest.raises(ValueError, match=message):
            "".join(write_mlir(Module(functions=(Function(name="f", body=body.build()),))))
