"""Compares the predicted partitions with what ONNX Runtime Web did: which nodes WebNN got, and in how many subgraphs."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import onnx
from rich.table import Table

from tools.evidence.ort_web.cases import Case
from tools.evidence.ort_web.verdicts import Verdict
from webnn import ML
from webnn.javascript.idl import load_idl
from webnn.onnx.partition.predict import Partition, partition

__all__ = ["DIFFERENCES", "Comparison", "compare", "contradictions", "limits_of", "load_differences", "make_prediction_table", "predict"]

DIFFERENCES = Path(__file__).resolve().with_name("unpredicted.toml")

#: "agrees", "differs", or why it cannot be compared: ONNX Runtime Web failed before it partitioned the model, or while it did.
Outcome = Literal["agrees", "differs", "not partitioned", "broken off"]
_OUTCOMES: tuple[Outcome, ...] = ("agrees", "differs", "not partitioned", "broken off")


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A prediction beside what happened.

    Attributes:
        name: The test.
        outcome: Whether they agree.
        nodes: How many nodes were predicted.
        subgraphs: How many subgraphs were predicted.
        message: The difference; empty if there is none.
    """

    name: str
    outcome: Outcome
    nodes: int
    subgraphs: int
    message: str = ""


def limits_of(revision: str, dialect: str) -> Mapping[str, Any]:
    """Return the limits of a context of the page program."""
    return ML(revision=load_idl(revision, dialect).revision).createContextSync().opSupportLimits()


def predict(verdicts: Iterable[Verdict], cases: Iterable[Case], site: Path, limits: Mapping[str, Any]) -> list[Comparison]:
    """Predict the partitions of tests, and compare them with what happened.

    Args:
        verdicts: The verdicts on the tests.
        cases: The tests.
        site: The folder of their models.
        limits: The limits of the contexts that they ran in.
    """
    models = {case.name: site / case.model.lstrip("/") for case in cases}
    return [compare(verdict, partition(onnx.load(models[verdict.name]), limits)) for verdict in verdicts]


def compare(verdict: Verdict, predicted: Partition) -> Comparison:
    """Compare a prediction with what happened: nodes by operator and name, and the number of subgraphs."""
    graphs = len({node.graph for node in predicted.nodes})

    def conclude(outcome: Outcome, message: str = "") -> Comparison:
        nodes, subgraphs = len(predicted.nodes), len(predicted.subgraphs)
        return Comparison(name=verdict.name, outcome=outcome, nodes=nodes, subgraphs=subgraphs, message=message)

    failed = verdict.status in {"error", "hang", "crash"}
    if failed and len(verdict.asked) < graphs:
        return conclude("broken off" if verdict.asked else "not partitioned")
    # Where functions were inlined, the provider was asked again. The last answer counts.
    last = verdict.asked[len(verdict.asked) - graphs :]
    happened = {
        "WebNN": Counter((operator, name) for each in verdict.asked for operator, name, taken in each["nodes"] if taken),
        "wasm": Counter((operator, name) for each in last for operator, name, taken in each["nodes"] if not taken),
    }
    # ONNX Runtime Web does not say the domain.
    expected = {
        where: Counter((node.operator.rpartition(".")[2], node.name) for node in predicted.nodes if node.place == place)
        for where, place in (("WebNN", "webnn"), ("wasm", "wasm"))
    }
    if failed and "MLContext.dispatch" not in verdict.calls and expected["WebNN"] > happened["WebNN"]:
        # The session failed before functions were inlined: WebNN got nothing that it was not to get.
        return conclude("broken off")
    parts = [f"{where} got {_texts(happened[where] - expected[where])}" for where in happened if happened[where] - expected[where]]
    parts += [f"{where} was to get {_texts(expected[where] - happened[where])}" for where in happened if expected[where] - happened[where]]
    subgraphs = sum(each["partitions"] for each in verdict.asked)
    if subgraphs != len(predicted.subgraphs):
        parts.append(f"{subgraphs} subgraphs instead of {len(predicted.subgraphs)}")
    if predicted.note:
        parts.append(predicted.note)
    return conclude("differs" if parts else "agrees", "; ".join(parts))


def _texts(nodes: Counter[tuple[str, str]]) -> str:
    return ", ".join(f"{operator} {name!r}" if name else operator for operator, name in sorted(nodes.elements()))


def load_differences(path: Path = DIFFERENCES) -> dict[str, str]:
    """Read the reasons of known differences, by the name of the test.

    Raises:
        ValueError: An entry has no reason, or repeats a test.
    """
    reasons: dict[str, str] = {}
    for entry in tomllib.loads(path.read_text(encoding="utf-8"))["unpredicted"]:
        reason = " ".join(entry["reason"].split())
        if not reason:
            raise ValueError(f"{path.name}: an entry must have a reason, got {entry}")
        for name in entry["tests"]:
            if name in reasons:
                raise ValueError(f"{path.name}: {name} stands there twice")
            reasons[name] = reason
    return reasons


def contradictions(comparisons: Iterable[Comparison], known: Mapping[str, str]) -> list[str]:
    """Return the differences that are not known, and the known ones that are none: one line each."""
    lines = []
    for each in comparisons:
        if each.outcome == "differs" and each.name not in known:
            lines.append(f"{each.name}: not as predicted: {each.message}")
        elif each.outcome != "differs" and each.name in known:
            lines.append(f"{each.name}: {each.outcome}, but is known to differ")
    return lines


def make_prediction_table(comparisons: Iterable[Comparison]) -> Table:
    """Make the table of the numbers of tests, nodes and subgraphs by outcome."""
    table = Table("prediction", "tests", "nodes", "subgraphs")
    for column in table.columns[1:]:
        column.justify = "right"
    every = list(comparisons)
    for outcome in _OUTCOMES:
        some = [each for each in every if each.outcome == outcome]
        table.add_row(outcome, str(len(some)), str(sum(each.nodes for each in some)), str(sum(each.subgraphs for each in some)))
    return table
