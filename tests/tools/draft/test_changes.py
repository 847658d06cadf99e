"""The differences of two sources."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support import each_row
from tests.tools.draft.sources import SUMMARY, read, text

changes = pytest.importorskip("tools.draft.changes", reason="widlparser is not installed")

EMPTY = "1. If |input| is empty, then [=exception/throw=] a {{TypeError}}."
LARGE = "1. If |input| is large, then [=exception/throw=] a {{RangeError}}."
LOST = "1. If |this| is lost, then [=exception/throw=] an {{InvalidStateError}}."
LET = "1. Let |a| be |b|."

STEPS = [
    # the steps before, those after; what has become of them: before, after
    ([EMPTY], [EMPTY], []),
    ([EMPTY], [EMPTY, LARGE], [("new", "", "2")]),
    ([EMPTY, LARGE], [LARGE], [("moved", "2", "1"), ("gone", "1", "")]),
    ([EMPTY], [LET, EMPTY], [("moved", "1", "2")]),
    ([EMPTY], [LARGE], [("changed", "1", "1")]),
    ([EMPTY, LARGE], [LARGE, EMPTY], [("moved", "2", "1"), ("moved", "1", "2")]),
    ([EMPTY, LARGE], [EMPTY, LOST, LARGE], [("new", "", "2"), ("moved", "2", "3")]),
    ([EMPTY, EMPTY], [EMPTY], [("gone", "2", "")]),
]


@each_row(["before", "after", "expected"], STEPS)
def test_steps(before: list[str], after: list[str], expected: list[tuple[str, str, str]], tmp_path: Path) -> None:
    old, new = (read(tmp_path, text(steps=steps)) for steps in (before, after))
    found = changes.compare_steps(old, new)
    assert [(each.what, each.before, each.after) for each in found] == expected


def test_a_method_with_another_argument_is_the_same_method(tmp_path: Path) -> None:
    old, new = (read(tmp_path, text(summary=summary)) for summary in (SUMMARY, SUMMARY.replace("|input|", "|x|")))
    assert changes.compare_steps(old, new) == []


def test_an_algorithm_that_is_gone(tmp_path: Path) -> None:
    old, new = (read(tmp_path, text(summary=summary)) for summary in (SUMMARY, SUMMARY.replace("relu", "cos")))
    found = changes.compare_steps(old, new)
    assert [(each.algorithm, each.what) for each in found] == [("MLGraphBuilder.cos(input)", "new"), ("MLGraphBuilder.relu(input)", "gone")]


def test_the_code_and_the_test_of_a_step(tmp_path: Path) -> None:
    old = read(tmp_path, text())
    # A step of the draft, which the code cites.
    name, number = "MLContext.dispatch(graph, inputs, outputs)", "2"
    digest = changes.load_steps("2026-06")[name].steps[number].digest
    steps = {"algorithms": {name: {"section": "a", "steps": {number: ["InvalidStateError", digest]}}}}
    [found] = changes.compare_steps(replace(old, steps=steps), replace(old, steps={"algorithms": {}}))
    assert found.what == "gone"
    assert any(place.startswith("context/tensor_steps.py:") for place in found.places)
    assert found.test.startswith("tests/")


def row(**members: Any) -> dict[str, Any]:
    return {"dataTypes": ["float32"], "ranks": [1, None], **members}


LIMITS = [
    # the rows of an operation before and after, and the lines
    ({"input": row()}, {"input": row()}, []),
    ({"input": row()}, {}, ["- relu.input: dataTypes: float32; ranks: 1, N"]),
    ({}, {"input": row(dataTypes="any")}, ["+ relu.input: dataTypes: any; ranks: 1, N"]),
    (
        {"input": row()},
        {"input": row(dataTypes=["float32", "int8"], ranks={"sameAs": "other"})},
        ["  relu.input: dataTypes: float32 -> float32, int8; ranks: 1, N -> that of other"],
    ),
    ({"input": row()}, {"input": row(option=True)}, ["  relu.input: option: none -> true"]),
]


@each_row(["before", "after", "expected"], LIMITS)
def test_limits(before: dict[str, Any], after: dict[str, Any], expected: list[str], tmp_path: Path) -> None:
    source = read(tmp_path, text())
    old, new = (replace(source, limits={"tables": {"relu": {"operations": ["relu"], "operands": rows}}}) for rows in (before, after))
    assert changes.compare_limits(old, new) == expected


def test_a_source_without_limits(tmp_path: Path) -> None:
    source = read(tmp_path, text())
    assert changes.compare_limits(source, source) == []


def test_inherited_members(tmp_path: Path) -> None:
    idl = read(tmp_path, text()).idl
    idl["dictionaries"]["MLOperatorOptions"]["members"].append({"name": "label", "type": "USVString"})
    assert list(changes.members_of(idl, "MLEluOptions")) == ["label", "alpha"]
    assert changes.members_of(idl, "MLNoOptions") == {}
