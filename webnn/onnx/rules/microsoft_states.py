"""Operators of the domain com.microsoft with a state: those of linear attention, which ONNX Runtime's GenAI library writes.

They are unrolled, token by token.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from webnn.builder.operand import MLOperand
from webnn.importing.moving import slice_axis
from webnn.importing.steps import Result
from webnn.importing.values import Refused, make_uniform
from webnn.onnx.attention import concat, join_heads, split_heads
from webnn.onnx.node import Node
from webnn.onnx.rules.convolution import RULES as CONVOLUTION
from webnn.onnx.rules.microsoft import apply
from webnn.validation.descriptor import NUMPY_DTYPES

__all__ = ["RULES"]

#: The most tokens that are unrolled.
_MOST_TOKENS = 1 << 12


def _refuse_windows(node: Node) -> None:
    if node.integer("state_window", 0):
        raise Refused(f"state_window must be 0, got {node.integer('state_window')}", "export the model without speculative decoding")


def _zeros(node: Node, shape: list[int], like: MLOperand) -> MLOperand:
    return node.constant(make_uniform(shape, NUMPY_DTYPES[like.descriptor.dataType]))


def _linear_attention(node: Node) -> list[Result]:
    """Unroll the tokens: each adds a product of its key and its value to the state, and takes a product of its query with it."""
    _refuse_windows(node)
    builder = node.builder
    heads, groups = node.integer("q_num_heads", least=1), node.integer("kv_num_heads", least=1)
    rule = node.choice("update_rule", "gated_delta", ("linear", "gated", "delta", "gated_delta"))
    q, k, v = (split_heads(node, node.operand(index), count) for index, count in ((0, heads), (1, groups), (2, groups)))
    batch, _, tokens, size = q.descriptor.dimensions
    wide = v.descriptor.dimensions[3]
    most = max(heads, groups)
    if tokens > _MOST_TOKENS or most % min(heads, groups) or k.descriptor.dimensions != (batch, groups, tokens, size):
        raise Refused(f"queries and keys must have heads that fit, and at most {_MOST_TOKENS} tokens, got {tokens}")
    if groups > heads:
        # Several states share a query.
        q = builder.expand(node.reshape(q, [batch, heads, 1, tokens, size]), [batch, heads, groups // heads, tokens, size])
        q = node.reshape(q, [batch, groups, tokens, size])
    q = builder.mul(q, node.scalar(node.number("scale", 0.0) or size**-0.5, q))
    decay = builder.exp(split_heads(node, node.operand(4), groups)) if "gated" in rule else None
    beta = None
    if "delta" in rule:
        # One for each head, or one for all.
        beta = split_heads(node, node.operand(5), min(groups, node.value(5).shape[-1]))
    state = node.operand(3) if node.given(3) else _zeros(node, [batch, groups, size, wide], v)
    rows = []
    for token in range(tokens):
        query, key, value = (slice_axis(node, each, 2, token, 1) for each in (q, k, v))
        turned = node.reshape(key, [batch, groups, size, 1])
        if decay is not None:
            factor = slice_axis(node, decay, 2, token, 1)
            state = builder.mul(state, node.reshape(factor, [batch, groups, factor.descriptor.dimensions[3], 1]))
        if beta is not None:
            value = builder.mul(builder.sub(value, builder.matmul(key, state)), slice_axis(node, beta, 2, token, 1))
        state = builder.add(state, builder.mul(turned, value))
        row = builder.matmul(node.reshape(query, [batch, groups, most // groups, size]), state)
        rows.append(node.reshape(row, [batch, most, 1, wide]))
    return [join_heads(node, concat(node, rows, 2)), state]


def _gate(node: Node) -> list[Result]:
    """Compute the decays and the rates of linear attention."""
    builder = node.builder
    a = node.operand(0)
    decay = builder.softplus(builder.add(node.cast(a, "float32"), node.operand(1)))
    decay = node.cast(builder.mul(node.operand(2), decay), a.descriptor.dataType)
    return [decay, builder.sigmoid(node.operand(3)) if node.given(3) else None]


def _causal_convolution(node: Node) -> list[Result]:
    """Map to concat with the state, and conv2d of each channel by itself. Refused are more than one spatial dimension."""
    _refuse_windows(node)
    if node.integer("ndim", 1) != 1 or node.value(0).rank != 3 or node.value(1).rank != 3:
        raise Refused(f"ndim must be 1, and the input 3-D, got {node.integer('ndim', 1)} and {list(node.value(0).shape)}")
    for name in ("input_channel_offset", "input_channels", "state_length", "state_update_capacity"):
        if node.integer(name, 0):
            raise Refused(f"{name} must be 0, got {node.integer(name)}", "export the model for the CPU")
    builder, isLast = node.builder, node.flag("channels_last", default=False)
    turn = [0, 2, 1] if isLast else [0, 1, 2]
    x = node.transpose(node.operand(0), turn)
    batch, channels, _ = x.descriptor.dimensions
    dilation = node.integer("dilation", 1, least=1)
    length = (node.value(1).shape[2] - 1) * dilation
    if length:
        before = node.transpose(node.operand(3), turn) if node.given(3) else _zeros(node, [batch, channels, length], x)
        x = builder.concat([before, x], 2)
    bias = node.value(2) if node.given(2) else None
    y = apply(CONVOLUTION, "Conv", node, [x, node.value(1), bias], {"group": channels, "dilations": [dilation]})
    if node.choice("activation", "none", ("none", "silu", "swish")) != "none":
        y = builder.mul(y, builder.sigmoid(y))
    present = slice_axis(node, x, 2, x.descriptor.dimensions[2] - length, length) if length else None
    return [node.transpose(y, turn), None if present is None else node.transpose(present, turn)]


_RULES: Mapping[str, Callable[[Node], list[Result]]] = {
    "CausalConvWithState": _causal_convolution,
    "LinearAttention": _linear_attention,
    "LinearAttentionGate": _gate,
}

RULES: Mapping[str, Callable[[Node], list[Result]]] = {f"com.microsoft.{name}": rule for name, rule in _RULES.items()}
