"""The results of test files. Statuses and test identifiers are those of web-platform-tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from webnn.wpt_runner.flavours import Flavour, join_place

__all__ = ["FileResult", "FileStatus", "RunResult", "Subtest", "SubtestStatus"]


class SubtestStatus(StrEnum):
    """The statuses of a subtest. The last three occur only in reports of browsers."""

    PASS = "PASS"
    FAIL = "FAIL"
    TIMEOUT = "TIMEOUT"
    NOTRUN = "NOTRUN"
    PRECONDITION_FAILED = "PRECONDITION_FAILED"
    ERROR = "ERROR"
    ASSERT = "ASSERT"
    SKIP = "SKIP"


class FileStatus(StrEnum):
    """The statuses of a test: a file in one of its variants. The last four occur only in reports of browsers."""

    OK = "OK"
    ERROR = "ERROR"
    TIMEOUT = "TIMEOUT"
    CRASH = "CRASH"
    PRECONDITION_FAILED = "PRECONDITION_FAILED"
    PASS = "PASS"
    FAIL = "FAIL"
    ASSERT = "ASSERT"
    SKIP = "SKIP"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subtest:
    """One subtest.

    Attributes:
        name: Its name, unique in its test.
        stack: Where it failed, in files of the checkout: a line for each call, the innermost first; empty if unknown.
        seconds: How long it took, from the end of the subtest before it.
        trace: The calls of the API in it, one in each line, if the run traces them.
        expected: The status that the expectations give; ``None`` if ``PASS`` is expected.
    """

    name: str
    status: SubtestStatus
    message: str = ""
    stack: str = ""
    seconds: float = 0.0
    trace: str = ""
    expected: SubtestStatus | None = None
    reason: str = ""

    @property
    def unexpected(self) -> bool:
        """The status is not the expected one. A pass is unexpected, too, if the expectations give another status."""
        return self.status is not (self.expected or SubtestStatus.PASS)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileResult:
    """The result of one test: a file in one variant.

    Attributes:
        file: The file's path in the checkout, with ``/``, for example ``"webnn/validation_tests/relu.https.any.js"``; of a test that only
            a browser runs, its identifier, for example ``"/webnn/validation_tests/relu.https.any.worker.html"``.
        variant: The variant, for example ``"?cpu"``, or the empty string.
        stack: Where that happened, as in `Subtest`.
        title: The title that the file gives itself, empty if none.
        output: The console output of the program, cut to a sane length.
        expected: The status that the expectations give; ``None`` if ``OK`` is expected.
        subsuite: In a browser's run, the name of a set of flags with which the same tests run again, empty if none.
    """

    file: str
    variant: str = ""
    flavour: Flavour = Flavour.WINDOW
    status: FileStatus
    message: str = ""
    stack: str = ""
    subtests: Sequence[Subtest] = ()
    seconds: float = 0.0
    title: str = ""
    output: str = ""
    expected: FileStatus | None = None
    reason: str = ""
    subsuite: str = ""

    @property
    def test(self) -> str:
        """The test's identifier, as web-platform-tests' own runner writes it: ``"/webnn/validation_tests/relu.https.any.html?cpu"``."""
        if self.file.startswith("/"):
            return f"{self.file}{self.variant}"
        if self.file.endswith(".html"):
            return f"/{self.file}{self.variant}"
        stem = self.file.removesuffix(".js")
        return f"/{stem}{self.flavour.suffix}.html{self.variant}"

    @property
    def place(self) -> str:
        """Flavour and variant, among those of the file (`join_place`)."""
        return join_place(self.flavour, self.variant)

    @property
    def name(self) -> str:
        """The file with its flavour, and the variant, for people."""
        return (
            f"{self.file.removesuffix('.js')}{self.flavour.suffix}.js{self.variant}"
            if self.flavour.suffix
            else f"{self.file}{self.variant}"
        )

    @property
    def unexpected(self) -> bool:
        """The test's own status is not the expected one (the subtests have theirs)."""
        return self.status is not (self.expected or FileStatus.OK)

    @property
    def surprises(self) -> int:
        """The number of statuses that are not expected: the test's own, and those of subtests."""
        return self.unexpected + sum(subtest.unexpected for subtest in self.subtests)

    def counts(self) -> Counter[SubtestStatus]:
        """Count the subtests by status."""
        return Counter(subtest.status for subtest in self.subtests)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """A whole run.

    Attributes:
        started: When it began, in seconds since 1970.
        info: The product and its system (`describe_run`); of another product's run, the content of its report.
        problems: Faults of the expectations themselves: stale entries, missing reasons.
        flaky: The tests and subtests that ended differently when they ran several times.
    """

    results: Sequence[FileResult]
    started: float = 0.0
    seconds: float = 0.0
    info: dict[str, str] = field(default_factory=dict)
    problems: Sequence[str] = ()
    flaky: Sequence[str] = ()

    @property
    def unexpected(self) -> int:
        """The number of statuses that are not expected."""
        return sum(result.surprises for result in self.results)

    @property
    def failed(self) -> bool:
        """Something is not as expected."""
        return bool(self.problems or self.flaky or self.unexpected)

    def counts(self) -> Counter[SubtestStatus]:
        """Count all subtests by status."""
        return Counter(subtest.status for result in self.results for subtest in result.subtests)
