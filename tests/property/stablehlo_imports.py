"""Imports of StableHLO programs: a complete graph of the results that the program says, or a documented error."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from typing import Any

import numpy as np

import webnn
import webnn.hlo
import webnn.stablehlo
from webnn.hlo import Module
from webnn.hlo.types import TensorType, TupleType, Type
from webnn.importing.values import carrier
from webnn.stablehlo.elements import dtype_of

__all__ = ["draw_constants", "load"]

#: The most elements of an array that is drawn for an argument.
_MOST_ELEMENTS = 4096
_EXTREMES = [0.0, -0.0, math.nan, math.inf, -math.inf, 1e-45, 3e38, 100, 255, -128, 2**31 - 1]


def draw_constants(module: Module, random: random.Random) -> dict[str, Any]:
    """Return arrays for some arguments; small integers, which may be sizes and indices, are known most of the time."""
    main = module.find("main")
    found: dict[str, Any] = {}
    if main is None:
        return found
    all_known = random.random() < 0.35
    for name, type in zip(main.argument_names, main.type.inputs, strict=True):
        if not isinstance(type, TensorType) or not type.size or type.size > _MOST_ELEMENTS:
            continue
        dtype = dtype_of(type.element)
        is_small = dtype.kind in "iu" and type.size <= 4
        if not (all_known or random.random() < (0.7 if is_small else 0.1)):
            continue
        numbers: Any = [random.choice([0, 1, 1, 2, 2, 3, 5, random.uniform(-3, 9)]) for _ in range(type.size)]
        if random.random() < 0.1:
            numbers = [random.choice(_EXTREMES) for _ in numbers]
        with np.errstate(all="ignore"):
            found[name] = np.array(numbers, np.float64).astype(dtype).reshape([size or 0 for size in type.shape])
    return found


def load(source: Module | bytes, constants: Mapping[str, Any]) -> bool:
    """Import a program, or a file with one, and build its graph without compiling it; return whether it is valid.

    Any other error than one that `webnn.stablehlo.load` documents comes out.
    """
    try:
        module = source if isinstance(source, Module) else webnn.hlo.read(source)
        imported = webnn.stablehlo.load(module, constants=constants, precision="f32")
    except (webnn.stablehlo.RefusedModelError, webnn.FormatError, webnn.NotSupportedError, webnn.WebNNTypeError) as error:
        text = str(error)
        assert 0 < len(text) < 40_000, f"a text of {len(text)} characters"
        # Memory is counted before it is allocated.
        assert "there must be enough memory" not in text, text
        return False
    _check_import(module, imported)
    return True


def _check_import(module: Module, imported: webnn.stablehlo.Imported) -> None:
    """Check that a graph is complete, that a builder takes it, and that it has the results that the program says."""
    description = imported.description
    assert all(operator.descriptors for operator in description.operators)
    assert description.outputs
    main = module.find("main") or module.functions[0]
    wanted: dict[str, TensorType] = {}
    for name, type in zip(main.result_names, main.type.results, strict=True):
        wanted.update(_flatten(name, type))
    builder = webnn.MLGraphBuilder(webnn.ML(revision=description.draft).createContextSync())
    outputs = description.build(builder)
    assert outputs.keys() == wanted.keys()
    for name, operand in outputs.items():
        type = wanted[name]
        assert len(operand.shape) == type.rank, f"{name} must be {type}, got {list(operand.shape)}"
        sizes = zip(operand.shape, type.shape, strict=True)
        assert all(expected in (None, given) for given, expected in sizes), f"{name} must be {type}, got {list(operand.shape)}"
        assert operand.dataType == carrier(dtype_of(type.element)), f"{name} must be {type}, got {operand.dataType}"


def _flatten(name: str, type: Type) -> dict[str, TensorType]:
    if isinstance(type, TupleType):
        found: dict[str, TensorType] = {}
        for index, each in enumerate(type.types):
            found.update(_flatten(f"{name}.{index}", each))
        return found
    return {name: type} if isinstance(type, TensorType) else {}
