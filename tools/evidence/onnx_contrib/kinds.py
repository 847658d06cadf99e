"""All kinds of cases, by the operators' names."""

from __future__ import annotations

from collections.abc import Mapping

from tools.evidence.onnx_contrib import attention, others, quantized
from tools.evidence.onnx_contrib.cases import Kind

__all__ = ["KINDS"]

KINDS: Mapping[str, Kind] = {**attention.KINDS, **others.KINDS, **quantized.KINDS}
