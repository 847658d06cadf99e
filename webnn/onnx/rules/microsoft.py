"""Operators of the domain com.microsoft that ONNX Runtime's optimizer writes. ONNX has no schemas of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, cast

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.importing.steps import Result
from webnn.importing.values import Refused, Value
from webnn.onnx.node import Node
from webnn.onnx.rules.convolution import convolve
from webnn.onnx.rules.elementwise import RULES as ELEMENTWISE
from webnn.onnx.rules.indexing import RULES as INDEXING
from webnn.onnx.rules.matmul import RULES as MATMUL
from webnn.onnx.rules.matmul import lift, multiply, unlift
from webnn.onnx.rules.normalization import RULES as NORMALIZATION
from webnn.onnx.rules.quantization import RULES as QUANTIZATION

__all__ = ["RULES", "apply"]

#: The version of ONNX in which operators of this domain use those of ONNX.
_VERSION = 21


def apply(
    rules: Mapping[str, Callable[[Node], Result | list[Result]]],
    operator: str,
    node: Node,
    inputs: Sequence[MLOperand | Value | None],
    attributes: Mapping[str, Any] | None = None,
    *,
    version: int = _VERSION,
    output: int = 0,
) -> MLOperand:
    """Return an output of an operator of ONNX, by default the first one; it gets the node's attributes and others."""
    returned = rules[operator](node.derive(inputs, attributes, version=version))
    return cast("MLOperand", returned[output] if isinstance(returned, list) else returned)


def _gelu(node: Node) -> MLOperand:
    """Map to gelu."""
    return node.builder.gelu(node.operand(0))


def _bias_gelu(node: Node) -> MLOperand:
    """Map to gelu of the sum."""
    return node.builder.gelu(node.builder.add(node.operand(0), node.operand(1)))


def _fast_gelu(node: Node) -> MLOperand:
    """Compute the approximation of gelu by tanh."""
    x = node.operand(0)
    x = node.builder.add(x, node.operand(1)) if node.given(1) else x
    return apply(ELEMENTWISE, "Gelu", node, [x], {"approximate": "tanh"})


def _quick_gelu(node: Node) -> MLOperand:
    """Compute x * sigmoid(alpha * x)."""
    return apply(ELEMENTWISE, "Swish", node, [node.operand(0)], {"alpha": node.number("alpha", 1.702)})


# Fused operators.


def _activate(node: Node, x: MLOperand, name: str, numbers: Sequence[float]) -> MLOperand:
    """Return an activation with its numbers."""
    attributes = _ACTIVATIONS.get(name)
    if attributes is None:
        raise Refused(f"the activation must be one of {', '.join(_ACTIVATIONS)}, got {name!r}")
    if numbers and len(numbers) != len(attributes):
        raise Refused(f"the activation {name} must have {len(attributes)} numbers, got {len(numbers)}")
    given = dict(zip(attributes, map(float, numbers), strict=False))
    return apply(ELEMENTWISE, name, node, [x], given) if name else x


#: The attributes of each activation, by its name; the empty one is none.
_ACTIVATIONS: Mapping[str, tuple[str, ...]] = {
    "": (),
    "Clip": ("min", "max"),
    "Elu": ("alpha",),
    "HardSigmoid": ("alpha", "beta"),
    "LeakyRelu": ("alpha",),
    "Relu": (),
    "Sigmoid": (),
    "Softplus": (),
    "Softsign": (),
    "Tanh": (),
}


def _fused_conv(node: Node) -> MLOperand:
    """Map to conv2d, an addition and an activation."""
    y = convolve(node, node.operand(0), node.operand(1), node.operand(2) if node.given(2) else None)
    if node.given(3):
        y = node.builder.add(y, node.operand(3))
    return _activate(node, y, node.text("activation", ""), node.numbers("activation_params", []))


def _fused_gemm(node: Node) -> MLOperand:
    """Map to gemm and an activation."""
    y = apply(MATMUL, "Gemm", node, node.inputs)
    numbers = [node.number(name) for name in ("activation_alpha", "activation_beta") if node.has(name)]
    name = node.text("activation", "")
    return _activate(node, y, name, numbers[: len(_ACTIVATIONS.get(name, ()))])


