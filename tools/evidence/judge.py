"""ONNX Runtime as a judge: a session whose integer kernels are exact on every processor."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import onnxruntime
from onnxruntime.capi.onnxruntime_pybind11_state import Fail
from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented as NoKernelError

from webnn.builder.onnx_names import SESSION_ENTRIES
from webnn.context.engine.products import factor_type

__all__ = ["overflows", "start"]

_LEVELS = onnxruntime.GraphOptimizationLevel
#: One optimization gives constant factors another type, for which the kernels are exact everywhere.
_EXACT = {"session.x64quantprecision": "1"}


def overflows() -> bool:
    """Tell whether the fastest kernels for uint8 by int8 overflow: on x86-64 processors without VNNI."""
    return factor_type() == "uint8"


def start(source: Path | bytes, *, plain: bool = False, threads: int = 0) -> onnxruntime.InferenceSession:
    """Return a session for a model.

    Args:
        source: Its file, or the bytes of it.
        plain: Without optimizations that change values.
        threads: How many threads it uses; 0 lets ONNX Runtime choose.
    """

    def start_with(entries: Mapping[str, str], level: onnxruntime.GraphOptimizationLevel) -> onnxruntime.InferenceSession:
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = level
        options.intra_op_num_threads = options.inter_op_num_threads = threads
        # No warnings: an old model has weights that nothing uses.
        options.log_severity_level = 3
        for name, value in entries.items():
            options.add_session_config_entry(name, value)
        return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])

    if overflows():
        try:
            return start_with({**_EXACT, **SESSION_ENTRIES} if plain else _EXACT, _LEVELS.ORT_ENABLE_ALL)
        except (Fail, NoKernelError):
            pass  # not every kernel takes the other type, and a constant of two products fails
    return start_with({}, _LEVELS.ORT_DISABLE_ALL if plain else _LEVELS.ORT_ENABLE_ALL)
