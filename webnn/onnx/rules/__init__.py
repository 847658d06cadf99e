"""How each ONNX operator becomes calls of `MLGraphBuilder`. One module for each family; `RULES` has them all.

A rule takes a `Node` and returns its outputs. Its docstring says how the operator maps, and what it refuses. Operators without a rule are
inlined if ONNX gives them a body.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TypeAlias

from webnn.importing.steps import Result
from webnn.onnx.node import Node

__all__ = ["FAMILIES", "RULES", "Rule"]

#: The outputs of a node: one, or a list.
Rule: TypeAlias = Callable[[Node], "Result | list[Result]"]

#: The modules.
FAMILIES = (
    "bitwise",
    "constants",
    "control",
    "convolution",
    "einsum",
    "elementwise",
    "grids",
    "indexing",
    "matmul",
    "microsoft",
    "microsoft_quantized",
    "movement",
    "normalization",
    "pooling",
    "quantization",
    "recurrent",
    "reduction",
    "resize",
    "selection",
    "trigonometry",
)


def _collect() -> dict[str, Rule]:
    rules: dict[str, Rule] = {}
    for family in FAMILIES:
        found: Mapping[str, Rule] = import_module(f"{__name__}.{family}").RULES
        twice = rules.keys() & found.keys()
        if twice:
            raise RuntimeError(f"two families have rules for {', '.join(sorted(twice))}")
        rules.update(found)
    return rules


#: The rule of each operator, by its name; operators of other domains have the domain before it: ``"com.microsoft.Gelu"``.
RULES: Mapping[str, Rule] = MappingProxyType(_collect())
