"""Cases of mixtures of experts, embeddings, and recurrent networks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tools.evidence.onnx_contrib.cases import Array, Case, Kind, integers, numbers, some

__all__ = ["KINDS"]

Random = np.random.Generator


def pack(integers: Array, bits: int) -> Array:
    """Pack the integers of the last axis into bytes, the lowest bits first."""
    each = 8 // bits
    padding = [(0, 0)] * (integers.ndim - 1) + [(0, -integers.shape[-1] % each)]
    wide = np.pad(integers, padding).reshape(*integers.shape[:-1], -1, each).astype(np.uint32)
    return np.asarray(sum(wide[..., index] << (bits * index) for index in range(each)), np.uint8)


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
    return Case(operator="QMoE", inputs=inputs, attributes=attributes, known="abcdefzu", tolerance=3e-5)


KINDS: Mapping[str, Kind] = {"MoE": experts, "QMoE": quantized_experts}
