"""Models that mean harm: each is refused, with a message that names the node or the tensor, what must hold, and what was given.

tests/property/test_onnx_mutations.py mutates models at random.
"""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

import webnn
import webnn.onnx
from tests.shared import ROOT

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
info = helper.make_tensor_value_info
node = helper.make_node


def graph(nodes: Sequence[NodeProto], *initializers: TensorProto, name: str = "m") -> GraphProto:
    """Make a graph with the input x, float32 [2, 3], and the output y."""
    return helper.make_graph(nodes, name, [info("x", FLOAT, [2, 3])], [info("y", FLOAT, None)], initializers)


def model(nodes: Sequence[NodeProto], *initializers: TensorProto, opsets: dict[str, int] | None = None, functions: Any = ()) -> ModelProto:
    imports = [helper.make_opsetid(domain, version) for domain, version in ({"": 20} if opsets is None else opsets).items()]
    made = ModelProto(ir_version=10, opset_import=imports, functions=functions)
    made.graph.CopyFrom(graph(nodes, *initializers))
    return made


def integers(name: str, *numbers: int) -> TensorProto:
    return numpy_helper.from_array(np.array(numbers, np.int64), name)


def tensor(dims: Sequence[int], raw: bytes = b"", type: int = FLOAT, **fields: Any) -> TensorProto:
    """Make a tensor w with any contents."""
    return TensorProto(name="w", dims=dims, data_type=type, raw_data=raw, **fields)


def with_tensor(*arguments: Any, **fields: Any) -> ModelProto:
    return model([node("Add", ["x", "w"], ["y"])], tensor(*arguments, **fields))


def softmax(*attributes: onnx.AttributeProto) -> ModelProto:
    return model([NodeProto(op_type="Softmax", input=["x"], output=["y"], attribute=attributes)])


def pooling(**attributes: Any) -> ModelProto:
    return model([node("Unsqueeze", ["x", "a"], ["z"]), node("MaxPool", ["z"], ["y"], **attributes)], integers("a", 0, 1))


def scalar(name: str, number: int) -> TensorProto:
    return numpy_helper.from_array(np.array(number), name)


def with_attribute(operator: str, inputs: Sequence[str], *initializers: TensorProto, **attributes: Any) -> ModelProto:
    return model([node(operator, inputs, ["y"], **attributes)], *initializers)


def function(name: str, nodes: Sequence[NodeProto], *, domain: str = "local") -> Any:
    return helper.make_function(domain, name, ["a"], ["b"], nodes, [helper.make_opsetid("", 20), helper.make_opsetid("local", 1)])


def calls(*functions: Any) -> ModelProto:
    """Call the first function."""
    opsets = {"": 20, "local": 1}
    return model([node(functions[0].name, ["x"], ["y"], domain="local")], opsets=opsets, functions=functions)


def local(name: str, *values: str) -> NodeProto:
    return node(name, values[:1], values[1:], domain="local")


def renamed(old: str, new: bytes) -> bytes:
    """Make the bytes of a model with a name that is not text. Both names must have one length."""
    data = model([node("Relu", ["x"], [old]), node("Abs", [old], ["y"])]).SerializeToString()
    assert len(old) == len(new)
    return data.replace(old.encode(), new)


def sparse() -> ModelProto:
    value = helper.make_sparse_tensor(numpy_helper.from_array(np.ones(1, np.float32), "v"), integers("i", 2), [3])
    return model([node("Constant", [], ["c"], sparse_value=value), node("Add", ["x", "c"], ["y"])])


def nested(depth: int) -> ModelProto:
    """Make functions, each of which calls the next one."""
    functions = [function(f"F{index}", [local(f"F{index + 1}", "a", "b")]) for index in range(depth)]
    return calls(*functions, function(f"F{depth}", [node("Relu", ["a"], ["b"])]))


