"""Every recorded case of web-platform-tests as a model: LiteRT computes it right, and so does the graph that is imported again."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import pytest

import webnn
import webnn.tflite
from tests.support import Array
from tests.webnn.tflite.export.litert import judge
from webnn.reference import compute
from webnn.tflite.export import RuleError, export
from webnn.wpt_runner.levels import LEVELS
from webnn.wpt_runner.vectors.cases import Case, load_cases, subject
from webnn.wpt_runner.vectors.comparison import compare
from webnn.wpt_runner.vectors.corrections import Correction, load_corrections
from webnn.wpt_runner.vectors.files import bundled_archives
from webnn.wpt_runner.vectors.graphs import RecordedGraph, read_graph

Judge = Callable[[webnn.GraphDescription, Mapping[str, Array]], Mapping[str, Array]]

#: The outcomes of cases that are not right, by their operation and a part of the reason: how many there are.
_INT4 = "int4, which LiteRT does not take"
REASONS = {"2024-06": {}, "2025-03": {("quantizeLinear", _INT4): 4}}
#: Further outcomes of the graphs that are imported again.
AGAIN: dict[str, dict[tuple[str, str], int]] = {"2024-06": {}, "2025-03": {}}


def cases(level: str, step: int = 1) -> Iterator[tuple[Case, RecordedGraph, webnn.GraphDescription, Correction | None]]:
    """Yield the cases that the draft of a level accepts, or every n-th one."""
    (archive,) = [path for path in bundled_archives() if path.stem == level]
    context = next(each for each in LEVELS if each.name == level).make_ml().createContextSync()
    corrections = load_corrections(level)
    for case in list(load_cases([archive]))[::step]:
        recorded = read_graph(case)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                description = webnn.describe(recorded.graph.build(webnn.MLGraphBuilder(context)))
            except webnn.WebNNTypeError:
                # The recorded corrections say why.
                continue
        yield case, recorded, description, corrections.get(case.name)


def outcomes(level: str, compute_case: Judge, step: int = 1) -> tuple[int, Counter[tuple[str, str]]]:
    """Return how many cases are right, and how many are not, by operation and reason."""
    right, others = 0, Counter[tuple[str, str]]()
    for case, recorded, description, correction in cases(level, step):
        try:
            with np.errstate(all="ignore"):
                outputs = compute_case(description, recorded.inputs)
        except (RuleError, webnn.tflite.RefusedModelError) as error:
            others[subject(case), str(error)] += 1
            continue
        given = (outputs, recorded.expected, case.metric, case.tolerance)
        found = compare(*given)
        if found.failure and correction is not None and not correction.error:
            found = compare(*given, {correction.output: correction.values})
        if found.failure:
            others[subject(case), f"{case.name}: {found.failure}"] += 1
        right += not found.failure
    return right, others


def grouped(others: Counter[tuple[str, str]], known: Mapping[tuple[str, str], int]) -> Counter[tuple[str, str]]:
    """Return outcomes with the known reasons in the place of those that contain them."""
    found = Counter[tuple[str, str]]()
    for (operation, reason), count in others.items():
        found[operation, next((each for own, each in known if own == operation and each in reason), reason)] += count
    return found


@pytest.mark.parametrize("level", list(REASONS))
def test_litert_computes_the_recorded_cases(level: str) -> None:
    right, others = outcomes(level, judge)
    assert grouped(others, REASONS[level]) == REASONS[level]
    assert right >= 900


@pytest.mark.parametrize("level", list(REASONS))
def test_the_imported_models_compute_the_recorded_cases(level: str) -> None:
    def again(description: webnn.GraphDescription, arrays: Mapping[str, Array]) -> Mapping[str, Array]:
        imported = webnn.tflite.load(bytes(export(description).to_bytes())).description
        return compute(imported, {name: arrays[name] for name in imported.inputs})

    known = REASONS[level] | AGAIN[level]
    right, others = outcomes(level, again)
    assert grouped(others, known) == known
    assert right >= 900
