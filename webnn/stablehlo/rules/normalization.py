"""Batch normalization, and its gradients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from webnn.builder.operand import MLOperand
from webnn.importing.steps import Result
from webnn.importing.values import Refused
from webnn.stablehlo.node import Node
from webnn.stablehlo.rules import Rule

__all__ = ["RULES"]


def _read(node: Node, operands: int, results: int) -> tuple[list[MLOperand], int, list[int]]:
    """Return the operands, of which those of rank 1 have an element for each feature, the dimension of the features, and the others."""
    node.expect(operands, results)
    shape, feature = node.value(0).shape, node.integer("feature_index")
    if not 0 <= feature < len(shape):
        raise Refused(f"feature_index must be from 0 to {len(shape) - 1}, got {feature}")
    for index, value in enumerate(node.values()):
        if value.shape not in (shape, (shape[feature],)):
            raise Refused(f"the operand {index} must have the shape {list(shape)} or [{shape[feature]}], got {list(value.shape)}")
    if 0 in shape:
        raise Refused(f"the operand must have elements, got {list(shape)}")
    return node.operands(), feature, [axis for axis in range(len(shape)) if axis != feature]


def _along(node: Node, operand: MLOperand, feature: int) -> MLOperand:
    """Return an operand with an element for each feature so that it broadcasts to the tensor."""
    shape = [1] * node.value(0).rank
    shape[feature] = operand.descriptor.dimensions[0]
    return node.reshape(operand, shape)


def _normalize(node: Node, operands: Sequence[MLOperand], feature: int) -> MLOperand:
    operand, scale, offset, mean, variance = operands
    return node.builder.batchNormalization(operand, mean, variance, scale=scale, bias=offset, axis=feature, epsilon=node.number("epsilon"))


def _batch_norm_inference(node: Node) -> Result:
    """Map to batchNormalization. `stablehlo#batch_norm_inference`."""
    operands, feature, _ = _read(node, 5, 1)
    return _normalize(node, operands, feature)


def _batch_norm_training(node: Node) -> list[Result]:
    """Map to reduceMean, which gives the mean and the variance, and batchNormalization. `stablehlo#batch_norm_training`.

    Other types are computed in float32: squares soon leave the range of float16.
    """
    given, feature, others = _read(node, 3, 3)
    builder, dataType = node.builder, given[0].descriptor.dataType
    operand, scale, offset = (node.cast(each, "float32") for each in given)
    mean = builder.reduceMean(operand, axes=others, keepDimensions=True)
    centered = builder.sub(operand, mean)
    variance = builder.reduceMean(builder.mul(centered, centered), axes=others)
    mean = node.reshape(mean, variance.descriptor.dimensions)
    results = _normalize(node, (operand, scale, offset, mean, variance), feature), mean, variance
    return [node.cast(each, dataType) for each in results]


def _batch_norm_grad(node: Node) -> list[Result]:
    """Map to the formulas of the gradients: sums by reduceSum and arithmetic. `stablehlo#batch_norm_grad`."""
    (operand, scale, mean, variance, gradient), feature, others = _read(node, 5, 3)
    builder = node.builder
    count = node.value(0).size // node.value(0).shape[feature]
    variance = builder.add(_along(node, variance, feature), node.scalar(node.number("epsilon"), variance))
    deviation = builder.sqrt(variance)
    centered = builder.sub(operand, _along(node, mean, feature))
    offset = builder.reduceSum(gradient, axes=others, keepDimensions=True)
    products = builder.reduceSum(builder.mul(gradient, centered), axes=others, keepDimensions=True)
    factor = builder.div(builder.div(_along(node, scale, feature), deviation), node.scalar(count, gradient))
    correction = builder.mul(centered, builder.div(products, variance))
    terms = builder.sub(builder.sub(builder.mul(gradient, node.scalar(count, gradient)), offset), correction)
    shape = node.shape(1)
    return [builder.mul(factor, terms), node.reshape(builder.div(products, deviation), shape), node.reshape(offset, shape)]


RULES: Mapping[str, Rule] = {
    "stablehlo.batch_norm_grad": _batch_norm_grad,
    "stablehlo.batch_norm_inference": _batch_norm_inference,
    "stablehlo.batch_norm_training": _batch_norm_training,
}
