"""The questions that ONNX Runtime's provider "webnn" puts to ``MLContext.opSupportLimits()``."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from onnx import TensorProto

from webnn.onnx.partition.graph import type_name

__all__ = ["Limits", "data", "refused_rank", "refused_type"]

Limits = Mapping[str, Any]


@functools.cache
def data() -> dict[str, Any]:
    """Return the content of ``ort_web.toml``."""
    return tomllib.loads(files(__package__).joinpath("ort_web.toml").read_text(encoding="utf-8"))


@functools.cache
def _types() -> dict[int, str]:
    return {TensorProto.DataType.Value(name): type for name, type in data()["types"].items()}


def _row(limits: Limits, operand: str) -> Any:
    operation, _, name = operand.partition(".")
    found = limits.get(operation)
    return found.get(name) if isinstance(found, Mapping) else None


def refused_type(limits: Limits, operand: str, type: int, what: str = "the input") -> str:
    """Return why an operand, for example ``"conv2d.filter"``, does not take a type of ``TensorProto.DataType``, or ""."""
    row = _row(limits, operand)
    if not isinstance(row, Mapping):
        return f"the context does not support {operand}"
    supported = row.get("dataTypes", ())
    needed = _types().get(type, "")
    if needed in supported:
        return ""
    # Where a context knows no int64 at all, the provider computes with int32.
    if needed == "int64" and "int32" in supported and "int64" not in limits.get("constant", {}).get("dataTypes", ()):
        return ""
    return f"{what} is {type_name(type)}, {operand} must be {', '.join(supported) or 'of no type'}"


def refused_rank(limits: Limits, operand: str, rank: int, what: str = "the input") -> str:
    """Return why an operand does not take a rank, or "". The arguments are those of `refused_type`."""
    row = _row(limits, operand)
    if not isinstance(row, Mapping):
        return f"the context does not support {operand}"
    bounds = row.get("rankRange")
    if not isinstance(bounds, Mapping) or not {"min", "max"} <= bounds.keys():
        return f"the context has no rankRange for {operand}"
    lowest, highest = bounds["min"], bounds["max"]
    if lowest <= rank <= highest:
        return ""
    return f"{what} has rank {rank}, {operand} must have rank {lowest}" + (f" to {highest}" if highest > lowest else "")
