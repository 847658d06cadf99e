"""Cases of mixtures of experts, embeddings, and recurrent networks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tools.evidence.onnx_contrib.cases import Array, Case, Kind, integers, numbers, pack, some

__all__ = ["KINDS"]

Random = np.random.Generator


def _activation(random: Random) -> dict[str, Any]:
    kind = str(random.choice(["relu", "gelu", "silu", "identity", "swiglu"]))
    found: dict[str, Any] = {"activation_type": kind, "normalize_routing_weights": int(random.integers(2))}
    if kind == "swiglu":
        found |= {"swiglu_fusion": 1, "activation_alpha": 1.702, "activation_beta": 1.0}
        if random.integers(2):
            found["swiglu_limit"] = 0.7
    return found


def experts(random: Random) -> Case:
    """A mixture of experts."""
    tokens, width, inner, count = (int(random.integers(1, most)) for most in (6, 9, 9, 6))
    attributes = {"k": int(random.integers(1, count, endpoint=True)), **_activation(random)}
    outer = 2 * inner if attributes["activation_type"] == "swiglu" else inner
    inputs = {
        "x": numbers(random, *([tokens, width] if random.integers(2) else [1, tokens, width])),
        "r": numbers(random, tokens, count),
        "a": numbers(random, count, outer, width),
        "b": some(random, numbers(random, count, outer)),
        "c": numbers(random, count, width, inner),
        "d": some(random, numbers(random, count, width)),
    }
    return Case(operator="MoE", inputs=inputs, attributes=attributes, known="abcd")


def quantized_experts(random: Random) -> Case:
    """A mixture of experts with integers as weights: one scale for each output, or one for each block of inputs."""
    tokens, count = int(random.integers(1, 6)), int(random.integers(1, 6))
    width, inner = (16 * int(random.integers(1, 4)) for _ in range(2))
    # The kernel for blocks of 8 bits quantizes the tokens, too.
    bits, block = ((4, 16), (4, 0), (8, 0))[random.integers(3)]
    attributes = {"k": int(random.integers(1, count, endpoint=True)), "expert_weight_bits": bits, **_activation(random)}
    attributes |= {"block_size": block} if block else {}
    outer = 2 * inner if attributes["activation_type"] == "swiglu" else inner
    inputs: dict[str, Array | None] = {"x": numbers(random, tokens, width), "r": numbers(random, tokens, count)}
    zeros: dict[str, Array | None] = {}
    for (weight, scale, bias, zero), rows, columns in (("abcz", outer, width), ("defu", width, inner)):
        inputs[weight] = pack(random.integers(0, 1 << bits, (count, rows, columns)), bits)
        shape = (count, rows, columns // block) if block else (count, rows)
        inputs[scale] = np.asarray(random.uniform(0.01, 0.03, shape), np.float32)
        inputs[bias] = some(random, numbers(random, count, rows))
        zeros[zero] = pack(random.integers(0, 1 << bits, shape), bits)
    inputs |= {"h": None, "i": None, "j": None}
    if random.integers(2):
        inputs |= zeros
    else:
        inputs |= dict.fromkeys(zeros)
    inputs["v"] = None
    inputs["w"] = some(random, np.abs(numbers(random, tokens, count)))
    return Case(operator="QMoE", inputs=inputs, attributes=attributes, known="abcdefzu", tolerance=1e-4)


# Embeddings.


def embed(random: Random) -> Case:
    """Embeddings of words, positions and segments, normalized."""
    batch, rows, width = (int(random.integers(1, most)) for most in (4, 6, 9))
    hasSegments = bool(random.integers(2))
    inputs: dict[str, Array | None] = {
        "i": random.integers(0, 9, (batch, rows), np.int32),
        "s": random.integers(0, 2, (batch, rows), np.int32) if hasSegments else None,
        "w": numbers(random, 9, width),
        "p": numbers(random, 9, width),
        "t": numbers(random, 2, width) if hasSegments else None,
        "g": numbers(random, width),
        "b": numbers(random, width),
        "m": some(random, np.asarray(np.arange(rows) < random.integers(1, rows + 1, (batch, 1)), np.int32)),
        "q": some(random, random.integers(0, 9, (int(random.choice([1, batch])), rows), np.int32)),
    }
    outputs = ("y", "c", "e") if random.integers(2) else ("y", "c")
    return Case(operator="EmbedLayerNormalization", inputs=inputs, attributes={"epsilon": 1e-5}, outputs=outputs, known="wptgb")


def quantized_embed(random: Random) -> Case:
    """Quantized embeddings of words, positions and segments, normalized."""
    batch, rows, width = (int(random.integers(1, most)) for most in (4, 6, 9))
    dtype = str(random.choice(["uint8", "int8"]))
    hasSegments = bool(random.integers(2))
    inputs: dict[str, Array | None] = {
        "i": random.integers(0, 9, (batch, rows), np.int32),
        "s": random.integers(0, 2, (batch, rows), np.int32) if hasSegments else None,
        **{
            name: integers(random, dtype, *shape)
            for name, shape in zip("wptgb", ((9, width), (9, width), (2, width), (width,), (width,)), strict=True)
        },
        "m": some(random, np.asarray(np.arange(rows) < random.integers(1, rows + 1, (batch, 1)), np.int32)),
        **{f"{name}s": np.asarray(random.uniform(0.02, 0.06), np.float32) for name in "wptgb"},
        **{f"{name}z": np.asarray(integers(random, dtype, 1)[0]) for name in "wptgb"},
    }
    if not hasSegments:
        inputs |= dict.fromkeys(("t", "ts", "tz"))
    known = [f"{name}{kind}" for name in "wptgb" for kind in ("", "s", "z")]
    return Case(
        operator="QEmbedLayerNormalization", inputs=inputs, attributes={"epsilon": 1e-5}, outputs=("y", "c"), known=known, tolerance=1e-4
    )


# States.


def lstm(random: Random) -> Case:
    """An LSTM that quantizes its inputs and its states."""
    steps, batch, features, hidden = (int(random.integers(1, most)) for most in (7, 4, 9, 9))
    direction = str(random.choice(["forward", "reverse", "bidirectional"]))
    count = 2 if direction == "bidirectional" else 1
    dtype = str(random.choice(["uint8", "int8"]))
    each = (count, 4 * hidden) if random.integers(2) else (count,)
    # The kernel wants zero points of 0 where there is a scale for each column.
    zeros = np.zeros(each, dtype) if len(each) > 1 else integers(random, dtype, count)
    inputs: dict[str, Array | None] = {
        "x": numbers(random, steps, batch, features),
        "w": integers(random, dtype, count, features, 4 * hidden),
        "r": integers(random, dtype, count, hidden, 4 * hidden),
        "b": some(random, numbers(random, count, 8 * hidden)),
        "l": some(random, np.full(batch, steps, np.int32)),
        "h": some(random, numbers(random, count, batch, hidden)),
        "c": some(random, numbers(random, count, batch, hidden)),
        "p": some(random, numbers(random, count, 3 * hidden)),
        "s": np.asarray(random.uniform(0.002, 0.01, each), np.float32),
        "z": zeros,
        "t": np.asarray(random.uniform(0.002, 0.01, each), np.float32),
        "u": zeros,
    }
    attributes = {"hidden_size": hidden, "direction": direction}
    outputs = ("y", "g", "k")
    return Case(operator="DynamicQuantizeLSTM", inputs=inputs, attributes=attributes, outputs=outputs, known="wrblpsztu")


def linear_attention(random: Random) -> Case:
    """Linear attention."""
    batch, tokens, one, share, size, wide = (int(random.integers(1, most)) for most in (4, 6, 4, 4, 6, 6))
    heads, groups = (one * share, one) if random.integers(2) else (one, one * share)
    rule = str(random.choice(["linear", "gated", "delta", "gated_delta"]))
    inputs: dict[str, Array | None] = {
        "q": numbers(random, batch, tokens, heads * size),
        "k": numbers(random, batch, tokens, groups * size, spread=0.5),
        "v": numbers(random, batch, tokens, groups * wide),
        "s": some(random, numbers(random, batch, groups, size, wide)),
        "d": -np.abs(numbers(random, batch, tokens, groups * int(random.choice([1, size])))) if "gated" in rule else None,
        "b": np.asarray(random.uniform(0, 1, (batch, tokens, int(random.choice([1, groups])))), np.float32) if "delta" in rule else None,
    }
    attributes = {"q_num_heads": heads, "kv_num_heads": groups, "update_rule": rule, "scale": float(random.choice([0.0, 0.4]))}
    return Case(operator="LinearAttention", inputs=inputs, attributes=attributes, outputs=("y", "z"))


def linear_attention_gate(random: Random) -> Case:
    """The gates of linear attention."""
    batch, tokens, heads = (int(random.integers(1, most)) for most in (4, 6, 6))
    rates = some(random, numbers(random, batch, tokens, heads))
    inputs = {"a": numbers(random, batch, tokens, heads), "d": numbers(random, heads), "s": numbers(random, heads), "b": rates}
    return Case(operator="LinearAttentionGate", inputs=inputs, outputs=("y",) if rates is None else ("y", "z"), known="ds")


def causal_convolution(random: Random) -> Case:
    """A convolution of each channel with earlier tokens."""
    batch, channels, tokens, reach, dilation = (int(random.integers(1, most)) for most in (4, 6, 8, 5, 3))
    reach += 1
    isLast = int(random.integers(2))
    shapes = [[batch, channels, tokens], [batch, channels, (reach - 1) * dilation]]
    shapes = [[shape[0], shape[2], shape[1]] if isLast else shape for shape in shapes]
    inputs = {
        "x": numbers(random, *shapes[0]),
        "w": numbers(random, channels, 1, reach),
        "b": some(random, numbers(random, channels)),
        "s": some(random, numbers(random, *shapes[1])),
    }
    attributes = {"dilation": dilation, "channels_last": isLast, "activation": str(random.choice(["none", "silu", "swish"]))}
    return Case(operator="CausalConvWithState", inputs=inputs, attributes=attributes, outputs=("y", "z"), known="wb")


# Normalizations and functions.


def gated_norm(random: Random) -> Case:
    """A normalization times a gate."""
    shape, size, groups = random.integers(1, 4, 2).tolist(), int(random.integers(1, 6)), int(random.integers(1, 4))
    inputs = {"x": numbers(random, *shape, size * groups), "s": numbers(random, size), "g": numbers(random, *shape, size * groups)}
    attributes = {"activation": str(random.choice(["silu", "swish", "sigmoid"])), "epsilon": 1e-5}
    return Case(operator="GatedRMSNorm", inputs=inputs, attributes=attributes, known="s")


def gated_add(random: Random) -> Case:
    """A sum with a gate."""
    shape = random.integers(1, 6, 3).tolist()
    inputs = {"x": numbers(random, *shape), "z": numbers(random, *shape), "g": numbers(random, *shape[:-1], 1)}
    return Case(operator="GatedAdd", inputs=inputs)


def skip(operator: str) -> Kind:
    """A normalization of a sum."""

    def kind(random: Random) -> Case:
        batch, rows, width = (int(random.integers(1, most)) for most in (4, 6, 9))
        shape = random.choice([0, 1, 2])
        inputs: dict[str, Array | None] = {
            "x": numbers(random, batch, rows, width),
            "s": numbers(random, *([batch, rows, width], [1, rows, width], [rows, width])[shape]),
            "g": numbers(random, width),
        }
        if operator == "SkipLayerNormalization":
            inputs["b"] = some(random, numbers(random, width))
        inputs["c"] = some(random, numbers(random, width))
        outputs = ("y", "", "", "t") if random.integers(2) else ("y",)
        return Case(operator=operator, inputs=inputs, attributes={"epsilon": 1e-4}, outputs=outputs, known="gbc")

    return kind


def gelu(operator: str) -> Kind:
    """A function of numbers, perhaps with a bias."""

    def kind(random: Random) -> Case:
        shape = random.integers(1, 7, int(random.integers(1, 4))).tolist()
        inputs: dict[str, Array | None] = {"x": numbers(random, *shape, spread=3)}
        if operator == "BiasGelu" or (operator == "FastGelu" and random.integers(2)):
            inputs["b"] = numbers(random, shape[-1])
        attributes = {"alpha": float(random.uniform(0.5, 2))} if operator == "QuickGelu" else {}
        return Case(operator=operator, inputs=inputs, attributes=attributes)

    return kind


def simplified(random: Random) -> Case:
    """A normalization that ONNX Runtime writes in ONNX's own domain."""
    shape = random.integers(1, 6, 3).tolist()
    inputs = {"x": numbers(random, *shape), "s": numbers(random, shape[-1])}
    attributes = {"axis": -1, "epsilon": 1e-4}
    return Case(operator="SimplifiedLayerNormalization", domain="", inputs=inputs, attributes=attributes, known="s")


