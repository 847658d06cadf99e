"""Operators that reduce axes: sums, extremes, norms, positions; and running sums and products."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias, cast

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.builder.options import MLReduceOptions
from webnn.importing.named import is_empty
from webnn.importing.steps import Result, normalize_axes, normalize_axis, product
from webnn.importing.values import Array, Refused, Value, make_uniform
from webnn.onnx.node import Node

__all__ = ["RULES"]

Reduction: TypeAlias = Literal[
    "reduceL1", "reduceL2", "reduceLogSum", "reduceLogSumExp", "reduceMax", "reduceMean", "reduceMin", "reduceProduct", "reduceSum",
    "reduceSumSquare",
]  # fmt: skip

#: Reductions that change nothing where there is one element.
_PLAIN = frozenset({"reduceLogSumExp", "reduceMax", "reduceMean", "reduceMin", "reduceProduct", "reduceSum"})
#: The results of reductions of no element.
_NEUTRAL: Mapping[Reduction, float] = {
    **dict.fromkeys(("reduceL1", "reduceL2", "reduceSum", "reduceSumSquare"), 0),
    **dict.fromkeys(("reduceLogSum", "reduceLogSumExp", "reduceMax"), -math.inf),
    "reduceMean": math.nan,
    "reduceMin": math.inf,
    "reduceProduct": 1,
}
_FLOAT_ONLY = frozenset({"reduceL2", "reduceLogSum", "reduceLogSumExp"})


def _wide(node: Node) -> MLOperand:
    """Return the first input; its bool and 8-bit integers in int32, because few devices reduce them as they are."""
    x = node.operand(0)
    return node.cast(x, "int32") if x.descriptor.dataType in ("int8", "uint8") else x


def _reduce_nothing(operation: Reduction, value: Value, options: MLReduceOptions) -> Array:
    """Return the reduction of a tensor without elements: the neutral element where anything is left."""
    dtype, axes = value.dtype, set(options["axes"])
    shape = [1 if axis in axes else size for axis, size in enumerate(value.shape) if options["keepDimensions"] or axis not in axes]
    number = _NEUTRAL[operation]
    if dtype.kind == "b":
        number = bool(number > 0)
    elif dtype.kind in "iu" and math.isinf(number):
        number = np.iinfo(dtype).max if number > 0 else np.iinfo(dtype).min
    elif dtype.kind in "iu" and math.isnan(number):
        raise Refused("the input must have elements", "the mean of no integers is not a number")
    return make_uniform(shape, dtype, number)


def _reduction(operation: Reduction) -> Callable[[Node], Result]:
    def rule(node: Node) -> Result:
        value = node.value(0)
        axes = node.attribute_or_input("axes", 1)
        if not axes:
            axes = [] if node.flag("noop_with_empty_axes", default=False) else list(range(value.rank))
        axes = normalize_axes("axes", axes, value.rank)
        if not axes and operation in _PLAIN:
            return value
        options: MLReduceOptions = {"axes": axes, "keepDimensions": node.flag("keepdims", default=True)}
        if is_empty(value.shape):
            return _reduce_nothing(operation, value, options)
        x = _wide(node)
        if not node.is_float(x) and operation == "reduceMean":
            total = node.builder.reduceSum(x, options)
            return node.builder.div(total, node.scalar(product([value.shape[axis] for axis in axes]), x))
        if not node.is_float(x) and operation in _FLOAT_ONLY:
            raise Refused(f"the input must be of a floating-point type, got {value.dtype.name}")
        return cast("MLOperand", getattr(node.builder, operation)(x, options))

    exception = " Integers are refused." if operation in _FLOAT_ONLY else ""
    rule.__doc__ = f"Map to {operation}. The axes must be known.{exception}"
    return rule


def _position(operation: Literal["argMax", "argMin"]) -> Callable[[Node], MLOperand]:
    def rule(node: Node) -> MLOperand:
        builder = node.builder
        value = node.value(0)
        axis = node.axis("axis", 0, value.rank)
        is_last = node.flag("select_last_index", default=False)
        x = _wide(node)
        if is_last:
            x = builder.reverse(x, axes=[axis])
        found = getattr(builder, operation)(x, axis, keepDimensions=node.flag("keepdims", default=True), outputDataType="int64")
        return builder.sub(node.scalar(value.shape[axis] - 1, "int64"), found) if is_last else cast("MLOperand", found)

    rule.__doc__ = f"Map to {operation}. The last position is counted from the other end."
    return rule


def _running_axis(node: Node) -> int:
    axis = node.known_integers(1, "axis")
    if len(axis) != 1:
        raise Refused(f"axis must be one number, got {axis}")
    return normalize_axis("axis", axis[0], node.value(0).rank)


def _cum_sum(node: Node) -> MLOperand:
    """Map to cumulativeSum. The axis must be known."""
    exclusive, is_reversed = node.flag("exclusive", default=False), node.flag("reverse", default=False)
    return node.builder.cumulativeSum(node.operand(0), _running_axis(node), exclusive=exclusive, reversed=is_reversed)


def _cum_prod(node: Node) -> Result:
    """Multiply by a shifted copy that is padded with ones, again with twice the shift until it has the size of the axis.

    The axis must be known.
    """
    shape = node.value(0).shape
    axis = _running_axis(node)
    size = shape[axis]
    is_reversed = node.flag("reverse", default=False)
    x = node.operand(0)

    def shift(operand: MLOperand, count: int) -> MLOperand:
        """Move the elements by a number of places, and put ones in place of those that are missing."""
        starts, low, high = ([0] * len(shape) for _ in range(3))
        (high if is_reversed else low)[axis] = count
        starts[axis] = count if is_reversed else 0
        rest = [each - count if index == axis else each for index, each in enumerate(shape)]
        return node.builder.pad(node.builder.slice(operand, starts, rest), low, high, mode="constant", value=1)

    if node.flag("exclusive", default=False):
        if size == 1:
            return node.builder.expand(node.scalar(1, x), list(shape))
        x = shift(x, 1)
    count = 1
    while count < size:
        x = node.builder.mul(x, shift(x, count))
        count *= 2
    return x


RULES: Mapping[str, Callable[[Node], Result]] = {
    "ArgMax": _position("argMax"),
    "ArgMin": _position("argMin"),
    "CumProd": _cum_prod,
    "CumSum": _cum_sum,
    "ReduceL1": _reduction("reduceL1"),
    "ReduceL2": _reduction("reduceL2"),
    "ReduceLogSum": _reduction("reduceLogSum"),
    "ReduceLogSumExp": _reduction("reduceLogSumExp"),
    "ReduceMax": _reduction("reduceMax"),
    "ReduceMean": _reduction("reduceMean"),
    "ReduceMin": _reduction("reduceMin"),
    "ReduceProd": _reduction("reduceProduct"),
    "ReduceSum": _reduction("reduceSum"),
    "ReduceSumSquare": _reduction("reduceSumSquare"),
}
