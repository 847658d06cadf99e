"""How each TFLite operator becomes calls of `MLGraphBuilder`. One module for each family; `RULES` has them all.

A rule takes a `Node` and returns its outputs. Its docstring says how the operator maps, and what it refuses. Where ONNX has the operator,
ONNX's rule does the work.
"""

from __future__ import annotations

from webnn.importing.families import collect_families
from webnn.tflite.node import Rules

__all__ = ["BODIES", "FAMILIES", "MOVES", "RAW", "RULES", "UNFOLDED", "advise"]

#: The modules.
FAMILIES = ("control", "convolution", "elementwise", "indexing", "mediapipe", "movement", "recurrent", "reduction")
#: The rule of each operator, by its name.
RULES: Rules = collect_families(__name__, FAMILIES, "RULES")
#: Operators that import subgraphs or have effects. Quantized integers stay what they are.
BODIES = frozenset({"ASSIGN_VARIABLE", "CALL", "CALL_ONCE", "IF", "READ_VARIABLE", "STABLEHLO_COMPOSITE", "VAR_HANDLE", "WHILE"})
#: Operators whose kernels read the integers themselves, whatever these mean.
RAW = BODIES | {"BITCAST", "CAST"}
#: Operators whose rules return what is known: nothing else computes them at import.
UNFOLDED = BODIES | {"DENSIFY", "DEQUANTIZE"}
_MOVES = """
    ARG_MAX ARG_MIN BATCH_TO_SPACE_ND BROADCAST_TO CONCATENATION DEPTH_TO_SPACE DYNAMIC_UPDATE_SLICE EMBEDDING_LOOKUP EXPAND_DIMS GATHER
    GATHER_ND MAXIMUM MINIMUM MIRROR_PAD PACK REDUCE_MAX REDUCE_MIN RESHAPE RESIZE_NEAREST_NEIGHBOR REVERSE_SEQUENCE REVERSE_V2 SELECT
    SELECT_V2 SHAPE SLICE SPACE_TO_DEPTH SPLIT SPLIT_V SQUEEZE STRIDED_SLICE TILE TOPK_V2 TRANSPOSE UNPACK
"""
#: Operators that move elements: quantized integers may stay what they are if all mean the same numbers.
MOVES = frozenset(_MOVES.split())
_RANDOM = ("RANDOM_STANDARD_NORMAL", "RANDOM_UNIFORM", "MULTINOMIAL", "STABLEHLO_RNG_BIT_GENERATOR")
_ADVICE = {
    **dict.fromkeys(_RANDOM, "WebNN has no random numbers: make them outside of the model, and give them as an input"),
    **dict.fromkeys(
        ("HASHTABLE", "HASHTABLE_FIND", "HASHTABLE_IMPORT", "HASHTABLE_LOOKUP", "HASHTABLE_SIZE", "SKIP_GRAM", "LSH_PROJECTION"),
        "WebNN has no tables and no strings: look words up outside of the model",
    ),
    **dict.fromkeys(
        ("NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5", "CUSTOM.TFLite_Detection_PostProcess", "UNIQUE", "WHERE"),
        "the size of its result depends on data: cut the model before it, and do this step outside",
    ),
    **dict.fromkeys(("IMAG", "REAL", "COMPLEX_ABS", "RFFT2D"), "WebNN has no complex numbers: export the transform as matrix products"),
}


def advise(key: str) -> str:
    """Return what helps against the refusal of an operator; empty if nothing is known."""
    if key.startswith("CUSTOM.Flex"):
        return "it is one of TensorFlow's own: convert the model with TFLITE_BUILTINS only"
    if key.startswith("CUSTOM.") and key not in _ADVICE:
        return "it is not a part of TFLite: replace it with operators of TFLite, or do this step outside of the model"
    return _ADVICE.get(key, "")
