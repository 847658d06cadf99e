"""Windows over elements that are known."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from webnn.stablehlo.node import Node
from webnn.stablehlo.reducing import known_arrays
from webnn.stablehlo.windows import reduce_windows, select_and_scatter

if TYPE_CHECKING:
    from webnn.importing.values import Array
    from webnn.stablehlo.folding import Fold

__all__ = ["FOLDS"]


def _reduce_window(node: Node) -> list[Array] | None:
    return known_arrays(reduce_windows(node))


def _select_and_scatter(node: Node) -> list[Array] | None:
    return known_arrays([select_and_scatter(node)])


FOLDS: Mapping[str, Fold] = MappingProxyType(
    {"stablehlo.reduce_window": _reduce_window, "stablehlo.select_and_scatter": _select_and_scatter}
)
