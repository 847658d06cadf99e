"""The pass: inputs and their shapes, folding, functions, refusals."""

from __future__ import annotations

import gc
import subprocess
import sys
import tracemalloc
from contextlib import nullcontext
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, parser

import webnn
import webnn.onnx
from tests.shared import ROOT
from tests.support import compute_directly
from tests.webnn.onnx.nodes import make_context
from webnn import MLGraphBuilder, OperandDescriptor
from webnn.onnx.folding import fold

MODEL = """
<ir_version: 9, opset_import: ["" : 20]>
m (float[batch, 3] x) => (float[batch, 3] y)
<float[3] w = {1, 2, 3}>
{
    s = Add(x, w)
    y = Relu(s)
}
"""


def test_a_model_becomes_a_graph() -> None:
    imported = webnn.onnx.load(parser.parse_model(MODEL), dims={"batch": 2})
    description = imported.description
    assert (imported.inputs, imported.outputs) == ({"x": OperandDescriptor("float32", (2, 3))}, {})
    assert [(each.operation, each.label, each.outputs) for each in description.operators] == [("add", "s", ("s",)), ("relu", "y", ("y",))]
    assert list(description.constants) == ["w"]
    assert [each.outcome for each in imported.report.nodes] == ["converted", "converted"]


def test_the_bytes_of_a_file_are_a_model() -> None:
    data = parser.parse_model(MODEL).SerializeToString()
    assert webnn.onnx.load(data, dims={"batch": 2}).description == webnn.onnx.load(parser.parse_model(MODEL), dims={"batch": 2}).description
    with pytest.raises(webnn.FormatError, match="model: is not an ONNX model"):
        webnn.onnx.load(data[:-1])


@pytest.mark.parametrize("source", [3, None, bytearray(b"x")])
def test_a_source_of_another_type(source: Any) -> None:
    with pytest.raises(TypeError, match="load: source must be a file, the bytes of one, or a ModelProto, got"):
        webnn.onnx.load(source)


def test_it_computes_in_a_builder() -> None:
    context = make_context()
    builder = MLGraphBuilder(context)
    graph = builder.buildSync(dict(webnn.onnx.load(parser.parse_model(MODEL), builder, shapes={"x": [1, 3]}).outputs))
    x = context.createTensorSync(dataType="float32", shape=[1, 3], writable=True)
    y = context.createTensorSync(dataType="float32", shape=[1, 3], readable=True)
    context.writeTensor(x, np.array([[-5, 0, 0.5]], np.float32))
    context.dispatch(graph, {"x": x}, {"y": y})
    assert np.asarray(context.readTensorSync(y)).tolist() == [[0, 2, 3.5]]


@pytest.mark.processes
def test_all_refusals_come_at_once() -> None:
    model = parser.parse_model(
        """
        <ir_version: 9, opset_import: ["" : 20, "com.example" : 1]>
        m (float[n, 4] x, float[2, ?] z, string[1] t) => (float[2, 4] y)
        {
            a = com.example.Strange(z)
            b = NonMaxSuppression(z, z)
            y = Add(x, a)
        }
        """
    )
    with pytest.raises(webnn.onnx.RefusedModelError) as refused:
        webnn.onnx.load(model, dims={"m": 3})
    found = [(each.place, each.operator) for each in refused.value.report.refusals]
    assert found == [
        ("dims['m']", ""),
        ("inputs['x']", ""),
        ("inputs['z']", ""),
        ("inputs['t']", ""),
        ("a", "com.example.Strange"),
        ("b", "NonMaxSuppression"),
    ]
    text = str(refused.value)
    assert "dims={'n': ...}" in text
    assert "shapes={'z': [2, ...]}" in text
    assert "got string" in text


def test_a_model_is_not_changed() -> None:
    model = parser.parse_model(MODEL)
    before = model.SerializeToString()
    webnn.onnx.load(model, dims={"batch": 2})
    assert model.SerializeToString() == before


