"""Normalizations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from webnn.builder.onnx.emitter import Emitter, Op, Translation
from webnn.validation.normalization import layer_axes

__all__ = ["TRANSLATIONS"]


def _batch_normalization(e: Emitter, op: Op) -> str:
    # In element-wise operations: the engine's own kernel misses the tolerance of web-platform-tests. The order lets constants fold
    # to one Add, Mul and Add, and lets the engine merge these into a convolution before them.
    options, rank = op.options, len(op.shape("input"))
    view = e.view(op["input"], rank)
    behind = rank - 1 - view.permutation[options.axis]

    def spread(value: str) -> str:
        """Lay the features along the axis of a value that broadcasts with the input."""
        return value if behind == 0 else e.reshape(value, [-1] + [1] * behind)

    deviation = e.node("Sqrt", [e.node("Add", [op["variance"], e.scalar(options.epsilon, op.type("variance"))])])
    factor = e.node("Div", [op.get("scale") or e.scalar(1, op.type("input")), deviation])
    centred = e.node("Add", [view.source, spread(e.node("Neg", [op["mean"]]))])
    result = e.node("Mul", [centred, spread(factor)])
    bias = op.get("bias")
    return e.transpose(result if bias is None else e.node("Add", [result, spread(bias)]), view.permutation)


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
    "batchNormalization": Translation(emit=_batch_normalization, carry={"float16": "float32"}),
    "instanceNormalization": Translation(emit=_instance_normalization, carry={"float16": "float32"}),
    "layerNormalization": Translation(emit=_layer_normalization, carry={"float16": "float32"}),
}