def laughs(levels: int) -> ModelProto:
    """Make functions, each of which calls the next one ten times: 10 ** levels nodes."""
    functions = []
    for index in range(levels):
        chain = [local(f"F{index + 1}", f"t{step}" if step else "a", f"t{step + 1}" if step < 9 else "b") for step in range(10)]
        functions.append(function(f"F{index}", chain))
    return calls(*functions, function(f"F{levels}", [node("Neg", ["a"], ["b"])]))


def loop(nodes: Sequence[NodeProto], steps: int = 2**62, **attributes: Any) -> ModelProto:
    inputs = [info("i", INT64, []), info("c", BOOL, []), info("a", FLOAT, [2, 3])]
    body = helper.make_graph(nodes, "b", inputs, [info("c", BOOL, []), info("n", FLOAT, [2, 3])])
    return model([node("Loop", ["n", "", "x"], ["y"], body=body)], integers("n", steps))


def joined(*sizes: int) -> ModelProto:
    """Join the results of no steps, which are declared to have a shape."""
    nodes = [node("Expand", ["x", "s"], ["e"])]
    outputs = [info("c", BOOL, []), info("a", FLOAT, [2, 3]), info("e", FLOAT, sizes)]
    body = helper.make_graph(nodes, "b", [info("i", INT64, []), info("c", BOOL, []), info("a", FLOAT, [2, 3])], outputs)
    return model([node("Loop", ["n", "", "x"], ["a", "y"], body=body)], integers("n", 0), integers("s", *sizes))


def scan() -> ModelProto:
    body = helper.make_graph([node("Relu", ["a"], ["b"])], "b", [info("a", FLOAT, [])], [info("b", FLOAT, [])])
    nodes = [
        node("ConstantOfShape", ["shape"], ["long"]),
        node("Scan", ["long"], ["s"], body=body, num_scan_inputs=1),
        node("Add", ["x", "s"], ["y"]),
    ]
    return model(nodes, integers("shape", 2**28))


def doubled(operator: str, **attributes: Any) -> ModelProto:
    """Double a value 60 times."""
    names = ["x", *(f"d{index}" for index in range(59)), "y"]
    return model([node(operator, [a, a], [b], **attributes) for a, b in itertools.pairwise(names)])


def shapes() -> ModelProto:
    """Double a list of numbers, behind a node that is refused: ONNX's inference would propagate the numbers."""
    names = ["n", *(f"d{index}" for index in range(40))]
    nodes = [node("Concat", [a, a], [b], axis=0) for a, b in itertools.pairwise(names)]
    unknown = node("Strange", [names[-1]], ["u"])
    return model([*nodes, unknown, node("Reshape", ["u", names[-1]], ["v"]), node("Relu", ["v"], ["y"])], integers("n", 1, 2, 3))


def kilobytes(count: int) -> ModelProto:
    """Let each step of a loop make a mebibyte that stays."""
    nodes = [
        node("Range", ["zero", "many", "one"], ["r"]),
        node("Mul", ["r", "i"], ["p"]),
        node("Cast", ["p"], ["f"], to=FLOAT),
        node("Reshape", ["f", "columns"], ["g"]),
        node("Add", ["a", "g"], ["s"]),
        node("ReduceMax", ["s", "axis"], ["m"], keepdims=0),
        node("Identity", ["m"], ["n"]),
    ]
    inputs = [info("i", INT64, []), info("c", BOOL, []), info("a", FLOAT, [2, 3])]
    body = helper.make_graph(nodes, "b", inputs, [info("c", BOOL, []), info("n", FLOAT, [2, 3])])
    numbers = [scalar("zero", 0), scalar("one", 1), scalar("many", 1 << 17)]
    more = [integers("columns", 1 << 17, 1, 1), integers("axis", 0), integers("n", count)]
    return model([node("Loop", ["n", "", "x"], ["y"], body=body)], *numbers, *more)


def swollen(operator: str, *sizes: int, **attributes: Any) -> ModelProto:
    """Take one number, repeated."""
    nodes = [
        node("ConstantOfShape", ["s"], ["c"], value=numpy_helper.from_array(np.array([3]))),
        node(operator, ["x", "c"], ["y"], **attributes),
    ]
    return model(nodes, integers("s", *sizes))


