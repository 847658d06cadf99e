"""Replay the web-platform-tests vectors through the reference, with WPT's own tolerances.

Format: `wpt_runner/vectors/data/README.md`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from webnn.reference.operations import REFERENCE
from webnn.wpt_runner.vectors.cases import Case, load_cases
from webnn.wpt_runner.vectors.files import bundled_archives

#: The draft's own cases: 958 in all.
CASES_2024 = 958
#: Recurrent networks have no cases of 2024; those of 2025 differ only in how they write activations.
RECURRENT_2025 = {"gru": 12, "gru_cell": 4, "lstm": 14, "lstm_cell": 5}

#: Cases of many millions of elements, which take longer than all others. They are for the night.
LARGE = {"add float32 large inputs"}

#: Cases with wrong expectations, and the wrong elements: windows of two elements, whose square root the
#: generator forgot (webnn-baseline pull request 125, crbug.com/383232123). Here the root is taken, the rest is as it is.
MISSING_ROOTS = {
    "l2Pool2d float32 4D tensor options.roundingType=ceil": [2, 8, 11, 17],
    "l2Pool2d float32 4D tensor options.outputSizes ignores options.roundingType=floor": [2, 8, 11, 17],
}


def by_file() -> dict[tuple[str, str], list[Case]]:
    cases: dict[tuple[str, str], list[Case]] = defaultdict(list)
    for case in load_cases(bundled_archives()):
        cases[case.level, case.file].append(case)
    return cases


CASES = by_file()
FILES_2024 = sorted(file for level, file in CASES if level == "2024-06")


def test_every_vector_is_replayed() -> None:
    assert sum(len(CASES["2024-06", file]) for file in FILES_2024) == CASES_2024
    assert {file: len(CASES["2025-03", file]) for file in RECURRENT_2025} == RECURRENT_2025


def check(cases: list[Case]) -> None:
    failures = [f"{case.name}: {failure}" for case in cases for failure in differences(case)]
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize(("level", "file"), [*(("2024-06", file) for file in FILES_2024), *(("2025-03", file) for file in RECURRENT_2025)])
def test_vectors(level: str, file: str) -> None:
    check([case for case in CASES[level, file] if case.name not in LARGE])


@pytest.mark.slow
def test_large_vectors() -> None:
    large = [case for case in CASES["2024-06", "add"] if case.name in LARGE]
    assert {case.name for case in large} == LARGE
    check(large)


def differences(case: Case) -> list[str]:
    """Run one case and describe each output that is not as expected."""
    graph = case.graph
    tensors = {name: tensor(value) for name, value in graph["inputs"].items()}
    for node in graph["operators"]:
        arguments = [operands(argument, tensors) for argument in node["arguments"]]
        options = {name: operands(option, tensors) for name, option in node["options"].items()}
        if "activations" in options:
            options["activations"] = [(name, {}) for name in options["activations"]]
        results = REFERENCE[node["name"]](*arguments, **options)
        results = results if isinstance(results, list) else [results]
        tensors.update(zip(node["outputs"], results, strict=True))
    failures = []
    for name, value in graph["expectedOutputs"].items():
        actual, expected = tensors[name], tensor(value)
        wrong = MISSING_ROOTS.get(case.name, [])
        expected.ravel()[wrong] = np.sqrt(expected.ravel()[wrong])
        if (actual.dtype, actual.shape) != (expected.dtype, expected.shape):
            failures.append(f"{name} is {actual.dtype} {actual.shape}, not {expected.dtype} {expected.shape}")
        elif not (error := distance(actual, expected, case.metric)) <= case.tolerance:
            failures.append(f"{name} is off by {error}, allowed {case.tolerance} {case.metric}")
    return failures


def operands(argument: Any, tensors: dict[str, NDArray[Any]]) -> Any:
    """Replace operand names by their tensors."""
    if isinstance(argument, list):
        return [operands(item, tensors) for item in argument]
    return tensors[argument["operand"]] if isinstance(argument, dict) else argument


def tensor(value: dict[str, Any]) -> NDArray[Any]:
    """Decode a tensor; one number means a tensor filled with it."""
    descriptor = value["descriptor"]
    data = value["data"] if isinstance(value["data"], list) else [value["data"]]
    number = float if descriptor["dataType"].startswith("float") else int
    numbers = [number(item["$bigint"] if isinstance(item, dict) else item) for item in data]
    flat = np.array(numbers, dtype=descriptor["dataType"])
    size = int(np.prod(descriptor["shape"], dtype=np.int64))
    return (np.repeat(flat, size) if flat.size == 1 else flat).reshape(descriptor["shape"])


def distance(actual: NDArray[Any], expected: NDArray[Any], metric: str) -> float:
    """Return the largest difference, in representable values (ULP) or absolute; NaN equals only NaN."""
    if actual.dtype.kind == "f":
        if not np.array_equal(np.isnan(actual), np.isnan(expected)):
            return math.inf
        actual, expected = actual[~np.isnan(actual)], expected[~np.isnan(expected)]
    differs = actual != expected  # equal infinities are not subtracted
    if not differs.any():
        return 0.0
    scale = ranks if metric == "ULP" else np.float64
    return float(np.max(np.abs(scale(actual[differs]) - scale(expected[differs]))))


def ranks(x: NDArray[Any]) -> NDArray[Any]:
    """Number the values of a type in ascending order, both zeros 0; for integers the values themselves."""
    if x.dtype.kind != "f":
        return x.astype(object)
    bits = x.view(f"i{x.dtype.itemsize}").astype(np.int64)
    lowest = -(2 ** (8 * x.dtype.itemsize - 1))
    return np.where(bits >= 0, bits, lowest - bits)
