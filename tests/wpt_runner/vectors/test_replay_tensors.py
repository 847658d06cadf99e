"""Conformance cases of the current draft, replayed over tensors."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import make_context
from webnn.javascript.idl import load_idl
from webnn.wpt_runner.levels import LEVELS
from webnn.wpt_runner.vectors.cases import Case, Outcome, Status
from webnn.wpt_runner.vectors.replay import run_case

LEVEL = LEVELS[-1]


def run(case: Case) -> Outcome:
    return run_case(case, make_context(load_idl(LEVEL.revision, LEVEL.dialect).revision))


def tensor(data: Any, dataType: str = "float32", shape: list[int] | None = None) -> dict[str, Any]:
    return {"data": data, "descriptor": {"shape": [len(data)] if shape is None else shape, "dataType": dataType}}


def make(operators: list[dict[str, Any]], inputs: dict[str, Any], expected: dict[str, Any]) -> Case:
    graph = {"inputs": inputs, "operators": operators, "expectedOutputs": expected}
    return Case(name="case", file="file", level=LEVEL.name, metric="ULP", tolerance=0, graph=graph)


def operator(name: str, *arguments: Any, outputs: str = "y", **options: Any) -> dict[str, Any]:
    return {"name": name, "arguments": list(arguments), "options": options, "outputs": [outputs]}


X = {"operand": "x"}
CASES = {
    "an input": make([operator("neg", X)], {"x": tensor([1.0, 2.0])}, {"y": tensor([-1, -2])}),
    "a constant": make([operator("neg", X)], {"x": {**tensor([1.0, 2.0]), "constant": True}}, {"y": tensor([-1, -2])}),
    "an input that no output needs": make(
        [operator("neg", X), operator("abs", {"operand": "z"}, outputs="w")], {"x": tensor([1.0]), "z": tensor([1.0])}, {"y": tensor([-1])}
    ),
    "a number beyond doubles": make(
        [operator("clamp", X, maxValue={"$bigint": "9007199254740993"})],
        {"x": tensor([{"$bigint": "9223372036854775807"}], "int64")},
        {"y": tensor([{"$bigint": "9007199254740993"}], "int64")},
    ),
    "an option that has another name by now": make(
        [operator("maxPool2d", X, windowDimensions=[2, 1], strides=[2, 1], roundingType="ceil")],
        {"x": tensor([1.0, 2.0, 3.0], shape=[1, 1, 3, 1])},
        {"y": tensor([2.0, 3.0], shape=[1, 1, 2, 1])},
    ),
    "small integers": make([operator("identity", X)], {"x": tensor([-8, 7, 3], "int4")}, {"y": tensor([-8, 7, 3], "int4")}),
    "small integers by their low bits": make([operator("identity", X)], {"x": tensor([10, -15], "int4")}, {"y": tensor([-6, 1], "int4")}),
    "small integers without a sign": make(
        [operator("identity", X)], {"x": {**tensor([15, 0, 9], "uint4"), "constant": True}}, {"y": tensor([15, 0, 9], "uint4")}
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_cases_over_tensors(name: str) -> None:
    outcome = run(CASES[name])
    assert (outcome.status, outcome.failure) == (Status.PASSED, "")


def test_a_case_over_tensors_fails() -> None:
    wrong = make([operator("identity", X)], {"x": tensor([1, 2, 3], "int4")}, {"y": tensor([1, 2, 4], "int4")})
    outcome = run(wrong)
    assert outcome.failure == "y[2] is 3, expected 4: 1 ULP, allowed 0 (1 of 3 elements differ)"
    refused = run(make([operator("neg", X)], {"x": tensor([1], "uint8")}, {"y": tensor([1], "uint8")}))
    assert (refused.status, refused.failure.startswith("WebNNTypeError: neg: input")) == (Status.ERROR, True)