#: A model, a part of the reason of its refusal, and the place, if it is not y.
REFUSED: dict[str, tuple[Any, ...]] = {
    # Attributes.
    "attribute of another type": (
        with_attribute("Softmax", ["x"], axis=1.5),
        "attribute type in ' : axis'. Expected: 'INT', actual: 'FLOAT'",
    ),
    "attribute that is not known": (with_attribute("Relu", ["x"], speed=1), "Unrecognized attribute: speed for operator Relu"),
    "attribute twice": (
        model(
            [NodeProto(op_type="Softmax", input=["x"], output=["y"], attribute=[helper.make_attribute("axis", each) for each in (0, 9)])]
        ),
        "Attribute 'axis' appeared multiple times",
    ),
    "attribute that refers to nothing": (
        model(
            [
                NodeProto(
                    op_type="Softmax", input=["x"], output=["y"], attribute=[onnx.AttributeProto(name="axis", type=2, ref_attr_name="q")]
                )
            ]
        ),
        "the attribute axis must have a value: there is no function",
    ),
    "axis out of range": (with_attribute("Softmax", ["x"], axis=2**62), f"axis must be from -2 to 1, got {2**62}"),
    "NaN": (with_attribute("HardSigmoid", ["x"], alpha=math.nan), "alpha"),
    "permutation": (with_attribute("Transpose", ["x"], perm=[0, 0]), "perm must have each number from 0 to 1 once, got [0, 0]"),
    "huge pads": (with_attribute("Pad", ["x", "w"], integers("w", 0, 2**62, 0, 0)), "WebNN refuses it: pad"),
    "pads of a wrong length": (
        with_attribute("Pad", ["x", "w"], integers("w", 0, 1, 2)),
        "pads must have 4 numbers, two for each axis, got 3",
    ),
    "zero step": (
        model([node("Slice", ["x", "a", "b", "a", "a"], ["y"])], integers("a", 0), integers("b", 2)),
        "steps must be other than 0, got [0]",
    ),
    "huge repeats": (with_attribute("Tile", ["x", "w"], integers("w", 2**34, 2**40)), "repeats must be at most 4294967295, got [1717"),
    "repeats that are 1 in 32 bits": (
        with_attribute("Tile", ["x", "w"], integers("w", 2**32 + 1, 1)),
        "repeats must be at most 4294967295, got [4294967297, 1]",
    ),
    "huge block": (
        model([node("Unsqueeze", ["x", "a"], ["z"]), node("SpaceToDepth", ["z"], ["y"], blocksize=2**31)], integers("a", 0, 1)),
        "blocksize must be at least 1 and divide the input's shape, [1, 1, 2, 3], got 2147483648",
    ),
    "zero strides": (
        model(
            [node("Unsqueeze", ["x", "a"], ["z"]), node("MaxPool", ["z"], ["y"], kernel_shape=[1, 1], strides=[0, 1])], integers("a", 0, 1)
        ),
        "strides must have 2 numbers of at least 1, got [0, 1]",
    ),
    "negative kernel": (pooling(kernel_shape=[-1, 1]), "kernel_shape must have 2 numbers of at least 1, got [-1, 1]"),
    "type that is none": (with_attribute("Cast", ["x"], to=99), "the element type must be one of WebNN, got 99"),
    "negative size": (with_attribute("Reshape", ["x", "w"], integers("w", -3, -2)), "at most one -1, got [-3, -2]"),
    "sparse constant": (sparse(), "a constant must be a tensor or numbers, got a sparse tensor", "c"),
    # Tensors.
    "10 GB": (with_tensor([2_500_000_000], b"abcd"), "the tensor 'w' contradicts itself", "w"),
    "2^62 elements": (with_tensor([2**31, 2**31], b""), "the tensor 'w' contradicts itself", "w"),
    "a product beyond 64 bits": (with_tensor([2**62] * 5, b"abcd"), "the tensor 'w' contradicts itself", "w"),
    "no elements of a huge size": (with_tensor([0, 2**62, 2**62], b""), "the tensor 'w' contradicts itself", "w"),
    "negative dimension": (with_tensor([-1, 3], b"abcd" * 3), "at most 32 dimensions with sizes of at least 0, got [-1, 3]", "w"),
    "many dimensions": (with_tensor([1] * 100_000, b"abcd"), "at most 32 dimensions with sizes of at least 0, got", "w"),
    "data too short": (with_tensor([2, 3], b"abcd" * 5), "the tensor 'w' contradicts itself", "w"),
    "data too long": (with_tensor([2, 3], b"abcd" * 7), "the tensor 'w' contradicts itself", "w"),
    "data in another field": (with_tensor([2, 3], int64_data=[1, 2, 3, 4, 5, 6]), "the tensor 'w' contradicts itself", "w"),
    "element type that is none": (with_tensor([2, 3], b"", 77), "the element type must be one of WebNN, got 77", "w"),
    "no element type": (with_tensor([2, 3], b"", 0), "the element type must be one of WebNN, got undefined", "w"),
    "strings": (
        with_tensor([2, 3], type=TensorProto.STRING, string_data=[b"\xff"] * 6),
        "the element type must be one of WebNN, got string",
        "w",
    ),
    "another element type": (with_tensor([3], bytes(3), TensorProto.BOOL), "b"),
    # Names.
    "no initializer": (model([node("Add", ["x", "w"], ["y"])]), "there is no value 'w' before the node"),
    "a value made twice": (model([node("Relu", ["x"], ["y"]), node("Neg", ["x"], ["y"])]), "the value 'y' must be made once"),
    "two outputs of one name": (model([node("Split", ["x"], ["y", "y"], axis=0, num_outputs=2)]), "the value 'y' must be made once"),
    "its own output": (model([node("Add", ["x", "y"], ["y"])]), "there is no value 'y' before the node"),
    "a cycle": (model([node("Add", ["x", "y"], ["z"]), node("Relu", ["z"], ["y"])]), "there is no value 'y' before the node", "z"),
    "no inputs": (model([node("Relu", [], ["y"])]), "has input size 0 not in range"),
    "an empty name": (model([node("Relu", [""], ["y"])]), "input"),
    "no outputs": (model([node("Relu", ["x"], [])]), "output", "Relu"),
    "no operator": (model([NodeProto(input=["x"], output=["y"])]), "there is no rule for the operator"),
    "unknown domain": (model([node("Relu", ["x"], ["y"], domain="com.example")]), "the model must import the domain 'com.example'"),
    "operator of a later opset": (model([node("Gelu", ["x"], ["y"])], opsets={"": 7}), "the operator must be one of opset 7"),
    # Functions and bodies.
    "a function that calls itself": (calls(function("F", [local("F", "a", "b")])), "a function must not call itself, got 'F'", "y/b"),
    "functions that call each other": (
        calls(function("F", [local("G", "a", "b")]), function("G", [local("F", "a", "t"), local("F", "t", "b")])),
        "a function must not call itself, got 'F' in 'G'",
        "y/b/t",
    ),
    "deep functions": (nested(100), "bodies and functions must not be nested deeper than 64 levels"),
    "a billion laughs": (laughs(9), "the graph must have at most 5000 nodes when loops and functions are unrolled"),
    "a loop without an end": (loop([node("Neg", ["a"], ["n"])]), "the graph must have at most 5000 nodes"),
    "a loop of little": (loop([node("Identity", ["a"], ["n"])]), "the graph must have at most 5000 nodes"),
    "a long scan": (scan(), "there must be at most 65536 steps, got 268435456", "s"),
    "memory in each step": (kilobytes(5000), "what is computed at import must have at most 1 GiB", "y/body"),
    # Growth.
    "doubling": (doubled("Concat", axis=0), "WebNN refuses it: concat", "d"),
    "a huge number of one element": (swollen("Reshape", 2**30), "the shape must be of at most 32 dimensions and 2147483647 bytes", "c"),
    "huge sizes without elements": (joined(2**40, 2**40), "the shape must be of at most 32 dimensions and 2147483647 bytes", "a"),
    "a size below 0 without elements": (joined(-5, 3), "or the body must declare their shape", "a"),
    "a shape of many numbers": (swollen("Reshape", 2**24), "the shape must be known at import"),
    "many numbers": (swollen("Tile", 2**17), "must be at most 65536 numbers, got 131072"),
    "a range without an end": (
        model(
            [node("Range", ["a", "b", "c"], ["r"]), node("Reshape", ["x", "r"], ["y"])],
            *(numpy_helper.from_array(np.array(number), name) for name, number in (("a", 0), ("b", 2**62), ("c", 1))),
        ),
        "the range must have an increment other than 0, and at most 16 MiB",
        "r",
    ),
}


