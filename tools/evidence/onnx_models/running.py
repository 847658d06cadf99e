"""A model of the catalogue as a task: here, or on a worker."""

from __future__ import annotations

from pathlib import Path

from tools.evidence.browser.modules import save_module
from tools.evidence.onnx_models.catalog import Model
from tools.evidence.onnx_models.files import FileError
from tools.evidence.onnx_models.inputs import make_inputs
from tools.evidence.onnx_models.measure import Result, check
from webnn.builder.numerics import Numerics

__all__ = ["run_model"]


def run_model(model: Model, file: Path | FileError, seed: int, rounds: int, numerics: Numerics, modules: Path | None) -> Result:
    """Check a model; write it as a module, too, if there is a folder for that and the model is for browsers."""
    if isinstance(file, FileError):
        return Result(model=model, status="failed", message=str(file))
    result, description = check(model, file, seed=seed, rounds=rounds, numerics=numerics)
    if modules is not None and model.browser and description is not None:
        save_module(description, modules, f"model_{model.name.replace('-', '_')}", make_inputs(model.inputs, seed))
    return result
