"""JUnit XML, as continuous integration reads it: a suite for each test, a case for each subtest."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from webnn.commands.text import cut, one_line, show_controls
from webnn.wpt_runner.results import FileResult, FileStatus, RunResult, Subtest, SubtestStatus

__all__ = ["write_junit"]

_SUMMARY, _DETAIL = 300, 20_000
_ATTRIBUTES = {"failure": "failures", "error": "errors", "skipped": "skipped"}
#: Messages that are not the test's own.
_UNEXPECTED_PASS = "passes, but the expectations say {}"
_WITHOUT_REASON = "expected, without a reason"


def write_junit(run: RunResult, path: Path) -> None:
    """Write JUnit XML.

    Unexpected failures are ``<failure>``; a test that does not end well, unexpectedly, is an ``<error>``; what fails as expected is
    ``<skipped>`` with the reason; an unexpected pass and a problem of the expectations are ``<failure>``.

    Args:
        run: The run.
        path: The file; an existing one is replaced.

    Raises:
        OSError: The file cannot be written.
    """
    suites = [_suite(result.test, [*_cases(result)], result.seconds, run.started, result.output) for result in run.results]
    if run.problems:
        problems = [_case("expectations", problem, ("failure", "expectations", problem)) for problem in run.problems]
        suites.append(_suite("expectations", problems, 0.0, run.started, ""))
    root = ET.Element("testsuites", name="web-platform-tests", time=f"{run.seconds:.3f}")
    for attribute in ("tests", *_ATTRIBUTES.values()):
        root.set(attribute, str(sum(int(suite.attrib[attribute]) for suite in suites)))
    root.extend(suites)
    ET.indent(root, space=" ")
    path.write_bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n")


def _suite(name: str, cases: list[ET.Element], seconds: float, started: float, output: str) -> ET.Element:
    counts = Counter(outcome.tag for case in cases for outcome in case)
    suite = ET.Element("testsuite", name=show_controls(name), tests=str(len(cases)))
    for tag, attribute in _ATTRIBUTES.items():
        suite.set(attribute, str(counts[tag]))
    suite.set("time", f"{seconds:.3f}")
    suite.set("timestamp", datetime.fromtimestamp(started, UTC).strftime("%Y-%m-%dT%H:%M:%S"))
    suite.extend(cases)
    if output:
        ET.SubElement(suite, "system-out").text = cut(show_controls(output), _DETAIL)
    return suite


def _cases(result: FileResult) -> Iterator[ET.Element]:
    """Yield a case for the test itself if it has an outcome to report, and one for each subtest."""
    suite = result.test.removeprefix("/")
    if result.status is not FileStatus.OK or result.unexpected or not result.subtests:
        yield _case(suite, result.test, _file_outcome(result))
    for subtest in result.subtests:
        yield _case(suite, subtest.name, _subtest_outcome(subtest))


def _case(suite: str, name: str, outcome: tuple[str, str, str] | None) -> ET.Element:
    case = ET.Element("testcase", classname=show_controls(suite), name=show_controls(name))
    if outcome is not None:
        tag, kind, message = outcome
        element = ET.SubElement(case, tag, type=kind, message=one_line(message, _SUMMARY))
        element.text = cut(show_controls(message), _DETAIL)
    return case


def _file_outcome(result: FileResult) -> tuple[str, str, str] | None:
    passes = result.status in {FileStatus.OK, FileStatus.PASS}
    if not result.unexpected:
        return None if passes else ("skipped", result.status, result.reason or _WITHOUT_REASON)
    if passes:
        return "failure", result.status, _UNEXPECTED_PASS.format(result.expected)
    return "error", result.status, result.message or result.status


def _subtest_outcome(subtest: Subtest) -> tuple[str, str, str] | None:
    passes = subtest.status is SubtestStatus.PASS
    if not subtest.unexpected:
        return None if passes else ("skipped", subtest.status, subtest.reason or _WITHOUT_REASON)
    if passes:
        return "failure", subtest.status, _UNEXPECTED_PASS.format(subtest.expected)
    return "failure", subtest.status, subtest.message or subtest.status
