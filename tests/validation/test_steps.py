"""Tags of comments, and the step that an error carries."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest

from tests.support import make_context, refused
from webnn import MLGraphBuilder
from webnn.validation.errors import DOMException, WebNNTypeError
from webnn.validation.steps import find_step
from webnn.validation.steps.tags import Cite, parse, read_tags, tags_of

TAGS: list[tuple[str, str, list[Cite]]] = [
    # the tag, the draft, the steps
    ("5", "2024-06", [Cite("5")]),
    ("5", "2026-06", [Cite("5")]),
    ("5", "", [Cite("5")]),
    ("15.5; 2026-06: 16.5", "2024-06", [Cite("15.5")]),
    ("15.5; 2026-06: 16.5", "2026-06", [Cite("16.5")]),
    ("15.5; 2026-06: 16.5", "2030-01", [Cite("16.5")]),
    ("15.5; 2026-06: 16.5", "", []),
    ("2026-06: 3", "2024-06", []),
    ("2026-06: 3", "2026-06", [Cite("3")]),
    ("2026-06: 3", "", [Cite("3")]),
    ("2; 2026-06: -", "2026-06", []),
    ("2; 2026-06: -", "", [Cite("2")]),
    ("7, 10; 2026-06: 4", "2024-06", [Cite("7"), Cite("10")]),
    ("5, #a-thing 2.3; 2026-06: 6", "2024-06", [Cite("5"), Cite("2.3", "#a-thing")]),
    ("a", "2024-06", [Cite("a")]),
    ("2026-06: can build", "2026-06", [Cite("can build")]),
]


@pytest.mark.parametrize(("text", "draft", "expected"), TAGS)
def test_tags(text: str, draft: str, expected: list[Cite]) -> None:
    (tag,) = read_tags(f"# [{text}] A step.\nf()\n")
    assert tag.parts == parse(text)
    assert list(tag.cites(draft)) == expected


@pytest.mark.parametrize("text", ["", "x", "5.", "5;6", "5,6", "2026-06: 3; 4", "2026-06: 3; 2024-06: 4", "2026: 3", "z", "# 5", "build"])
def test_what_is_no_tag(text: str) -> None:
    with pytest.raises(ValueError, match="is not a tag of steps"):
        parse(text)


SOURCE = """\
def f(x):
    # [1] A condition.
    if x:
        # [2] A statement in it.
        g()
        h()
    elif x is None:
        i()
    # [3] Assignments belong to the statement that follows,
    # in a comment of two lines.
    y = 1
    z = 2
    if y:
        raise
    return z
    # A comment.
    # [4] A condition in the place of another.
    k = 1

    k()
