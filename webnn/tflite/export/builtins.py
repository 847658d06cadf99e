"""Builtin operators of LiteRT: the element types that their kernels for the CPU take, and the tables of their options.

The element types were measured with `ai-edge-litert`; `tests/webnn/tflite/export/test_builtins.py` measures them again.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["COMPARISONS", "ELEMENTS", "OPTIONS", "ORDERED", "WIDER", "options_of"]

_FLOAT = frozenset({"f32"})
_ARITHMETIC = frozenset({"f32", "i32", "i64"})
_BYTES = _ARITHMETIC | {"i8", "ui8"}
_GATHERED = _BYTES | {"i1", "f16"}
_MOVED = _GATHERED | {"ui32", "ui64"}

#: The builtin operator of each comparison of StableHLO.
COMPARISONS: Mapping[str, str] = {
    **{"EQ": "EQUAL", "NE": "NOT_EQUAL", "GE": "GREATER_EQUAL", "GT": "GREATER", "LE": "LESS_EQUAL", "LT": "LESS"},
}

_FLOATS = """
    BATCH_MATMUL CEIL COS ELU EXP FLOOR FULLY_CONNECTED GELU HARD_SWISH LEAKY_RELU LOG LOGISTIC PRELU RELU RELU6 RELU_0_TO_1 RELU_N1_TO_1
    RESIZE_BILINEAR ROUND RSQRT SIN SOFTMAX SQRT TANH CONV_2D DEPTHWISE_CONV_2D TRANSPOSE_CONV AVERAGE_POOL_2D MAX_POOL_2D
"""
#: The element types of the first operand, and of those that share its type. No kernel takes others as plain numbers.
ELEMENTS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(_FLOATS.split(), _FLOAT),
    **dict.fromkeys(("ADD", "SUB", "MUL", "SUM", "MEAN", "CUMSUM", "GREATER_EQUAL", "GREATER", "LESS_EQUAL", "LESS"), _ARITHMETIC),
    **dict.fromkeys(("EQUAL", "NOT_EQUAL"), _ARITHMETIC | {"i1"}),
    **dict.fromkeys(("ABS", "DIV", "POW", "SIGN"), frozenset({"f32", "i32"})),
    **dict.fromkeys(("LOGICAL_AND", "LOGICAL_OR", "LOGICAL_NOT"), frozenset({"i1"})),
    **dict.fromkeys(("MAXIMUM", "MINIMUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"), _BYTES),
    **dict.fromkeys(("ARG_MAX", "ARG_MIN"), frozenset({"f32", "i32", "i8", "ui8"})),
    "NEG": _ARITHMETIC,
    "RIGHT_SHIFT": frozenset({"i32", "i8", "ui8", "ui32"}),
    "CONCATENATION": _MOVED - {"ui64"},
    **dict.fromkeys(("PAD", "PADV2", "GATHER", "GATHER_ND", "REVERSE_V2"), _GATHERED),
    "SCATTER_ND": _GATHERED - {"f16"},
    "RESIZE_NEAREST_NEIGHBOR": frozenset({"f32", "i32", "i8", "ui8"}),
    **dict.fromkeys(
        ("RESHAPE", "TRANSPOSE", "SLICE", "STRIDED_SLICE", "MIRROR_PAD", "BROADCAST_TO", "TILE", "SELECT_V2", "BITCAST"), _MOVED
    ),
}
#: For each element type the next wider one: it has all its numbers; of integers, sums and products modulo 2^bits are right in it, too.
WIDER: Mapping[str, str] = {"f16": "f32", "i1": "ui8", "i8": "i32", "ui8": "i32", "i32": "i64", "ui32": "i64", "ui64": "i64"}

#: The operators that compare numbers.
ORDERED = frozenset(
    {"ARG_MAX", "ARG_MIN", "MAXIMUM", "MINIMUM", "REDUCE_MAX", "REDUCE_MIN", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL"}
)

_OTHER_NAMES = {
    **dict.fromkeys(("SUM", "MEAN", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"), "Reducer"),
    **dict.fromkeys(("AVERAGE_POOL_2D", "MAX_POOL_2D"), "Pool2D"),
    **dict.fromkeys(("MAXIMUM", "MINIMUM"), "MaximumMinimum"),
    **{"BATCH_MATMUL": "BatchMatMul", "CONV_2D": "Conv2D", "DEPTHWISE_CONV_2D": "DepthwiseConv2D", "PADV2": "PadV2"},
    **{"REVERSE_V2": "ReverseV2", "SELECT_V2": "SelectV2", "RELU6": "", "PRELU": "", "LOGISTIC": "", "ELU": ""},
}
_WITHOUT = """
    BROADCAST_TO CEIL ELU FLOOR LOG LOGISTIC PRELU RELU RELU6 RELU_0_TO_1 RELU_N1_TO_1 ROUND RSQRT SIN SQRT TANH
"""
#: The names of the tables of options, by operators; those left out have none.
OPTIONS: Mapping[str, str] = {
    code: f"{_OTHER_NAMES.get(code) or ''.join([word.capitalize() for word in code.split('_')])}Options"
    for code in (*ELEMENTS, "CAST", "DEQUANTIZE", "QUANTIZE", "SPLIT", "SPLIT_V")
    if code not in _WITHOUT.split()
}


def options_of(code: str, fields: Mapping[str, object]) -> tuple[str, Mapping[str, object]] | None:
    """Return the options of an operator: the name of the table, and its fields."""
    name = OPTIONS.get(code)
    return None if name is None else (name, fields)
