"""Modules and lines of PyTorch in messages, in a model that its exporter wrote: PyTorch is not needed."""

from __future__ import annotations

import pytest
from onnx import NodeProto, StringStringEntryProto, parser

import webnn.onnx
from tests.shared import ROOT
from tests.support import each_row
from webnn.onnx.origins import add_module, find_line, find_origin

LINEAR = 'File "/x/site-packages/torch/nn/modules/linear.py", line 3, in forward'
DATA = ROOT / "tests" / "webnn" / "torch" / "data"


def note(node: NodeProto, key: str, value: str) -> NodeProto:
    node.metadata_props.append(StringStringEntryProto(key=f"pkg.torch.onnx.{key}", value=value))
    return node


@pytest.mark.processes
def test_a_refusal_names_the_module_and_the_line() -> None:
    with pytest.raises(webnn.onnx.RefusedModelError) as caught:
        webnn.onnx.load(DATA / "nonzero.onnx")
    (refusal,) = caught.value.report.refusals
    assert refusal.operator == "NonZero"
    place, _, line = refusal.place.partition(" (models.py:")
    assert place == "1/node_NonZero_0"
    assert int(line.removesuffix(")")) > 0
    assert [node.name for node in caught.value.report.nodes] == ["0/node_linear", "1/node_NonZero_0", "1/node_nonzero"]


def test_operators_have_the_names_of_modules() -> None:
    imported = webnn.onnx.load(DATA / "mlp-dynamic.onnx", dims={"s31": 2})
    assert [each.label for each in imported.description.operators] == ["0/node_linear", "1/node_tanh", "2/node_linear_1"]
    assert {"0.weight", "2.bias"} <= imported.description.constants.keys()


@each_row(
    ("scopes", "name"),
    [
        ("['', 'layers.0', 'layers.0.attention', 'linear']", "layers.0.attention/n"),
        ("['', 'linear']", "n"),
        ("['linear']", "n"),
        ("", "n"),
        ("[[[[", "n"),
    ],
)
def test_a_module(scopes: str, name: str) -> None:
    assert add_module(note(NodeProto(), "name_scopes", scopes), "n") == name


@each_row(
    ("trace", "line"),
    [
        ('  File "/home/me/model.py", line 12, in forward\n    return self.f(x)', " (model.py:12)"),
        ('File "C:\\me\\model.py", line 3, in forward', " (model.py:3)"),
        # The innermost line that is not PyTorch's own.
        (
            'File "a.py", line 1, in f\nFile "b.py", line 2, in g\nFile "/x/site-packages/torch/nn/modules/linear.py", line 3, in h',
            " (b.py:2)",
        ),
        ('File "/x/site-packages/torch/nn/modules/linear.py", line 3, in forward', ""),
        ("", ""),
        ('File "', ""),
    ],
)
def test_a_line(trace: str, line: str) -> None:
    assert find_line(trace) == line
    assert find_origin(note(NodeProto(), "stack_trace", trace)) == line


def test_metadata_that_are_no_text() -> None:
    # As a foreign file has it: protobuf reads it all the same.
    node = NodeProto()
    node.ParseFromString(note(NodeProto(), "name_scopes", "['', 'abc', 'x']").SerializeToString().replace(b"abc", b"\xff\xfe\xfd"))
    assert add_module(node, "n") in ("n", "\ufffd\ufffd\ufffd/n")


def test_a_node_in_a_body() -> None:
    model = parser.parse_model("""
        <ir_version: 9, opset_import: ["" : 20]>
        m (float[2] x, bool c) => (float[n] y)
        {
            y = If (c) <
                then_branch = t () => (float[n] a) { i = NonZero(x) a = Cast<to = 1>(i) },
                else_branch = e () => (float[2] b) { b = Neg(x) }
            >
        }
    """)
    body = model.graph.node[0].attribute[0].g
    note(body.node[0], "stack_trace", 'File "model.py", line 7, in forward')
    with pytest.raises(webnn.onnx.RefusedModelError, match=r"i \(model\.py:7\) \(NonZero\)"):
        webnn.onnx.load(model)
