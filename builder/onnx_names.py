"""Names and numbers in the ONNX models that the translation makes; the engine and the placement read them. Does not import `onnx`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from webnn.builder.numerics import Numerics

__all__ = ["ELEMENT_TYPES", "MICROSOFT", "SESSION_ENTRIES", "find_scopes", "scope", "session_entries", "taken_values"]

#: ONNX element types (``TensorProto.DataType``) by NumPy's name; WebNN's data types are a subset.
ELEMENT_TYPES: Mapping[str, int] = MappingProxyType(
    {
        "float32": 1,
        "uint8": 2,
        "int8": 3,
        "int32": 6,
        "int64": 7,
        "bool": 9,
        "float16": 10,
        "float64": 11,
        "uint32": 12,
        "uint64": 13,
        "bfloat16": 16,
        "float8e4m3": 17,
        "uint4": 21,
        "int4": 22,
    }
)
#: Operators of ONNX Runtime's own.
MICROSOFT = frozenset(
    {
        *("FusedMatMul", "GroupQueryAttention", "MatMulIntegerToFloat", "MatMulNBits", "MultiHeadAttention"),
        *("QuickGelu", "RotaryEmbedding"),
    }
)
#: Optimizations that are switched off because they replace several nodes by one and change values. The result of an operation would depend
#: on whether the values before it are outputs, which the optimizer does not fuse (docs/numerics.md).
_VALUE_CHANGING = (
    "AttentionFusion",
    "BiasGeluFusion",
    "BiasSkipLayerNormFusion",
    # It compares the bounds of a `Clip` before a quantization with an absolute tolerance, and drops bounds of small numbers.
    "ClipQuantRewrite",
    "DivMulFusion",
    "EmbedLayerNormFusion",
    "FastGeluFusion",
    "GeluFusionL1",
    "GeluFusionL2",
    "LayerNormFusionL1",
    "LayerNormFusionL2",
    "MatMulAddFusion",
    "MatMulScaleFusion",
    "MatmulTransposeFusion",
    "NoopElimination",
    "QuickGeluFusion",
    "SimplifiedLayerNormFusion",
    "SkipLayerNormFusion",
)
#: Optimizations that gain nothing here, and take a tenth of the time of a session. The translation shares equal constants itself; what the
#: others look for is not in its graphs, or is not for the CPU.
_IDLE = (
    "BiasDropoutFusion",
    "BiasSoftmaxFusion",
    "ConstantSharing",
    "GroupQueryAttentionFusion",
    "GroupQueryAttentionPreNormFusion",
    "MatMulNBitsFusion",
    "SwiGluFusion",
)
#: The configuration of the session of an exact translation. A session without these entries may compute other values.
SESSION_ENTRIES: Mapping[str, str] = MappingProxyType(
    {
        # One optimization replaces operations between a dequantization and a quantization by integer kernels; their values are far off, or
        # they fail for an unusual scale. The other one merges two pairs of quantizations into one.
        "session.disable_quant_qdq": "1",
        "session.disable_double_qdq_remover": "1",
        "optimization.disable_specified_optimizers": ";".join(_VALUE_CHANGING + _IDLE),
    }
)
#: A fast translation allows the optimizations, but this one: its kernel takes longer than the nodes that it replaces.
_FAST_ENTRIES: Mapping[str, str] = MappingProxyType({"optimization.disable_specified_optimizers": "SkipLayerNormFusion"})
#: A scope in the name of a node. The name of a value may follow, if the node transposes a value that another operator made.
_SCOPE = re.compile(r"([A-Za-z0-9]+)#(\d+)(?:\.\w+#\d+\.\d+(?::\d+)?\^)?")


def session_entries(numerics: Numerics) -> Mapping[str, str]:
    """Return what the session of a translated graph is configured with."""
    return SESSION_ENTRIES if numerics == "exact" else _FAST_ENTRIES


def scope(operation: str, index: int) -> str:
    """Return the beginning of the names of an operator's nodes."""
    return f"{operation}#{index}"


def find_scopes(text: str) -> Iterator[tuple[str, int]]:
    """Yield the operation and the number of each operator whose scope is in a text, such as the name of a node or a message."""
    return ((match[1], int(match[2])) for match in _SCOPE.finditer(text))


def taken_values(node: Any) -> Iterator[str]:
    """Yield the values that a node, a ``NodeProto``, takes, and those that its graphs take or return."""
    yield from filter(None, node.input)
    for attribute in node.attribute:
        for graph in [attribute.g] if attribute.HasField("g") else attribute.graphs:
            for inner in graph.node:
                yield from taken_values(inner)
            yield from (output.name for output in graph.output)
