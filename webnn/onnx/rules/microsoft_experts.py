"""Mixtures of experts of the domain com.microsoft. All experts are computed, and most of them get the weight 0."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.importing.moving import slice_axis, slice_operand
from webnn.importing.steps import Result
from webnn.importing.values import Refused
from webnn.onnx.node import Node
from webnn.onnx.rules.elementwise import RULES as ELEMENTWISE
from webnn.onnx.rules.microsoft import apply
from webnn.onnx.rules.microsoft_blocks import unpack
from webnn.onnx.rules.selection import RULES as SELECTION

__all__ = ["RULES"]

#: Returns the weights of a layer of all experts: [experts, inputs, outputs].
Layer = Callable[[int], MLOperand]


def _route(node: Node, experts: int, weights: int | None) -> MLOperand:
    """Return the weight of each expert for each token, [tokens, experts]: 0 for those that are not among the k best."""
    builder = node.builder
    scores = node.operand(1)
    tokens = scores.descriptor.dimensions[0]
    if scores.descriptor.dimensions != (tokens, experts):
        raise Refused(f"router_probs must be [tokens, {experts}], got {list(scores.descriptor.dimensions)}")
    if node.integer("use_sparse_mixer", 0):
        raise Refused("use_sparse_mixer must be 0", "export the model with the k best experts of a softmax")
    k = node.integer("k", 1, least=1)
    order = apply(SELECTION, "TopK", node, [scores], {"axis": -1, "k": k}, output=1)
    places = node.constant(np.arange(experts, dtype=np.int32).reshape(1, 1, experts))
    flags = builder.equal(node.reshape(node.cast(order, "int32"), [tokens, k, 1]), places)
    among = builder.reduceMax(node.cast(flags, scores.descriptor.dataType), axes=[1])
    given = node.operand(weights) if weights is not None and node.given(weights) else None
    parts = builder.mul(among, builder.softmax(scores, 1) if given is None else given)
    # The kernel of quantized experts computes softmax of the best scores only, whatever the attribute says.
    if node.integer("normalize_routing_weights", 0) or (weights is not None and given is None):
        parts = builder.div(parts, builder.reduceSum(parts, axes=[1], keepDimensions=True))
    return parts


def _activate(node: Node, x: MLOperand, up: MLOperand | None) -> MLOperand:
    """Apply the activation to [experts, tokens, features]. Gates are before them, between them, or another operand."""
    builder, kind = node.builder, node.choice("activation_type", "relu", ("relu", "gelu", "silu", "identity", "swiglu"))
    if kind != "swiglu":
        if kind == "gelu":
            return apply(ELEMENTWISE, "Gelu", node, [x], {"approximate": "tanh"})
        return x if kind == "identity" else builder.relu(x) if kind == "relu" else _silu(node, x, 1.0)
    if up is None:
        shape = x.descriptor.dimensions
        half = [*shape[:2], shape[2] // 2]
        if node.integer("swiglu_fusion", 0) == 1:
            x, up = (slice_operand(node, x, [0, 0, first], half, [1, 1, 2]) for first in (0, 1))
        else:
            x, up = (slice_axis(node, x, 2, first, half[2]) for first in (0, half[2]))
    limit = node.number("swiglu_limit", np.inf)
    if limit < np.inf:
        x, up = builder.clamp(x, maxValue=limit), builder.clamp(up, minValue=-limit, maxValue=limit)
    gated = _silu(node, x, node.number("activation_alpha", 1.0))
    beta = node.number("activation_beta", 0.0)
    return builder.mul(gated, builder.add(up, node.scalar(beta, up)) if beta else up)


def _silu(node: Node, x: MLOperand, alpha: float) -> MLOperand:
    return apply(ELEMENTWISE, "Swish", node, [x], {"alpha": alpha})


def _mix(node: Node, layer: Layer, layers: Sequence[int], biases: Sequence[int], weights: int | None = None) -> MLOperand:
    """Compute all experts, and add them by their weights. The third layer has what the gates are multiplied with."""
    builder, value = node.builder, node.value(0)
    if node.integer("swiglu_limit_after_activation", 0):
        raise Refused("swiglu_limit_after_activation must be 0", "export the model with limits before the activation")
    width = value.shape[-1]
    tokens = value.size // width
    experts = node.value(layers[0]).shape[0]

    def linear(x: MLOperand, index: int) -> MLOperand:
        product = builder.matmul(x, layer(layers[index]))
        if not node.given(biases[index]):
            return product
        bias = node.operand(biases[index])
        return builder.add(product, node.reshape(bias, [experts, 1, product.descriptor.dimensions[2]]))

    x = node.reshape(node.operand(0), [1, tokens, width])
    x = builder.expand(x, [experts, tokens, width])
    hidden = _activate(node, linear(x, 0), linear(x, 2) if node.given(layers[2]) else None)
    parts = node.reshape(node.transpose(_route(node, experts, weights), [1, 0]), [experts, tokens, 1])
    return node.reshape(builder.reduceSum(builder.mul(linear(hidden, 1), parts), axes=[0]), value.shape)


def _experts(node: Node) -> MLOperand:
    """Compute all experts by matmul, and add them by the weights of the k best ones. Sparse mixers are refused."""

    def layer(index: int) -> MLOperand:
        if node.value(index).rank != 3:
            raise Refused(f"the weights must be [experts, outputs, inputs], got {list(node.value(index).shape)}")
        return node.transpose(node.operand(index), [0, 2, 1])

    return _mix(node, layer, (2, 4, 6), (3, 5, 7))


#: The scales and the zero points of weights, by their input; and the attribute with their bits.
_PARAMETERS: Mapping[int, tuple[int, int, str]] = {2: (3, 11, "fc1"), 5: (6, 12, "fc2"), 8: (9, 13, "fc3")}


def _quantized_experts(node: Node) -> MLOperand:
    """Map as MoE, with dequantizeLinear of the weights, which must be known. Refused are weights that are not integers."""
    if node.text("quant_type", "int") != "int" or node.integer("weights_prepacked", -1) == 1:
        raise Refused("quant_type must be 'int', and weights_prepacked 0", "export the model with integers as weights, for the CPU")

    def layer(index: int) -> MLOperand:
        scale, zero, name = _PARAMETERS[index]
        bits = node.integer(f"{name}_expert_weight_bits", node.integer("expert_weight_bits", 4))
        packed = node.known(index, "the weights")
        scales = node.known(scale, "the scales")
        if bits not in (2, 4, 8) or packed.ndim != 3 or packed.dtype != np.uint8:
            raise Refused(f"the weights must be 3-D, of 2, 4 or 8 bits in uint8, got {bits} bits, {packed.dtype.name} {list(packed.shape)}")
        integers = unpack(packed, bits)
        scales = scales.reshape(*packed.shape[:2], -1)
        zeros = np.full(scales.shape, 1 << (bits - 1), np.uint8)
        if node.given(zero):
            given = node.known(zero, "the zero points")
            rows = given.reshape(-1, given.shape[-1])
            zeros = unpack(rows, bits)[:, : scales.size // len(rows)].reshape(scales.shape)
        turned = [node.constant(np.ascontiguousarray(each.transpose(0, 2, 1))) for each in (integers, scales, zeros)]
        return node.builder.dequantizeLinear(turned[0], turned[1], turned[2])

    return _mix(node, layer, (2, 5, 8), (4, 7, 10), 14)


RULES: Mapping[str, Callable[[Node], Result | list[Result]]] = {"com.microsoft.MoE": _experts, "com.microsoft.QMoE": _quantized_experts}
