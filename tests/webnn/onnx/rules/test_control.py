"""If, Loop and Scan, compared with ONNX Runtime."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper, parser

import webnn.onnx
from tests.webnn.onnx.models import check, make, operations

X = np.arange(6, dtype=np.float32).reshape(2, 3) - 2

IF = """
<ir_version: 9, opset_import: ["" : 20]>
m (bool[1] c, float[2, 3] x) => (float[2, 3] y, float[2, 3] z)
<float one = {1}>
{
    w = Add(x, one)
    y, z = If (c) <
        then_branch = t () => (float[2, 3] p, float[2, 3] r) { p = Mul(w, x) r = Identity(w) },
        else_branch = e () => (float[2, 3] q, float[2, 3] r) { q = Sub(x, w) r = Identity(w) }
    >
}
"""


@pytest.mark.parametrize("constants", [(), ("c",)])
@pytest.mark.parametrize("condition", [False, True])
def test_if(condition: bool, constants: Sequence[str]) -> None:
    check(parser.parse_model(IF), {"c": np.array([condition]), "x": X}, constants=constants)


def test_a_known_condition_leaves_one_branch() -> None:
    assert operations(parser.parse_model(IF), c=np.array([True])) == ["add", "mul"]


#: The branch that is not taken with a rate of 16000 cannot be imported.
RATES = """
<ir_version: 9, opset_import: ["" : 20]>
m (int64 rate, float[2, 3] x) => (float[2, 3] y)
<int64 known = {16000}>
{
    c = Equal(rate, known)
    y = If (c) <
        then_branch = t () => (float[2, 3] p) { p = Relu(x) },
        else_branch = e () => (float[2, 3] q) { n = NonZero(x) q = Cast<to = 1>(n) }
    >
}
"""


def test_the_input_that_a_condition_depends_on_is_named() -> None:
    model = parser.parse_model(RATES)
    with pytest.raises(webnn.onnx.RefusedModelError) as caught:
        webnn.onnx.load(model)
    [refusal] = caught.value.report.refusals
    assert refusal.operator == "If"
    assert refusal.reason.startswith("the condition depends on the input 'rate', and else_branch cannot be imported: ")
    assert "(NonZero)" in refusal.reason
    assert refusal.advice.startswith("give constants={'rate': ...}")
    assert operations(model, rate=np.array(16000)) == ["relu"]


#: Conditions that a part of their inputs decides, for a branch that cannot be imported.
DECIDED = """
<ir_version: 9, opset_import: ["" : 20]>
m (float[2, 3] x, bool b) => (float[2, 3] y)
<bool no = {{0}}, bool yes = {{1}}, int64 six = {{6}}>
{{
    {condition}
    y = If (c) <
        then_branch = t () => (float[2, 3] p) {{ p = Relu(x) }},
        else_branch = e () => (float[2, 3] q) {{ r = RandomNormalLike(x) q = Foo(r) }}
    >
}}
"""


@pytest.mark.parametrize(
    "condition",
    [
        "n = Size(x) c = Equal(n, six)",
        "c = Or(b, yes)",
        "d = And(no, b) c = Not(d)",
        "c = Where(yes, yes, b)",
        "c = OptionalHasElement(x)",
    ],
)
def test_conditions_that_a_part_decides(condition: str) -> None:
    """Nothing in the other branch is looked at."""
    assert operations(parser.parse_model(DECIDED.format(condition=condition))) == ["relu"]


@pytest.mark.parametrize("condition", ["c = And(b, yes)", "c = Or(no, b)", "c = Where(b, yes, no)", "c = Xor(b, yes)"])
def test_conditions_that_need_the_data(condition: str) -> None:
    with pytest.raises(webnn.onnx.RefusedModelError, match="the condition depends on the input 'b', and else_branch cannot be imported"):
        operations(parser.parse_model(DECIDED.format(condition=condition)))


#: A loop whose body cannot be imported.
SKIPPED = """
<ir_version: 9, opset_import: ["" : 20]>
m (float[2, 3] x, int64 steps, bool b) => (float[2, 3] y, float[2, 3] z)
<bool no = {{0}}, int64 zero = {{0}}, float one = {{1}}>
{{
    v, s = Loop ({count}, {condition}, x) <
        body = g (int64 i, bool before, float[2, 3] a) => (bool before, float[2, 3] next, float[2, 3] o) {{ next = Foo(a) o = Neg(a) }}
    >
    y = Add(v, one)
    k = Shape(s)
    n = ReduceSum<keepdims = 0>(k)
    w = Cast<to = 1>(n)
    z = Mul(x, w)
}}
"""


@pytest.mark.parametrize(("count", "condition"), [("steps", "no"), ("zero", "b"), ("zero", "no")])
def test_loops_without_steps(count: str, condition: str) -> None:
    """One of both says it. The joined results have the shape that the body declares."""
    model = parser.parse_model(SKIPPED.format(count=count, condition=condition))
    assert operations(model) == ["add", "mul"]


LOOP = """
<ir_version: 9, opset_import: ["" : 20]>
m (int64 n, bool c, float[2, 3] x) => (float[2, 3] y, float[k, 2, 3] s, int64[k] numbers)
<float half = {0.5}, int64 last = {3}>
{
    y, s, numbers = Loop (n, c, x) <
        body = b (int64 i, bool before, float[2, 3] a) => (bool after, float[2, 3] next, float[2, 3] half_a, int64 twice)
        {
            half_a = Mul(a, half)
            f = Cast<to = 1>(i)
            next = Add(half_a, f)
            twice = Add(i, i)
            after = Less(i, last)
        }
    >
}
"""


@pytest.mark.parametrize(("count", "steps"), [(1, 1), (3, 3), (9, 4)])
def test_loop(count: int, steps: int) -> None:
    feeds = {"n": np.array(count), "c": np.array(True), "x": X}
    assert check(parser.parse_model(LOOP), feeds, constants=("n", "c"))["numbers"].tolist() == [2 * index for index in range(steps)]


def test_operators_behind_a_body_have_the_label_of_the_node() -> None:
    imported = webnn.onnx.load(parser.parse_model(LOOP), constants={"n": np.array(2), "c": np.array(True)})
    assert [(each.operation, each.label) for each in imported.description.operators] == [
        ("mul", "y/body[0]/half_a"),
        ("add", "y/body[0]/next"),
        ("mul", "y/body[1]/half_a"),
        ("add", "y/body[1]/next"),
        ("reshape", "y"),
        ("reshape", "y"),
        ("concat", "y"),
        ("identity", ""),
    ]


def test_the_weights_of_a_body_are_one_constant() -> None:
    body = _body([helper.make_node("Add", ["a", "w"], ["next"])], ["a"], ["next"])
    body.initializer.append(numpy_helper.from_array(np.arange(20, dtype=np.float32), "w"))
    assert len(webnn.onnx.load(_loop(body, 5), constants={"n": np.array(5)}).description.constants) == 1


@pytest.mark.parametrize("outputs", [["y"], []])
def test_a_loop_without_an_end(outputs: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of steps is limited, also if the body has no nodes."""
    monkeypatch.setattr("webnn.onnx.importer.Importer.most_steps", 1000)
    body = _body([helper.make_node("Neg", ["a"], ["next"])] if outputs else [], ["a"], ["next" if outputs else "a"])
    with pytest.raises(webnn.onnx.RefusedModelError, match="the graph must have at most 1000 nodes"):
        webnn.onnx.load(_loop(body, None), constants={"n": np.array(2**62)})


