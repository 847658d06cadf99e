"""ONNX models that are not this package's, run as they are: what an import is compared with."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from webnn.context.engine import runtime
from webnn.validation.errors import NotSupportedError, OperationError

__all__ = ["carry", "find_refusal", "run_model"]

Array = np.ndarray[Any, np.dtype[Any]]

#: The engine's names of element types that differ from NumPy's.
_DTYPES: Mapping[str, str] = MappingProxyType({"float": "float32", "double": "float64"})


#: The engine's exception for an operator without a kernel.
_NO_KERNEL = "NotImplemented"


def run_model(path: str | os.PathLike[str], inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Run a model on the CPU, with the engine's own settings.

    Args:
        path: The file.
        inputs: An array for each input, which is cast to the type of the input. Arrays for other names are left out.

    Returns:
        The outputs by their names. bool is returned as uint8, and float64 as float32, as WebNN carries them.

    Raises:
        OperationError: The engine refuses the model, or fails.
    """
    engine = runtime.load()
    options = engine.SessionOptions()
    # The error has the message, too.
    options.log_severity_level = 4
    try:
        session = engine.InferenceSession(os.fspath(path), options, providers=["CPUExecutionProvider"])
        feeds = {}
        for each in session.get_inputs():
            name = each.type.removeprefix("tensor(").removesuffix(")")
            feeds[each.name] = inputs[each.name].astype(_DTYPES.get(name, name))
        names = [each.name for each in session.get_outputs()]
        results = session.run(names, feeds)
    except KeyError as error:
        raise OperationError(f"{path}: there are no elements for the input {error}", rule="engine") from None
    except Exception as error:  # whatever the engine raises
        raise OperationError(f"{path}: onnxruntime cannot run the model: {runtime.one_line(error)}", rule="engine") from error
    return {name: carry(result) for name, result in zip(names, results, strict=True) if isinstance(result, np.ndarray)}


def find_refusal(path: str | os.PathLike[str]) -> str:
    """Return why the engine refuses a model, or "". A model whose operators have no kernel on the CPU is not refused.

    The model is not optimized, and nothing is computed.
    """
    try:
        engine = runtime.load()
    except NotSupportedError:
        return ""
    options = engine.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = engine.GraphOptimizationLevel.ORT_DISABLE_ALL
    # Weights may be large.
    options.add_session_config_entry("session.disable_prepacking", "1")
    try:
        engine.InferenceSession(os.fspath(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the engine's exceptions have no common class
        return "" if type(error).__name__ == _NO_KERNEL else runtime.one_line(error)
    return ""


def carry(array: Array) -> Array:
    """Return an array in the type that carries it in WebNN: bool as uint8, and float64 as float32."""
    if array.dtype == np.bool_:
        return array.astype(np.uint8)
    return array.astype(np.float32) if array.dtype == np.float64 else array
