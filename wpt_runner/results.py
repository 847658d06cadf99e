"""The results of test files. Statuses and test identifiers are those of web-platform-tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

__all__ = ["FileResult", "FileStatus", "RunResult", "Subtest", "SubtestStatus", "sum_counts"]


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
        status: Its status.
        message: Why it did not pass; empty if it passed.
        expected: The status that the expectations give; ``None`` if ``PASS`` is expected.
        reason: The reason in the expectations, empty if there is none.
    """

    name: str
    status: SubtestStatus
    message: str = ""
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
        status: The status of the test as a whole.
        message: Why it is not ``OK``; empty otherwise.
        subtests: The subtests, in the order in which they ended.
        seconds: How long it ran.
        title: The title that the file gives itself, empty if none.
        output: What the program wrote to its console, cut to a sane length.
        expected: The status that the expectations give; ``None`` if ``OK`` is expected.
        reason: The reason in the expectations, empty if there is none.
        subsuite: In a browser's run, the name of a set of flags with which the same tests run again, empty if none.
    """

    file: str
    variant: str = ""
    status: FileStatus
    message: str = ""
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
        stem = self.file.removesuffix(".js")
        return f"/{stem}.html{self.variant}"

    @property
    def unexpected(self) -> bool:
        """The test's own status is not the expected one (the subtests have theirs)."""
        return self.status is not (self.expected or FileStatus.OK)

    @property
    def failed(self) -> bool:
        """Something here is not as expected."""
        return self.unexpected or any(subtest.unexpected for subtest in self.subtests)

    def counts(self) -> Counter[SubtestStatus]:
        """Count the subtests by status."""
        return Counter(subtest.status for subtest in self.subtests)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """A whole run.

    Attributes:
        results: The tests, sorted by file and variant.
        started: When it began, in seconds since 1970.
        seconds: How long it took.
        info: What ran where: ``product``, ``product_version``, ``engine``, ``os``, ``os_version``, ``python_version``,
            ``processor``, ``revision`` (of web-platform-tests, empty if unknown), ``webnn`` (the draft's revision).
        problems: What is wrong with the expectations themselves: stale entries, missing reasons.
    """

    results: Sequence[FileResult]
    started: float = 0.0
    seconds: float = 0.0
    info: dict[str, str] = field(default_factory=dict)
    problems: Sequence[str] = ()

    @property
    def failed(self) -> bool:
        """Something is not as expected."""
        return bool(self.problems) or any(result.failed for result in self.results)

    def counts(self) -> Counter[SubtestStatus]:
        """Count all subtests by status."""
        return sum_counts(self.results)


def sum_counts(results: Iterable[FileResult]) -> Counter[SubtestStatus]:
    """Count the subtests of several tests by status."""
    total: Counter[SubtestStatus] = Counter()
    for result in results:
        total.update(result.counts())
    return total