@pytest.fixture
def no_stand_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Don't start a process for each refused model."""
    monkeypatch.setattr("webnn.onnx.shapes.Shapes.find", lambda *_: None)


@pytest.mark.usefixtures("no_stand_ins")
@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # It takes less time than the limit itself.
    monkeypatch.setattr("webnn.onnx.importer.Importer.most_steps", 5000)
    hostile, reason, *place = REFUSED[case]
    started = time.process_time()
    with pytest.raises(webnn.onnx.RefusedModelError) as refused:
        webnn.onnx.load(hostile)
    assert time.process_time() - started < 30
    found = [(each.place, each.reason) for each in refused.value.report.refusals]
    assert any(each.startswith(*(place or "y")) and reason in text for each, text in found), found[:5]
    assert len(str(refused.value)) < 15_000


@pytest.mark.usefixtures("no_stand_ins")
@pytest.mark.parametrize(("nodes", "most"), [(1, 10_000), (11, 12_000)])
def test_a_short_file_is_unrolled_less(nodes: int, most: int) -> None:
    names = ["a", *(f"t{index}" for index in range(nodes - 1)), "n"]
    hostile = loop([node("Identity", [a], [b]) for a, b in itertools.pairwise(names)])
    with pytest.raises(webnn.onnx.RefusedModelError, match=f"the graph must have at most {most} nodes when loops"):
        webnn.onnx.load(hostile)