def test_values_that_must_be_known() -> None:
    node = helper.make_node("ConstantOfShape", ["shape"], ["y"])
    info = helper.make_tensor_value_info
    graph = helper.make_graph([node], "g", [info("shape", TensorProto.INT64, [2])], [info("y", TensorProto.FLOAT, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
    with pytest.raises(webnn.onnx.RefusedModelError, match=r"the shape must be known at import, got the value 'shape'; give it"):
        webnn.onnx.load(model)
    imported = webnn.onnx.load(model, constants={"shape": np.array([2, 3])})
    assert imported.description.descriptors()[imported.description.outputs["y"]].shape == (2, 3)


def test_inputs_without_elements_are_known() -> None:
    model = parser.parse_model(
        """
        <ir_version: 9, opset_import: ["" : 20]>
        m (float[2, 3] x, int64[n] axes, float[m, 3] more) => (float[r, 3] y)
        {
            s = Squeeze(x, axes)
            both = Concat<axis = 0>(s, more)
            y = Relu(both)
        }
        """
    )
    imported = webnn.onnx.load(model, shapes={"axes": [0], "more": [0, 3]})
    assert [*imported.inputs] == ["x"]
    assert [each.operation for each in imported.description.operators] == ["relu"]


@pytest.mark.parametrize(
    ("start", "end", "step", "wanted"), [(-9, -9, -1, [0]), (9, -9, -2, [4, 2, 0]), (2, -1, -1, []), (-9, 2, 1, [0, 1])]
)
def test_a_known_slice(start: int, end: int, step: int, wanted: list[int]) -> None:
    node = helper.make_node("Slice", ["x", "start", "end", "axis", "step"], ["y"])
    arrays = {"x": np.arange(5), "start": np.array([start]), "end": np.array([end]), "axis": np.array([0]), "step": np.array([step])}
    folded = fold(node, 13, {"": 13}, list(arrays.values()))
    assert folded is not None
    assert np.asarray(folded[0]).tolist() == wanted


@pytest.mark.parametrize(
    ("k", "attributes", "places"),
    [
        # Of equal elements the first one comes first.
        (2, {}, [[1, 2], [0, 3]]),
        (4, {"largest": 0}, [[3, 0, 1, 2], [1, 2, 0, 3]]),
        (1, {"axis": 0}, [[1, 0, 0, 1]]),
        (0, {"axis": -2}, np.zeros((0, 4))),
        (2, {"sorted": 0}, [[1, 2], [0, 3]]),
        # There are too few elements.
        (5, {}, None),
        (-1, {}, None),
    ],
)
def test_a_known_top_k(k: int, attributes: dict[str, int], places: Any) -> None:
    x = np.array([[5, 7, 7, 1], [9, 2, 2, 9]], np.uint8)
    folded = fold(helper.make_node("TopK", ["x", "k"], ["y", "i"], **attributes), 11, {"": 11}, [x, np.array([k])])
    if places is None:
        assert folded is None
        return
    assert folded is not None
    values, found = map(np.asarray, folded)
    assert found.dtype == np.int64
    assert found.tolist() == np.asarray(places).tolist()
    assert values.tolist() == np.take_along_axis(x, found, attributes.get("axis", -1)).tolist()


def test_nan_in_a_known_top_k_is_left_to_the_graph() -> None:
    node = helper.make_node("TopK", ["x", "k"], ["y", "i"])
    assert fold(node, 11, {"": 11}, [np.array([1, np.nan], np.float32), np.array([1])]) is None


@pytest.mark.parametrize(("counts", "wanted"), [((2**21, 0), (2**22, 0)), ((2**21, -1), None), ((2**21,), None), ((1, 2), (2, 6))])
def test_a_known_tile(counts: tuple[int, ...], wanted: tuple[int, ...] | None) -> None:
    """It takes the memory of its result only, also if that is empty or the counts are wrong."""
    x = np.zeros((2, 3), np.int64)
    tracemalloc.start()
    try:
        folded = fold(helper.make_node("Tile", ["x", "counts"], ["y"]), 13, {"": 13}, [x, np.array(counts)])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (folded and np.shape(folded[0])) == wanted
    assert peak < 1 << 20


def test_a_builder_of_the_first_draft() -> None:
    builder = MLGraphBuilder(webnn.ML(revision="2024-06").createContextSync())
    imported = webnn.onnx.load(parser.parse_model(MODEL), builder, dims={"batch": 2})
    assert builder.buildSync(dict(imported.outputs))._outputDescriptors == {"y": OperandDescriptor("float32", (2, 3))}
    model = parser.parse_model(MODEL.replace("Relu", "Sign"))
    builder = MLGraphBuilder(webnn.ML(revision="2024-06").createContextSync())
    imported = webnn.onnx.load(model, builder, dims={"batch": 2})
    (computed,) = compute_directly(builder.buildSync(dict(imported.outputs)), {"x": np.array([[-2, 0, 3], [1, -1, 0]], np.float32)})
    assert computed.tolist() == [[-1, 1, 1], [1, 1, 1]]


@pytest.mark.processes
@pytest.mark.parametrize(
    "node",
    [
        helper.make_node("Split", ["x"], ["y", "z", "w"], num_outputs=1),
        helper.make_node("GatherND", ["x", "i"], ["y"], batch_dims=-(2**31)),
    ],
)
def test_nodes_that_end_the_process_in_the_inference_of_onnx(node: onnx.NodeProto) -> None:
    given = {"x": TensorProto.FLOAT, "i": TensorProto.INT64}
    inputs = [helper.make_tensor_value_info(name, dtype, [3, 3]) for name, dtype in given.items()]
    body = helper.make_graph([node], "body", [], [helper.make_empty_tensor_value_info("y")])
    condition = helper.make_node("If", ["c"], ["r"], then_branch=body, else_branch=body)
    inputs.append(helper.make_tensor_value_info("c", TensorProto.BOOL, []))
    for nodes, result in (([node], "y"), ([condition], "r")):
        graph = helper.make_graph(nodes, "g", inputs, [helper.make_empty_tensor_value_info(result)])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
        with pytest.raises(webnn.onnx.RefusedModelError):
            webnn.onnx.load(model)


@pytest.mark.processes
def test_the_package_alone_has_all_operations() -> None:
    """Operations that some drafts lack are found before a name of `webnn` is used."""
    model = 'parse_model("<ir_version: 9, opset_import: [\\"\\" : 20]> m (bool[2] x) => (bool[2] y) { y = And(x, x) }")'
    code = f"from onnx.parser import *; import webnn.onnx; print(webnn.onnx.load({model}).description.operators[0].operation)"
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ended.stdout, ended.stderr) == ("logicalAnd\n", "")


@pytest.mark.parametrize("line", ["y = Relu(s)\n    y = Sigmoid(s)", "y, y = Split <axis = 1, num_outputs = 2> (s)"])
def test_a_value_is_made_once(line: str) -> None:
    with pytest.raises(webnn.onnx.RefusedModelError, match="the value 'y' must be made once"):
        webnn.onnx.load(parser.parse_model(MODEL.replace("y = Relu(s)", line)), dims={"batch": 2})


def test_a_shape_without_elements_may_have_sizes_that_no_array_has() -> None:
    text = """
    <ir_version: 9, opset_import: ["" : 20]>
    m (float[1] x) => (float[1] y, float[n, m] z)
    <int64[2] shape = {0, 4611686018427387904}>
    { y = Relu(x) z = ConstantOfShape(shape) }
    """
    with pytest.raises(webnn.onnx.RefusedModelError, match="the shape must be of at most"):
        webnn.onnx.load(parser.parse_model(text))


@pytest.mark.parametrize(
    ("inputs", "outputs"), [(["x"], ["c"]), (["x", "x", "x"], ["c"]), (["x", ""], ["c"]), (["x", "x"], ["c", "d"]), (["x", "x"], [""])]
)
def test_a_node_like_one_that_is_valid_is_checked_all_the_same(inputs: list[str], outputs: list[str]) -> None:
    model = parser.parse_model('<ir_version: 9, opset_import: ["" : 17]> m (float[2] x) => (y) { a = Add(x, x) b = Add(x, a) y = Neg(b) }')
    model.graph.node.append(helper.make_node("Add", inputs, outputs, name="bad"))
    with pytest.raises(webnn.onnx.RefusedModelError, match=r"bad \(Add\): the node is not valid"):
        webnn.onnx.load(model)


@pytest.mark.parametrize("is_refused", [False, True])
def test_no_garbage_is_collected_during_an_import(monkeypatch: pytest.MonkeyPatch, is_refused: bool) -> None:
    model = parser.parse_model('<ir_version: 9, opset_import: ["" : 17]> m (float[2] x) => (y) { y = Neg(x) }')
    if is_refused:
        model.graph.node[0].op_type = "Nothing"
    seen: list[bool] = []
    survey = webnn.onnx.survey

    def watch(*arguments: Any) -> Any:
        seen.append(gc.isenabled())
        return survey(*arguments)

    monkeypatch.setattr(webnn.onnx, "survey", watch)
    assert gc.isenabled()
    with pytest.raises(webnn.onnx.RefusedModelError) if is_refused else nullcontext():
        webnn.onnx.load(model)
    assert seen == [False]
    assert gc.isenabled()


def test_nodes_in_any_order() -> None:
    """ONNX Runtime sorts them, and its quantizer writes such files. A body takes results, too."""
    model = parser.parse_model("""
        <ir_version: 9, opset_import: ["" : 20]>
        m (float[2, 3] x) => (float[2, 3] y) <bool yes = {1}>
        {
            a = Neg(x)
            b = If (yes) <then_branch = t () => (float[2, 3] p) { p = Relu(a) }, else_branch = e () => (float[2, 3] q) { q = Abs(a) }>
            y = Exp(b)
        }
    """)
    nodes = [model.graph.node[index] for index in (1, 2, 0)]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    assert [each.operation for each in webnn.onnx.load(model).description.operators] == ["neg", "relu", "exp"]