def _fused_matmul(node: Node) -> MLOperand:
    """Map to matmul of transposed factors, times alpha. A factor may have its rows in front of the batch."""
    factors = []
    for index, name in ((0, "A"), (1, "B")):
        value, operand = node.value(index), node.operand(index)
        axes = list(range(value.rank))
        if value.rank > 1:
            if node.flag(f"transBatch{name}", default=False):
                axes = [*axes[1:-1], 0, axes[-1]]
            if node.flag(f"trans{name}", default=False):
                axes[-2:] = axes[-1], axes[-2]
        factors.append(node.transpose(operand, axes))
    shapes = [factor.descriptor.dimensions for factor in factors]
    rows, columns = lift(shapes[0], shapes[1])
    product = unlift(node, multiply(node, node.reshape(factors[0], rows), node.reshape(factors[1], columns)), shapes[0], shapes[1])
    alpha = node.number("alpha", 1.0)
    return product if alpha == 1 else node.builder.mul(product, node.scalar(alpha, product))


# Normalizations.


def _add(node: Node, bias: int) -> MLOperand:
    """Return the sum of input and skip, and of a bias if it is given."""
    total = node.builder.add(node.operand(0), node.operand(1))
    if total.descriptor.dimensions != node.value(0).shape:
        raise Refused(f"skip must broadcast to the input, {list(node.value(0).shape)}, got {list(node.value(1).shape)}")
    return node.builder.add(total, node.operand(bias)) if node.given(bias) else total


def _skip(operator: str, parameters: Sequence[int], bias: int) -> Callable[[Node], list[Result]]:
    """Make a rule of a sum that is normalized along the last axis by an operator. Mean and deviation are for training.

    ``parameters`` are the inputs that are its scale and its bias; ``bias`` is the input that is added before.
    """

    def rule(node: Node) -> list[Result]:
        if any(node.outputs[1:3]):
            raise Refused("the outputs of the mean and the deviation must not be used")
        total = _add(node, bias)
        others = [node.value(index) if node.given(index) else None for index in parameters]
        epsilon = node.number("epsilon", 1e-12)
        return [apply(NORMALIZATION, operator, node, [total, *others], {"axis": -1, "epsilon": epsilon}), None, None, total]

    rule.__doc__ = f"Add, then apply {operator} along the last axis. Its mean and deviation are not computed."
    return rule


def _simplified_layer_normalization(node: Node) -> list[Result]:
    """Divide by the root of the mean of the squares, as RMSNormalization does."""
    y = apply(NORMALIZATION, "RMSNormalization", node, [node.operand(0), node.value(1)])
    if not any(node.outputs[1:]):
        return [y]
    builder, rank = node.builder, node.value(0).rank
    x = node.cast(node.operand(0), "float32")
    axes = list(range(node.axis("axis", -1, rank), rank))
    mean = builder.reduceMean(builder.mul(x, x), axes=axes, keepDimensions=True)
    return [y, builder.reciprocal(builder.sqrt(builder.add(mean, node.scalar(node.number("epsilon", 1e-5), mean))))]


