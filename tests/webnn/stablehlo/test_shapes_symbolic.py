"""Programs that leave sizes open, as JAX exports them with symbolic shapes."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

import webnn.hlo
import webnn.stablehlo
from tools.evidence.compute import compute
from webnn.builder.description import FormatError

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(importlib.util.find_spec("jaxlib") is None, reason="needs jaxlib, the extra `stablehlo`"),
]

#: JAX passes the size on, and its arguments are named in the inner function only. The batch must be 2 or greater.
PROGRAM = """
module @m {
  func.func public @main(%arg0: tensor<?x3xf32> loc(unknown)) -> (tensor<?x2xf32> {jax.result_info = "result['y']"}) {
    %least = stablehlo.constant dense<2> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %1 = stablehlo.compare GE, %0, %least, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%1, %0) {error_message = "b >= 2, got {0} and {7}", has_side_effect = true}
      : (tensor<i1>, tensor<i32>) -> ()
    %2 = call @inner(%0, %arg0) : (tensor<i32>, tensor<?x3xf32>) -> tensor<?x2xf32>
    return %2 : tensor<?x2xf32>
  }
  func.func private @inner(%n: tensor<i32> loc(unknown), %x: tensor<?x3xf32> loc("x")) -> tensor<?x2xf32> {
    %w = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
    %bias = stablehlo.constant dense<[0.5, -0.5]> : tensor<2xf32>
    %columns = stablehlo.constant dense<2> : tensor<1xi32>
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<?x3xf32>, tensor<3x2xf32>) -> tensor<?x2xf32>
    %1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.concatenate %1, %columns, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %3 = stablehlo.dynamic_broadcast_in_dim %bias, %2, dims = [1] : (tensor<2xf32>, tensor<2xi32>) -> tensor<?x2xf32>
    %4 = stablehlo.add %0, %3 : tensor<?x2xf32>
    return %4 : tensor<?x2xf32>
  }
}
"""
W = np.array([[1, 2], [3, 4], [5, 6]], np.float32)


def test_sizes_that_are_given() -> None:
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    imported = webnn.stablehlo.load(PROGRAM, shapes={"x": [4, 3]})
    assert imported.description.inputs == {"x": webnn.OperandDescriptor("float32", (4, 3))}
    found = compute(imported.description, {"x": x})
    np.testing.assert_array_equal(found["y"], x @ W + np.array([0.5, -0.5], np.float32))


def test_composites_of_unknown_sizes() -> None:
    program = """
    func.func @main(%x: tensor<?x4xf32> loc("x")) -> (tensor<?x2xf32>, tensor<?x2xi32>) {
      %0, %1 = chlo.top_k(%x, k = 2) : tensor<?x4xf32> -> (tensor<?x2xf32>, tensor<?x2xi32>)
      return %0, %1 : tensor<?x2xf32>, tensor<?x2xi32>
    }
    """
    x = np.array([[3, 1, 4, 1], [2, 7, 1, 8]], np.float32)
    values, places = compute(webnn.stablehlo.load(program, shapes={"x": [2, 4]}).description, {"x": x}).values()
    assert values.tolist() == [[4, 3], [8, 7]]
    assert places.tolist() == [[2, 0], [3, 1]]


def test_names_of_arguments() -> None:
    """The sizes of the inner function."""
    main = webnn.hlo.read(PROGRAM).find("main")
    assert main is not None
    assert main.argument_names == ("x",)


WRONG: tuple[tuple[dict[str, Any], type[Exception], str], ...] = (
    ({}, webnn.stablehlo.RefusedModelError, "all sizes must be known, got tensor<?x3xf32>; give shapes={'x': [..., 3]}"),
    ({"x": [1, 3]}, webnn.stablehlo.RefusedModelError, "the sizes must be those that the program allows: b >= 2, got 1 and "),
    ({"z": [2, 3]}, FormatError, "shapes['z'] must name an argument, there are: 'x'"),
    ({"x": [2, 4]}, FormatError, "shapes['x'] must fit tensor<?x3xf32>, got [2, 4]"),
    ({"x": [2]}, FormatError, "shapes['x'] must fit tensor<?x3xf32>, got [2]"),
    ({"x": [-1, 3]}, FormatError, "shapes['x'] must have sizes of 0 or greater, got [-1, 3]"),
    ({"x": [1 << 70, 3]}, FormatError, "MLIR cannot give it to Python"),
)


@pytest.mark.parametrize(("shapes", "error", "message"), WRONG)
def test_wrong_sizes(shapes: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as raised:
        webnn.stablehlo.load(PROGRAM, shapes=shapes)
    assert message in str(raised.value)


def test_shapes_for_a_module() -> None:
    module = webnn.hlo.read(PROGRAM, shapes={"x": [2, 3]})
    assert list(webnn.stablehlo.load(module).description.outputs) == ["y"]
    with pytest.raises(TypeError, match=r"shapes must be given to webnn\.hlo\.read"):
        webnn.stablehlo.load(module, shapes={"x": [2, 3]})


def test_no_main_function() -> None:
    text = "func.func @a(%x: tensor<?xf32>) -> tensor<?xf32> { return %x : tensor<?xf32> }"
    assert str(webnn.hlo.read(text, shapes={"arg0": [5]}).functions[0].type) == "(tensor<5xf32>) -> tensor<5xf32>"
    with pytest.raises(FormatError, match="shapes can be given for a module with a function @main, or with one function"):
        webnn.hlo.read(text + "\n" + text.replace("@a", "@b"), shapes={"arg0": [5]})
