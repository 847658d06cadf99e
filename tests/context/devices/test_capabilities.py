"""The facts of a device: which operators it must not get, and files of facts that are not valid."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.support import CURRENT, make_context
from webnn import MLGraphBuilder, MLOperand
from webnn.builder.graph import collect
from webnn.context.devices.capabilities import find_nodes, find_refused, read_facts, write_facts
from webnn.context.devices.selection import WEBGPU

FACTS = {"float32": "", "float16": "no float16 in shaders", "int32": ""}


def half(b: MLGraphBuilder) -> MLOperand:
    x = b.input("x", dataType="float32", shape=[2])
    return b.neg(b.cast(b.relu(b.cast(b.abs(x), "float16"), label="half"), "float32"))


def member(b: MLGraphBuilder) -> MLOperand:
    x, scale = (b.input(name, dataType=each, shape=[2]) for name, each in (("x", "int8"), ("scale", "float16")))
    return b.cast(b.dequantizeLinear(x, scale, b.constant({"dataType": "int8", "shape": [2]}, b"\0\0")), "float32")


def single(b: MLGraphBuilder) -> MLOperand:
    return b.relu(b.input("x", dataType="float32", shape=[2]))


@pytest.mark.parametrize(
    ("build", "refused"),
    [(half, ["cast", "relu", "cast"]), (member, ["dequantizeLinear", "cast"]), (single, [])],
)
def test_operators_with_a_failing_type_are_refused(build: Callable[[MLGraphBuilder], MLOperand], refused: list[str]) -> None:
    graph = collect({"y": build(MLGraphBuilder(make_context(CURRENT)))})
    found = find_refused(graph, WEBGPU, FACTS)
    assert [each.operation for each in found.values()] == refused
    assert {each.dataType for each in found.values()} <= {"float16"}
    assert all(each.reason == "WebGpuExecutionProvider does not compute float16 here: no float16 in shaders" for each in found.values())
    numbers = {operator.index: operator for operator in graph.operators}
    assert all(numbers[index].label == each.label for index, each in found.items())
    assert find_refused(graph, WEBGPU, {"float16": ""}) == {}


def test_nodes_belong_to_refused_operators_or_touch_their_values() -> None:
    nodes = [("relu#1.0", ["a", "b"], {1}), ("abs#2.0", ["b", "c"], {2}), ("outputs.0.0", ["c", "d"], set[int]())]
    assert find_nodes(nodes, set(), {1}) == ["relu#1.0"]
    assert find_nodes(nodes, {"d"}, {1}) == ["relu#1.0", "outputs.0.0"]


def test_facts_are_read_as_they_were_written() -> None:
    assert read_facts(write_facts(FACTS)) == FACTS


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff",
        b"[]",
        b"[" * 100_000,
        json.dumps({"float16": 1}).encode(),
        json.dumps({"float128": ""}).encode(),
        json.dumps({"float16": "x" * 2000}).encode(),
        json.dumps({"float16": "\x1b[31m"}).encode(),
        b'{"float16": "' + b" " * 10**6 + b'"}',
    ],
)
def test_facts_that_are_not_valid_are_ignored(content: bytes) -> None:
    assert read_facts(content) == {}
