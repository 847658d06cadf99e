"""Records tests of web-platform-tests while they run: what each subtest builds, computes and expects."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

import webnn
from webnn.wpt_runner.checkout import Checkout, Test
from webnn.wpt_runner.harness import run_test
from webnn.wpt_runner.levels import LEVELS
from webnn.wpt_runner.observing import Instrument
from webnn.wpt_runner.recording.graphs import Computation
from webnn.wpt_runner.recording.numbers import RecordingError, Tensor, decode_number, encode_number, encode_tensor
from webnn.wpt_runner.results import FileResult, FileStatus, Subtest, SubtestStatus
from webnn.wpt_runner.runner import run_each
from webnn.wpt_runner.settings import Settings

__all__ = ["Recording", "Skipped", "record_test", "record_tests"]

#: The function that the tests' own scripts define for comparisons, mostly as a constant. To be watched, it must be a variable.
_COMPARISON = "assert_array_approx_equals_ulp"
_CONSTANT = re.compile(rf"^const(?=\s+{_COMPARISON}\s*=)", re.MULTILINE)
#: Where an expectation is one number for all elements, web-platform-tests compare this many at most.
_MOST_COMPARED = 1000
_HARNESS = "/resources/testharness.js"
_COMPUTING = ("compute", "dispatch")
_ENDED = (SubtestStatus.PASS, SubtestStatus.FAIL)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A subtest that gives no case, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """The recording of a test: cases for JSON in the order in which their subtests ended, and the subtests that give none.

    Attributes:
        result: The result of the test itself.
        differing: The cases whose results the emulator computes differently: name, and the first difference.
    """

    result: FileResult
    cases: Sequence[dict[str, Any]] = ()
    skipped: Sequence[Skipped] = ()
    differing: Mapping[str, str] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """The test ran to its end, so that no case is missing."""
        return self.result.status is FileStatus.OK

    @property
    def failed(self) -> bool:
        """Cases may be lost. The test's own error loses none if all of its subtests ended, and none of them is a case."""
        if self.complete:
            return False
        ended = [subtest.status in _ENDED for subtest in self.result.subtests]
        return self.result.status is not FileStatus.ERROR or bool(self.cases) or not ended or not all(ended)


def record_test(checkout: Checkout, test: Test, settings: Settings) -> Recording:
    """Run a test, and record it."""
    recorder = _Recorder(test.file.scripts, _level_names(settings))
    with webnn.emulate(on_build=recorder.built, on_compute=recorder.computed):
        result = run_test(checkout, test, settings, recorder.end, recorder)
    return Recording(result=result, cases=recorder.cases, skipped=recorder.skipped, differing=recorder.differing)


def record_tests(
    checkout: Checkout, tests: Sequence[Test], settings: Settings, *, processes: int, on_recording: Callable[[Test, Recording], None]
) -> dict[Test, Recording]:
    """Record tests in processes: see `run_each`."""
    types = (Recording, Skipped)
    return run_each(_record, lambda result: Recording(result=result), checkout, tests, settings, processes, on_recording, types=types)


def _record(checkout: Checkout, settings: Settings, test: Test, _: Callable[[Subtest], None]) -> Recording:
    return record_test(checkout, test, settings)