"""
LINES = {3: "1", 4: "1", 5: "2", 6: "1", 11: "3", 12: "3", 13: "3", 14: "3", 18: "4"}


def test_the_lines_of_a_tag(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("webnn.validation.example")
    module.__file__ = str(tmp_path / "example.py")
    (tmp_path / "example.py").write_text(SOURCE, encoding="utf-8")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    assert {line: tag.parts[0][1][0].number for line, tag in tags_of(module.__name__).items()} == LINES


def test_a_tag_without_a_statement() -> None:
    with pytest.raises(ValueError, match="line 2: there is no statement below the tag"):
        list(read_tags("f()\n# [1] A step.\n\n"))


def test_a_module_without_source() -> None:
    assert tags_of("webnn.validation.missing") == {}
    assert tags_of("sys") == {}
    assert find_step((("webnn.validation.missing", 1),), "2024-06", "add", "a") == ""


def test_source_in_an_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ZipFile(tmp_path / "archive.zip", "w") as archive:
        archive.writestr("archived_steps.py", "# [7] A step.\nvalue = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path / "archive.zip"))
    assert import_module("archived_steps").value == 1
    assert tags_of("archived_steps")[2].cites("2024-06") == (Cite("7"),)


Failing = Callable[[MLGraphBuilder, Any, Any], object]

#: Calls that fail, with the operands ``x``, float32 of [1, 2, 3, 4], and ``k`` of int8; its step in each draft.
FAILURES: dict[str, tuple[Failing, str, str]] = {
    "a number": (lambda b, x, k: b.conv2d(x, x, groups=3), "15.5", "16.5"),
    "by letter": (lambda b, x, k: b.conv2d(x, x, strides=[1]), "9", "10"),
    "by the second letter": (lambda b, x, k: b.layerNormalization(x, axes=[3], scale=x), "5.2", "7.2"),
    "for the second operand": (lambda b, x, k: b.layerNormalization(x, axes=[3], bias=x), "6.2", "8.2"),
    "a data type": (lambda b, x, k: b.conv2d(x, k), "5", "6"),
    "a data type among the options": (lambda b, x, k: b.instanceNormalization(x, bias=k), "6.1", "8.1"),
    "a data type of a shared algorithm": (lambda b, x, k: b.sin(k), "3", "4"),
    "a rank": (lambda b, x, k: b.gemm(x, x), "4", "4"),
    "an algorithm of the algorithm": (lambda b, x, k: b.reduceSum(x, axes=[9]), "4", "5"),
    "dimensions": (lambda b, x, k: b.input("n", dataType="int8", **size(b, [0])), "2", "4"),
    "a method that is not an operation": (lambda b, x, k: b.input("", dataType="int8", **size(b, [1])), "1", "2"),
    "build": (lambda b, x, k: b.buildSync({"x": x}), "2.3", "4.3"),
    "another builder": (lambda b, x, k: b.add(x, other(b)), "2", "3"),
    "a conversion": (lambda b, x, k: b.conv2d(x, "h"), "", ""),
    "no step": (lambda b, x, k: b.add(wide(b, [2**16, 1]), wide(b, [1, 2**16])), "", ""),
}


def size(builder: MLGraphBuilder, shape: list[int]) -> Any:
    return {builder._revision.shape: shape}


def wide(builder: MLGraphBuilder, shape: list[int]) -> Any:
    return builder.input(f"wide {shape}", dataType="float32", **size(builder, shape))


def other(builder: MLGraphBuilder) -> Any:
    return MLGraphBuilder(make_context(builder._revision.name)).input("other", dataType="float32", **size(builder, [1]))


@pytest.mark.parametrize(("number", "draft"), [(1, "2024-06"), (2, "2026-06")], ids=["2024-06", "2026-06"])
@pytest.mark.parametrize("case", FAILURES)
def test_the_step_of_an_error(case: str, number: int, draft: str) -> None:
    builder = MLGraphBuilder(make_context(revision=draft))
    x = builder.input("x", dataType="float32", **size(builder, [1, 2, 3, 4]))
    k = builder.input("k", dataType="int8", **size(builder, [1, 2, 3, 4]))
    with pytest.raises(WebNNTypeError) as raised:
        FAILURES[case][0](builder, x, k)
    assert (raised.value.step, raised.value.draft) == (FAILURES[case][number], draft)


def test_the_step_of_a_domexception() -> None:
    context = make_context(revision="2026-06")
    builder = MLGraphBuilder(context)
    x = builder.input("x", dataType="float32", shape=[2])
    builder.buildSync({"y": builder.relu(x)})
    with refused(DOMException, rule="built", operation="relu") as raised:
        builder.relu(x)
    assert raised.value.step == "1"
    tensor = context.createTensorSync(dataType="float32", shape=[2], writable=True)
    tensor.destroy()
    with refused(DOMException, rule="destroyed", operation="writeTensor") as raised:
        context.writeTensor(tensor, np.zeros(2, np.float32))
    assert raised.value.step == "2"


def test_the_step_outlives_a_pickle() -> None:
    builder = MLGraphBuilder(make_context())
    with pytest.raises(WebNNTypeError) as raised:
        builder.input("")
    assert pickle.loads(pickle.dumps(raised.value)).step == raised.value.step


def test_an_error_of_a_program() -> None:
    assert (WebNNTypeError("mine").step, DOMException("mine").step) == ("", "")