def _body(nodes: Sequence[NodeProto], inputs: Sequence[str], outputs: Sequence[str]) -> GraphProto:
    """Make a body that goes on, with values of the shape [20]."""
    info = [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("c", TensorProto.BOOL, [])]
    values = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, [20]) for name in names] for names in (inputs, outputs)]
    return helper.make_graph(nodes, "b", info + values[0], [info[1], *values[1]])


def _loop(body: GraphProto, count: int | None) -> ModelProto:
    node = helper.make_node("Loop", ["n", "", "x"], ["y"], body=body)
    return make(node, {"n": np.array(count or 1), "x": np.zeros(20, np.float32)})


SCAN = """
<ir_version: 9, opset_import: ["" : 20]>
m (float[3] x, float[2, 4, 3] a, float[4, 3] b) => (float[3] y, float[?, ?, ?] s, float[?, ?] t)
{{
    y, s, t = Scan <
        num_scan_inputs = 2, {attributes},
        body = g (float[3] h, float[2, 3] p, float[3] q) => (float[3] next, float[2, 3] u, float[3] v)
        {{
            u = Mul(p, h)
            v = Sub(q, h)
            next = Add(h, q)
        }}
    > (x, a, b)
}}
"""


@pytest.mark.parametrize("constants", [(), ("a",), ("x", "a", "b")])
@pytest.mark.parametrize(
    "attributes",
    [
        "scan_input_axes = [1, 0]",
        "scan_input_axes = [-2, 0], scan_input_directions = [1, 0]",
        "scan_input_axes = [1, 0], scan_output_directions = [0, 1]",
        "scan_input_axes = [1, 0], scan_output_axes = [1, -1], scan_input_directions = [0, 1], scan_output_directions = [1, 0]",
    ],
)
def test_scan(attributes: str, constants: Sequence[str]) -> None:
    random = np.random.default_rng(0)
    feeds = {name: random.standard_normal(shape).astype(np.float32) for name, shape in {"x": (3,), "a": (2, 4, 3), "b": (4, 3)}.items()}
    check(parser.parse_model(SCAN.format(attributes=attributes)), feeds, 1e-6, constants=constants)


