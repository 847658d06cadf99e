"""Normalizations, and softmax with its relatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from webnn.builder.operand import MLOperand
from webnn.builder.options import MLInstanceNormalizationOptions, MLLayerNormalizationOptions
from webnn.importing.named import are_same, is_same
from webnn.importing.steps import Result, normalize_axes, product
from webnn.importing.values import Refused
from webnn.onnx.attention import count_places
from webnn.onnx.calls import make_call
from webnn.onnx.node import Node
from webnn.validation.named_descriptor import is_named

__all__ = ["RULES"]


def _shape(operand: MLOperand) -> list[int]:
    return list(operand.descriptor.dimensions)


def _epsilon(node: Node) -> float:
    return node.number("epsilon", 1e-5)


def _channels(node: Node) -> int:
    """Return the number of channels of the input, which must have batches and channels."""
    shape = node.value(0).shape
    if len(shape) < 2:
        raise Refused(f"the input must have batches and channels, got the shape {list(shape)}")
    return shape[1]


def _moments(node: Node, x: MLOperand, axes: Sequence[int]) -> tuple[MLOperand, MLOperand, MLOperand]:
    """Return the mean along axes, what each element differs from it, and the mean of the squares of that, the variance."""
    builder = node.builder
    mean = builder.reduceMean(x, axes=list(axes), keepDimensions=True)
    difference = builder.sub(x, mean)
    return mean, difference, builder.reduceMean(builder.mul(difference, difference), axes=list(axes), keepDimensions=True)


def _batch_normalization(node: Node) -> list[Result]:
    """Map to batchNormalization; in training mode with the moments of the batch.

    Until opset 13 training is refused. With spatial=0 each element is a feature.
    """
    builder = node.builder
    shape = node.value(0).shape
    training = node.flag("training_mode", default=False)
    if any(node.outputs[1:]) and not training:
        raise Refused("only training mode of opset 14 and newer has more than one output", "export the model for inference")
    operands = [node.operand(index) for index in range(5)]
    if training or len({each.descriptor.dataType for each in operands}) > 1:
        operands = [node.cast(each, "float32") for each in operands]
    x, scale, bias, mean, variance = operands
    if len(shape) < 2:
        x = node.reshape(x, [*shape, 1])
    elif not node.flag("spatial", default=True):
        features = product(shape[1:])
        x = node.reshape(x, [shape[0], features])
        scale, bias, mean, variance = (node.reshape(each, [features]) for each in (scale, bias, mean, variance))
    results: list[Result] = []
    if training:
        center, _, spread = _moments(node, x, [axis for axis in range(len(_shape(x))) if axis != 1])
        center, spread = (node.reshape(each, [product(_shape(each))]) for each in (center, spread))
        momentum = node.number("momentum", 0.9)
        results = [
            builder.add(builder.mul(old, node.scalar(momentum, old)), builder.mul(new, node.scalar(1 - momentum, new)))
            for old, new in ((mean, center), (variance, spread))
        ]
        mean, variance = center, spread
    y = builder.batchNormalization(x, mean, variance, scale=scale, bias=bias, axis=1, epsilon=_epsilon(node))
    return [node.reshape(y, shape), *results]


def _instance_normalization(node: Node) -> MLOperand:
    """Map to instanceNormalization; other ranks are reshaped to four dimensions."""
    channels = _channels(node)
    x, shape = node.operand(0), node.value(0).shape
    if len(shape) != 4:
        x = node.reshape(x, [shape[0], channels, 1, product(shape[2:])])
    y = node.builder.instanceNormalization(x, scale=node.operand(1), bias=node.operand(2), epsilon=_epsilon(node))
    return node.reshape(y, shape)


def _group_normalization(node: Node) -> MLOperand:
    """Map to instanceNormalization of the groups. Scale and bias of channels are applied to the result. ONNX withdrew opset 18's form."""
    builder, channels, groups = node.builder, _channels(node), node.integer("num_groups")
    if groups < 1 or channels % groups:
        raise Refused(f"num_groups must divide the {channels} channels evenly, got {groups}")
    x, scale, bias = (node.operand(index) for index in range(3))
    shape = node.value(0).shape
    options: MLInstanceNormalizationOptions = {"epsilon": _epsilon(node)}
    if groups == channels:
        options["scale"], options["bias"] = scale, bias
    y = builder.instanceNormalization(node.reshape(x, [shape[0], groups, channels // groups, product(shape[2:])]), options)
    y = node.reshape(y, shape)
    if groups == channels:
        return y
    each = [channels, *[1] * (len(shape) - 2)]
    return builder.add(builder.mul(y, node.reshape(scale, each)), node.reshape(bias, each))


def _layer_normalization(node: Node) -> list[Result]:
    """Map to layerNormalization. Scale and bias that it does not take are applied to the result; mean and deviation are computed again."""
    builder, x, shape = node.builder, node.operand(0), node.value(0).shape
    axis = node.axis("axis", -1, len(shape))
    axes = list(range(axis, len(shape)))
    options: MLLayerNormalizationOptions = {"axes": axes, "epsilon": _epsilon(node)}
    scale, bias = (_parameter(node, index, shape[axis:]) if node.given(index) else None for index in (1, 2))
    if scale is not None and (bias is not None or not node.given(2)):
        options["scale"] = scale
        if bias is not None:
            options["bias"] = bias
        y = builder.layerNormalization(x, options)
    else:
        y = builder.mul(builder.layerNormalization(x, options), node.operand(1))
        y = builder.add(y, node.operand(2)) if node.given(2) else y
    if not any(node.outputs[1:]):
        return [y]
    mean, _, variance = _moments(node, node.cast(x, "float32"), axes)
    deviation = builder.sqrt(builder.add(variance, node.scalar(_epsilon(node), variance)))
    return [y, mean, builder.reciprocal(deviation)]


def _parameter(node: Node, index: int, shape: Sequence[int]) -> MLOperand | None:
    """Return an input that is broadcast to the last dimensions of another one, in their shape; None if it has more dimensions."""
    operand, own = node.operand(index), node.value(index).shape
    more = len(own) - len(shape)
    if not all(is_same(size, 1) for size in own[: max(0, more)]):
        return None
    if more > 0:
        operand = node.reshape(operand, own[more:])
    return operand if are_same(_shape(operand), shape) else node.builder.expand(operand, list(shape))


def _rms_normalization(node: Node) -> MLOperand:
    """Divide by the root of the mean of the squares, in float32, then scale."""
    builder, shape = node.builder, node.value(0).shape
    axes = list(range(node.axis("axis", -1, len(shape)), len(shape)))
    given, scale, epsilon = node.operand(0), node.operand(1), _epsilon(node)
    first = builder._count
    x = node.cast(given, "float32")
    mean = builder.reduceMean(builder.mul(x, x), axes=axes, keepDimensions=True)
    root = builder.sqrt(builder.add(mean, node.scalar(epsilon, mean)))
    y = builder.mul(node.cast(builder.div(x, root), scale.descriptor.dataType), scale)
    make_call(node, first, "RMSNormalization", {"epsilon": epsilon}, {"x": given, "weight": scale}, {"y": y})
    return y


def _mean_variance_normalization(node: Node) -> MLOperand:
    """Divide the difference from the mean by the deviation, which may be 0, in float32: in float16, 1e-9 is 0, and squares overflow."""
    builder, x = node.builder, node.operand(0)
    axes = normalize_axes("axes", node.integers("axes", [0, 2, 3]), node.value(0).rank)
    _, difference, variance = _moments(node, node.cast(x, "float32"), axes)
    y = builder.div(difference, builder.add(builder.sqrt(variance), node.scalar(1e-9, variance)))
    return node.cast(y, x.descriptor.dataType)


def _lp_normalization(node: Node) -> MLOperand:
    """Divide by reduceL1 or reduceL2, in float32; where that is 0, the result is 0."""
    builder, given = node.builder, node.operand(0)
    x = node.cast(given, "float32")
    axis, order = node.axis("axis", -1, node.value(0).rank), node.integer("p", 2)
    if order not in (1, 2):
        raise Refused(f"p must be 1 or 2, got {order}")
    norm = (builder.reduceL1 if order == 1 else builder.reduceL2)(x, axes=[axis], keepDimensions=True)
    is_zero = builder.equal(norm, node.scalar(0, norm))
    return node.cast(builder.div(x, builder.where(is_zero, node.scalar(1, norm), norm)), given.descriptor.dataType)


def _lrn(node: Node) -> MLOperand:
    """Divide by a power of the averages of neighbouring channels' squares, which averagePool2d computes, in float32."""
    builder, channels, size = node.builder, _channels(node), node.integer("size", least=1)
    given, shape = node.operand(0), node.value(0).shape
    x = node.cast(given, "float32")
    # No window needs to be larger than from the first channel to the last one.
    before, behind = min((size - 1) // 2, channels - 1), min(size // 2, channels - 1)
    window = before + 1 + behind
    squares = node.reshape(builder.mul(x, x), [shape[0], 1, channels, product(shape[2:])])
    if window > 1:
        padded = builder.pad(squares, [0, 0, before, 0], [0, 0, behind, 0])
        squares = builder.averagePool2d(padded, windowDimensions=[window, 1])
    averages = node.reshape(squares, shape)
    share = builder.mul(averages, node.scalar(node.number("alpha", 1e-4) * window / size, x))
    total = builder.add(share, node.scalar(node.number("bias", 1.0), x))
    return node.cast(builder.div(x, builder.pow(total, node.scalar(node.number("beta", 0.75), x))), given.descriptor.dataType)


def _along(compute: Callable[[Node, MLOperand, int], MLOperand]) -> Callable[[Node], MLOperand]:
    """Make a rule of a function along one axis. Until opset 12 it goes along all dimensions from the axis on, as if they were one."""

    def rule(node: Node) -> MLOperand:
        x, shape = node.operand(0), list(node.value(0).shape)
        axis = node.axis("axis", 1 if node.version < 13 else -1, len(shape))
        if node.version >= 13:
            return compute(node, x, axis)
        long = [index for index in range(axis, len(shape)) if is_named(shape[index]) or shape[index] > 1]
        if len(long) < 2:
            return compute(node, x, (*long, axis)[0])
        return node.reshape(compute(node, node.reshape(x, [product(shape[:axis]), product(shape[axis:])]), 1), shape)

    rule.__doc__ = compute.__doc__
    return rule


def _softmax(node: Node, x: MLOperand, axis: int) -> MLOperand:
    """Map to softmax."""
    return node.builder.softmax(x, axis)


def _log_softmax(node: Node, x: MLOperand, axis: int) -> MLOperand:
    """Subtract the maximum, then reduceLogSumExp."""
    builder = node.builder
    below = builder.sub(x, builder.reduceMax(x, axes=[axis], keepDimensions=True))
    return builder.sub(below, builder.reduceLogSumExp(below, axes=[axis], keepDimensions=True))


def _hardmax(node: Node, x: MLOperand, axis: int) -> MLOperand:
    """Compare argMax with the indices."""
    shape = _shape(x)
    indices = count_places(node, shape[axis], [size if index == axis else 1 for index, size in enumerate(shape)])
    found = node.builder.argMax(x, axis, keepDimensions=True, outputDataType="int32")
    return node.builder.equal(found, indices)


RULES: Mapping[str, Callable[[Node], Result | list[Result]]] = {
    "BatchNormalization": _batch_normalization,
    "GroupNormalization": _group_normalization,
    "Hardmax": _along(_hardmax),
    "InstanceNormalization": _instance_normalization,
    "LRN": _lrn,
    "LayerNormalization": _layer_normalization,
    "LogSoftmax": _along(_log_softmax),
    "LpNormalization": _lp_normalization,
    "MeanVarianceNormalization": _mean_variance_normalization,
    "RMSNormalization": _rms_normalization,
    "Softmax": _along(_softmax),
}
