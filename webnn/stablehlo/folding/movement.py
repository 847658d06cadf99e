"""Constants, and elements that are known and move."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from webnn.stablehlo.node import Node

if TYPE_CHECKING:
    from webnn.importing.values import Array
    from webnn.stablehlo.folding import Fold

__all__ = ["FOLDS"]


def _constant(node: Node) -> Array:
    return node.attribute("value", np.ndarray)


def _iota(node: Node) -> Array:
    shape, dimension = node.shape(), node.integer("iota_dimension")
    sizes = [1] * len(shape)
    sizes[dimension] = shape[dimension]
    return np.broadcast_to(np.arange(shape[dimension]).astype(node.dtype()).reshape(sizes), shape)


def _reshape(node: Node) -> Array:
    return node.array(0).reshape(node.shape())


def _transpose(node: Node) -> Array:
    return node.array(0).transpose(node.integers("permutation"))


def _broadcast_in_dim(node: Node) -> Array:
    array, dimensions, shape = node.array(0), node.integers("broadcast_dimensions"), node.shape()
    array = array.transpose(sorted(range(array.ndim), key=dimensions.__getitem__))
    sizes = [1] * len(shape)
    for dimension, size in zip(sorted(dimensions), array.shape, strict=True):
        sizes[dimension] = size
    return np.broadcast_to(array.reshape(sizes), shape)


FOLDS: Mapping[str, Fold] = MappingProxyType(
    {
        "stablehlo.broadcast_in_dim": _broadcast_in_dim,
        "stablehlo.constant": _constant,
        "stablehlo.iota": _iota,
        "stablehlo.reshape": _reshape,
        "stablehlo.transpose": _transpose,
    }
)
