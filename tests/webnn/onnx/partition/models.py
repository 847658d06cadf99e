"""Models for the tests of partitions, in ONNX's textual syntax."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from onnx import ModelProto, parser

from tests.support import BROWSERS, make_context
from webnn.onnx.partition.predict import Partition, partition

__all__ = ["LIMITS", "model_of", "partition_of"]

#: The limits of a context as ONNX Runtime Web sees it.
LIMITS: Mapping[str, Any] = make_context(BROWSERS).opSupportLimits()


def model_of(text: str, *, opset: int = 21, functions: str = "") -> ModelProto:
    """Parse a graph, such as ``"(float[2] x) => (y) { y = Relu (x) }"``."""
    head = f'<ir_version: 10, opset_import: ["": {opset}, "com.microsoft": 1, "local": 1]>'
    return parser.parse_model(f"{head} graph {text}\n{functions}")


def partition_of(text: str, limits: Mapping[str, Any] = LIMITS, *, opset: int = 21, functions: str = "") -> Partition:
    """Partition a graph."""
    return partition(model_of(text, opset=opset, functions=functions), limits)
