"""Products of matrices that are known."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from webnn.importing.values import Array
from webnn.stablehlo.folding import Fold
from webnn.stablehlo.node import Node
from webnn.stablehlo.products import Contraction, read_contraction, read_dot

__all__ = ["FOLDS"]

#: The most products that are computed at import.
_MOST_PRODUCTS = 1 << 22


def _multiply(node: Node, contraction: Contraction) -> Array | None:
    dtype = node.dtype()
    if math.prod(contraction.shape) * contraction.inner > _MOST_PRODUCTS:
        return None
    # Sums are rounded once; those of integers wrap around in the end as they would before.
    wide: np.dtype[Any] = np.dtype(np.float64)
    if dtype.kind in "biu" or dtype.name.startswith(("int", "uint")):
        wide = np.dtype(np.uint64 if dtype.kind == "u" else np.int64)
    elif dtype.kind == "c":
        wide = np.dtype(np.complex128)
    batch = contraction.sizes(0, contraction.batch[0])
    tails = [contraction.rows, contraction.inner], [contraction.inner, contraction.columns]
    one, other = (
        array.transpose(contraction.order(side)).reshape([*batch, *tail]).astype(wide)
        for side, (array, tail) in enumerate(zip(node.arrays(), tails, strict=True))
    )
    return np.asarray((one @ other).astype(dtype).reshape(contraction.shape))


FOLDS: Mapping[str, Fold] = {
    "stablehlo.dot": lambda node: _multiply(node, read_dot(node)),
    "stablehlo.dot_general": lambda node: _multiply(node, read_contraction(node)),
}
