"""`.webnn`: what is written, the names that it cannot say, and what is refused at which line and column."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import webnn
from tests.webnn.formats.graphs import mixed, new_builder
from webnn import FormatError


def test_what_is_written(tmp_path: Path) -> None:
    mixed().save(tmp_path / "graph.webnn")
    assert (tmp_path / "graph.webnn").read_text(encoding="utf-8").splitlines() == [
        'webnn_graph "mixed" v2 {',
        "  inputs {",
        "    x: f32[1, 2, 4, 4];",
        "  }",
        "  consts {",
        "    $_conv_20__22_1_22__a__1f926___filter: f32[2, 2, 1, 1] @bytes([0, 0, 0, 0, 0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 64, 64]);",
        "    $_conv_20__22_1_22__a__1f926___bias: f32[2] @bytes([0, 0, 0, 128, 0, 0, 192, 127]);",
        '    input: f16[1, 2, 4, 4] @weights("input");',
        "    input_2: i64[] @bytes([1, 0, 0, 0, 0, 0, 0, 64]);",
        "  }",
        "  nodes {",
        "    $_conv_20__22_1_22__a__1f926_ = conv2d(x, $_conv_20__22_1_22__a__1f926___filter, "
        r'strides=[1, 1], inputLayout="nchw", label="conv \"1\"\n'
        '\U0001f926", bias=$_conv_20__22_1_22__a__1f926___bias);',
        "    [split_0, split_1] = split($_conv_20__22_1_22__a__1f926_, splits=2, axis=1);",
        '    clamp = clamp(split_0, minValue=-0.0, maxValue="Infinity");',
        '    scaled = resample2d(split_1, mode="linear", scales=[1.1, 1.0]);',
        '    cast = cast(clamp, dataType="float16");',
        "    slice = slice(input, starts=[0, 0, 0, 0], sizes=[1, 1, 4, 4]);",
        "    joined = concat(cast, slice, axis=1);",
        "    count = clamp(input_2, maxValue=9223372036854775807);",
        "  }",
        "  outputs { scaled, joined, count; }",
        "}",
    ]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["graph.safetensors", "graph.webnn"]


def test_names_that_are_escaped(tmp_path: Path) -> None:
    builder = new_builder()
    x = builder.input("x:0", dataType="float32", shape=[2])
    bias = builder.constant({"dataType": "float32", "shape": [1]}, np.ones(1, np.float32))
    first = builder.add(x, bias, label="w['c']")
    description = webnn.describe({"463": builder.relu(first, label="true"), "x:0": builder.relu(first)})
    # One value under two names.
    description = replace(description, outputs={**description.outputs, "z": "463"})
    description.save(tmp_path / "graph.webnn")
    assert [line.strip() for line in (tmp_path / "graph.webnn").read_text(encoding="ascii").splitlines()] == [
        'webnn_graph "" v2 {',
        "inputs {",
        "$_x_3a_0: f32[2];",
        "}",
        "consts {",
        "$_w_5b__27_c_27__5d___b: f32[1] @bytes([0, 0, 128, 63]);",
        "}",
        "nodes {",
        "$_w_5b__27_c_27__5d_ = add($_x_3a_0, $_w_5b__27_c_27__5d___b, label=\"w['c']\");",
        '$_463_x_463_x_z = relu($_w_5b__27_c_27__5d_, label="true");',
        "$_relu_x_x_3a_0 = relu($_w_5b__27_c_27__5d_);",
        "}",
        "outputs { $_463_x_463_x_z, $_relu_x_x_3a_0; }",
        "}",
    ]
    assert webnn.load(tmp_path / "graph.webnn").digest() == description.lift().digest()


def text(inputs: str = "x: f32[2];", consts: str = "", nodes: str = "y = relu(x);", outputs: str = "y;", header: str = '"g" v2') -> str:
    return f"webnn_graph {header} {{\n inputs {{ {inputs} }}\n consts {{ {consts} }}\n nodes {{ {nodes} }}\n outputs {{ {outputs} }}\n}}"


VALID = {
    "nothing more": text(),
    "comments": text().replace("\n", " # this { is ( a comment\n # and this\n"),
    "commas": text(nodes="y = concat(x, x, axis=0,);").replace("f32[2]", "f32[2,]"),
    "words": text(nodes="y = clamp(x, minValue=null, maxValue=Infinity);"),
    "strings without quotation marks": text("x: f32[1, 1, 2, 2];", nodes="y = averagePool2d(x, layout=nhwc);"),
    "sections in another order": 'webnn_graph "g" v2 { outputs { y } nodes { y = relu(x); } inputs { x: f32[2]; } }',
    "one line": " ".join(text().split()),
    "escapes": text(header=r'"\u00e4\"\\" v2'),
    "a list of outputs": text(outputs="y, z;", nodes="y = relu(x); z = relu(y);"),
    "outputs in lines": text(outputs="y; z;", nodes="y = relu(x); z = relu(y);"),
    "a sequence of one": text(nodes="[y] = split(x, splits=1);"),
    "a scalar": text(consts='c: f32[] @scalar("-Infinity"); d: i4[3] @bytes([33, 3]);', nodes="y = add(x, c);"),
}


@pytest.mark.parametrize("name", VALID)
def test_what_is_read(name: str, tmp_path: Path) -> None:
    (tmp_path / "graph.webnn").write_text(VALID[name])
    assert "y" in webnn.load(tmp_path / "graph.webnn").descriptors()


def test_what_it_means(tmp_path: Path) -> None:
    (tmp_path / "graph.webnn").write_text(VALID["a scalar"])
    constants = webnn.load(tmp_path / "graph.webnn").constants
    assert (constants["c"].value.item(), constants["d"].value.tolist()) == (-np.inf, [33, 3])
    (tmp_path / "graph.webnn").write_text(VALID["escapes"])
    assert webnn.load(tmp_path / "graph.webnn").name == '\u00e4"\\'


#: A text, and the line, column and message of the error.
WRONG = {
    "nothing": ("", "1:1: must be 'webnn_graph', got the end"),
    "no name": ("webnn_graph v2 {}", "1:13: must be a string, got 'v2'"),
    "a string that does not end": ('webnn_graph "v2 {}', "1:13: must be a string, got '\"'"),
    "an escape that is none": ('webnn_graph "\\x" v2 {}', "1:13: must be a string as in JSON: "),
    "no version": ('webnn_graph "g" {}', "1:17: must be a version, got '{'"),
    "a version that is none": ('webnn_graph "g" two {}', "1:17: must be a version such as v2, got 'two'"),
    "another version": (text(header='"g" v3'), "1:17: version: must be one of 1, 2, got 3"),
    "an unknown annotation": (text(header='"g" v2 @sparse'), "1:20: must be @quantized or @draft, got '@sparse'"),
    "an unknown draft": (text(header='"g" v2 @draft("1999-01")'), "1:20: draft: must be one of 2024-06, 2026-06, got '1999-01'"),
    "an unknown section": (text().replace("nodes", "layers"), "4:2: must be nodes, outputs, each section at most once, got 'layers'"),
    "a section twice": (text().replace("consts", "inputs"), "3:2: must be consts, nodes, outputs, each section at most once, got 'inputs'"),
    "the end is missing": (text()[:-1], "6:1: must be a section, got the end"),
    "more behind the end": (text() + "}", "6:2: must be the end, got '}'"),
    "an unknown type": (text("x: f64[2];"), "2:14: must be one of f32, f16, i32, u32, i64, u64, i8, u8, i4, u4, got 'f64'"),
    "a dynamic size": (
        text('x: f32[dyn("n", 8)];'),
        "2:11: inputs.x.shape: must be a list of sizes, got {'name': 'n', 'maxSize': 8}: give the graph a fixed",
    ),
    "a size with a fraction": (text("x: f32[2.5];"), "2:11: inputs.x.shape: must be a list of sizes, got 2.5"),
    "a size without comma": (text("x: f32[2 3];"), "2:20: must be ',' or ']', got '3'"),
    "no semicolon": (text("x: f32[2]"), "2:21: must be ';', got '}'"),
    "an input twice": (text("x: f32[2]; x: f32[2];"), "2:22: there is a name 'x' in inputs already"),
    "an unknown init": (text(consts="c: f32[] @zeros(1);"), "3:20: must be @weights, @scalar or @bytes, got '@zeros'"),
    "a wrong init": (text(consts="c: i8[] @scalar(300);"), "3:11: consts.c.init.value: must be an integer from -128 to 127, got 300"),
    "weights that are not there": (text(consts='c: i8[] @weights("c");'), " needs weights in a file beside it: "),
    "a number as operand": (text(nodes="y = relu(3);"), "4:19: must be the name of a value or an option, got '3'"),
    "an option twice": (text(nodes="y = softmax(x, axis=0, axis=0);"), "4:33: there is an option 'axis' already"),
    "no comma": (text(nodes="y = add(x x);"), "4:20: must be ',' or ')', got 'x'"),
    "no outputs": (text(nodes="[] = relu(x);"), "4:10: nodes[0].outputs: must name 1 results of relu, got []"),
    "an unknown operation": (
        text(nodes="y = relu(x); z = gelu2(y);"),
        "4:23: nodes[1].op: the draft 2026-06 has no operation 'gelu2'; did you mean gelu?",
    ),
    "an unknown value": (text(nodes="y = relu(z);"), "4:10: nodes[0]: there is no value 'z' yet"),
    "an output twice": (text(outputs="y; y;"), "5:15: there is a name 'y' in outputs already"),
    "an unknown output": (text(outputs="z;"), "5:2: outputs: there is no value 'z' yet"),
    "no output": (text(outputs=""), "5:2: outputs: must not be empty"),
    "a deep list": (text(nodes=f"y = softmax(x, axis={'[' * 50});"), "4:46: must not be nested deeper than 16 levels"),
    "a number with a long tail": (text(nodes=f"y = softmax(x, axis={'1' * 500});"), "4:30: must be a number, got '1111"),
    "a number too large": (text(nodes="y = softmax(x, axis=1e999);"), "4:30: must be a number that fits into a double, got '1e999'"),
    "a minus": (text(nodes="y = softmax(x, axis=-);"), "4:30: must be a number, got '-'"),
    "another character": (text(nodes="y = softmax(x, axis=\u00b2);"), "4:30: must be '{', got '\u00b2'"),
    "an object": (text(nodes='y = softmax(x, axis={"a": 1});'), "4:10: nodes[0].options.axis: must be a number, a string, "),
    "a member without colon": (text(nodes='y = softmax(x, axis={"a" 1});'), "4:35: must be ':', got '1'"),
    "a control character": (text("x\x00: f32[2];"), "2:12: must be ':', got '\\x00'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_refused(name: str, tmp_path: Path) -> None:
    given, message = WRONG[name]
    path = tmp_path / "graph.webnn"
    path.write_text(given)
    with pytest.raises(FormatError) as caught:
        webnn.load(path)
    assert str(caught.value).startswith(f"{path}:{message}")
    line, column = (int(part) for part in message.split(":")[:2]) if message[0].isdigit() else (0, 0)
    assert (caught.value.line, caught.value.column) == (line, column) or not line
