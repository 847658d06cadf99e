"""The engine's optimizer: an ONNX model as ONNX Runtime has it when it assigns nodes to execution providers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from webnn.context.engine import runtime
from webnn.context.engine.runtime import one_line
from webnn.context.engine.session import SILENT
from webnn.validation.errors import OperationError

__all__ = ["ELSEWHERE", "rewrite"]

#: The name of the file in which initializers stand that the result does not hold. They have no content there.
ELSEWHERE = "weights"
#: The result does not contain initializers of more bytes.
_LARGEST = 1 << 20


def rewrite(model: Path, *, optimize: bool) -> bytes:
    """Return a model after ONNX Runtime has read it, with the types of its outputs inferred.

    Functions of ONNX that the CPU provider has no kernel for are inlined; the names of their values begin with ``_inlfunc_``.

    Args:
        model: The model's file. Its external data is in the same folder.
        optimize: Whether the optimizations of level 1 ("basic") are applied, with constant folding. ``QuantizeLinear`` and
            ``DequantizeLinear`` stay as they are, as in ONNX Runtime Web with WebNN.

    Returns:
        The model. Large initializers are external in a file called `ELSEWHERE`.

    Raises:
        NotSupportedError: No engine is installed, or it is too old.
        OperationError: ONNX Runtime refuses the model.
    """
    ort = runtime.load()
    levels = ort.GraphOptimizationLevel
    options = ort.SessionOptions()
    options.log_severity_level = SILENT
    for name in ("session.disable_quant_qdq", "session.disable_qdq_constant_folding", "session.disable_aot_function_inlining"):
        options.add_session_config_entry(name, "1")

    def place(name: str, value: Any, external: Any) -> Any:
        size = value.tensor_size_in_bytes()
        return ort.OrtExternalInitializerInfo(ELSEWHERE, 0, size) if size > _LARGEST else None

    try:
        compiler = ort.ModelCompiler(
            options,
            model,
            graph_optimization_level=levels.ORT_ENABLE_BASIC if optimize else levels.ORT_DISABLE_ALL,
            get_initializer_location_func=place,
        )
        return bytes(compiler.compile_to_bytes())
    except Exception as error:  # the engine's exceptions have no common class
        raise OperationError(f"ONNX Runtime refuses the model: {one_line(error)}", rule="engine") from error