def old_matmul(random: Random) -> Case:
    """The same by its old name."""
    return replace(matmul(random), operator="TransposeMatMul")


def matmul(random: Random) -> Case:
    """A product of transposed matrices, times a number."""
    batch, rows, middle, columns = (int(random.integers(1, 6)) for _ in range(4))
    turns = random.integers(0, 2, 2).tolist()
    shapes = [[middle, rows] if turns[0] else [rows, middle], [columns, middle] if turns[1] else [middle, columns]]
    shapes = [[batch, *shape] if random.integers(2) else shape for shape in shapes]
    attributes = {"transA": turns[0], "transB": turns[1], "alpha": float(random.uniform(0.5, 2))}
    return Case(
        operator="FusedMatMul",
        inputs={name: numbers(random, *shape) for name, shape in zip("ab", shapes, strict=True)},
        attributes=attributes,
    )


def _fused(random: Random, names: Mapping[str, Sequence[str]]) -> tuple[str, list[float]]:
    name = str(random.choice(list(names)))
    return name, [float(each) for each in np.sort(random.uniform(0.1, 0.9, len(names[name])))]


def gemm(random: Random) -> Case:
    """A product of matrices with an activation."""
    rows, middle, columns = (int(random.integers(1, 7)) for _ in range(3))
    turns = random.integers(0, 2, 2).tolist()
    inputs: dict[str, Array | None] = {
        "a": numbers(random, *((middle, rows) if turns[0] else (rows, middle))),
        "b": numbers(random, *((columns, middle) if turns[1] else (middle, columns))),
        "c": some(random, numbers(random, columns)),
    }
    name, given = _fused(random, {"Relu": (), "Sigmoid": (), "Tanh": (), "LeakyRelu": ("alpha",), "HardSigmoid": ("alpha", "beta")})
    attributes = {"transA": turns[0], "transB": turns[1], "alpha": float(random.uniform(0.5, 2)), "activation": name}
    attributes |= {f"activation_{each}": number for each, number in zip(("alpha", "beta"), given, strict=False)}
    return Case(operator="FusedGemm", inputs=inputs, attributes=attributes)


