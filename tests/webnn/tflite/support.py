"""Comparisons of imported models with what LiteRT's reference kernels compute."""

from __future__ import annotations

import base64
import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import webnn
import webnn.tflite
from tests.webnn.onnx.nodes import make_context
from tests.webnn.tflite.cases import CASES
from tests.webnn.tflite.makers import feed
from webnn import MLGraphBuilder
from webnn.context import once
from webnn.tflite.model import read

__all__ = ["RECORDED", "check", "compute", "operations", "refusals"]

Array = np.ndarray[Any, np.dtype[Any]]

#: The outputs that LiteRT computes for the cases: `python -m tools.evidence.tflite_ops` writes it.
RECORDED = Path(__file__).with_name("recorded.json")


@functools.cache
def _recorded() -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(RECORDED.read_text(encoding="utf-8"))
    return found


def operations(model: bytes, **settings: Any) -> list[str]:
    """Return the operations of the graph that a model becomes."""
    return [each.operation for each in webnn.tflite.load(model, **settings).description.operators]


def refusals(model: bytes, **settings: Any) -> list[tuple[str, str]]:
    """Return the operators of the refusals of a model, with the reasons."""
    try:
        webnn.tflite.load(model, **settings)
    except webnn.tflite.RefusedModelError as error:
        return [(each.operator, each.reason) for each in error.report.refusals]
    return []


def compute(model: bytes, feeds: Mapping[str, Array], *, context: webnn.MLContext | None = None, **settings: Any) -> dict[str, Array]:
    """Import a model and compute it. Inputs that are not given are zeros."""
    context = context or make_context()
    builder = MLGraphBuilder(context)
    imported = webnn.tflite.load(model, builder, **settings)
    graph = builder.buildSync(dict(imported.outputs))
    given = {name: feeds.get(name, np.zeros(each.dimensions, np.float32)) for name, each in imported.inputs.items()}
    inputs = {name: np.ascontiguousarray(given[name].astype(each.dataType)) for name, each in imported.inputs.items()}
    return once.compute(context, graph, inputs)


def check(name: str) -> None:
    """Compare a case with what is recorded: within one step of quantized integers, and 1e-5 of the largest value of others."""
    model = CASES[name]
    graph = read(model).subgraphs[0]
    tensors = [graph.tensors[index] for index in graph.inputs]
    inputs = feed([(each.name, each.shape, each.stored) for each in tensors])
    found = compute(model, {tensor.name: value for tensor, value in zip(tensors, inputs, strict=True)})
    outputs = _recorded()[name]
    assert len(outputs) == len(graph.outputs)
    for index, (dtype, shape, data) in zip(graph.outputs, outputs, strict=True):
        tensor = graph.tensors[index]
        wanted = np.frombuffer(base64.b64decode(data), dtype).reshape(shape).astype(np.float64)
        assert found[tensor.name].shape == wanted.shape
        is_exact = tensor.quantization is None and np.dtype(dtype).kind != "f"
        limit = 0 if is_exact else 1 if tensor.quantization is not None else 1e-5 * np.abs(wanted).max(initial=0)
        np.testing.assert_allclose(found[tensor.name].astype(np.float64), wanted, rtol=0, atol=limit, err_msg=tensor.name)
