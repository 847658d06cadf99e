"""How each TFLite operator becomes calls of `MLGraphBuilder`. One module for each family; `RULES` has them all.

A rule takes a `Node` and returns its outputs. Its docstring says how the operator maps, and what it refuses. Where ONNX has the operator,
ONNX's rule does the work.
"""

from __future__ import annotations

from webnn.importing.families import collect_families
from webnn.tflite.node import Rules

__all__ = ["BODIES", "FAMILIES", "MOVES", "RULES", "UNFOLDED"]

#: The modules.
FAMILIES = ("control", "convolution", "elementwise", "indexing", "mediapipe", "movement", "recurrent", "reduction")
#: The rule of each operator, by its name.
RULES: Rules = collect_families(__name__, FAMILIES, "RULES")
#: Operators that import subgraphs or have effects. Quantized integers stay what they are.
BODIES = frozenset({"ASSIGN_VARIABLE", "CALL", "CALL_ONCE", "IF", "READ_VARIABLE", "STABLEHLO_COMPOSITE", "VAR_HANDLE", "WHILE"})
#: Operators whose rules return what is known: nothing else computes them at import.
UNFOLDED = BODIES | {"DENSIFY", "DEQUANTIZE"}
_MOVES = """
    ARG_MAX ARG_MIN BATCH_TO_SPACE_ND BROADCAST_TO CONCATENATION DEPTH_TO_SPACE DYNAMIC_UPDATE_SLICE EMBEDDING_LOOKUP EXPAND_DIMS GATHER
    GATHER_ND MAXIMUM MINIMUM MIRROR_PAD PACK REDUCE_MAX REDUCE_MIN RESHAPE RESIZE_NEAREST_NEIGHBOR REVERSE_SEQUENCE REVERSE_V2 SELECT
    SELECT_V2 SHAPE SLICE SPACE_TO_DEPTH SPLIT SPLIT_V SQUEEZE STRIDED_SLICE TILE TOPK_V2 TRANSPOSE UNPACK
"""
#: Operators that move elements: quantized integers may stay what they are if all mean the same numbers.
MOVES = frozenset(_MOVES.split())
