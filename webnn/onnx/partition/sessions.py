"""Nodes that ONNX Runtime's provider "webnn" takes, and then cannot build: no session can be made. `ort_web.toml` names the checks.

Each function gets a node whose inputs and outputs have static shapes. It returns why the session fails, or "".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from webnn.onnx.partition.graph import PartitionNode

__all__ = ["FAULTS", "Fault"]

Fault = Callable[[PartitionNode], str]


def quantization_shapes(node: PartitionNode) -> str:
    """Check that scale and zero point have the shape that the provider gives to both, from that of the scale."""
    shape, scale = node.shape(0), node.shape(1)
    axis = node.get("axis", 1)
    axis += len(shape) if axis < 0 else 0
    wanted: tuple[int, ...] | None = None
    if not scale and shape:
        wanted = (1,) * len(shape)
    elif len(scale) == 1 and len(shape) > 1 and not node.get("block_size", 0) and 0 <= axis < len(shape):
        wanted = tuple([size if each == axis else 1 for each, size in enumerate(shape)])
        if math.prod(scale) != shape[axis]:
            return f"the scale's shape {list(scale)} must have {shape[axis]} elements, one for each position of axis {axis}"
    if not node.has(2):
        return ""
    zero = node.shape(2)
    # The provider reshapes both; otherwise WebNN compares them as they are.
    fits = math.prod(zero) == math.prod(wanted) if wanted is not None else zero == scale
    return "" if fits else f"the zero point must have the scale's shape {list(scale)}, got {list(zero)}"


FAULTS: Mapping[str, Fault] = {each.__name__: each for each in (quantization_shapes,)}