def convolution(random: Random) -> Case:
    """A convolution with an activation, and perhaps a sum."""
    batch, inner, outer = (int(random.integers(1, 4)) for _ in range(3))
    kernel = random.integers(1, 4, 2).tolist()
    sizes = [int(size + random.integers(0, 4)) for size in kernel]
    inputs: dict[str, Array | None] = {
        "x": numbers(random, batch, inner, *sizes),
        "w": numbers(random, outer, inner, *kernel),
        "b": some(random, numbers(random, outer)),
        "z": some(random, numbers(random, batch, outer, *(size - each + 1 for size, each in zip(sizes, kernel, strict=True)))),
    }
    name, given = _fused(random, {"Relu": (), "Sigmoid": (), "Tanh": (), "LeakyRelu": ("alpha",), "Clip": ("min", "max")})
    attributes = {"activation": name, **({"activation_params": given} if given else {})}
    return Case(operator="FusedConv", inputs=inputs, attributes=attributes, known="wb")


KINDS: Mapping[str, Kind] = {
    **{name: gelu(name) for name in ("BiasGelu", "FastGelu", "Gelu", "QuickGelu")},
    **{name: skip(name) for name in ("SkipLayerNormalization", "SkipSimplifiedLayerNormalization")},
    "CausalConvWithState": causal_convolution,
    "DynamicQuantizeLSTM": lstm,
    "EmbedLayerNormalization": embed,
    "FusedConv": convolution,
    "FusedGemm": gemm,
    "FusedMatMul": matmul,
    "GatedAdd": gated_add,
    "GatedRMSNorm": gated_norm,
    "LinearAttention": linear_attention,
    "LinearAttentionGate": linear_attention_gate,
    "MoE": experts,
    "QEmbedLayerNormalization": quantized_embed,
    "QMoE": quantized_experts,
    "SimplifiedLayerNormalization": simplified,
    "TransposeMatMul": old_matmul,
}
