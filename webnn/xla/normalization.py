"""Normalization over batches."""

from __future__ import annotations

from webnn.hlo.attributes import Attribute
from webnn.xla.base import BuilderBase
from webnn.xla.call import Array, ComputationDataHandle, XlaCall

__all__ = ["NormalizationOperations"]


class NormalizationOperations(BuilderBase):
    """Normalization over batches: along all dimensions but that of the features."""

    __slots__ = ()

    def BatchNormTraining(
        self,
        operand: ComputationDataHandle,
        scale: ComputationDataHandle,
        offset: ComputationDataHandle,
        epsilon: float,
        feature_index: int,
    ) -> ComputationDataHandle:
        """Normalize an array with the mean and the variance of each feature.

        Args:
            operand: An array of floating-point numbers.
            scale: A factor for each feature, an array of rank 1.
            offset: A summand for each feature, an array of rank 1.
            epsilon: A number that is added to the variance.
            feature_index: The dimension of the features.

        Returns:
            A tuple: the result, with the shape of ``operand``; the means; the variances.
        """
        call = XlaCall(self._state, "BatchNormTraining")
        array, vectors, attributes = _take(call, operand, {"scale": scale, "offset": offset}, epsilon, feature_index)
        shape = vectors[0].shape
        return call.give(*call.append("batch_norm_training", [array, *vectors], [array.shape, shape, shape], attributes))

    def BatchNormInference(
        self,
        operand: ComputationDataHandle,
        scale: ComputationDataHandle,
        offset: ComputationDataHandle,
        mean: ComputationDataHandle,
        variance: ComputationDataHandle,
        epsilon: float,
        feature_index: int,
    ) -> ComputationDataHandle:
        """Normalize an array with a mean and a variance for each feature.

        Args:
            operand: An array of floating-point numbers.
            scale: A factor for each feature, an array of rank 1.
            offset: A summand for each feature, an array of rank 1.
            mean: The mean of each feature, an array of rank 1.
            variance: The variance of each feature, an array of rank 1.
            epsilon: A number that is added to the variance.
            feature_index: The dimension of the features.
        """
        call = XlaCall(self._state, "BatchNormInference")
        given = {"scale": scale, "offset": offset, "mean": mean, "variance": variance}
        array, vectors, attributes = _take(call, operand, given, epsilon, feature_index)
        return call.give(call.one("batch_norm_inference", [array, *vectors], array.shape, attributes))

    def BatchNormGrad(
        self,
        operand: ComputationDataHandle,
        scale: ComputationDataHandle,
        mean: ComputationDataHandle,
        variance: ComputationDataHandle,
        grad_output: ComputationDataHandle,
        epsilon: float,
        feature_index: int,
    ) -> ComputationDataHandle:
        """Return the gradients of `BatchNormTraining`.

        Args:
            operand: Its operand.
            scale: Its factors.
            mean: The means that it returned.
            variance: The variances that it returned.
            grad_output: The gradient with respect to its result, with the shape of ``operand``.
            epsilon: The number that it added to the variance.
            feature_index: The dimension of the features.

        Returns:
            A tuple: the gradients with respect to the operand, the offset and the scale.
        """
        call = XlaCall(self._state, "BatchNormGrad")
        array, vectors, attributes = _take(call, operand, {"scale": scale, "mean": mean, "variance": variance}, epsilon, feature_index)
        gradient = call.array("grad_output", grad_output)
        if gradient.shape != array.shape:
            raise call.error("grad_output", f"must have the shape of operand, {array.shape}, got {gradient.shape}")
        shape = vectors[0].shape
        # StableHLO returns the gradient of the scale before that of the offset.
        inputs, scales, offsets = call.append("batch_norm_grad", [array, *vectors, gradient], [array.shape, shape, shape], attributes)
        return call.give(inputs, offsets, scales)


def _take(
    call: XlaCall, operand: ComputationDataHandle, given: dict[str, ComputationDataHandle], epsilon: float, feature_index: int
) -> tuple[Array, list[Array], dict[str, Attribute]]:
    """Return the operand, the arrays that have an element for each feature, and the attributes."""
    array = call.array("operand", operand)
    call.floating("operand", array)
    if not array.rank:
        raise call.error("operand", f"must have a rank of at least 1, got {array.shape}")
    axis = call.integer("feature_index", feature_index, 0, array.rank, f"a dimension of {array.shape}")
    wanted = array.shape.sized([array.dimensions[axis]])
    vectors = [call.array(name, each) for name, each in given.items()]
    for name, vector in zip(given, vectors, strict=True):
        if vector.shape != wanted:
            raise call.error(name, f"must have an element for each feature, {wanted}, got {vector.shape}")
    if isinstance(epsilon, bool) or not isinstance(epsilon, (int, float)):
        raise call.wrong_type("epsilon", "must be a number", epsilon)
    return array, vectors, {"epsilon": float(epsilon), "feature_index": axis}
