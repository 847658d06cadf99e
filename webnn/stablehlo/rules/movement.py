"""Operations that move elements, and compute none."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from webnn.stablehlo.node import Node

if TYPE_CHECKING:
    from webnn.importing.steps import Result
    from webnn.stablehlo.rules import Rule

__all__ = ["RULES"]


def _reshape(node: Node) -> Result:
    """Map to reshape. `stablehlo#reshape`."""
    return node.reshape(node.operand(0), node.shape())


def _transpose(node: Node) -> Result:
    """Map to transpose. `stablehlo#transpose`."""
    return node.transpose(node.operand(0), node.integers("permutation"))


def _broadcast_in_dim(node: Node) -> Result:
    """Map to transpose and reshape, which put the dimensions in their places, and expand. `stablehlo#broadcast_in_dim`."""
    operand, dimensions, shape = node.operand(0), node.integers("broadcast_dimensions"), node.shape()
    operand = node.transpose(operand, sorted(range(len(dimensions)), key=dimensions.__getitem__))
    sizes = [1] * len(shape)
    for dimension, size in zip(sorted(dimensions), operand._descriptor.dimensions, strict=True):
        sizes[dimension] = size
    if tuple(sizes) == shape:
        return node.reshape(operand, sizes)
    # Missing dimensions in front need no reshape.
    if tuple(sizes[len(shape) - len(dimensions) :]) != operand._descriptor.dimensions:
        operand = node.reshape(operand, sizes)
    return node.builder.expand(operand, list(shape))


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "stablehlo.broadcast_in_dim": _broadcast_in_dim,
        "stablehlo.reshape": _reshape,
        "stablehlo.transpose": _transpose,
    }
)
