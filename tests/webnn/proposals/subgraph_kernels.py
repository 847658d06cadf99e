"""Kernels for calls of subgraphs, for tests: which ones a graph has, and what they compute."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.support import Array
from tests.webnn.proposals.subgraph_bodies import (
    Body,
    build,
    compute,
    new_context,
    random_arrays,
)
from webnn import MLContext, MLGraph
from webnn.reference import compute as compute_reference

__all__ = [
    "LAYER",
    "MULTI_HEAD",
    "QKV",
    "ROTARY",
    "ROTATED",
    "SD",
    "SILU",
    "SIMPLIFIED",
    "X",
    "check",
    "executed",
    "kernels",
    "shared",
]

MULTI_HEAD, SIMPLIFIED = "MultiHeadAttention", "SimplifiedLayerNormalization"
LAYER, ROTARY, SILU = "LayerNormalization", "RotaryEmbedding", "QuickGelu"
#: Attention with rotary embeddings.
ROTATED = f"{ROTARY}, {MULTI_HEAD}"
KERNELS = (MULTI_HEAD, SIMPLIFIED, LAYER, ROTARY, SILU)


@functools.cache
def shared(numerics: str) -> MLContext:
    """Return one context for all tests that only build and compute in it."""
    return new_context(numerics)


QKV = random_arrays(1, q=[2, 3, 8, 4], k=[2, 3, 9, 4], v=[2, 3, 9, 5])
#: Rank 3, as in Stable Diffusion.
SD = random_arrays(2, q=[5, 16, 8], k=[5, 12, 8], v=[5, 12, 8])
X = random_arrays(3, x=[2, 8, 32], weight=[32])


def executed(graph: MLGraph) -> list[str]:
    """Return the engine's operators that compute a graph."""
    zeros = {name: np.zeros(each.shape, each.dataType) for name, each in graph._inputDescriptors.items()}
    return [kernel for each in graph.profile(zeros, 1).operators for kernel in each.kernels]


def kernels(graph: MLGraph) -> list[str]:
    """Return the engine's operators in a graph that are kernels for calls."""
    return [each for each in executed(graph) if each in KERNELS]


def check(body: Body, arrays: Mapping[str, Array], name: str, *, config: Any = None, tolerance: float = 4e-6) -> tuple[str, str]:
    """Compute a call under fast numerics and by the reference; return the kernel, or why there is none."""
    graph = build(shared("fast"), body, arrays, name=name, config=config)
    [call] = [each for each in graph.description.calls if each.caller < 0]
    assert sorted(set(kernels(graph))) == sorted(call.kernel.split(", ") if call.kernel else [])
    used = {each: arrays[each] for each in graph.description.inputs}
    with np.errstate(all="ignore"):
        expected = compute_reference(graph.description, used, exact=True)
    for output, array in compute(graph, arrays).items():
        largest = float(np.abs(expected[output]).max(initial=0)) or 1.0
        np.testing.assert_allclose(array.astype(np.float64), expected[output], rtol=0, atol=tolerance * largest)
    return call.kernel, call.reason
