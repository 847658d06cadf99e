"""Programs of descriptions that no builder made: what they must not become is code."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import webnn
from tests.support import NEWEST, make_context
from tests.webnn.formats.modules import build_in_node
from webnn.formats import program

EVIL = '1}); globalThis.pwned = 1; ({"a'


def describe() -> webnn.GraphDescription:
    builder = webnn.MLGraphBuilder(make_context("2026-06"))
    weights = builder.constant({"dataType": "float32", "shape": [4, 2]}, np.ones((4, 2), np.float32))
    dense = builder.gemm(builder.input("x", dataType="float32", shape=[1, 4]), weights, alpha=2.0)
    return webnn.describe({"y": builder.softmax(dense, 1)})


def change(number: int, **parts: Any) -> webnn.GraphDescription:
    """Return the graph with other parts of one operator."""
    description = describe()
    operators = list(description.operators)
    operators[number] = replace(operators[number], **parts)
    return replace(description, operators=tuple(operators))


WRONG: list[tuple[str, Callable[[], webnn.GraphDescription], str]] = [
    ("a draft", lambda: replace(describe(), draft=f"2026-06\n{EVIL}"), "draft: "),
    ("a draft that would be imported", lambda: replace(describe(), draft="2026-06+os:name"), "draft: "),
    ("an operation", lambda: change(0, operation=EVIL), "operators[0].operation: the draft has no operation"),
    ("a method that is not an operation", lambda: change(0, operation="buildSync"), "operators[0].operation: the draft has no operation"),
    ("no operand", lambda: change(0, inputs={"a": "x"}), "operators[0].inputs: must have b, got a"),
    ("no argument", lambda: change(1, arguments={}), "operators[1].arguments: must have axis, got none"),
    ("no value", lambda: change(0, inputs={"a": "x", "b": "nowhere"}), "operators: there is no value 'nowhere' yet"),
    ("its own result", lambda: change(0, inputs={"a": "gemm", "b": "b"}), "operators: there is no value 'gemm' yet"),
    ("a value twice", lambda: replace(change(1, outputs=("x",)), outputs={"y": "x"}), "operators: there is a value 'x' already"),
    ("an object", lambda: change(0, options={"alpha": {1: 2}}), "operators[0].options: a program has no literal of"),
    (
        "an activation",
        lambda: change(0, options={"alpha": webnn.ActivationDescription(operation="relu")}),
        "operators[0].options: the draft has no activation function 'relu'",
    ),
]


@pytest.mark.parametrize("suffix", [".mjs", ".py"])
@pytest.mark.parametrize(("make", "message"), [case[1:] for case in WRONG], ids=[case[0] for case in WRONG])
def test_refusals(suffix: str, make: Callable[[], webnn.GraphDescription], message: str, tmp_path: Path) -> None:
    with pytest.raises(webnn.DescriptionError) as caught:
        make().save(tmp_path / f"model{suffix}")
    assert message in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def hostile() -> webnn.GraphDescription:
    """Return a graph with hostile names where a builder puts none: of options, of values, of the file of weights."""
    description = change(0, options={"alpha": 2.0, EVIL: 1, "__proto__": EVIL, "class": 3})
    first, second = description.operators
    return replace(
        description,
        constants={EVIL: description.constants["b"]},
        operators=(
            replace(first, inputs={"a": "x", "b": EVIL}, outputs=("__proto__",)),
            replace(second, inputs={"input": "__proto__"}),
        ),
    )


@pytest.mark.processes
def test_hostile_names_in_javascript(tmp_path: Path) -> None:
    hostile().save(tmp_path / "model'*\".mjs")
    (tmp_path / "model'*\".mjs").rename(tmp_path / "model.mjs")
    (tmp_path / "model'*\".safetensors").rename(tmp_path / "model.safetensors")
    modules, built = build_in_node(["model"], tmp_path)
    assert [result.get("error") for result in modules.results.values()] == [None]
    assert [each.operation for each in built[0].operators] == ["gemm", "softmax"]
    assert built[0].operators[0].options == {"alpha": 2.0}


def test_hostile_names_in_python(tmp_path: Path) -> None:
    hostile().save(tmp_path / "model'\\\".py")
    text = (tmp_path / "model'\\\".py").read_text(encoding="utf-8")
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    methods = {ast.unparse(call.func) for call in calls}
    assert methods >= {"builder.input", "builder.gemm", "builder.softmax", "builder.buildSync", "constant"}
    assert "globalThis" not in "".join(methods)
    assert f"**{{{EVIL!r}: 1, 'class': 3}}" in ast.unparse(ast.parse(text)).replace('"class"', "'class'")


def test_which_operations_return_a_sequence() -> None:
    found = {name for name in NEWEST.operations if program.returns_sequence(name)}
    assert found == {"gru", "lstm", "lstmCell", "split"}