class _Recorder(Instrument):
    """Records a test; its own scripts are named in messages. Options have the tests' names, given by the draft's."""

    def __init__(self, scripts: Sequence[str], names: Mapping[str, str]) -> None:
        self.script = (resources.files("webnn.wpt_runner.recording") / "recorder.js").read_text(encoding="utf-8")
        self.cases: list[dict[str, Any]] = []
        self.skipped: list[Skipped] = []
        self.differing: dict[str, str] = {}
        self._scripts = scripts
        self._names = names
        self._graphs: WeakKeyDictionary[webnn.MLGraph, webnn.GraphDescription] = WeakKeyDictionary()
        #: For each graph the inputs of its computations, in the order in which they run; a context may run them in a thread of its own.
        self._inputs: WeakKeyDictionary[webnn.MLGraph, list[Mapping[str, Tensor]]] = WeakKeyDictionary()
        self._started: Counter[webnn.MLGraph] = Counter()
        self._number = 0
        #: For each computation its graph, and which of the graph's computations it is.
        self._computations: dict[int, tuple[webnn.MLGraph, int]] = {}
        self._missing: list[str] = []
        # The data of the subtest that runs.
        self._computed = 0
        self._comparisons: list[Mapping[str, Any]] = []

    def prepare(self, source: str) -> str:
        """Turn the comparison function into a variable, so that it can be watched."""
        return _CONSTANT.sub("let", source)

    def built(self, description: webnn.GraphDescription, graph: webnn.MLGraph) -> None:
        """Keep the description of a graph."""
        self._graphs[graph] = description

    def computed(self, graph: webnn.MLGraph, inputs: Mapping[str, Any]) -> None:
        """Keep the inputs of a computation."""
        descriptors = self._graphs[graph].inputs
        self._inputs.setdefault(graph, []).append({name: Tensor.of(each, inputs[name]) for name, each in descriptors.items()})

    def observe(self, target: object, member: str, values: Sequence[Any], result: Any) -> None:
        """Note what is computed."""
        if isinstance(target, webnn.MLContext) and member in _COMPUTING:
            graph = values[0]
            self._computations[self._number] = graph, self._started[graph]
            self._started[graph] += 1
            self._computed += 1

    def tell(self, kind: str, content: Any) -> None:
        """Note computations that begin, comparisons, and missing functions."""
        if kind == "computing":
            self._number = content
        elif kind == "comparison":
            self._comparisons.append(content)
        elif kind == "missing":
            self._missing = content

    def end(self, subtest: Subtest) -> None:
        """Make cases of the calls since the last subtest ended."""
        comparisons, computed = self._comparisons, self._computed
        self._comparisons, self._computed = [], 0
        try:
            if not comparisons:
                raise RecordingError(self._explain(subtest, computed))
            if subtest.status is not SubtestStatus.PASS:
                raise RecordingError(f"it fails beside its comparisons: {subtest.message}")
            found = self._cases(subtest.name, comparisons)
        except RecordingError as error:
            self.skipped.append(Skipped(subtest.name, str(error)))
            return
        self.cases += [case for case, _ in found]
        self.differing.update((case["name"], difference) for case, difference in found if difference is not None)

    def _explain(self, subtest: Subtest, computed: int) -> str:
        """Say why a subtest compares nothing."""
        if subtest.status is not SubtestStatus.PASS:
            return f"it fails before it {'compares' if computed else 'computes'}: {subtest.message or subtest.status}"
        if not computed:
            return "it computes nothing"
        if self._missing:
            scripts = " and ".join([_HARNESS, *self._scripts])
            return f"it compares in a way that is not known here: {' and '.join(self._missing)} is missing in {scripts}"
        return "it compares nothing, or copies: only what compute() or readTensor() gave is known"

    def _cases(self, name: str, comparisons: Sequence[Mapping[str, Any]]) -> list[tuple[dict[str, Any], str | None]]:
        """Make a case of each computation that was compared, with the first difference if there was one."""
        by_computation: dict[int, list[Mapping[str, Any]]] = {}
        for comparison in comparisons:
            by_computation.setdefault(comparison["computation"], []).append(comparison)
        cases = []
        for index, (number, group) in enumerate(by_computation.items()):
            graph, position = self._computations[number]
            computation = Computation(self._graphs[graph], self._inputs[graph][position])
            case = {"name": name if index == 0 else f"{name} ({index + 1})", **_describe(computation, group, self._names)}
            cases.append((case, next((each["difference"] for each in group if each["difference"] is not None), None)))
        return cases


def _level_names(settings: Settings) -> Mapping[str, str]:
    """Return the tests' names of options that the draft calls otherwise, by the draft's names."""
    found = (level for level in LEVELS if level.dialect == settings.dialect)
    return {draft: own for level in found for own, draft in level.renamed.items()}


def _describe(computation: Computation, comparisons: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> dict[str, Any]:
    """Make a case of the comparisons of a computation's outputs."""
    expected: dict[str, dict[str, Any]] = {}
    tolerances: list[object] = []
    for comparison in comparisons:
        name = comparison["output"]
        if name in expected:
            raise RecordingError(f"it compares the output {name!r} more than once")
        expected[name] = _expectation(comparison, computation.descriptor(name))
        tolerance = _tolerance(comparison)
        if tolerances and tolerance not in tolerances:
            raise RecordingError("its outputs have different tolerances, and a case has only one")
        tolerances.append(tolerance)
    return {"tolerance": tolerances[0], "graph": computation.describe(expected, names)}


def _tolerance(comparison: Mapping[str, Any]) -> dict[str, object]:
    try:
        value = decode_number(comparison["tolerance"], "float64")
    except RecordingError:
        raise RecordingError("it has no tolerance") from None
    if not 0 <= value < float("inf"):
        raise RecordingError(f"its tolerance is {value!r}")
    return {"metricType": comparison["metric"], "value": encode_number(value)}


def _expectation(comparison: Mapping[str, Any], descriptor: webnn.OperandDescriptor) -> dict[str, Any]:
    """Return the expectation of a comparison about an output, for JSON."""
    size, dataType, expected = descriptor.element_count, descriptor.dataType, comparison["expected"]
    filled = not isinstance(expected, list)
    numbers = [decode_number(value, dataType) for value in ([expected] if filled else expected)]
    if dataType == "float16" and comparison.get("bits"):
        numbers = np.array(numbers, np.uint16).view(np.float16).astype(float).tolist()
    data = [encode_number(number) for number in numbers]
    # The test repeated one number for each element that it compares.
    cut = size > len(data) == _MOST_COMPARED and comparison["start"] == 0 and all(each == data[0] for each in data)
    if len(data) != size and not cut:
        raise RecordingError(f"it compares {len(data)} of the {size} elements of the output {comparison['output']!r}")
    return encode_tensor(descriptor, data[0] if filled or cut else data)