def test_an_input_without_elements_has_huge_sizes() -> None:
    hostile = model([node("Relu", ["x"], ["y"])])
    hostile.graph.input[0].CopyFrom(info("x", FLOAT, [None] * 4))
    with pytest.raises(webnn.onnx.RefusedModelError, match="at most 32 dimensions and 2147483647 bytes, got"):
        webnn.onnx.load(hostile, shapes={"x": [0, *[2**31 - 1] * 3]})


@pytest.mark.parametrize("operator", ["Reshape", "Expand"])
def test_a_long_shape_is_shown_in_part(operator: str) -> None:
    with pytest.raises(webnn.onnx.RefusedModelError) as refused:
        webnn.onnx.load(swollen(operator, 60_000))
    (refusal,) = refused.value.report.refusals
    assert len(refusal.reason) < 300


#: The bytes of a file, and a part of the message.
FILES: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "is not an ONNX model"),
    "no protobuf": (b"\xff" * 100, "is not an ONNX model"),
    "half a model": (model([node("Relu", ["x"], ["y"])]).SerializeToString()[:-9], "is not an ONNX model"),
    "no graph": (ModelProto(opset_import=[helper.make_opsetid("", 20)]).SerializeToString(), "it must have a graph and the versions"),
    "no opset": (model([node("Relu", ["x"], ["y"])], opsets={}).SerializeToString(), "it must have a graph and the versions"),
    "opset 0": (model([], opsets={"": 0}).SerializeToString(), "the version of the domain '' must be from 1 to 2147483647, got 0"),
    "opset -1": (model([], opsets={"": -1}).SerializeToString(), "must be from 1 to 2147483647, got -1"),
    "opset 6": (model([], opsets={"": 6}).SerializeToString(), "must be of an opset from 7 to"),
    "opset 10 ** 9": (model([], opsets={"": 10**9}).SerializeToString(), "got 1000000000: install a newer onnx"),
    "a domain of version 2 ** 62": (model([], opsets={"": 20, "q": 2**62}).SerializeToString(), "domain 'q' must be from 1 to"),
    "a name that is not text": (renamed("qq", b"\xff\xfe"), r"names must be UTF-8 of at most 4096 characters, got b'\xff\xfe'"),
    "a long name": (
        model([node("Relu", ["x"], ["y"], name="q" * 10**6)]).SerializeToString(),
        "names must be UTF-8 of at most 4096 characters",
    ),
}


