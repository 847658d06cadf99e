"""Models of one operator of ONNX Runtime, for tests of its rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import webnn.onnx
from tools.evidence.onnx_contrib.cases import Case, numbers

__all__ = ["floats", "load", "whole"]

_RANDOM = np.random.default_rng(0)


def floats(*shape: int) -> Any:
    """Return random numbers."""
    return numbers(_RANDOM, *shape)


def whole(*values: int) -> Any:
    """Return integers of 32 bits."""
    return np.array(values, np.int32)


def load(operator: str, inputs: Mapping[str, Any], attributes: Mapping[str, Any], outputs: Sequence[str], known: str = "") -> list[str]:
    """Import a model; return the operations that it becomes. The inputs whose names are in ``known`` are initializers."""
    case = Case(operator=operator, inputs=inputs, attributes=attributes, outputs=outputs, known=known)
    return [each.operation for each in webnn.onnx.load(case.model()).description.operators]
