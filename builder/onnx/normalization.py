"""Normalizations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

import numpy as np

from webnn.builder.graph import ComputationalGraph
from webnn.builder.onnx.emitter import Emitter, Op, Translation
from webnn.builder.onnx.values import Array
from webnn.builder.onnx_names import scope
from webnn.validation.normalization import layer_axes

__all__ = ["TRANSLATIONS", "find_added"]


#: Operations that may return their input as it is.
_UNCHANGING = frozenset({"cast", "clamp", "expand", "identity", "reshape", "transpose"})
#: The blocked layout of the engine's convolutions is kept from node to node where the number of channels is a multiple of this.
_CHANNELS = 16


def find_added(graph: ComputationalGraph) -> Set[int]:
    """Return the numbers of the operators whose result an ``add`` takes; of a graph without ``batchNormalization`` none."""
    found: set[int] = set()
    if all(operator.operation.name != "batchNormalization" for operator in graph.operators):
        return found
    for operator in reversed(graph.operators):
        name = operator.operation.name
        if name == "add" or (name in _UNCHANGING and operator.index in found):
            found.update(operand._operator.index for operand in operator.inputs if operand._operator is not None)
    return found


def _batch_normalization(e: Emitter, op: Op) -> str:
    # The engine's own kernel computes x * factor + (bias - mean * factor), which loses the digits that x and mean share: it misses the
    # tolerance of web-platform-tests. So the mean is subtracted first.
    options, rank = op.options, len(op.shape("input"))
    view = e.view(op["input"], rank)
    constants = op.constants
    if (
        e.is_blocked(view.source)
        and view.permutation[options.axis] == 1
        and op.shape("mean")[0] % _CHANNELS == 0
        and constants.keys() >= op.operands.keys() - {"input"}
        and op.index not in e.added
    ):
        return e.transpose(_normalize_blocked(e, op, view.source, constants), view.permutation)
    behind = rank - 1 - view.permutation[options.axis]

    def spread(value: str) -> str:
        """Lay the features along the axis of a value that broadcasts with the input."""
        return value if behind == 0 else e.reshape(value, [-1] + [1] * behind)

    if op.type("input") == "float32" and constants.keys() >= op.operands.keys() - {"input", "bias"}:
        # The engine would compute the same numbers in several nodes for each normalization, which takes most of the time of a build.
        mean, numbers = _subtrahend_and_factor(op, constants)
        begin = scope(op.name, op.index)
        minus, factor = e.weight(f"{begin}.minus", -mean), e.weight(f"{begin}.factor", numbers)
    else:
        deviation = e.node("Sqrt", [e.node("Add", [op["variance"], e.scalar(options.epsilon, op.type("variance"))])])
        factor = e.node("Div", [op.get("scale") or e.scalar(1, op.type("input")), deviation])
        minus = e.node("Neg", [op["mean"]])
    centred = e.node("Add", [view.source, spread(minus)])
    result = e.node("Mul", [centred, spread(factor)])
    bias = op.get("bias")
    return e.transpose(result if bias is None else e.node("Add", [result, spread(bias)]), view.permutation)


def _normalize_blocked(e: Emitter, op: Op, value: str, constants: Mapping[str, Array]) -> str:
    """Emit a normalization with constants as two nodes that stay in the blocked layout: one subtracts, one multiplies and adds.

    Each is the engine's ``BatchNormalization``, with a mean of 0 and a variance of 1; it becomes a convolution of each channel alone. One
    with single elementwise nodes would leave the layout, and come back to it behind them. An ``add`` behind such a convolution would be
    put into it, so there this is not used. Directly behind ``conv2d`` both become a part of its filter.
    """
    mean, factor = _subtrahend_and_factor(op, constants)
    zeros, ones = np.zeros_like(mean), np.ones_like(mean)

    def affine(value: str, factor: Array, addend: Array) -> str:
        inputs = [e.literal(array) for array in (factor, addend, zeros, ones)]
        return e.node("BatchNormalization", [value, *inputs], epsilon=0.0)

    if mean.any():
        value = affine(value, ones, -mean)
    bias = constants.get("bias")
    return affine(value, factor, zeros if bias is None else bias.astype(np.float32))


def _subtrahend_and_factor(op: Op, constants: Mapping[str, Array]) -> tuple[Array, Array]:
    """Return the mean of a normalization with constants, and the factor of what is left of the input, in float32."""
    numbers = {name: array.astype(np.float32) for name, array in constants.items()}
    with np.errstate(all="ignore"):
        deviation = np.sqrt(numbers["variance"] + np.float32(op.options.epsilon))
        return numbers["mean"], numbers.get("scale", np.float32(1)) / deviation


def _fast_batch_normalization(e: Emitter, op: Op) -> str:
    options = op.options
    view = e.view(op["input"], len(op.shape("input")))
    if len(view.permutation) < 2 or view.permutation[options.axis] != 1:  # the kernel's features lie along the second axis
        return _batch_normalization(e, op)
    ones, zeros = (e.node("Expand", [e.scalar(value, "float32"), e.ints(op.shape("mean"))]) for value in (1, 0))
    inputs = [view.source, op.get("scale") or ones, op.get("bias") or zeros, op["mean"], op["variance"]]
    return e.transpose(e.node("BatchNormalization", inputs, epsilon=options.epsilon), view.permutation)


def _fast_instance_normalization(e: Emitter, op: Op) -> str:
    options = op.options
    value = e.from_layout(op["input"], options.layout)
    features = [op.shape("input")[options.layout.index("c")]]
    ones, zeros = (e.node("Expand", [e.scalar(value, "float32"), e.ints(features)]) for value in (1, 0))
    value = e.node("InstanceNormalization", [value, op.get("scale") or ones, op.get("bias") or zeros], epsilon=options.epsilon)
    return e.to_layout(value, options.layout)


def _ones(e: Emitter, dtype: str, shape: Sequence[int]) -> str:
    """Return a scale of 1 that the engine makes when the session is made."""
    return e.node("Expand", [e.scalar(1, dtype), e.ints(shape)])


def _instance_normalization(e: Emitter, op: Op) -> str:
    # Not the engine's InstanceNormalization: it computes x * factor + (bias - mean * factor), which loses the digits that x and mean
    # share. LayerNormalization over height and width subtracts first.
    options, scale, bias = op.options, op.get("scale"), op.get("bias")
    spatial = [op.shape("input")[options.layout.index(axis)] for axis in "hw"]
    value = e.from_layout(op["input"], options.layout)
    value = e.node("LayerNormalization", [value, _ones(e, op.type("input"), spatial)], axis=2, epsilon=options.epsilon)
    if scale is not None:
        value = e.node("Mul", [value, e.reshape(scale, [-1, 1, 1])])
    if bias is not None:
        value = e.node("Add", [value, e.reshape(bias, [-1, 1, 1])])
    return e.to_layout(value, options.layout)


def _layer_normalization(e: Emitter, op: Op) -> str:
    options, shape, dtype = op.options, op.shape("input"), op.type("input")
    axes = layer_axes(options.axes, len(shape))
    input, scale, bias = op["input"], op.get("scale"), op.get("bias")
    if not axes:
        # Each element is its own mean, and its variance is 0.
        with np.errstate(invalid="ignore"):
            deviation = e.literal(np.sqrt(np.array(options.epsilon, dtype)))
        result = e.node("Div", [e.node("Sub", [input, input]), deviation])
        result = result if scale is None else e.node("Mul", [result, scale])
        return result if bias is None else e.node("Add", [result, bias])
    # The engine normalizes over the last axes. Where these are the axes, scale and bias are brought into their order (constants are
    # folded when the session is made); otherwise the input is transposed, which leaves scale and bias alone.
    first = len(shape) - len(axes)
    permutation = [*(axis for axis in range(len(shape)) if axis not in axes), *axes]
    order = list(range(len(axes)))
    if min(axes) == first:
        permutation = sorted(permutation)
        order = sorted(order, key=axes.__getitem__)
    inputs = [
        e.transpose(input, permutation),
        e.transpose(scale, order) if scale is not None else _ones(e, dtype, [shape[axis] for axis in permutation[first:]]),
    ]
    if bias is not None:
        # Do not give an empty name instead: the kernel would crash.
        inputs.append(e.transpose(bias, order))
    value = e.node("LayerNormalization", inputs, axis=first, epsilon=options.epsilon)
    return e.transpose(value, sorted(range(len(shape)), key=permutation.__getitem__))


TRANSLATIONS = {
    "batchNormalization": Translation(emit=_batch_normalization, fast=_fast_batch_normalization, carry={"float16": "float32"}),
    "instanceNormalization": Translation(emit=_instance_normalization, fast=_fast_instance_normalization, carry={"float16": "float32"}),
    "layerNormalization": Translation(emit=_layer_normalization, carry={"float16": "float32"}),
}
