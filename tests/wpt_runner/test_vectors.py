"""The conformance cases of web-platform-tests, and the runner itself."""

from __future__ import annotations

import math
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.shared import SHARED
from tests.support import make_context
from webnn.wpt_runner.vectors import Case, Correction, Outcome, check_corrections, distance, load_cases, load_corrections, run_case

VECTORS = SHARED / "wpt_vectors"
LEVEL = "2024-06"
COUNT = 958


def by_file() -> dict[str, list[Case]]:
    cases: dict[str, list[Case]] = defaultdict(list)
    for case in load_cases([VECTORS / LEVEL]) if VECTORS.is_dir() else []:
        cases[case.file].append(case)
    return cases


CASES = by_file()


@pytest.mark.shared
def test_count() -> None:
    assert sum(len(cases) for cases in CASES.values()) == COUNT


@pytest.mark.shared
@pytest.mark.parametrize("file", sorted(CASES))
def test_conformance(file: str) -> None:
    corrections = load_corrections(LEVEL)
    context = make_context()
    outcomes = [run_case(case, context, corrections.get(case.name)) for case in CASES[file]]
    assert [f"{outcome.case.name}: {outcome.failure}" for outcome in outcomes if outcome.failure] == []
    names = {case.name for case in CASES[file]}
    assert check_corrections({name: each for name, each in corrections.items() if name in names}, outcomes) == []


@pytest.mark.shared
def test_corrections_name_cases() -> None:
    names = {case.name for cases in CASES.values() for case in cases}
    assert set(load_corrections(LEVEL)) <= names


def case(expected: list[Any], tolerance: float = 0, metric: str = "ULP") -> Case:
    descriptor = {"shape": [2], "dataType": "float32"}
    graph = {
        "inputs": {"x": {"data": [1.0, 2.0], "descriptor": descriptor}},
        "operators": [{"name": "neg", "arguments": [{"operand": "x"}], "outputs": ["y"]}],
        "expectedOutputs": {"y": {"data": expected, "descriptor": descriptor}},
    }
    return Case(name="neg", file="neg", metric=metric, tolerance=tolerance, graph=graph)


def test_a_case_passes() -> None:
    assert run_case(case([-1, -2]), make_context()) == Outcome(case=case([-1, -2]))


@pytest.mark.parametrize("expected", [[-1, -2.5], [-1, "NaN"], [-1, 2]])
def test_a_case_fails(expected: list[Any]) -> None:
    outcome = run_case(case(expected), make_context())
    assert "y[1] is" in outcome.failure
    assert outcome.worst > 0


def test_an_error_is_an_outcome() -> None:
    broken = case([-1, -2])
    broken.graph["operators"][0]["name"] = "logicalNot"
    assert "logicalNot: a must have a data type of ['uint8']" in run_case(broken, make_context()).failure


def test_corrections() -> None:
    correction = Correction(case="neg", output="y", reason="because", elements={1: -2.0})
    outcome = run_case(case([-1, 7]), make_context(), correction)
    assert (outcome.failure, outcome.corrected) == ("", True)
    assert check_corrections({"neg": correction}, [outcome]) == []
    passing = run_case(case([-1, -2]), make_context(), correction)
    assert check_corrections({"neg": correction}, [passing]) == ["the case 'neg' passes without its correction"]
    assert check_corrections({"neg": correction}, []) == ["there is no case 'neg'"]


DISTANCES: list[tuple[str, list[float], list[float], str, list[float]]] = [
    ("float32", [1.0], [1.0 + 2**-23], "ULP", [1]),
    ("float32", [0.0, -0.0], [-0.0, 0.0], "ULP", [0, 0]),
    ("float32", [2**-149, -(2**-149)], [0.0, 2**-149], "ULP", [1, 2]),
    ("float16", [1.0], [1.0 + 2**-10], "ULP", [1]),
    ("float32", [math.nan, math.nan, 1.0], [math.nan, 1.0, math.nan], "ULP", [0, math.inf, math.inf]),
    ("float32", [math.inf, math.inf], [math.inf, -math.inf], "ATOL", [0, math.inf]),
    ("float32", [0.5], [0.25], "ATOL", [0.25]),
    ("uint64", [2**64 - 1], [0], "ULP", [float(2**64 - 1)]),
    ("int8", [-128], [127], "ATOL", [255]),
]


@pytest.mark.parametrize(("dtype", "actual", "expected", "metric", "result"), DISTANCES)
def test_distance(dtype: str, actual: list[float], expected: list[float], metric: str, result: list[float]) -> None:
    assert distance(np.array(actual, dtype), np.array(expected, dtype), metric).tolist() == result


def test_not_cases(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text("{}")
    with pytest.raises(ValueError, match="no member 'tests'"):
        list(load_cases([path]))
