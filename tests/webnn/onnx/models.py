"""Comparisons of imported models with ONNX Runtime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper

import webnn
import webnn.onnx
from tests.support import CURRENT
from tests.webnn.onnx.nodes import make_context
from webnn import MLGraphBuilder
from webnn.context import once
from webnn.context.engine.products import factor_type

__all__ = ["check", "compute", "make", "one", "operations", "run_onnx"]

Array = np.ndarray[Any, np.dtype[Any]]


def make(
    node: onnx.NodeProto, feeds: Mapping[str, Array], version: int = 21, *, domains: Mapping[str, int] | None = None
) -> onnx.ModelProto:
    """Make a model of one node. Its inputs have the types and shapes of the feeds; its outputs have none.

    The test is skipped if the installed onnx is too old for the version.
    """
    if version > onnx.defs.onnx_opset_version():
        pytest.skip(f"onnx {onnx.__version__} does not have opset {version}")
    inputs = [
        onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in feeds.items()
    ]
    outputs = [onnx.helper.make_empty_tensor_value_info(name) for name in node.output if name]
    graph = onnx.helper.make_graph([node], "m", inputs, outputs)
    imports = [onnx.helper.make_opsetid(domain, number) for domain, number in {"": version, **(domains or {})}.items()]
    return onnx.helper.make_model(graph, opset_imports=imports, ir_version=10)


def one(
    operator: str, feeds: Mapping[str, Array], version: int = 21, *, outputs: Sequence[str] = ("y",), **attributes: Any
) -> onnx.ModelProto:
    """Make a model of one node that takes the feeds in their order: `make` of the node that these arguments give."""
    return make(onnx.helper.make_node(operator, list(feeds), list(outputs), **attributes), feeds, version)


def operations(model: onnx.ModelProto, **constants: Any) -> list[str]:
    """Return the operations of the graph that a model becomes if these inputs are known."""
    return [each.operation for each in webnn.onnx.load(model, constants=constants).description.operators]


def compute(
    model: onnx.ModelProto,
    feeds: Mapping[str, Array],
    *,
    reference: bool = False,
    constants: Sequence[str] = (),
    context: webnn.MLContext | None = None,
) -> dict[str, Array]:
    """Import a model and compute it; inputs that are named as constants are known at import."""
    if context is None:
        context = webnn.ML(reference=True, revision=CURRENT).createContextSync() if reference else make_context()
    builder = MLGraphBuilder(context)
    known = {name: feeds[name] for name in constants}
    shapes = {name: array.shape for name, array in feeds.items() if name not in known}
    imported = webnn.onnx.load(model, builder, shapes=shapes, constants=known)
    graph = builder.buildSync(dict(imported.outputs))
    inputs = {name: np.ascontiguousarray(feeds[name].astype(each.dataType)) for name, each in imported.inputs.items()}
    return once.compute(context, graph, inputs)


def run_onnx(model: onnx.ModelProto, feeds: Mapping[str, Array]) -> dict[str, Array]:
    """Compute a model by ONNX Runtime."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_outputs()]
    return dict(zip(names, session.run(names, dict(feeds)), strict=True))


#: Products of integers: the places of the left factor, of the right one, and of the right one's zero point.
_FACTORS = {"MatMulInteger": (0, 1, 3), "QLinearMatMul": (0, 3, 5), "QLinearConv": (0, 3, 5)}


def _without_overflow(model: onnx.ModelProto, feeds: Mapping[str, Array]) -> tuple[onnx.ModelProto, Mapping[str, Array]]:
    """Return a model and inputs with the same products of integers, that the engine computes exactly.

    On some processors its kernels for uint8 and int8 saturate, but not those for two factors of uint8 (`webnn.context.engine.products`).
    """
    places = _FACTORS.get(model.graph.node[0].op_type)
    if places is None or len(model.graph.node) > 1 or factor_type() == "int8":
        return model, feeds
    left, right, zero = places
    moved = onnx.ModelProto()
    moved.CopyFrom(model)
    node, given = moved.graph.node[0], dict(feeds)
    if given[node.input[left]].dtype != np.uint8 or given[node.input[right]].dtype != np.int8:
        return model, feeds
    node.input.extend([""] * (zero + 1 - len(node.input)))
    if not node.input[zero]:
        node.input[zero] = "zero"
        moved.graph.input.append(helper.make_tensor_value_info("zero", onnx.TensorProto.INT8, []))
        given["zero"] = np.zeros((), np.int8)
    for name in (node.input[right], node.input[zero]):
        given[name] = np.asarray(given[name].astype(np.int16) + 128, np.uint8)
        [declared] = [each for each in moved.graph.input if each.name == name]
        declared.type.tensor_type.elem_type = onnx.TensorProto.UINT8
    return moved, given


def check(model: onnx.ModelProto, feeds: Mapping[str, Array], tolerance: float = 0.0, *, constants: Sequence[str] = ()) -> dict[str, Array]:
    """Compare an import with ONNX Runtime; return what the import computes.

    Args:
        model: The model.
        feeds: Its inputs.
        tolerance: The largest difference, absolute for numbers up to 1, relative for larger ones.
        constants: Inputs that are known at import.
    """
    actual, expected = compute(model, feeds, constants=constants), run_onnx(*_without_overflow(model, feeds))
    assert actual.keys() == expected.keys()
    for name, wanted in expected.items():
        assert actual[name].shape == wanted.shape, name
        np.testing.assert_allclose(actual[name].astype(np.float64), wanted.astype(np.float64), rtol=tolerance, atol=tolerance, err_msg=name)
    return actual