def _deep(depth: int) -> bytes:
    """Write branches in branches as bytes: protobuf does not make such a message."""

    def field(number: int, data: bytes) -> bytes:
        size, length = bytearray(), len(data)
        while length > 127:
            size.append(length & 127 | 128)
            length >>= 7
        return bytes([number << 3 | 2, *size, length]) + data

    inner = b""
    for _ in range(depth):
        # GraphProto.node = 1, NodeProto.attribute = 5, AttributeProto.g = 6
        inner = field(1, field(4, b"If") + field(5, field(1, b"then_branch") + field(6, inner)))
    # ModelProto.graph = 7, ModelProto.opset_import = 8
    return field(7, inner) + field(8, bytes([2 << 3, 20]))


FILES["bodies deeper than protobuf reads"] = _deep(2000), "is not an ONNX model"


@pytest.mark.parametrize("case", FILES)
def test_files(case: str, tmp_path: Path) -> None:
    data, reason = FILES[case]
    path = tmp_path / "model.onnx"
    path.write_bytes(data)
    with pytest.raises(webnn.FormatError) as refused:
        webnn.onnx.load(path)
    assert reason in str(refused.value)
    assert str(path) in str(refused.value)
    assert len(str(refused.value)) < 1000


OUTSIDE = "external data must be in the model's folder, got"
#: The place of external data of 24 bytes, and a part of the message. The folder has the file weights.bin of 64 bytes, and a link out of it.
EXTERNAL: dict[str, tuple[dict[str, str], str]] = {
    "a folder above": ({"location": "../secret.bin"}, OUTSIDE),
    "a folder above, later": ({"location": "sub/../../secret.bin"}, OUTSIDE),
    "an absolute path": ({"location": "/etc/passwd"}, OUTSIDE),
    "a path of Windows": ({"location": "C:\\secret.bin"}, OUTSIDE),
    "a folder above, on Windows": ({"location": "..\\secret.bin"}, OUTSIDE),
    "a server of Windows": ({"location": "\\\\server\\share\\secret.bin"}, OUTSIDE),
    "a link out of the folder": ({"location": "link"}, OUTSIDE),
    "a link to a folder": ({"location": "folder/secret.bin"}, OUTSIDE),
    "no path": ({}, OUTSIDE),
    "a path with a zero": ({"location": "weights.bin\0"}, OUTSIDE),
    "the folder": ({"location": "."}, "the external data of 'w' in 'models' must be a file, got a folder"),
    "no file": ({"location": "other.bin"}, "the external data of 'w' is missing: there is no file other.bin"),
    "an offset behind the end": ({"location": "weights.bin", "offset": "4096"}, "which has 64 bytes, got 4120"),
    "an end behind the end": ({"location": "weights.bin", "offset": "44"}, "which has 64 bytes, got 68"),
    "a huge offset": ({"location": "weights.bin", "offset": str(2**63)}, "must end within weights.bin"),
    "a negative offset": ({"location": "weights.bin", "offset": "-8"}, "must be the 24 bytes of float32 [2, 3], got 24 at -8"),
    "a negative length": ({"location": "weights.bin", "length": "-24"}, "must be the 24 bytes of float32 [2, 3], got -24 at 0"),
    "another length": ({"location": "weights.bin", "length": "20"}, "must be the 24 bytes of float32 [2, 3], got 20 at 0"),
    "no number": ({"location": "weights.bin", "length": "x"}, "must have numbers as offset and length, got"),
}


