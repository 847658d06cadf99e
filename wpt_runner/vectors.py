"""Replays web-platform-tests' conformance cases, recorded as JSON, through the public API.

A file holds cases; a case is a graph (inputs, operators, expected outputs) and a tolerance. The comparison is web-platform-tests' own:
a distance in units in the last place, or an absolute difference.
"""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

import webnn

__all__ = ["Case", "Correction", "Outcome", "check_corrections", "distance", "load_cases", "load_corrections", "run_case"]

Array = np.ndarray[Any, np.dtype[Any]]

#: Web-platform-tests compares no more than this of an output that is expected to be one value throughout.
_COMPARED_OF_FILL = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """What is wrong in a case's own data.

    Attributes:
        case: The case's name.
        output: The output at fault.
        reason: Why the recorded values are wrong.
        elements: The right values by the index into the flattened output.
    """

    case: str
    output: str
    reason: str
    elements: Mapping[int, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One conformance case.

    Attributes:
        name: Its name.
        file: The stem of the file it came from, for example ``"conv2d"``.
        metric: ``"ULP"`` or ``"ATOL"``.
        tolerance: The largest distance allowed.
        graph: Inputs, operators and expected outputs, as recorded.
    """

    name: str
    file: str
    metric: str
    tolerance: float
    graph: Mapping[str, Any]

    @property
    def operations(self) -> list[str]:
        """The operations of the graph, in order."""
        return [operator["name"] for operator in self.graph["operators"]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a case.

    Attributes:
        case: The case.
        failure: Why it failed; empty if it passed.
        worst: The largest distance between an element and its expectation.
        corrected: It passes only with its `Correction`.
    """

    case: Case
    failure: str = ""
    worst: float = 0.0
    corrected: bool = field(default=False)


def load_cases(paths: Iterable[Path]) -> Iterator[Case]:
    """Read the cases of files, or of all JSON files in folders.

    Raises:
        OSError: A path cannot be read.
        ValueError: A file is no JSON, or does not hold cases.
    """
    for path in paths:
        for file in sorted(path.glob("*.json")) if path.is_dir() else [path]:
            content = json.loads(file.read_text(encoding="utf-8"))
            if not isinstance(content, dict) or "tests" not in content:
                raise ValueError(f"{file} does not hold conformance cases: it has no member 'tests'")
            for test in content["tests"]:
                tolerance = test["tolerance"]
                yield Case(
                    name=test["name"],
                    file=file.stem,
                    metric=tolerance["metricType"],
                    tolerance=float(tolerance["value"]),
                    graph=test["graph"],
                )


def load_corrections(level: str) -> dict[str, Correction]:
    """Read the corrections that belong to a level of web-platform-tests, for example ``"2024-06"``, by the case's name."""
    file = resources.files("webnn.wpt_runner") / "expectations" / f"{level}.toml"
    if not file.is_file():
        return {}
    entries = tomllib.loads(file.read_text(encoding="utf-8"))["correction"]
    corrections: dict[str, Correction] = {}
    for entry in entries:
        elements = {int(index): value for index, value in entry["elements"].items()}
        corrections[entry["case"]] = Correction(case=entry["case"], output=entry["output"], reason=entry["reason"], elements=elements)
    return corrections


def check_corrections(corrections: Mapping[str, Correction], outcomes: Iterable[Outcome]) -> list[str]:
    """Return what is stale: a correction of no case, or of a case that passes without it."""
    by_name = {outcome.case.name: outcome for outcome in outcomes}
    stale: list[str] = []
    for name in corrections:
        if name not in by_name:
            stale.append(f"there is no case {name!r}")
        elif not by_name[name].corrected and not by_name[name].failure:
            stale.append(f"the case {name!r} passes without its correction")
    return stale


def run_case(case: Case, context: webnn.MLContext, correction: Correction | None = None) -> Outcome:
    """Build a case's graph, compute it, and compare its outputs.

    Args:
        case: The case.
        context: Where it runs.
        correction: What is wrong in the case's data, if anything is.
    """
    try:
        outputs = _compute(case.graph, context)
    except (webnn.DOMException, TypeError) as error:
        return Outcome(case=case, failure=f"{type(error).__name__}: {error}", worst=math.inf)
    failure, worst = _compare(case, outputs, None)
    if correction is None or not failure:
        return Outcome(case=case, failure=failure, worst=worst)
    failure, worst = _compare(case, outputs, correction)
    return Outcome(case=case, failure=failure, worst=worst, corrected=not failure)


def _compute(graph: Mapping[str, Any], context: webnn.MLContext) -> dict[str, Array]:
    builder = webnn.MLGraphBuilder(context)
    operands: dict[str, webnn.MLOperand] = {}
    inputs: dict[str, Array] = {}
    for name, value in graph["inputs"].items():
        array = _array(value)
        descriptor: webnn.MLOperandDescriptor = {"dataType": array.dtype.name, "dimensions": array.shape}  # type: ignore[typeddict-item]
        if value.get("constant"):
            operands[name] = builder.constant(descriptor, array)
        else:
            operands[name] = builder.input(name, descriptor)
            inputs[name] = array
    for operator in graph["operators"]:
        arguments = [_argument(argument, operands) for argument in operator["arguments"]]
        if operator.get("options"):
            arguments.append({key: _argument(option, operands) for key, option in operator["options"].items()})
        returned = getattr(builder, operator["name"])(*arguments)
        operands.update(zip(operator["outputs"], returned if isinstance(returned, list) else [returned], strict=True))
    wanted = {name: operands[name] for name in graph["expectedOutputs"]}
    compiled = builder.buildSync(wanted)
    # The inputs that the outputs do not need are no inputs of the compiled graph.
    needed = {name: inputs[name] for name in inputs if name in _needed(graph)}
    buffers = {name: np.zeros(operand.shape(), operand.dataType()) for name, operand in wanted.items()}
    return context.computeSync(compiled, needed, buffers)["outputs"]


def _needed(graph: Mapping[str, Any]) -> set[str]:
    """Return the names of all tensors that the expected outputs need."""
    needed = set(graph["expectedOutputs"])
    for operator in reversed(graph["operators"]):
        if needed.intersection(operator["outputs"]):
            needed.update(_operands([operator["arguments"], list((operator.get("options") or {}).values())]))
    return needed


def _operands(value: Any) -> Iterator[str]:
    """Find the names of the operands in arguments."""
    if isinstance(value, list):
        for element in value:
            yield from _operands(element)
    elif isinstance(value, dict) and "operand" in value:
        yield value["operand"]


def _argument(value: Any, operands: Mapping[str, webnn.MLOperand]) -> Any:
    if isinstance(value, dict):
        return operands[value["operand"]] if "operand" in value else _number(value)
    if isinstance(value, list):
        return [_argument(element, operands) for element in value]
    return _number(value) if value in _SPECIAL else value


_SPECIAL = ("NaN", "Infinity", "-Infinity", "-0")


def _number(value: Any) -> Any:
    """Decode a number that JSON cannot write."""
    if isinstance(value, dict):
        return int(value["$bigint"])
    return float(value) if isinstance(value, str) else value


def _array(value: Mapping[str, Any]) -> Array:
    """Decode a tensor; one number stands for a tensor filled with it."""
    descriptor = value["descriptor"]
    dtype = np.dtype(descriptor["dataType"])
    data = value["data"]
    if not isinstance(data, list):
        return np.full(descriptor["shape"], _number(data), dtype)
    return np.array([_number(element) for element in data], dtype).reshape(descriptor["shape"])


def _compare(case: Case, outputs: Mapping[str, Array], correction: Correction | None) -> tuple[str, float]:
    """Return why the outputs fail, empty if they pass, and the largest distance."""
    failure, worst = "", 0.0
    for name, value in case.graph["expectedOutputs"].items():
        expected = _array(value).ravel()
        actual = outputs[name]
        if actual.dtype != expected.dtype or list(actual.shape) != list(value["descriptor"]["shape"]):
            return f"{name} is {actual.dtype} {list(actual.shape)}, expected {value['descriptor']}", math.inf
        if correction is not None and correction.output == name:
            for index, right in correction.elements.items():
                expected[index] = right
        flat = actual.ravel()
        if not isinstance(value["data"], list):
            flat, expected = flat[:_COMPARED_OF_FILL], expected[:_COMPARED_OF_FILL]
        distances = distance(flat, expected, case.metric)
        worst = max(worst, float(distances.max()))
        wrong = np.flatnonzero(~(distances <= case.tolerance))
        if wrong.size and not failure:
            first = wrong[0]
            failure = (
                f"{name}[{first}] is {flat[first]!r}, expected {expected[first]!r}: {distances[first]} {case.metric}, "
                f"allowed {case.tolerance} ({wrong.size} of {flat.size} elements are wrong)"
            )
    return failure, worst


def distance(actual: Array, expected: Array, metric: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Measure how far each element is from its expectation.

    Args:
        actual: The computed elements, 1-D.
        expected: The expected elements, of the same type and length.
        metric: ``"ULP"``, the number of representable values between the two (the difference, for integers), or ``"ATOL"``, the
            absolute difference.

    Returns:
        The distances; 0 where both are NaN, infinity where one is.
    """
    if metric == "ATOL" and actual.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            result = np.abs(actual.astype(np.float64) - expected.astype(np.float64))
    else:
        # Python's integers: the difference of two 64-bit ones needs 65 bits.
        difference = _ordered(actual).astype(object) - _ordered(expected).astype(object)
        result = np.array([float(abs(each)) for each in difference], np.float64)
    # Equal elements (both zeros, too) are at no distance; a NaN is near to a NaN only.
    result[actual == expected] = 0.0
    if actual.dtype.kind == "f":
        result[np.isnan(actual) != np.isnan(expected)] = math.inf
        result[np.isnan(actual) & np.isnan(expected)] = 0.0
    return result


def _ordered(values: Array) -> Array:
    """Map floating-point numbers to integers in the same order, neighbours to neighbours; integers stay."""
    if values.dtype.kind != "f":
        return values
    bits = values.view(f"int{8 * values.dtype.itemsize}").astype(np.int64)
    lowest = -(1 << (8 * values.dtype.itemsize - 1))
    return np.where(bits < 0, lowest - bits, bits)
