"""The command line in this process, and models for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import typer
from onnx import numpy_helper, parser
from typer.testing import CliRunner

from webnn.commands import main


def call(*arguments: object, app: typer.Typer = main.app, columns: int | None = None) -> tuple[int, str, str]:
    """Run a command. Return its exit code, its output and its errors; any exception but an exit is raised."""
    env = {} if columns is None else {"COLUMNS": str(columns)}
    result = CliRunner().invoke(app, [*map(str, arguments)], env=env)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def save_model(path: Path, text: str, **weights: tuple[int, ...]) -> Path:
    """Write an ONNX model in ONNX's textual form, with random float32 initializers of these shapes; return the file."""
    model, random = parser.parse_model(text), np.random.default_rng(0)
    for name, shape in weights.items():
        model.graph.initializer.append(numpy_helper.from_array(random.normal(size=shape).astype(np.float32), name))
    onnx.save(model, path)
    return path
