"""The text of a module."""

from __future__ import annotations

import numpy as np

from tests.webnn.hlo.test_ir import ROW, count_down
from webnn.hlo.attributes import DotDimensionNumbers, Symbol
from webnn.hlo.ir import Function, Location, Module, Operation, RegionBuilder
from webnn.hlo.printer import print_module
from webnn.hlo.types import FunctionType


def test_regions() -> None:
    assert print_module(count_down()) == (
        "module {\n"
        "  func public @main(%0: tensor<2xf32>) -> tensor<2xf32> {\n"
        "    %1 = stablehlo.constant {value = dense<[0.5, 0.5]>} : tensor<2xf32>\n"
        "    %2 = stablehlo.while %0 {\n"
        "      (%3: tensor<2xf32>):\n"
        '      %4 = stablehlo.compare %3, %1 {comparison_direction = "GT"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<i1>\n'
        "      stablehlo.return %4 : tensor<i1>\n"
        "    }, {\n"
        "      (%5: tensor<2xf32>):\n"
        "      %6 = stablehlo.multiply %5, %1 : tensor<2xf32>\n"
        "      stablehlo.return %6 : tensor<2xf32>\n"
        "    } : tensor<2xf32>\n"
        "    func.return %2 : tensor<2xf32>\n"
        "  }\n"
        "}"
    )


def test_the_rest() -> None:
    body = RegionBuilder([ROW])
    first, _ = body.append(
        "x.y",
        body.arguments,
        [ROW, ROW],
        {
            "symbol": Symbol("f"),
            "flag": True,
            "no": False,
            "numbers": DotDimensionNumbers(lhs_contracting_dimensions=(1,)),
            "list": (1, "a\nb", 0.5),
            "splat": np.broadcast_to(np.float32(1), (2, 3)),
            "many": np.arange(100),
            "none": np.empty((0, 2)),
            "inner": {"type": ROW},
        },
        location=Location(file="f.py", line=3, name="a\nb"),
    )
    body.append("func.return", [first])
    declared = Function(name="d", body=None, type=FunctionType((ROW,), (ROW, ROW)), argument_attributes=({"a": 1},), public=False)
    functions = (Function(name="main", body=body.build(), attributes={"b": 2}), declared)
    module = Module(functions=functions, name="m", attributes={"c": 3}, operations=(Operation(name="sdy.mesh"),))
    assert print_module(module, locations=True) == (
        "module @m attributes {c = 3} {\n"
        "  sdy.mesh\n"
        "  func public @main(%0: tensor<2xf32>) -> tensor<2xf32> attributes {b = 2} {\n"
        "    %1, %2 = x.y %0 {symbol = @f, flag, no = false, numbers = <lhs_contracting_dimensions = [1]>, "
        'list = [1, "a\\nb", 0.5], splat = dense<1.0>, many = dense<0, 1, 2, ..., 99>, none = dense<[]>, '
        "inner = {type = tensor<2xf32>}} : tensor<2xf32>  // a\\nb (f.py:3)\n"
        "    func.return %1 : tensor<2xf32>\n"
        "  }\n"
        "  func private @d(tensor<2xf32> {a = 1}) -> (tensor<2xf32>, tensor<2xf32>)\n"
        "}"
    )