def _gated_rms(node: Node) -> MLOperand:
    """Apply RMSNormalization along groups of the last axis, in float32, times the activation of a gate."""
    shape, scale = node.value(0).shape, node.value(1)
    size = scale.shape[-1] if scale.rank else 0
    if not shape or not size or shape[-1] % size:
        raise Refused(f"scale must have a part of the features of {list(shape)}, got {list(scale.shape)}")
    builder, dataType = node.builder, node.operand(0).descriptor.dataType
    x, weights, gate = (node.cast(node.operand(index), "float32") for index in range(3))
    x = node.reshape(x, [*shape[:-1], shape[-1] // size, size])
    y = apply(NORMALIZATION, "RMSNormalization", node, [x, weights], {"axis": -1, "epsilon": node.number("epsilon", 1e-6)})
    kind = node.choice("activation", "silu", ("silu", "swish", "sigmoid"))
    opened = builder.sigmoid(gate)
    opened = opened if kind == "sigmoid" else builder.mul(gate, opened)
    return node.cast(builder.mul(node.reshape(y, shape), opened), dataType)


def _gated_add(node: Node) -> MLOperand:
    """Add a product with a gate. Refused is a gate that is projected, which no CPU has."""
    if node.given(3):
        raise Refused("gate_weight must not be given", "export the model with the projection of the gate as nodes of its own")
    return node.builder.add(node.operand(0), node.builder.mul(node.operand(1), node.operand(2)))


# Embeddings.


def _embed(node: Node, embeddings: Sequence[MLOperand], gamma: MLOperand, beta: MLOperand) -> list[Result]:
    """Normalize the sum of embeddings, and count the ones of the mask."""
    total = reduce(node.builder.add, embeddings)
    given = {"axis": -1, "epsilon": node.number("epsilon", 1e-12)}
    y = apply(NORMALIZATION, "LayerNormalization", node, [total, gamma, beta], given)
    counts: Result = None
    if any(node.outputs[1:2]):
        counts = np.zeros(node.value(0).shape[0], np.int32)
        if node.given(7):
            counts = node.builder.reduceSum(node.cast(node.operand(7), "int32"), axes=[1])
    return [y, counts, total]


def _positions(node: Node, index: int) -> Value:
    """Return the positions of the rows of the first input, or those that are given."""
    if index < len(node.inputs) and node.given(index):
        return node.value(index)
    shape = node.value(0).shape
    if len(shape) != 2:
        raise Refused(f"input_ids must be [batch, rows], got {list(shape)}")
    return Value.known(node.positions(shape[1]).reshape(1, shape[1]))


def _embed_layer_normalization(node: Node) -> list[Result]:
    """Map to gather, add and layerNormalization."""
    pairs = [(node.value(2), node.value(0)), (node.value(3), _positions(node, 8))]
    if node.given(1) and node.given(4):
        pairs.append((node.value(4), node.value(1)))
    parts = [apply(INDEXING, "Gather", node, pair, {"axis": 0}) for pair in pairs]
    return _embed(node, parts, node.operand(5), node.operand(6))


def _quantized_embed(node: Node) -> list[Result]:
    """Map as EmbedLayerNormalization, of the numbers that integers represent."""

    def numbers(index: int, rows: Value | None = None) -> MLOperand:
        x = node.value(index) if rows is None else apply(INDEXING, "Gather", node, [node.value(index), rows], {"axis": 0})
        # The scales are 8 to 12, the zero points 13 to 17, in the order of the inputs 2 to 6.
        return apply(QUANTIZATION, "DequantizeLinear", node, [x, node.value(index + 6), node.value(index + 11)])

    parts = [numbers(2, node.value(0)), numbers(3, _positions(node, len(node.inputs)))]
    if node.given(1) and node.given(4):
        parts.append(numbers(4, node.value(1)))
    return _embed(node, parts, numbers(5), numbers(6))[:2]


_RULES: Mapping[str, Callable[[Node], Result | list[Result]]] = {
    "BiasGelu": _bias_gelu,
    "EmbedLayerNormalization": _embed_layer_normalization,
    "FastGelu": _fast_gelu,
    "FusedConv": _fused_conv,
    "FusedGemm": _fused_gemm,
    "FusedMatMul": _fused_matmul,
    "GatedAdd": _gated_add,
    "GatedRMSNorm": _gated_rms,
    "Gelu": _gelu,
    "QEmbedLayerNormalization": _quantized_embed,
    "QuickGelu": _quick_gelu,
    "SimplifiedLayerNormalization": _simplified_layer_normalization,
    "SkipLayerNormalization": _skip("LayerNormalization", (2, 3), 4),
    "SkipSimplifiedLayerNormalization": _skip("RMSNormalization", (2,), 3),
    # An old name.
    "TransposeMatMul": _fused_matmul,
}

RULES: Mapping[str, Callable[[Node], Result | list[Result]]] = {
    **{f"com.microsoft.{name}": rule for name, rule in _RULES.items()},
    # ONNX Runtime writes it in ONNX's own domain.
    "SimplifiedLayerNormalization": _simplified_layer_normalization,
}
