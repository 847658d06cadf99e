"""Faults of the QNN plug-in 2.7.0 with the Hexagon backend in its simulator for x86-64."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from onnx import NodeProto, TensorProto

from tools.evidence.provider_faults.plain import Array, Both, compare, node

__all__ = ["FAULTS"]

_compare = partial(compare, "QNNExecutionProvider")
_MANY = np.array([2147483646, -2147483647, 5], np.int32)


def _numbers(*shape: int) -> Array:
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def relu_of_five_dimensions() -> Both:
    """`Relu` of five dimensions ends the process (SIGSEGV)."""
    return _compare([node("Relu", ["x"], ["y"])], {"x": _numbers(2, 1, 4, 1, 3)}, {})


def product_and_sum_of_five_dimensions() -> Both:
    """`Mul` and `Add` with scalars, five dimensions, end the process (SIGSEGV)."""
    nodes = [node("Mul", ["x", "a"], ["t"]), node("Add", ["t", "b"], ["y"])]
    return _compare(nodes, {"x": _numbers(2, 1, 4, 1, 3)}, {"a": np.float32(2), "b": np.float32(3)})


def tan_of_five_dimensions() -> Both:
    """`Tan` of five dimensions ends the process (SIGABRT)."""
    return _compare([node("Tan", ["x"], ["y"])], {"x": _numbers(2, 1, 4, 1, 3)}, {})


def slice_of_five_dimensions() -> Both:
    """`Slice` of five dimensions ends the process (SIGSEGV)."""
    cuts = {"starts": np.array([1, 0, 2, 1, 0], np.int64), "ends": np.array([2, 2, 3, 2, 1], np.int64)}
    return _compare([node("Slice", ["x", "starts", "ends"], ["y"])], {"x": _numbers(2, 2, 3, 2, 1)}, cuts)


def mean_of_five_dimensions() -> Both:
    """`ReduceMean` of five dimensions ends the process (SIGSEGV)."""
    return _compare([node("ReduceMean", ["x", "a"], ["y"])], {"x": _numbers(2, 1, 4, 1, 3)}, {"a": np.arange(5)})


def sum_of_five_dimensions() -> Both:
    """`ReduceSum` of five dimensions leaves out numbers."""
    return _compare([node("ReduceSum", ["x", "a"], ["y"])], {"x": _numbers(2, 1, 4, 1, 3)}, {"a": np.arange(5)})


def matmul_of_five_dimensions() -> Both:
    """`MatMul` of five dimensions, two of which are broadcast, computes wrong values."""
    return _compare([node("MatMul", ["x", "z"], ["y"])], {"x": _numbers(2, 3, 2, 4, 5), "z": _numbers(1, 1, 2, 5, 4)}, {})


def clip_of_integers() -> Both:
    """`Clip` compares integers as float32."""
    return _compare([node("Clip", ["x", "l", "h"], ["y"])], {"x": _MANY}, {"l": np.int32(3), "h": np.int32(2147483645)})


def sum_of_integers_saturates() -> Both:
    """`Add` of int32 saturates, where integers wrap."""
    return _compare([node("Add", ["x", "x"], ["y"])], {"x": _MANY}, {})


def wide_integers() -> Both:
    """Integers of 64 bits have 32."""
    return _compare([node("Max", ["x", "z"], ["y"])], {"x": np.array([2**40, 5], np.int64)}, {"z": np.array([7, 7], np.int64)})


def clip_drops_nan() -> Both:
    """`Clip` makes the lower bound of a NaN, and a finite number of an infinity."""
    bounds = {"low": np.float32(-2), "high": np.float32(np.inf)}
    return _compare([node("Clip", ["x", "low", "high"], ["y"])], {"x": np.array([np.nan, np.inf, 1], np.float32)}, bounds)


def relu_drops_nan() -> Both:
    """`Relu` makes 0 of a NaN."""
    return _compare([node("Relu", ["x"], ["y"])], {"x": np.array([np.nan, 1], np.float32)}, {})


def minimum_of_float16_drops_nan() -> Both:
    """`Min` of float16 drops a NaN."""
    return _compare([node("Min", ["x", "z"], ["y"])], {"x": np.array([np.nan, 5], np.float16)}, {"z": np.float16(1)})


def truth_of_integers() -> Both:
    """A cast of integers to booleans keeps their bits."""
    nodes = [node("Cast", ["x"], ["b"], to=9), node("Cast", ["b"], ["y"], to=2)]
    return _compare(nodes, {"x": np.array([0, 1, 255, 68], np.uint8)}, {})


def layer_normalization() -> Both:
    """`LayerNormalization` of float32 has the precision of float16."""
    return _compare([node("LayerNormalization", ["x", "s"], ["y"])], {"x": _numbers(4, 6) + 1}, {"s": np.ones(6, np.float32)})


def maximum_of_padded_windows() -> Both:
    """The padding of `MaxPool` at the beginning counts as zeros."""
    pool = node("MaxPool", ["x"], ["y"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 0, 0])
    return _compare([pool], {"x": _numbers(1, 1, 5, 5) - 9}, {})


def cast_of_infinities() -> Both:
    """`Cast` from float32 to float16 makes NaN of an infinity behind another kernel."""
    pool = node("MaxPool", ["x"], ["p"], kernel_shape=[1, 2])
    return _compare([pool, node("Cast", ["p"], ["y"], to=TensorProto.FLOAT16)], {"x": np.full((1, 1, 2, 4), -np.inf, np.float32)}, {})


def maximum_beside_infinities() -> Both:
    """`MaxPool` between transposes takes infinities that are a constant beside its input for zeros."""
    turn, back = node("Transpose", ["x"], ["t"], perm=[0, 3, 1, 2]), node("Transpose", ["p"], ["y"], perm=[0, 2, 3, 1])
    padded = node("Concat", ["c", "t"], ["a"], axis=2)
    pool = node("MaxPool", ["a"], ["p"], kernel_shape=[2, 1])
    return _compare([turn, padded, pool, back], {"x": _numbers(1, 2, 8, 1) - 9}, {"c": np.full((1, 1, 1, 8), -np.inf, np.float32)})


def average_of_padded_windows() -> Both:
    """`AveragePool` counts its padding."""
    return _compare([node("AveragePool", ["x"], ["y"], kernel_shape=[3, 3], pads=[1, 1, 0, 0])], {"x": _numbers(1, 1, 5, 5)}, {})


def transposed_convolution() -> Both:
    """`ConvTranspose` leaves the memory of its output padding as it was: there are numbers of an earlier session, where 0 is due."""
    filters = {"w": np.ones((8, 8, 3, 3), np.float32)}
    _compare([node("ConvTranspose", ["x", "w"], ["y"])], {"x": _numbers(1, 8, 10, 16) * 100}, filters)
    convolution = node("ConvTranspose", ["x", "w"], ["y"], strides=[3, 2], output_padding=[1, 1])
    return _compare([convolution], {"x": _numbers(1, 1, 3, 3)}, {"w": np.ones((1, 2, 3, 3), np.float32)})


def instance_normalization() -> Both:
    """A session with `InstanceNormalization` fails (QNN_COMMON_ERROR_MEM_ALLOC)."""
    ones = {"s": np.ones(2, np.float32), "b": np.ones(2, np.float32)}
    return _compare([node("InstanceNormalization", ["x", "s", "b"], ["y"])], {"x": _numbers(1, 2, 4, 4)}, ones)


def _session(nodes: Sequence[NodeProto], **constants: object) -> Both:
    return _compare(nodes, {"x": _numbers(3, 4)}, constants)


def where() -> Both:
    """A session with `Where` of float32 fails (QNN_COMMON_ERROR_MEM_ALLOC)."""
    return _session([node("Where", ["c", "x", "x"], ["y"])], c=np.array([True, False, True, False]))


def gather_elements() -> Both:
    """A session with `GatherElements` of float32 fails (QNN_COMMON_ERROR_MEM_ALLOC)."""
    return _session([node("GatherElements", ["x", "i"], ["y"])], i=np.array([[0, 2, 1, 0]]))


def scatter_elements() -> Both:
    """A session with `ScatterElements` of float32 fails (QNN_COMMON_ERROR_MEM_ALLOC)."""
    return _session([node("ScatterElements", ["x", "i", "x"], ["y"])], i=np.arange(12).reshape(3, 4) % 3)


def division_in_attention() -> Both:
    """A session with `Div`, `Softmax` and `MatMul` fails (QNN_COMMON_ERROR_MEM_ALLOC). With `Mul` in place of `Div` it does not."""
    nodes = [node("Div", ["s", "d"], ["q"]), node("Softmax", ["q"], ["p"]), node("MatMul", ["p", "v"], ["y"])]
    scores = node("MatMul", ["k", "t"], ["s"])
    numbers = {"k": _numbers(4, 8, 4), "t": _numbers(4, 4, 8), "v": _numbers(4, 8, 4)}
    return _compare([scores, *nodes], numbers, {"d": np.float32(2)})


def product_before_sum() -> Both:
    """A session with `Exp`, `Sub` and `Mul` of float32 fails (QNN_COMMON_ERROR_MEM_ALLOC). With `Div` in place of `Mul` it does not."""
    nodes = [node("Exp", ["x"], ["e"]), node("Sub", ["e", "o"], ["s"]), node("Mul", ["s", "h"], ["y"])]
    return _session(nodes, o=np.float32(1), h=np.float32(0.5))


def cast_and_reshape_of_five_dimensions() -> Both:
    """A session with a `Cast` from float16 and a `Reshape` of five dimensions fails (QNN_COMMON_ERROR_MEM_ALLOC)."""
    nodes = [node("Cast", ["x"], ["t"], to=1), node("Reshape", ["t", "s"], ["y"])]
    return _compare(nodes, {"x": _numbers(2, 1, 4, 1, 3).astype(np.float16)}, {"s": np.array([24])})


def gather_from_one() -> Both:
    """`GatherND` with one element to choose from reads others."""
    return _compare([node("GatherND", ["x", "i"], ["y"])], {"x": _numbers(1)}, {"i": np.zeros((24, 1), np.int64)})


def lstm() -> Both:
    """A session with `LSTM` fails (QNN_COMMON_ERROR_MEM_ALLOC)."""
    weights = {"w": _numbers(1, 8, 2), "r": _numbers(1, 8, 2)}
    return _compare([node("LSTM", ["x", "w", "r"], ["y"], hidden_size=2)], {"x": _numbers(1, 2, 2)}, weights)


def floor_between_casts() -> Both:
    """`Floor` of float16 that is cast to float32 and back makes -7 of -6; so does `Ceil`, upwards."""
    nodes = [node("Cast", ["x"], ["a"], to=1), node("Floor", ["a"], ["b"]), node("Cast", ["b"], ["y"], to=10)]
    return _compare(nodes, {"x": np.array([[-6, 6, -6.5]], np.float16)}, {})


def negative_indices() -> Both:
    """`Gather`, `GatherElements` and `ScatterElements` take a negative index, unless it is a constant, for one out of range."""
    x = {"x": np.array([1, 2, 3, 4], np.int32), "i": np.array([0, -1, -2, 3], np.int32)}
    return _compare([node("GatherElements", ["x", "i"], ["y"])], x, {})


def nearest_of_two() -> Both:
    """The nearest mode of `Resize` takes the upper one of two elements that are equally near, where the lower one is due."""
    sizes = {"s": np.array([1, 1, 2, 2], np.int64)}
    return _compare([node("Resize", ["x", "", "", "s"], ["y"], mode="nearest")], {"x": _numbers(1, 1, 8, 8)}, sizes)


def dequantized_at_once() -> Both:
    """`DequantizeLinear` behind `QuantizeLinear` gives back the numbers that were quantized: neither rounded nor with its own scale."""
    nodes = [node("QuantizeLinear", ["x", "s", "z"], ["q"]), node("DequantizeLinear", ["q", "t", "z"], ["y"])]
    constants = {"s": np.float32(1 / 64), "t": np.float32(1), "z": np.uint8(0)}
    return _compare(nodes, {"x": np.array([[0.1, 0.5, 1]], np.float32)}, constants)


def int8_is_taken_for_uint8() -> Both:
    """The int8 numbers of a `QuantizeLinear` are 128 larger for a `Cast`."""
    nodes = [node("QuantizeLinear", ["x", "s", "z"], ["q"]), node("Cast", ["q"], ["y"], to=1)]
    return _compare(nodes, {"x": np.array([[0, 0.5, -0.5]], np.float32)}, {"s": np.float32(1 / 64), "z": np.int8(0)})


def division_by_zero() -> Both:
    """`Div` and `Reciprocal` by 0 are 255 in float32, and 65504 in float16."""
    return _compare([node("Reciprocal", ["x"], ["y"])], {"x": np.array([[0, 2]], np.float32)}, {})


def softplus_below_zero() -> Both:
    """`Softplus` is the logarithm of a sum: below 0 the sum loses the digits of the result."""
    got, expected = _compare([node("Softplus", ["x"], ["y"])], {"x": np.array([[-7, -10, -20]], np.float32)}, {})
    return got * 2**10, expected * 2**10


def cast_of_integers_saturates() -> Both:
    """`Cast` of integers to smaller ones saturates, where integers wrap."""
    return _compare([node("Cast", ["x"], ["y"], to=2)], {"x": np.array([[-8, 3, 300]], np.int32)}, {})


def overflow_of_float16() -> Both:
    """`PRelu` between casts from and to float16 makes a NaN of a product that is too large."""
    nodes = [*(node("Cast", [name], [f"{name}.32"], to=1) for name in "xs"), node("PRelu", ["x.32", "s.32"], ["p"])]
    inputs = {"x": np.array([[-65504]], np.float16), "s": np.array([[3.3]], np.float16)}
    return _compare([*nodes, node("Cast", ["p"], ["y"], to=10)], inputs, {})


FAULTS: Sequence[Callable[[], Both]] = (
    relu_of_five_dimensions,
    product_and_sum_of_five_dimensions,
    tan_of_five_dimensions,
    slice_of_five_dimensions,
    mean_of_five_dimensions,
    sum_of_five_dimensions,
    matmul_of_five_dimensions,
    clip_of_integers,
    sum_of_integers_saturates,
    wide_integers,
    clip_drops_nan,
    relu_drops_nan,
    minimum_of_float16_drops_nan,
    truth_of_integers,
    layer_normalization,
    maximum_of_padded_windows,
    cast_of_infinities,
    maximum_beside_infinities,
    average_of_padded_windows,
    transposed_convolution,
    instance_normalization,
    where,
    gather_elements,
    scatter_elements,
    division_in_attention,
    product_before_sum,
    cast_and_reshape_of_five_dimensions,
    gather_from_one,
    lstm,
    floor_between_casts,
    negative_indices,
    nearest_of_two,
    dequantized_at_once,
    int8_is_taken_for_uint8,
    division_by_zero,
    softplus_below_zero,
    cast_of_integers_saturates,
    overflow_of_float16,
)
