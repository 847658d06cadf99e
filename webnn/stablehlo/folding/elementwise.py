"""Arithmetic, comparisons and functions of elements that are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from webnn.stablehlo.node import Node

if TYPE_CHECKING:
    from webnn.importing.values import Array
    from webnn.stablehlo.folding import Fold

__all__ = ["FOLDS"]

_COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = MappingProxyType(
    {"EQ": np.equal, "NE": np.not_equal, "GE": np.greater_equal, "GT": np.greater, "LE": np.less_equal, "LT": np.less}
)


def _apply(function: Callable[..., Any]) -> Fold:
    return lambda node: np.asarray(function(*node.arrays()))


def _compare(node: Node) -> Array | None:
    if node.text("compare_type", "") == "TOTALORDER":
        return None
    return np.asarray(_COMPARISONS[node.text("comparison_direction")](*node.arrays()))


FOLDS: Mapping[str, Fold] = MappingProxyType(
    {
        "stablehlo.add": _apply(np.add),
        "stablehlo.compare": _compare,
        "stablehlo.maximum": _apply(np.maximum),
        "stablehlo.minimum": _apply(np.minimum),
        "stablehlo.multiply": _apply(np.multiply),
        "stablehlo.select": _apply(np.where),
        "stablehlo.subtract": _apply(np.subtract),
    }
)
