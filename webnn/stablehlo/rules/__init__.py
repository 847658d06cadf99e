"""How each operation of StableHLO becomes calls of `MLGraphBuilder`. One module for each family; `RULES` has them all.

A rule takes a `Node` and returns its results. Its docstring says how the operation maps, what it refuses, and the section of the StableHLO
specification. Known values are folded before (`webnn.stablehlo.folding`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from webnn.importing.families import collect_families
from webnn.importing.steps import Result
from webnn.importing.values import Value
from webnn.stablehlo.node import Item, Node

__all__ = ["FAMILIES", "RULES", "Rule"]

#: The results of an operation: one, or a list. An operand is cast to the type of the result.
Rule: TypeAlias = Callable[[Node], "Result | Item | list[Item] | list[Result] | list[Value]"]

#: The modules.
FAMILIES = (
    "bits",
    "contraction",
    "control",
    "convolution",
    "dynamic",
    "elementwise",
    "functions",
    "indexing",
    "linear",
    "movement",
    "normalization",
    "quantization",
    "reduction",
    "scatter",
    "sorting",
    "windows",
)
#: The rule of each operation, by its name: ``"stablehlo.add"``.
RULES: Mapping[str, Rule] = collect_families(__name__, FAMILIES, "RULES")
