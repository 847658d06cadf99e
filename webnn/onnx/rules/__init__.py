"""How each ONNX operator becomes calls of `MLGraphBuilder`. One module for each family; `RULES` has them all.

A rule takes a `Node` and returns its outputs. Its docstring says how the operator maps, and what it refuses. Operators without a rule are
inlined if ONNX gives them a body.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from webnn.importing.families import collect_families
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
    "microsoft_attention",
    "microsoft_blocks",
    "microsoft_experts",
    "microsoft_grouped",
    "microsoft_quantized",
    "microsoft_states",
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
#: The rule of each operator, by its name; operators of other domains have the domain before it: ``"com.microsoft.Gelu"``.
RULES: Mapping[str, Rule] = collect_families(__name__, FAMILIES, "RULES")