@pytest.mark.parametrize("directions", [[0], [1]])
def test_scan_of_opset_8(directions: list[int]) -> None:
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in ("h", "p", "next", "u")]
    nodes = [helper.make_node("Add", ["h", "p"], ["next"]), helper.make_node("Identity", ["next"], ["u"])]
    body = helper.make_graph(nodes, "b", infos[:2], infos[2:])
    node = helper.make_node("Scan", ["", "x", "a"], ["y", "s"], body=body, num_scan_inputs=1, directions=directions)
    feeds = {"x": np.arange(4, dtype=np.float32).reshape(2, 2), "a": np.arange(12, dtype=np.float32).reshape(2, 3, 2)}
    check(make(node, feeds, 8), feeds)


REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "shapes of branches": (
        IF.replace("Sub(x, w)", "Constant<value_float = 1.0>()"),
        {},
        r"must give y one type and shape if the condition is computed, got float32 \[2, 3\] and float32 \[\]",
    ),
    "an unknown count": (LOOP, {"c": np.array(True)}, "the trip count must be known at import, got the value 'n'"),
    "a computed condition": (
        LOOP.replace("Less(i, last)", "Less(a, half)"),
        {"c": np.array(True), "n": np.array(2)},
        "the condition of each step must be known at import, but the body computes it from data",
    ),
    "no steps": (LOOP, {"c": np.array(True), "n": np.array(0)}, "tensors without elements are not supported"),
    "two counts": (LOOP, {"c": np.array(True), "n": np.array([1, 2])}, r"the trip count must have one element, got \[2\]"),
    "axes": (SCAN.format(attributes="scan_input_axes = [1]"), {}, "scan_input_axes must have 2 numbers, got 1"),
    "an axis": (SCAN.format(attributes="scan_input_axes = [1, 2]"), {}, "scan_input_axes must be from -2 to 1, got 2"),
    "an output axis": (
        SCAN.format(attributes="scan_input_axes = [1, 0], scan_output_axes = [0, 2]"),
        {},
        "the scan output axis must be from -2 to 1, got 2",
    ),
    "directions": (
        SCAN.format(attributes="scan_input_axes = [1, 0], scan_input_directions = [0, 2]"),
        {},
        r"scan_input_directions must be 0 or 1 for each, got \[0, 2\]",
    ),
    "lengths": (SCAN.format(attributes="scan_input_axes = [0, 0]"), {}, r"the sequences must have one length, got \[2, 4\]"),
    "counts": (
        SCAN.format(attributes="scan_input_axes = [0, 0]").replace("inputs = 2", "inputs = 4"),
        {},
        "num_scan_inputs must be from 1",
    ),
    "inputs of the body": (IF.replace("t ()", "t (float k)"), {"c": np.array(True)}, "y/then_branch must have 0 inputs, got 1"),
    "long sequences": (
        SCAN.format(attributes="scan_input_axes = [1, 0]").replace("[4, 3]", "[99999, 3]").replace("2, 4, 3", "2, 99999, 3"),
        {},
        "there must be at most 65536 steps, got 99999",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str) -> None:
    text, constants, reason = REFUSED[case]
    with pytest.raises(webnn.onnx.RefusedModelError, match=reason):
        webnn.onnx.load(parser.parse_model(text), constants=constants)
