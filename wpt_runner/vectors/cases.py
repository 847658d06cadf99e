"""Recorded conformance cases, and their outcomes.

A file holds cases; a case is a graph (inputs, operators, expected outputs) and a tolerance.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from webnn.wpt_runner.foreign import is_deep
from webnn.wpt_runner.vectors.comparison import Difference
from webnn.wpt_runner.vectors.files import find_sources
from webnn.wpt_runner.vectors.format import CaseError, RecordedFile, RecordedTest, parse

__all__ = ["Case", "Outcome", "Status", "load_cases", "subject"]

_DEEPEST = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One conformance case.

    Attributes:
        file: The stem of the file it came from, for example ``"conv2d"``.
        level: The level of web-platform-tests that it belongs to, for example ``"2024-06"``; empty if the file does not say.
        metric: ``"ULP"`` or ``"ATOL"``.
        tolerance: The largest distance allowed.
        graph: Inputs, operators and expected outputs, as recorded.
        fault: A fault in the case's own structure, empty if there is none. The graph is checked later.
    """

    name: str
    file: str
    level: str = ""
    metric: str
    tolerance: float
    graph: Mapping[str, Any]
    fault: str = ""

    @property
    def operations(self) -> list[str]:
        """The operations of the graph, in order."""
        operators = self.graph.get("operators")
        names = [each.get("name") for each in operators if isinstance(each, dict)] if isinstance(operators, list) else []
        return [name for name in names if isinstance(name, str)]

    @property
    def types(self) -> str:
        """The data types of its inputs, and other ones of its outputs: ``"float32"``, ``"float32, int32"``, ``"float32 to uint8"``."""
        inputs, outputs = (_types(self.graph.get(key)) for key in ("inputs", "expectedOutputs"))
        more = [each for each in outputs if each not in inputs]
        return " to ".join(", ".join(each) for each in (inputs, more) if each)

    @property
    def title(self) -> str:
        """Its file and its name."""
        return f"{self.file}: {self.name}"


class Named(Protocol):
    """A case, as it is recorded or as a report has it."""

    @property
    def file(self) -> str: ...
    @property
    def operations(self) -> list[str]: ...


def subject(case: Named) -> str:
    """Return what a case is about: its operation, or its file if it has several operations."""
    operations = {*case.operations}
    return operations.pop() if len(operations) == 1 else case.file


class Status(StrEnum):
    """The possible outcomes of a case."""

    PASSED = "passed"
    #: It passes only with its correction.
    CORRECTED = "corrected"
    #: It fails on this provider, as the expectations say.
    EXPECTED = "expected"
    #: The device does not have what the case needs, and says so before anything runs.
    REFUSED = "refused"
    #: Its outputs differ from the expected ones.
    FAILED = "failed"
    #: There are no outputs: the case is not valid, or the API refused something.
    ERROR = "error"
    #: It took too long and was ended.
    TIMEOUT = "timeout"
    #: The process that ran it died, or the context was lost.
    CRASHED = "crashed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of a case.

    Attributes:
        failure: Why it did not pass; empty if it did.
        worst: The largest distance between an element and its expectation; ``None`` where nothing was compared.
        difference: The first element that is too far from its expectation, if there is one.
        left: The operations of which a part ran on another device than the one that was asked for.
    """

    case: Case
    status: Status = Status.PASSED
    failure: str = ""
    worst: float | None = 0.0
    difference: Difference | None = None
    left: tuple[str, ...] = ()
    seconds: float = field(default=0.0, compare=False)

    @property
    def passed(self) -> bool:
        """It passes, with or without a correction."""
        return self.status in (Status.PASSED, Status.CORRECTED)

    @property
    def as_expected(self) -> bool:
        """It passes, fails as the expectations say, or asks for what the device does not have."""
        return self.passed or self.status in (Status.EXPECTED, Status.REFUSED)


def load_cases(paths: Iterable[Path]) -> Iterator[Case]:
    """Read the cases of files, or of all JSON files in folders and ZIP archives.

    A case that does not follow the format is read, too: it has a `fault`, and fails.

    Raises:
        OSError: A path does not exist or cannot be read.
        ValueError: A file is not JSON or does not hold cases. Or a folder or an archive has no JSON file, or an archive is not valid or has
            more than 256 MiB when it is unpacked.
    """
    for path, read in find_sources(paths):
        encoded = read()
        try:
            content = json.loads(encoded.decode("utf-8-sig"))
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path} is not JSON: {error}") from None
        if not isinstance(content, dict) or "tests" not in content:
            raise ValueError(f"{path} does not hold conformance cases: it has no member 'tests'")
        try:
            recorded = parse(RecordedFile, content)
        except CaseError as error:
            raise ValueError(f"{path} does not hold conformance cases: {error}") from None
        for number, test in enumerate(recorded.tests):
            yield _read_case(path.stem, recorded.level, number, test)


def _types(values: Any) -> list[str]:
    """Return the data types of values as they are recorded, each once; they may not follow the format."""
    descriptors = [each.get("descriptor") for each in values.values() if isinstance(each, dict)] if isinstance(values, dict) else []
    types = [each.get("dataType") for each in descriptors if isinstance(each, dict)]
    return list(dict.fromkeys(each for each in types if isinstance(each, str)))


def _read_case(file: str, level: str, number: int, value: object) -> Case:
    try:
        if is_deep(value, _DEEPEST):  # it could not be sent to another process
            raise CaseError(f"must not be nested deeper than {_DEEPEST} levels")
        test = parse(RecordedTest, value)
    except CaseError as error:
        name = value.get("name") if isinstance(value, dict) else None
        name = name if isinstance(name, str) else f"tests[{number}]"
        return Case(name=name, file=file, level=level, metric="ULP", tolerance=0.0, graph={}, fault=str(error))
    tolerance = test.tolerance
    return Case(name=test.name, file=file, level=level, metric=tolerance.metricType, tolerance=tolerance.value, graph=test.graph)
