"""`.webnn.json`: what is written, that it comes back, and what is refused."""

from __future__ import annotations

import json
import pickle
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import webnn
from tests.support import BROWSERS, CURRENT
from tests.webnn.formats.graphs import mixed, new_builder, relu, small_integers
from webnn import FormatError, GraphDescription, OperatorDescription
from webnn.builder.ops.recurrent import RecurrentOps
from webnn.formats.exchange import SEQUENCES, signatures
from webnn.validation.drafts import DEFAULT, DRAFTS, find_revision

DATA = Path(__file__).parent / "data"
SUFFIXES = (".webnn.json", ".webnn")


def again(description: GraphDescription, folder: Path, suffix: str) -> GraphDescription:
    path = folder / f"graph{suffix}"
    description.save(path)
    return webnn.load(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("make", [relu, mixed, small_integers])
def test_what_is_saved_comes_back(make: Callable[[], GraphDescription], suffix: str, tmp_path: Path) -> None:
    description = make()
    if suffix == ".webnn":
        # The first save names the values so that the text can say them.
        description = again(description, tmp_path, suffix)
    loaded = again(description, tmp_path, suffix)
    assert loaded == description
    assert loaded.digest() == description.digest()
    assert loaded.descriptors() == description.descriptors()
    assert [each.descriptors for each in loaded.operators] == [each.descriptors for each in loaded.infer().operators]
    loaded.build(new_builder(loaded.draft))


def test_what_is_written(tmp_path: Path) -> None:
    mixed().save(tmp_path / "graph.webnn.json")
    text = (tmp_path / "graph.webnn.json").read_text(encoding="utf-8")
    content = json.loads(text)
    assert list(content) == ["format", "version", "name", "quantized", "inputs", "consts", "nodes", "outputs"]
    assert (content["format"], content["version"], content["name"], content["quantized"]) == ("webnn-graph-json", 2, "mixed", False)
    assert content["inputs"] == {"x": {"dataType": "float32", "shape": [1, 2, 4, 4]}}
    kinds = {name: (each["dataType"], each["shape"], each["init"]) for name, each in content["consts"].items()}
    [label] = [node["options"]["label"] for node in content["nodes"] if "label" in node["options"]]
    assert label == 'conv "1"\n\U0001f926'
    assert kinds == {
        f"{label}_filter": ("float32", [2, 2, 1, 1], {"kind": "inlineBytes", "bytes": list(np.arange(4, dtype=np.float32).tobytes())}),
        f"{label}_bias": ("float32", [2], {"kind": "inlineBytes", "bytes": [0, 0, 0, 128, 0, 0, 192, 127]}),
        "input": ("float16", [1, 2, 4, 4], {"kind": "weights", "ref": "input"}),
        "input_2": ("int64", [], {"kind": "inlineBytes", "bytes": [1, 0, 0, 0, 0, 0, 0, 64]}),
    }
    nodes = {node["op"]: node for node in content["nodes"]}
    assert nodes["conv2d"] == {
        "id": label,
        "op": "conv2d",
        "inputs": ["x", f"{label}_filter"],
        "options": {"strides": [1, 1], "inputLayout": "nchw", "bias": f"{label}_bias", "label": label},
    }
    assert nodes["split"]["options"] == {"splits": 2, "axis": 1}
    assert (nodes["split"]["id"], nodes["split"]["outputs"]) == ("split_0", ["split_0", "split_1"])
    assert nodes["concat"]["inputs"] == ["cast", "slice"]
    assert nodes["resample2d"]["options"] == {"mode": "linear", "scales": [1.1, 1.0]}
    # One line for each node.
    assert text.count('\n  {"id": ') == len(content["nodes"])


@pytest.mark.parametrize(
    ("dataType", "given", "written"),
    [
        ("float32", 1e-5, "1e-05"),
        ("float32", float(np.float32(1e-5)), "1e-05"),
        ("float16", float(np.float16(0.1)), "0.1"),
        ("float16", float(np.float32(0.1)), "0.10000000149011612"),
        # Halfway between two numbers of half precision: the shortest decimal of single precision would be rounded up.
        ("float16", 1 + 2**-11, "1.00048828125"),
        ("float32", 0.1234567890123, "0.1234567890123"),
        ("float32", -0.0, "-0.0"),
        ("float32", -float("inf"), '"-Infinity"'),
        ("float32", float("nan"), '"NaN"'),
        ("int64", 2**63 - 1, "9223372036854775807"),
        ("int64", 0.5, "0.5"),
    ],
)
def test_numbers(dataType: str, given: float, written: str, tmp_path: Path) -> None:
    builder = new_builder()
    description = webnn.describe({"y": builder.clamp(builder.input("x", dataType=dataType, shape=[2]), maxValue=given)})
    loaded = again(description, tmp_path, ".webnn.json")
    [line] = [each for each in (tmp_path / "graph.webnn.json").read_text().splitlines() if "clamp" in each]
    assert f'{{"maxValue": {written}}}' in line

    def converted(graph: GraphDescription) -> str:
        return repr(graph.build(new_builder())["y"]._operator.options.maxValue)

    assert converted(loaded) == converted(description)


def test_small_integers_are_packed(tmp_path: Path) -> None:
    description = small_integers()
    loaded = again(description, tmp_path, ".webnn.json")
    assert (description.draft, loaded.draft) == (BROWSERS, BROWSERS)
    plain = replace(description, draft=CURRENT)
    assert again(plain, tmp_path, ".webnn.json") == description
    assert "draft" not in json.loads((tmp_path / "graph.webnn.json").read_text())
    # A graph without small integers has no need of the addition.
    builder = new_builder(BROWSERS)
    same = webnn.describe({"y": builder.relu(builder.input("x", dataType="float32", shape=[2]))})
    assert again(same, tmp_path, ".webnn.json").draft == CURRENT
    builder = new_builder(BROWSERS)
    cast = webnn.describe({"y": builder.cast(builder.input("x", dataType="uint8", shape=[2]), "uint4")})
    assert again(cast, tmp_path, ".webnn").draft == BROWSERS


# Drafts.


def old(make: Callable[[webnn.MLGraphBuilder, webnn.MLOperand], webnn.MLOperand]) -> GraphDescription:
    builder = new_builder("2024-06")
    return webnn.describe({"y": make(builder, builder.input("x", {"dataType": "float32", "dimensions": [1, 1, 4, 4]}))})


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_older_draft_is_lifted(suffix: str, tmp_path: Path) -> None:
    description = old(lambda builder, x: builder.averagePool2d(x, windowDimensions=[3, 3], strides=[2, 2], roundingType="ceil"))
    loaded = again(description, tmp_path, suffix)
    assert loaded == description.lift()
    assert (loaded.draft, loaded.operators[0].options["outputShapeRounding"]) == (CURRENT, "ceil")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_has_no_counterpart_keeps_its_draft(suffix: str, tmp_path: Path) -> None:
    builder = new_builder("2024-06")
    x, weight, recurrent = (
        builder.input(name, {"dataType": "float32", "dimensions": list(shape)})
        for name, shape in (("x", (2, 1, 3)), ("w", (1, 6, 3)), ("r", (1, 6, 2)))
    )
    description = webnn.describe({"y": builder.gru(x, weight, recurrent, 2, 2, activations=[builder.elu(alpha=0.25), builder.tanh()])[0]})
    with pytest.warns(webnn.WebNNWarning, match="save: the file keeps the draft 2024-06, .*gru has no counterpart") as caught:
        description.save(tmp_path / f"graph{suffix}")
    assert caught[0].filename == __file__
    loaded = webnn.load(tmp_path / f"graph{suffix}")
    assert loaded == description
    assert ("2024-06" in (tmp_path / f"graph{suffix}").read_text()) == (loaded.draft == "2024-06")


def test_an_addition_that_changes_contexts_only(tmp_path: Path) -> None:
    """A graph of the default draft of Python is one of the newest draft, in a file, too."""
    relu().save(tmp_path / "graph.webnn.json")
    content = json.loads((tmp_path / "graph.webnn.json").read_text())
    (tmp_path / "named.webnn.json").write_text(json.dumps({**content, "draft": DEFAULT}))
    assert webnn.load(tmp_path / "named.webnn.json").draft == CURRENT
    builder = new_builder(DEFAULT)
    made = webnn.describe({"y": builder.relu(builder.input("x", dataType="float32", shape=[2]))})
    assert (made.draft, made.lift()) == (CURRENT, made)


@pytest.mark.parametrize("draft", ["1999-01", "2026-06+this:DRAFT"])
def test_drafts_that_no_file_can_name(draft: str, tmp_path: Path) -> None:
    with pytest.raises(webnn.DescriptionError, match="draft: "):
        replace(relu(), draft=draft).save(tmp_path / "graph.webnn.json")
    assert list(tmp_path.iterdir()) == []


# The tables agree with the drafts.


@pytest.mark.parametrize("draft", DRAFTS)
def test_arguments_and_options_have_different_names(draft: str) -> None:
    for name, signature in signatures(draft).items():
        options = find_revision(draft).operations[name].options
        fields = {} if options is None else dict(options.model_fields)
        assert len(signature.roles) == len(signature.arguments) + len(fields.keys() - {"label"}) + 1, name
        for option, field in fields.items():
            # The reader rounds the elements of lists to single precision.
            assert "tuple[float" not in str(field.annotation) or option == "scales", (name, option)


def test_operations_that_return_sequences() -> None:
    builder = new_builder()
    returned = {name: getattr(type(builder), name).__annotations__["return"] for name in signatures(CURRENT)}
    assert {name for name, annotation in returned.items() if annotation.startswith("list")} == SEQUENCES
    assert issubclass(type(builder), RecurrentOps)


# Files that others wrote.


@pytest.mark.parametrize(
    ("name", "operations", "draft"),
    [
        ("resnet_head.webnn", ["matmul", "add", "softmax"], CURRENT),
        (
            "two_heads.webnn",
            ["conv2d", "split", "clamp", "averagePool2d", "dequantizeLinear", "reshape", "add", "mul"],
            BROWSERS,
        ),
        ("gru.webnn.json", ["gru", "prelu", "add"], CURRENT),
    ],
)
def test_examples(name: str, operations: list[str], draft: str, tmp_path: Path) -> None:
    description = webnn.load(DATA / name)
    assert ([operator.operation for operator in description.operators], description.draft) == (operations, draft)
    builder = new_builder(draft)
    builder.buildSync(description.build(builder))
    assert again(description, tmp_path, ".webnn.json") == description


def test_what_the_examples_say() -> None:
    text = webnn.load(DATA / "two_heads.webnn")
    assert dict(text.outputs) == {"scaled": "scaled", "shifted": "shifted"}
    conv, split = text.operators[:2]
    assert (conv.label, conv.options, conv.inputs["filter"]) == ("stem", {"strides": (1, 1), "inputLayout": "nchw"}, "stem/filter")
    assert (split.arguments, split.options, split.outputs) == ({"splits": 2}, {"axis": 1}, ("left", "right"))
    assert text.constants["table"].value.tolist() == [0x10, 0x98]
    assert text.constants["zero"].value.tolist() == [8]
    assert text.constants["stem/filter"].value.reshape(-1).tolist() == [1, 0, 0, 1]
    plain = webnn.load(DATA / "gru.webnn.json")
    assert plain.outputs == {"last step": "leaky", "every step": "all", "count": "count"}
    assert plain.operators[0].outputs == ("last", "all")
    assert plain.constants["one"].value == 1
    assert plain.constants["slope"].value == np.float32(1e-5)


# Refused files.


def content(**changes: Any) -> dict[str, Any]:
    graph: dict[str, Any] = {
        "format": "webnn-graph-json",
        "version": 2,
        "inputs": {"x": {"dataType": "float32", "shape": [2, 3]}},
        "consts": {"c": {"dataType": "int8", "shape": [2], "init": {"kind": "inlineBytes", "bytes": [1, 255]}}},
        "nodes": [{"id": "y", "op": "softmax", "inputs": ["x"], "options": {"axis": 1}}],
        "outputs": {"y": "y"},
    }
    return {name: value for name, value in {**graph, **changes}.items() if value is not ...}


def node(**changes: Any) -> dict[str, Any]:
    return {"nodes": [{**content()["nodes"][0], **changes}]}


def constant(dataType: str = "int8", shape: Any = (2,), **init: Any) -> dict[str, Any]:
    return {"consts": {"c": {"dataType": dataType, "shape": shape if isinstance(shape, str) else list(shape), "init": init}}}


BYTES = {"kind": "inlineBytes", "bytes": [1, 2]}
MEMBERS = "an object with the members id, inputs, op, options, outputs"
WRONG: dict[str, tuple[Any, str]] = {
    "not an object": ([], "must be an object, got []"),
    "another format": (content(format="onnx"), "format: must be 'webnn-graph-json', got 'onnx'"),
    "no version": (content(version=...), "version: must be one of 1, 2, got None"),
    "another version": (content(version=3), "version: must be one of 1, 2, got 3"),
    "a version of another type": (content(version=True), "version: must be one of 1, 2, got True"),
    "an unknown draft": (content(draft="2030-01"), "draft: must be one of 2024-06, 2026-06, got '2030-01'"),
    "a draft that imports": (content(draft="2026-06+this:X"), "draft: must be one of 2024-06, 2026-06, got '2026-06+this:X'"),
    "a name that is none": (content(name=3), "name: must be a string, got 3"),
    "quantized": (content(quantized="no"), "quantized: must be true or false, got 'no'"),
    "a list of inputs": (content(inputs=[]), "inputs: must be an object, got []"),
    "no nodes": (content(nodes=...), "nodes: must be a list, got None"),
    "no outputs": (content(outputs={}), "outputs: must not be empty"),
    "an input without type": (content(inputs={"x": {"shape": []}}), "inputs.x.dataType: must be one of float32, "),
    "a type that is not a string": (content(inputs={"x": {"dataType": [], "shape": []}}), "inputs.x.dataType: must be one of float32, "),
    "a size that is none": (
        content(inputs={"x": {"dataType": "int8", "shape": [True]}}),
        "inputs.x.shape: must be a list of sizes, got True",
    ),
    "a dynamic size": (
        content(inputs={"x": {"dataType": "int8", "shape": [{"name": "n", "maxSize": 8}]}}),
        "inputs.x.shape: must be a list of sizes, got {'name': 'n', 'maxSize': 8}: give the graph a fixed size",
    ),
    "a size of 0": (content(inputs={"x": {"dataType": "int8", "shape": [0]}}), "inputs.x.shape: "),
    "a huge size": (content(inputs={"x": {"dataType": "int8", "shape": [2**31, 2**31]}}), "inputs.x.shape: "),
    "a huge number": (content(inputs={"x": {"dataType": "int8", "shape": [10**300]}}), "inputs.x.shape: "),
    "too many dimensions": (content(inputs={"x": {"dataType": "int8", "shape": [1] * 9}}), "inputs.x.shape: "),
    "more about an input": (
        content(inputs={"x y": {"dataType": "int8", "shape": [1], "axis": 3}}),
        "inputs['x y']: must have only the members dataType and shape, got ['dataType', 'shape', 'axis']",
    ),
    "an input without name": (content(inputs={"": {"dataType": "float32", "shape": [1]}}), "inputs: input: name must not be empty"),
    "a name for two": (
        content(consts={"x": {"dataType": "int8", "shape": [2], "init": BYTES}}),
        "consts: there is a value 'x' already",
    ),
    "no init": (content(consts={"c": {"dataType": "int8", "shape": [2]}}), "consts.c: must have only the members dataType and shape, init"),
    "an init of another kind": (
        content(**constant(kind="zeros")),
        "consts.c.init.kind: must be scalar, inlineBytes or weights, got 'zeros'",
    ),
    "an init of no kind": (content(**constant(kind=[])), "consts.c.init.kind: must be scalar, inlineBytes or weights, got []"),
    "an init with more": (
        content(**constant(**BYTES, ref="c")),
        "consts.c.init: must have the members kind and bytes, got ['kind', 'bytes', 'ref']",
    ),
    "too few bytes": (content(**constant(kind="inlineBytes", bytes=[1])), "consts.c.init.bytes: must be the 2 bytes of int8 [2], got 1"),
    "a byte that is none": (content(**constant(kind="inlineBytes", bytes=[1, 256])), "consts.c.init.bytes: must be integers from 0 to 255"),
    "a byte that is true": (
        content(**constant(kind="inlineBytes", bytes=[1, True])),
        "consts.c.init.bytes: must be integers from 0 to 255",
    ),
    "a scalar with a shape": (content(**constant(kind="scalar", value=1)), "consts.c.init.value: a scalar needs a shape of one element"),
    "a scalar that is none": (content(**constant(shape=(), kind="scalar", value="1")), "consts.c.init.value: must be a number, got '1'"),
    "a scalar out of range": (content(**constant(shape=(), kind="scalar", value=128)), "must be an integer from -128 to 127, got 128"),
    "a scalar with a fraction": (content(**constant(shape=(), kind="scalar", value=0.5)), "must be an integer from -128 to 127, got 0.5"),
    "a scalar that is not a number": (content(**constant(shape=(), kind="scalar", value="NaN")), "must be an integer from -128 to 127"),
    "a scalar beyond its type": (
        content(**constant("float16", (), kind="scalar", value=65520)),
        "consts.c.init.value: must fit into float16, got 65520",
    ),
    "a huge scalar": (content(**constant("float32", (), kind="scalar", value=10**300)), "must fit into float32, got 1000000"),
    "a reference that is none": (content(**constant(kind="weights", ref=3)), "consts.c.init.ref: must be the name of a tensor, got 3"),
    "a node that is none": (content(nodes=[[]]), f"nodes[0]: must be {MEMBERS}, got []"),
    "more about a node": (
        content(**node(attributes={})),
        f"nodes[0]: must be {MEMBERS}, got ['id', 'op', 'inputs', 'options', 'attributes']",
    ),
    "an unknown operation": (content(**node(op="gelu2")), "nodes[0].op: the draft 2026-06 has no operation 'gelu2'; did you mean gelu?"),
    "a method that is not an operation": (content(**node(op="build")), "nodes[0].op: the draft 2026-06 has no operation 'build'"),
    "an operation that is none": (content(**node(op={})), "nodes[0].op: the draft 2026-06 has no operation {}"),
    "inputs that are none": (content(**node(inputs="x")), "nodes[0].inputs: must be a list of names, got 'x'"),
    "an input that is none": (content(**node(inputs=[3])), "nodes[0].inputs: must be a list of names, got 3 in it"),
    "too many inputs": (content(**node(inputs=["x", "c"])), "nodes[0].inputs: must be 1 operands of softmax (input), got ['x', 'c']"),
    "no id": (content(**node(id=None)), "nodes[0].id: must be the name of a value, got None"),
    "outputs that are none": (content(**node(outputs="y")), "nodes[0].outputs: must be a list of names, got 'y'"),
    "too many outputs": (content(**node(outputs=["y", "z"])), "nodes[0].outputs: must name 1 results of softmax, got ['y', 'z']"),
    "options that are none": (content(**node(options=[])), "nodes[0].options: must be an object, got []"),
    "an argument that is missing": (content(**node(options={})), "nodes[0].options: softmax needs axis, got []"),
    "an option that it has not": (content(**node(options={"axis": 1, "axes": [1]})), "softmax has no option 'axes', it has axis, label"),
    "an option that it had": (
        content(**node(op="averagePool2d", options={"roundingType": "ceil"})),
        "nodes[0].options: averagePool2d has no option 'roundingType', it has ",
    ),
    "an object": (content(**node(options={"axis": {}})), "nodes[0].options.axis: must be a number, a string, a boolean or a list of them"),
    "a deep list": (content(**node(options={"axis": [[[[[[[[[]]]]]]]]]})), "nodes[0].options.axis: must be a number, a string"),
    "an operand that is none": (
        content(**node(op="gemm", inputs=["x", "x"], options={"c": 3})),
        "nodes[0].options.c: must be the name of a value",
    ),
    "a label that is none": (content(**node(options={"axis": 1, "label": 3})), "nodes[0].options.label: must be a string, got 3"),
    "what the builder refuses": (
        content(**node(options={"axis": 7, "label": "out"})),
        "nodes[0]: [out] softmax: axis must be below the rank of input, 2, got 7",
    ),
    "a value that is not there": (content(**node(inputs=["z"])), "nodes[0]: there is no value 'z' yet"),
    "a cycle": (content(**node(inputs=["y"])), "nodes[0]: there is no value 'y' yet"),
    "a result that is there": (content(**node(id="x")), "nodes[0].outputs: there is a value 'x' already"),
    "an output that is not there": (content(outputs={"z": "z"}), "outputs: there is no value 'z' yet"),
    "an output that is none": (content(outputs={"z": 3}), "outputs.z: must be the name of a value, got 3"),
    "an output that is an input": (content(outputs={"z": "x"}), "outputs.z: must name the result of a node, got 'x'"),
    "an output without name": (content(outputs={"": "y"}), "outputs['']: must name the result of a node"),
    "weights that are not there": (
        content(**constant(kind="weights", ref="c")),
        "needs weights in a file beside it: graph.safetensors or graph.weights or model.safetensors or model.weights",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_refused(name: str, tmp_path: Path) -> None:
    given, message = WRONG[name]
    path = tmp_path / "graph.webnn.json"
    path.write_text(json.dumps(given))
    with pytest.raises(FormatError) as caught:
        webnn.load(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_nothing_is_wrong_with_the_rest(tmp_path: Path) -> None:
    (tmp_path / "graph.webnn.json").write_text(json.dumps({**content(), "generator": {"name": "another tool"}}), encoding="utf-8-sig")
    assert [operator.operation for operator in webnn.load(tmp_path / "graph.webnn.json").operators] == ["softmax"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", ":1:1: is not valid JSON: Expecting value"),
        (b'{\n "format": ]', ":2:12: is not valid JSON: Expecting value"),
        (b'{"a": NaN}', ': JSON has no NaN: write "NaN", as a string'),
        (b'{"a": 1e999}', ": a number must fit into a double, got '1e999'"),
        (b'{"a": ' + b"1" * 5000 + b"}", ": Exceeds the limit"),
        (b'{"x": 1, "x": 2}', ": an object must not have a member twice, got 'x'"),
        (b"[" * 100_000, ": is nested too deeply"),
        (b'\n{"\xff": 1}', ":2: must be UTF-8, got the byte 0xff"),
    ],
)
def test_what_is_no_json(text: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "graph.webnn.json"
    path.write_bytes(text)
    with pytest.raises(FormatError) as caught:
        webnn.load(path)
    assert str(caught.value).startswith(f"{path}{message}")


def test_a_file_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webnn.formats.files._LARGEST", 1 << 20)
    path = tmp_path / "graph.webnn.json"
    path.write_bytes(b" " * ((1 << 20) + 1))
    with pytest.raises(FormatError, match="must be at most 1 MiB, got more"):
        webnn.load(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"outputs": {"y": "nowhere"}}, "outputs.y: there is no value 'nowhere'"),
        ({"operators": (OperatorDescription(operation="relu", inputs={"input": "z"}, outputs=("y",)),)}, "there is no value 'z' yet"),
        ({"operators": (OperatorDescription(operation="logicalNot", inputs={"a": "x"}, outputs=("y",)),)}, "a must have a data type of"),
    ],
)
def test_a_description_that_contradicts_itself(changes: dict[str, Any], message: str, suffix: str, tmp_path: Path) -> None:
    with pytest.raises(webnn.DescriptionError) as caught:
        replace(relu(), **changes).save(tmp_path / f"graph{suffix}")
    assert message in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_half_a_character(tmp_path: Path) -> None:
    """Until 2024-06 a name may be any string of JavaScript, which no UTF-8 can write."""
    builder = new_builder("2024-06")
    half = builder.input("\ud83e", {"dataType": "float32", "dimensions": [2]})
    constant = builder.constant({"dataType": "float32", "dimensions": [8]}, np.ones(8, np.float32))
    description = webnn.describe({"y": builder.add(half, builder.reshape(constant, [4, 2], label="\ud83e"))})
    assert list(again(description, tmp_path, ".webnn.json").inputs) == ["\ud83e"]
    assert list(again(description, tmp_path, ".webnn").inputs) == ["\ud83e"]


def test_copies_of_a_file_find_common_weights(tmp_path: Path) -> None:
    shutil.copy(DATA / "resnet_head.webnn", tmp_path / "copy.webnn")
    shutil.copy(DATA / "resnet_head.safetensors", tmp_path / "model.safetensors")
    assert webnn.load(tmp_path / "copy.webnn") == webnn.load(DATA / "resnet_head.webnn")
