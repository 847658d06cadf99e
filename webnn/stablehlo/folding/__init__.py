"""Operations on known operands: StableHLO's own rules, in NumPy. One module for each family.

These are not the rules of WebNN: integers wrap around, shifts by too many bits give 0, and types are computed that WebNN does not have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from webnn.importing.families import collect_families
from webnn.importing.values import Array
from webnn.stablehlo.node import Node

__all__ = ["FAMILIES", "FOLDS", "VIEWS", "Fold"]

#: The results: one, or a list. None if this is not computed here: then the operation is lowered.
Fold: TypeAlias = Callable[[Node], "Array | list[Array] | None"]

#: The modules.
FAMILIES = ("contraction", "elementwise", "indexing", "movement", "reduction", "sorting", "windows")
_VIEWS = "broadcast_in_dim constant dynamic_broadcast_in_dim dynamic_iota dynamic_reshape dynamic_slice iota real_dynamic_slice reshape"
#: Operations whose results take no memory of their own, or hardly any.
VIEWS = frozenset({f"stablehlo.{name}" for name in f"{_VIEWS} reverse slice transpose".split()})
#: The function of each operation, by its name.
FOLDS: Mapping[str, Fold] = collect_families(__name__, FAMILIES, "FOLDS")