@pytest.mark.parametrize("case", EXTERNAL)
def test_external_data(case: str, tmp_path: Path) -> None:
    entries, reason = EXTERNAL[case]
    (tmp_path / "secret.bin").write_bytes(bytes(64))
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "weights.bin").write_bytes(bytes(64))
    try:
        (folder / "link").symlink_to(tmp_path / "secret.bin")
        (folder / "folder").symlink_to(tmp_path)
    except OSError:
        if "link" in case:
            pytest.skip("this user may make no links")
    hostile = with_tensor([2, 3], data_location=TensorProto.EXTERNAL)
    for key, value in entries.items():
        hostile.graph.initializer[0].external_data.add(key=key, value=value)
    path = folder / "model.onnx"
    path.write_bytes(hostile.SerializeToString())
    with pytest.raises(webnn.FormatError) as refused:
        webnn.onnx.load(path)
    assert reason in str(refused.value)


def test_external_data_that_is_meant(tmp_path: Path) -> None:
    """The cases above differ from this one in their entries only."""
    (tmp_path / "weights.bin").write_bytes(np.arange(16, dtype=np.float32).tobytes())
    honest = with_tensor([2, 3], data_location=TensorProto.EXTERNAL)
    for key, value in (("location", "weights.bin"), ("offset", "8"), ("length", "24")):
        honest.graph.initializer[0].external_data.add(key=key, value=value)
    path = tmp_path / "model.onnx"
    path.write_bytes(honest.SerializeToString())
    [constant] = webnn.onnx.load(path).description.constants.values()
    assert np.asarray(constant.value).reshape(-1).tolist() == [2, 3, 4, 5, 6, 7]


def test_zeros_that_are_not_there_may_be_huge() -> None:
    """Without weights a tensor that is not there takes no memory, whatever it claims."""
    missing = with_tensor([2**20, 2**20], data_location=TensorProto.EXTERNAL)
    missing.graph.initializer[0].external_data.add(key="location", value="none.bin")
    with pytest.raises(webnn.FormatError, match="external data needs the model's file"):
        webnn.onnx.load(missing, weights=False)


def test_a_function_that_is_called_often_is_no_recursion() -> None:
    square = function("F", [node("Mul", ["a", "a"], ["b"])])
    imported = webnn.onnx.load(calls(function("G", [local("F", "a", "t"), local("F", "t", "b")]), square))
    assert [each.operation for each in imported.description.operators] == ["mul", "mul"]


@pytest.mark.processes
def test_the_inference_of_onnx_may_not_take_all_memory() -> None:
    """Shapes that double come to the inference, because a refused node stands before what takes them."""
    with pytest.raises(webnn.onnx.RefusedModelError, match="there is no rule for the operator Strange"):
        webnn.onnx.load(shapes())


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the memory of a process cannot be limited here")
@pytest.mark.parametrize(
    "case", ["a billion laughs", "a loop without an end", "doubling", "2^62 elements", "10 GB", "a huge number of one element"]
)
def test_memory_is_bounded(case: str) -> None:
    """In a child that has little of it."""
    code = (
        "import webnn.onnx; from tests.webnn.onnx.test_model_hostile import *; from tests.property.test_files import limit_memory; "
        f"hostile = REFUSED[{case!r}][0]; limit_memory(256 << 20)\n"
        "try:\n    webnn.onnx.load(hostile)\nexcept webnn.onnx.RefusedModelError:\n    print('refused')"
    )
    ended = subprocess.run([sys.executable, "-W", "ignore", "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, "refused\n"), ended.stderr[-3000:]
