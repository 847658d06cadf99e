"""The comparison of predicted partitions with those of ONNX Runtime Web."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tests.tools.evidence.ort_web_support import make_test
from tests.webnn.onnx.partition.models import LIMITS, model_of, partition_of
from tools.evidence.ort_web.cases import write
from tools.evidence.ort_web.prediction import (
    Comparison,
    compare,
    contradictions,
    limits_of,
    load_differences,
    make_prediction_table,
    predict,
)
from tools.evidence.ort_web.verdicts import Verdict

MODEL = "(float[2] x) => (y) { a = Relu (x) b = Sum (a, x) y = Exp (b) }"


def asked(partitions: int, *nodes: Sequence[Any]) -> dict[str, Any]:
    return {"partitions": partitions, "nodes": list(nodes)}


RELU, SUM, EXP = ("Relu", "", True), ("Sum", "", False), ("Exp", "", True)


@pytest.mark.parametrize(
    ("calls", "status", "outcome", "message"),
    [
        pytest.param([asked(2, RELU, SUM, EXP)], "ok", "agrees", "", id="agrees"),
        pytest.param([asked(2, RELU, SUM, EXP)], "error", "agrees", "", id="fails later"),
        pytest.param([asked(1, RELU, SUM, EXP)], "ok", "differs", "1 subgraphs instead of 2", id="subgraphs"),
        pytest.param([asked(2, RELU, ("Sum", "", True), EXP)], "ok", "differs", "WebNN got Sum; wasm was to get Sum", id="taken"),
        pytest.param([asked(2, RELU, SUM, ("Exp", "n", True))], "ok", "differs", "WebNN got Exp 'n'; WebNN was to get Exp", id="name"),
        pytest.param([], "error", "not partitioned", "", id="never"),
        pytest.param([], "ok", "differs", "0 subgraphs instead of 2", id="nothing"),
        pytest.param([asked(1, ("Mish", "", False), RELU)], "error", "broken off", "", id="fails between rounds"),
        pytest.param([asked(1, ("Mish", "", True), RELU)], "error", "differs", "WebNN got Mish", id="fails otherwise"),
        # Functions were inlined: what was taken is not asked about again.
        pytest.param([asked(1, RELU, ("Mish", "", False)), asked(1, SUM, EXP)], "ok", "agrees", "", id="rounds"),
    ],
)
def test_comparison(calls: list[dict[str, Any]], status: str, outcome: str, message: str) -> None:
    found = compare(Verdict(name="t", status=status, asked=calls), partition_of(MODEL))
    assert (found.name, found.outcome, found.nodes, found.subgraphs) == ("t", outcome, 3, 2)
    assert message in found.message
    assert bool(found.message) == (outcome == "differs")


def test_a_session_that_fails_between_two_graphs() -> None:
    text = """(bool c, float[2] x) => (float[2] y) {
      y = If (c) <then_branch = t () => (float[2] p) { p = Relu (x) }, else_branch = e () => (float[2] r) { r = Exp (x) }>
    }"""
    found = compare(Verdict(name="t", status="error", asked=[asked(1, RELU)]), partition_of(text))
    assert found.outcome == "broken off"


def test_what_the_prediction_did_without_is_a_difference() -> None:
    found = compare(
        Verdict(name="t", status="error", asked=[asked(0, ("Mystery", "", False))]), partition_of("(float[2] x) => (y) { y = Mystery (x) }")
    )
    assert (found.outcome, "is not optimized" in found.message) == ("differs", True)


def test_predictions_of_files(tmp_path: Path) -> None:
    model = model_of("(float[2,3] x) => (float[2,3] y) { y = Relu (x) }")
    cases = write([make_test("t", model=model)], tmp_path)
    assert predict([Verdict(name="t", status="ok", asked=[asked(1, RELU)])], cases, tmp_path, LIMITS) == [
        Comparison(name="t", outcome="agrees", nodes=1, subgraphs=1)
    ]


def test_the_limits_are_those_of_the_page() -> None:
    limits = limits_of("2026-06", "browsers-2026")
    assert limits == LIMITS
    assert "int4" in limits["constant"]["dataTypes"]


def comparison(name: str, outcome: Any) -> Comparison:
    return Comparison(name=name, outcome=outcome, nodes=2, subgraphs=1, message="why" * (outcome == "differs"))


def test_contradictions() -> None:
    some = [comparison("new", "differs"), comparison("known", "differs"), comparison("gone", "agrees"), comparison("off", "broken off")]
    wanted = ["new: not as predicted: why", "gone: agrees, but is known to differ", "off: broken off, but is known to differ"]
    assert contradictions(some, {"known": "a reason", "gone": "a reason", "off": "a reason"}) == wanted


def test_the_table_counts() -> None:
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(make_prediction_table([comparison("a", "agrees"), comparison("b", "agrees"), comparison("c", "differs")]))
    rows = [line.replace("│", " ").split() for line in console.export_text().splitlines()]
    assert ["agrees", "2", "4", "2"] in rows
    assert ["differs", "1", "2", "1"] in rows


def test_the_known_differences_have_reasons() -> None:
    assert len(load_differences()) == 18


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[unpredicted]]\ntests = ["a"]\nreason = " "', "must have a reason"),
        ('[[unpredicted]]\ntests = ["a", "a"]\nreason = "b"', "a stands there twice"),
    ],
)
def test_differences_that_are_wrong(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "unpredicted.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        load_differences(path)
