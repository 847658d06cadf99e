"""Exported graphs, computed by LiteRT with its delegate for the CPU, as a browser computes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import webnn
from tests.support import CURRENT, Array, shared_context
from webnn.reference import compute
from webnn.tflite.export import export
from webnn.tflite.export.program import Program

pytest.importorskip("ai_edge_litert", reason="LiteRT, the judge, is not installed")

from ai_edge_litert.interpreter import Interpreter

__all__ = ["Interpreter", "Make", "check", "codes", "constant", "describe", "judge", "matches", "ramp"]

#: From a builder and inputs to an operand.
Make = Callable[..., Any]


def describe(make: Make, *inputs: Array, draft: str = CURRENT) -> tuple[webnn.GraphDescription, dict[str, Array]]:
    """Describe a graph of inputs `x0`, `x1` and so on, and of an output `y`."""
    builder = webnn.MLGraphBuilder(shared_context(draft))
    given = {f"x{number}": each for number, each in enumerate(inputs)}
    shape = builder._revision.shape
    operands = [builder.input(name, {"dataType": each.dtype.name, shape: list(each.shape)}) for name, each in given.items()]  # type: ignore[misc]
    return webnn.describe({"y": make(builder, *operands)}), given


def judge(description: webnn.GraphDescription, arrays: Mapping[str, Array], program: Program | None = None) -> dict[str, Array]:
    """Return what LiteRT computes."""
    interpreter = Interpreter(model_content=bytes((program or export(description)).to_bytes()))
    interpreter.allocate_tensors()
    feeds = {name: np.asarray(arrays[name]).reshape(each.dimensions) for name, each in description.inputs.items()}
    return dict(interpreter.get_signature_runner()(**feeds))


def codes(program: Program) -> list[str]:
    """Return the operators that are written."""
    return [each.code for each in program.needed()]


def matches(found: Array, wanted: Array, steps: int = 0) -> bool:
    """Tell whether results are the same: floats but for rounding, integers but for some steps."""
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return False
    if found.dtype.kind == "f":
        return bool(
            np.allclose(
                found.astype(np.float64), wanted.astype(np.float64), rtol=1e-5 if found.dtype == "f4" else 2e-3, atol=1e-5, equal_nan=True
            )
        )
    return bool((np.abs(found.astype(np.int64) - wanted.astype(np.int64)) <= steps).all())


def check(make: Make, *inputs: Array, steps: int = 0, draft: str = CURRENT, **semantics: str) -> list[str]:
    """Require that LiteRT computes what the reference computes, also with values of switches; return the operators."""
    description, arrays = describe(make, *inputs, draft=draft)
    program = export(description, tuple(semantics.items()))
    [wanted] = compute(description, arrays, semantics=tuple(semantics.items())).values()
    [found] = judge(description, arrays, program).values()
    assert matches(found, wanted, steps), f"LiteRT computes {found}, the reference {wanted}"
    return codes(program)


def ramp(*shape: int, dtype: Any = np.float32) -> Array:
    """Return small numbers of both signs, or from 0 if the type has no sign."""
    count = int(np.prod(shape))
    numbers = np.arange(count) - (0 if np.dtype(dtype).kind == "u" else count // 2)
    return (numbers / 4 if np.dtype(dtype).kind == "f" else numbers).astype(dtype).reshape(shape)


def constant(builder: webnn.MLGraphBuilder, array: Any) -> Any:
    """Make a constant of an array."""
    array = np.asarray(array)
    return builder.constant({"dataType": array.dtype.name, "shape": list(array.shape)}, array)  # type: ignore[misc]
