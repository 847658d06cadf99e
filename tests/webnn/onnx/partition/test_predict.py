"""How ONNX Runtime Web would partition a model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from tests.support import CURRENT, each_row
from tests.webnn.onnx.partition.models import LIMITS, model_of, partition_of
from webnn import ML
from webnn.onnx.partition.predict import Partition, describe, partition
from webnn.validation.errors import OperationError

# ---- Single nodes: what is taken, and why others are not

TAKEN = {
    "Relu": "(float[2] x) => (y) { y = Relu (x) }",
    "bool": "(bool[2] x) => (y) { y = Not (x) }",
    "clip": "(float[2] x) => (y) <float low = {0}> { y = Clip (x, low) }",
    "pool": "(float[1,2,4,4] x) => (y) { y = MaxPool <kernel_shape = [2, 2]> (x) }",
    "resize": "(float[1,2,4,4] x) => (y) <float[4] s = {1, 1, 2, 2}> { y = Resize (x, , s) }",
    "conv 1d": "(float[1,2,4] x, float[3,2,1] w) => (y) { y = Conv (x, w) }",
    "matmul 1d": "(float[4] x, float[4,3] w) => (y) { y = MatMul (x, w) }",
    "split": "(float[4] x) => (y, z) { y, z = Split <num_outputs = 2> (x) }",
    "reduction without axes": "(float[2,3] x) => (y) { y = ReduceSum (x) }",
    "einsum": '(float[2,3] x, float[3,4] w) => (y) { y = Einsum <equation = "ij,jk->ik"> (x, w) }',
    "einsum identity": '(double[2,3] x) => (y) { y = Einsum <equation = "ij -> ij"> (x) }',
    "another domain": "(float[2] x) => (y) { y = com.microsoft.Gelu (x) }",
    "uint4": "(uint4[4] x, float s) => (y) { y = DequantizeLinear (x, s) }",
    "constant": "(float[4] x) => (y) { s = Constant <value = int64[2] {2, 2}> () y = Reshape (x, s) }",
    "folded": "(float[4] x, float[2,2] like) => (y) { s = Shape (like) y = Reshape (x, s) }",
    "scatter": "(float[4] x, int64[1,1] i, float[1] u) => (y) { y = ScatterND (x, i, u) }",
    "rotary": "(float[1,2,3,4] x, float[1,3,2] c, float[1,3,2] s) => (y) { y = RotaryEmbedding (x, c, s) }",
    "lrn": "(float[1,4,2,2] x) => (y) { y = LRN <size = 3> (x) }",
    "negative steps": """
        (float[4] x) => (y) <int64[1] a = {3}, int64[1] b = {0}, int64[1] c = {0}, int64[1] d = {-1}> { y = Slice (x, a, b, c, d) }""",
    "attention": """
        (float[1,2,8] q, float[1,2,8] k, float[1,2,8] v) => (y) { y = com.microsoft.MultiHeadAttention <num_heads = 2> (q, k, v) }""",
}


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in TAKEN.items()])
def test_taken(text: str) -> None:
    found = partition_of(text, opset=23)
    assert [node.reason for node in found.nodes] == [""]
    assert [len(subgraph.nodes) for subgraph in found.subgraphs] == [1]
    assert found.note == ""


QUANTIZED = """
    ({type}{shape} x) => (y) <float{scale} s = {{{scales}}}, uint8{zero} z = {{{zeros}}}> {{ y = {call} (x, s, z) }}"""


def quantized(shape: list[int], scale: list[int], zero: list[int], operator: str = "DequantizeLinear", attributes: str = "") -> str:
    """Return a model of one node with a scale and a zero point."""
    numbers = {"scales": ", ".join(["0.5"] * math.prod(scale)), "zeros": ", ".join(["3"] * math.prod(zero))}
    kind = "uint8" if operator == "DequantizeLinear" else "float"
    shapes = {"shape": shape, "scale": scale or "", "zero": zero or ""}
    return QUANTIZED.format(type=kind, call=f"{operator} {attributes}", **shapes, **numbers)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        # ONNX Runtime Web 1.30.0 was asked for each of these.
        (quantized([1, 2, 3, 3], [], []), ""),
        (quantized([1, 2, 3, 3], [], [1]), ""),
        (quantized([4], [], [1]), ""),
        (quantized([1, 2, 3, 3], [2], [2], attributes="<axis = 1>"), ""),
        (quantized([1, 2, 3, 3], [2], [1], attributes="<axis = -3>"), "the zero point must have the scale's shape [2], got [1]"),
        (quantized([1, 2, 3, 3], [1], [1]), "the scale's shape [1] must have 2 elements"),
        (quantized([4], [1], []), "the zero point must have the scale's shape [1], got []"),
        (quantized([4], [1], [], "QuantizeLinear"), "the zero point must have the scale's shape [1], got []"),
    ],
)
def test_nodes_that_no_session_can_have(text: str, fault: str) -> None:
    found = partition_of(text)
    [node] = found.nodes
    assert (node.place, node.reason) == ("webnn", "")
    assert node.fault.startswith(fault)
    assert [each.fault for each in found.faulty] == ([node.fault] if fault else [])


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        # Only a free dimension of an input can be overridden.
        ("(float[N, 2] x) => (float[N, 2] y) { y = Relu (x) }", "[?, 2]: freeDimensionOverrides of the session can fix it"),
        ("(float[4] x) => (y) { n = NonZero (x) y = Neg (n) }", "[1, ?]: it is known only when the model runs"),
        (
            "(float[N] x) => (y) { n = NonZero (x) y = Neg (n) }",
            "[1, ?]: freeDimensionOverrides of the session can fix it, unless it depends on data",
        ),
    ],
)
def test_advice_about_dynamic_shapes(text: str, advice: str) -> None:
    assert partition_of(text).nodes[-1].reason.endswith(advice)


#: Models of one node that stays on wasm, by the reason.
REFUSED = {
    "the provider has no builder for Sum": "(float[2] x) => (y) { y = Sum (x, x) }",
    "input 0 ('x') is double, neg.input must be float32": "(double[2] x) => (y) { y = Neg (x) }",
    "input 0 ('x') is uint16, reshape.input must be": "(uint16[4] x) => (y) <int64[2] s = {2, 2}> { y = Reshape (x, s) }",
    "input 0 ('x') has a dynamic shape, [?, 2]: freeDimensionOverrides": "(float[N,2] x) => (y) { y = Relu (x) }",
    "input 0 ('x') has a dimension of 0": "(float[0,2] x) => (y) { y = Relu (x) }",
    "averagePool2d.input must have rank 4": "(float[1,2,4] x) => (y) { y = GlobalAveragePool (x) }",
    "the attribute storage_order must be 0, got 1": """
        (float[1,2,4,4] x) => (y) { y = MaxPool <kernel_shape = [2, 2], storage_order = 1> (x) }""",
    "there must be at most 1 outputs, got 2": "(float[1,2,4,4] x) => (y, i) { y, i = MaxPool <kernel_shape = [2, 2]> (x) }",
    "the attribute p must be 2, got 1": "(float[1,2,4,4] x) => (y) { y = GlobalLpPool <p = 1> (x) }",
    "input 1 ('n') must be a constant initializer": "(float[2] x, int64[1] n) => (float[4] y) { y = Tile (x, n) }",
    "input 1 ('s') must be a constant initializer": "(float[2] x, int64[1] s) => (float[2] y) { y = Reshape (x, s) }",
    "input 2 ('e') must be a constant initializer": """
        (float[4] x, int64[1] e) => (float[2] y) <int64[1] s = {0}> { y = Slice (x, s, e) }""",
    "min must be a constant initializer": "(float[2] x, float low) => (y) { y = Clip (x, low) }",
    "with min, the input must be float or float16, got int32": "(int32[2] x) => (y) <int32 low = {0}> { y = Clip (x, low) }",
    "input 1 ('p') must be a constant initializer": "(float[2] x, int64[2] p) => (float[4] y) { y = Pad (x, p) }",
    "the attribute mode must be 'constant' or 'reflect' or 'edge', got 'wrap'": """
        (float[2] x) => (y) <int64[2] p = {1, 1}> { y = Pad <mode = "wrap"> (x, p) }""",
    "the attribute mode must be 'nearest' or 'linear', got 'cubic'": """
        (float[1,2,4,4] x) => (y) <float[4] s = {1, 1, 2, 2}> { y = Resize <mode = "cubic"> (x, , s) }""",
    "scales must not resize the first two dimensions, got [1.0, 2.0, 2.0, 2.0]": """
        (float[1,2,4,4] x) => (y) <float[4] s = {1, 2, 2, 2}> { y = Resize (x, , s) }""",
    "axes must be two of the input's, got [1]": """
        (float[1,2,4,4] x) => (y) <float[1] s = {2}> { y = Resize <axes = [1]> (x, , s) }""",
    "sizes or scales must be a constant initializer": """
        (float[1,2,4,4] x, float[4] s) => (float[1,2,8,8] y) { y = Resize (x, , s) }""",
    "the input must have rank 4, got 3": "(float[1,2,4] x) => (y) { y = LRN <size = 3> (x) }",
    "the input must have rank 3 or 4, got 5": "(float[1,2,4,4,4] x, float[3,2,1,1,1] w) => (y) { y = Conv (x, w) }",
    "split (input 1, 's') must be a constant": "(float[4] x, int64[2] s) => (float[2] y, float[2] z) { y, z = Split (x, s) }",
    "axes (input 1, 'a') must be a constant": "(float[2,3] x, int64[1] a) => (float[1,3] y) { y = ReduceSum (x, a) }",
    "the attribute reduction must be 'none', got 'add'": """
        (float[4] x, int64[1,1] i, float[1] u) => (y) { y = ScatterND <reduction = "add"> (x, i, u) }""",
    "the attribute batch_dims must be 0, got 1": "(float[2,4] x, int64[2,1] i) => (y) { y = GatherND <batch_dims = 1> (x, i) }",
    "equation 'iji->' is none that the provider knows": '(float[2,2,2] x) => (float y) { y = Einsum <equation = "iji->"> (x) }',
    "there must be 1 or 2 inputs, got 3": """
        (float[2] x) => (y) { y = Einsum <equation = "i,i,i->i"> (x, x, x) }""",
    "activations must be Relu, Tanh, Sigmoid, got Affine": """
        (float[1,1,2] x, float[1,6,2] w, float[1,6,2] r) => (y) {
          y = GRU <hidden_size = 2, activations = ["Affine", "Tanh"]> (x, w, r)
        }""",
    "clip must not be given": """
        (float[1,1,2] x, float[1,6,2] w, float[1,6,2] r) => (y) { y = GRU <hidden_size = 2, clip = 1.0> (x, w, r) }""",
    "the attribute layout must be 0, got 1": """
        (float[1,1,2] x, float[1,8,2] w, float[1,8,2] r) => (y) { y = LSTM <hidden_size = 2, layout = 1> (x, w, r) }""",
    "each of sequence_lens must be 3, got [2]": """
        (float[3,1,2] x, float[1,6,2] w, float[1,6,2] r) => (y) <int32[1] n = {2}> { y = GRU <hidden_size = 2> (x, w, r, , n) }""",
    "num_heads must be given if the input has rank 3": """
        (float[1,3,8] x, float[1,3,2] c, float[1,3,2] s) => (float[1,3,8] y) { y = RotaryEmbedding (x, c, s) }""",
    "bias must not be given": """
        (float[1,2,8] q, float[1,2,8] k, float[1,2,8] v, float[24] b) => (y) {
          y = com.microsoft.MultiHeadAttention <num_heads = 2> (q, k, v, b)
        }""",
    "total_sequence_length must be a constant initializer": """
        (float[1,2,16] q, float[1,2,16] k, float[1,2,16] v, float[1,2,4,8] a, float[1,2,4,8] b, int32[1] s, int32 t)
        => (y, float[1,2,4,8] c, float[1,2,4,8] d) {
          y, c, d = com.microsoft.GroupQueryAttention <num_heads = 2, kv_num_heads = 2> (q, k, v, a, b, s, t)
        }""",
    "g_idx (input 4) must not be given": """
        (float[1,16] x, float[2] s, int32[16] g) => (y) <uint8[2,1,8] w = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}> {
          y = com.microsoft.MatMulNBits <K = 16, N = 2, bits = 4, block_size = 16> (x, w, s, , g)
        }""",
}


@pytest.mark.parametrize(("reason", "text"), [pytest.param(reason, text, id=reason) for reason, text in REFUSED.items()])
def test_refused(reason: str, text: str) -> None:
    (node,) = partition_of(text, opset=23).nodes
    assert reason in node.reason
    assert (node.place, node.subgraph) == ("wasm", None)


@each_row("equation", ["...j->j", "ij->k", "i.->i", "ij-k"])
def test_equations_that_are_not_letters(equation: str) -> None:
    (node,) = partition_of(f'(float[2,2] x) => (float[2] y) {{ y = Einsum <equation = "{equation}"> (x) }}').nodes
    assert "equation" in node.reason


# ---- Limits


def changed(operation: str, operand: str, **members: Any) -> Mapping[str, Any]:
    return {**LIMITS, operation: {**LIMITS[operation], operand: {**LIMITS[operation][operand], **members}}}


def test_limits_decide() -> None:
    text = "(int64[4] x, int64[1] i) => (y) { y = Gather (x, i) }"
    assert partition_of(text).left == ()
    without = {key: value for key, value in LIMITS.items() if key != "gather"}
    assert "the context does not support gather.input" in partition_of(text, without).nodes[0].reason
    ranked = changed("gather", "input", rankRange={"min": 2, "max": 5})
    assert "has rank 1, gather.input must have rank 2 to 5" in partition_of(text, ranked).nodes[0].reason
    unranked = {**LIMITS, "gather": {name: {"dataTypes": row["dataTypes"]} for name, row in LIMITS["gather"].items()}}
    assert "has no rankRange for gather.input" in partition_of(text, unranked).nodes[0].reason


def test_kernels_of_other_ranks_are_refused_whatever_the_limits_say() -> None:
    limits = {**LIMITS, "maxPool2d": {name: {**row, "rankRange": {"min": 0, "max": 8}} for name, row in LIMITS["maxPool2d"].items()}}
    (node,) = partition_of("(float[1,2,4] x) => (y) { y = MaxPool <kernel_shape = [2]> (x) }", limits).nodes
    assert node.reason == "kernel_shape must have 2 dimensions, got [2]"


@pytest.mark.parametrize(
    ("operation", "taken", "refused"),
    [
        ("relu", "(float[2] x) => (y) { y = Relu (x) }", "(float[2,1] x) => (y) { y = Relu (x) }"),
        (
            "reshape",
            "(float[2,3] x) => (y) <int64[1] s = {6}> { y = Reshape (x, s) }",
            "(float[6] x) => (y) <int64[2] s = {2, 3}> { y = Reshape (x, s) }",
        ),
        ("gather", "(float[2] x, int64 i) => (y) { y = Gather (x, i) }", "(float[2] x, int64[1,1] i) => (y) { y = Gather (x, i) }"),
        ("matmul", "(float[3] x, float[3,2] w) => (y) { y = MatMul (x, w) }", "(float[2,3] x, float[3,2] w) => (y) { y = MatMul (x, w) }"),
        (
            "conv2d",
            "(float[1,2,4] x, float[3,2,1] w) => (y) { y = Conv (x, w) }",
            "(float[1,2,4,4] x, float[3,2,1,1] w) => (y) { y = Conv (x, w) }",
        ),
        (
            "instanceNormalization",
            "(float[1,2,4] x, float[2] s, float[2] b) => (y) { y = InstanceNormalization (x, s, b) }",
            "(float[1,2,4,4] x, float[2] s, float[2] b) => (y) { y = InstanceNormalization (x, s, b) }",
        ),
    ],
)
def test_ranks_of_outputs(operation: str, taken: str, refused: str) -> None:
    limits = changed(operation, "output", rankRange={"min": 1, "max": 1})
    assert partition_of(taken, limits).left == ()
    (node,) = partition_of(refused, limits).nodes
    assert f"{operation}.output must have rank 1" in node.reason


def test_ranks_of_inputs_that_are_not_reshaped() -> None:
    text = "(float[1,2,4,4] x, float[2] s, float[2] b) => (y) { y = InstanceNormalization (x, s, b) }"
    (node,) = partition_of(text, changed("instanceNormalization", "scale", rankRange={"min": 2, "max": 2})).nodes
    assert node.reason == "input 1 has rank 1, instanceNormalization.scale must have rank 2"


def test_int32_replaces_int64_where_a_context_has_none() -> None:
    text = "(int64[4] x, int64[4] z) => (y) { y = Add (x, z) }"
    narrow = {**LIMITS, "add": {name: {**row, "dataTypes": ["int32"]} for name, row in LIMITS["add"].items()}}
    assert "is int64, add.a must be int32" in partition_of(text, narrow).nodes[0].reason
    assert partition_of(text, {**narrow, "constant": {**LIMITS["constant"], "dataTypes": ["float32", "int32"]}}).left == ()


def test_partitions_differ_between_profiles() -> None:
    text = "(float[1,1,1,1,1,1] x) => (y) { z = Relu (x) y = Erf (z) }"
    context = ML(revision=CURRENT, profile="coreml", fallback="silent").createContextSync(accelerated=True)
    assert partition_of(text).left == ()
    assert [node.reason for node in partition_of(text, context.opSupportLimits()).left] == [
        "input 0 ('x') has rank 6, relu.input must have rank 0 to 5",
        "input 0 ('z') has rank 6, erf.input must have rank 0 to 5",
    ]


# ---- Subgraphs


def names(found: Partition) -> list[list[str]]:
    return [[node.outputs[0] for node in subgraph.nodes] for subgraph in found.subgraphs]


SPLITS = [
    pytest.param("a = Relu (x) b = Abs (a) y = Exp (b)", [["a", "b", "y"]], [], id="none"),
    pytest.param("a = Relu (x) b = Sum (a, x) y = Exp (b)", [["a"], ["y"]], [(0, 1, ["b"])], id="one"),
    # Nodes of one subgraph need not be connected.
    pytest.param("a = Relu (x) b = Sum (x, x) c = Exp (b) y = Add (a, c)", [["a", "c", "y"]], [], id="beside"),
    pytest.param("a = Relu (x) b = Sum (a, x) c = Exp (x) y = Add (b, c)", [["a", "c"], ["y"]], [(0, 1, ["b"])], id="joined"),
    pytest.param("a = Relu (x) b = Sum (a, x) c = Sum (b, a) y = Exp (c)", [["a"], ["y"]], [(0, 1, ["b", "c"])], id="row"),
    pytest.param(
        "a = Relu (x) b = Sum (a, x) c = Exp (b) d = Sum (c, x) e = Sum (a, x, x) f = Log (e) y = Add (d, f)",
        [["a"], ["c", "f"], ["y"]],
        [(0, 1, ["b", "e"]), (1, 2, ["d"])],
        id="three",
    ),
    pytest.param("y = Sum (x, x)", [], [], id="nothing"),
]


@pytest.mark.parametrize(("body", "subgraphs", "boundaries"), SPLITS)
def test_subgraphs(body: str, subgraphs: list[list[str]], boundaries: list[tuple[int, int, list[str]]]) -> None:
    found = partition_of(f"(float[2] x) => (y) {{ {body} }}")
    assert [sorted(each) for each in names(found)] == [sorted(each) for each in subgraphs]
    assert [(each.before, each.after, sorted(node.outputs[0] for node in each.nodes)) for each in found.boundaries] == boundaries
    for index, subgraph in enumerate(found.subgraphs):
        assert {node.subgraph for node in subgraph.nodes} == {index}


def test_bodies_are_partitioned_on_their_own() -> None:
    found = partition_of("""(bool c, float[2] x) => (float[2] y) {
      a = Relu (x)
      y = If (c) <
        then_branch = yes () => (float[2] p) { q = Exp (a) p = Sum (q, a) },
        else_branch = no () => (float[2] r) { r = Log (a) }
      >
    }""")
    assert {(node.operator, node.graph, node.place) for node in found.nodes} == {
        ("Exp", "y.then_branch", "webnn"),
        ("Sum", "y.then_branch", "wasm"),
        ("Log", "y.else_branch", "webnn"),
        ("Relu", "", "webnn"),
        ("If", "", "wasm"),
    }
    assert sorted((subgraph.graph, len(subgraph.nodes)) for subgraph in found.subgraphs) == [
        ("", 1),
        ("y.else_branch", 1),
        ("y.then_branch", 1),
    ]


def test_a_body_that_reads_a_value_splits() -> None:
    found = partition_of("""(bool c, float[2] x) => (float[2] y) {
      a = Relu (x)
      b = If (c) <then_branch = yes () => (float[2] p) { p = Sum (a, a) }, else_branch = no () => (float[2] r) { r = Sum (a) }>
      y = Exp (b)
    }""")
    assert names(found) == [["a"], ["y"]]
    assert [[node.operator for node in each.nodes] for each in found.boundaries] == [["If"]]


# ---- Functions of ONNX that the CPU provider of ONNX Runtime has no kernel for


@each_row("text", [f"(float16[2,3] x) => (y) {{ y = {operator} (x) }}" for operator in ("HardSwish", "Softmax", "Softplus", "ReduceL1")])
def test_functions_that_webnn_takes_stay_whole(text: str) -> None:
    found = partition_of(text)
    assert [(node.operator, node.place) for node in found.nodes] == [(text.split("y = ")[1].split(maxsplit=1)[0], "webnn")]


def test_functions_that_nobody_takes_are_inlined_and_partitioned_later() -> None:
    found = partition_of("(float[2] x, float16[2] z) => (y) { a = Relu (x) b = CastLike (a, z) y = Add (b, z) }")
    assert sorted((node.operator, node.subgraph) for node in found.nodes) == [("Add", 1), ("Cast", 2), ("Relu", 0)]
    found = partition_of("(float[2,4,4] x, float[4] s, float[4] b) => (y) { y = GroupNormalization <num_groups = 2> (x, s, b) }")
    assert "GroupNormalization" not in {node.operator for node in found.nodes}
    assert len(found.nodes) > 3


def test_a_models_own_functions_are_inlined_first() -> None:
    functions = '<domain: "local", opset_import: ["": 21]> twice (a) => (b) { c = Relu (a) b = Exp (c) }'
    found = partition_of("(float[2] x) => (y) { y = local.twice (x) }", functions=functions)
    assert [node.operator for node in found.nodes] == ["Relu", "Exp"]


def test_names_that_look_inlined_are_nothing_special() -> None:
    found = partition_of("(float[2] x) => (y) { _inlfunc_Softmax_a = Exp (x) y = Log (_inlfunc_Softmax_a) }")
    assert [node.operator for node in found.nodes] == ["Exp", "Log"]


def test_quantization_stays_as_it_is() -> None:
    found = partition_of("(float[2] x) => (y) <int8[2] w = {1, 2}, float s = {0.5}> { d = DequantizeLinear (w, s) y = Add (x, d) }")
    assert [(node.operator, node.place) for node in found.nodes] == [("DequantizeLinear", "webnn"), ("Add", "webnn")]


# ---- Models of any size, and such as are not right


def with_weight(tensor: TensorProto) -> ModelProto:
    model = model_of("(float[2] x) => (y) { y = Add (x, w) }")
    model.graph.initializer.append(tensor)
    return model


def external(*dims: int, type: int = TensorProto.FLOAT) -> TensorProto:
    return TensorProto(name="w", data_type=type, dims=dims, data_location=TensorProto.EXTERNAL)


def test_large_weights_need_no_values() -> None:
    found = partition(with_weight(external(1 << 30, 2)), LIMITS)
    assert (found.left, found.note) == ((), "")


def cycle() -> ModelProto:
    graph = helper.make_graph(
        [helper.make_node("Relu", [a], [b]) for a, b in (("p", "q"), ("q", "p"))], "g", [], [helper.make_empty_tensor_value_info("p")]
    )
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)])


def deep(levels: int) -> ModelProto:
    graph = helper.make_graph([], "g", [], [])
    for _ in range(levels):
        node = NodeProto(op_type="If")
        node.attribute.add(name="then_branch", type=5).g.CopyFrom(graph)
        graph = helper.make_graph([node], "g", [], [])
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        pytest.param(cycle(), "must not form a circle", id="circle"),
        pytest.param(deep(33), "at most 32 deep", id="deep"),
        pytest.param(with_weight(external(2)), "external data of the initializer 'w' must be loaded", id="not loaded"),
        pytest.param(with_weight(external(-1)), "dimensions of the initializer 'w' must not be negative", id="negative"),
        pytest.param(with_weight(external(1 << 60)), "must have at most 1099511627776 bytes", id="huge"),
    ],
)
def test_models_that_cannot_be_partitioned(model: ModelProto, message: str) -> None:
    with pytest.raises(OperationError, match=message):
        partition(model, LIMITS)


def test_a_model_that_is_refused_is_partitioned_as_it_stands() -> None:
    found = partition_of("(float[2] x) => (float[2] y) { a = Relu (x) b = Mystery (a) y = Identity (a) }")
    assert "the model is not optimized: ONNX Runtime refuses the model" in found.note
    assert [(node.operator, node.place) for node in found.nodes] == [("Relu", "webnn"), ("Mystery", "wasm"), ("Identity", "webnn")]


@each_row("attribute", ['axis = "a"', "axis = 1.5", "axis = [1, 2]"])
def test_attributes_of_another_type(attribute: str) -> None:
    found = partition_of(f"(float[4] x) => (y, z) {{ m = Mystery (x) y, z = Split <num_outputs = 2, {attribute}> (x) }}")
    assert found.note
    assert {node.operator for node in found.nodes} == {"Mystery", "Split"}


@pytest.mark.parametrize("model", [pytest.param(ModelProto(), id="empty"), pytest.param(model_of("() => () { }"), id="no node")])
def test_models_without_nodes(model: ModelProto) -> None:
    assert partition(model, LIMITS).nodes == ()


def test_a_broken_constant_is_no_crash() -> None:
    model = model_of("(float[4] x) => (float[2,2] y) { y = Reshape <allowzero = 1> (x, s) z = Mystery (x) }")
    broken = numpy_helper.from_array(np.array([2, 2], np.int64), "s")
    broken.raw_data = b"\x00"
    model.graph.initializer.append(broken)
    assert len(partition(model, LIMITS).nodes) == 2


# ---- As text


def test_description() -> None:
    lines = describe(partition_of("(float[2] x) => (y) { a = Relu (x) b = Sum (a, x) y = Exp (b) }"))
    assert lines == [
        *("2 of 3 nodes in WebNN, in 2 subgraphs", "subgraph 0: 1 node, Relu 'a'", "subgraph 1: 1 node, Exp 'y'"),
        *("split 0 | 1: Sum 'b'", "wasm: Sum 'b': the provider has no builder for Sum"),
    ]
