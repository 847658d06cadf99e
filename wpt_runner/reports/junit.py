"""JUnit XML, as continuous integration reads it: a suite for each test, a case for each subtest."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from webnn.commands.text import cut, one_line, show_controls
from webnn.wpt_runner.results import FileResult, FileStatus, RunResult, Subtest

__all__ = ["write_junit"]

_SUMMARY, _DETAIL = 300, 20_000
_ATTRIBUTES = {"failure": "failures", "error": "errors", "skipped": "skipped"}
#: An element, its type, and its text.
_Outcome = tuple[str, str, str]


def write_junit(run: RunResult, path: Path) -> None:
    """Write JUnit XML; an existing file is replaced.

    Unexpected failures are ``<failure>``; a test that does not end well, unexpectedly, is an ``<error>``; what fails as expected is
    ``<skipped>`` with the reason; an unexpected pass and a problem of the expectations are ``<failure>``.
    """
    started = datetime.fromtimestamp(run.started, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    root = ET.Element("testsuites", name="web-platform-tests", time=f"{run.seconds:.3f}")
    root.extend(_suite(result, started) for result in run.results)
    if run.problems:
        suite = ET.SubElement(root, "testsuite", name="expectations", time="0.000", timestamp=started)
        _add_cases(suite, "expectations", ((problem, ("failure", "expectations", problem)) for problem in run.problems))
    for attribute in ("tests", *_ATTRIBUTES.values()):
        root.set(attribute, str(sum(int(suite.attrib[attribute]) for suite in root)))
    ET.indent(root, space=" ")
    path.write_bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n")


def _suite(result: FileResult, started: str) -> ET.Element:
    suite = ET.Element("testsuite", name=show_controls(result.test), time=f"{result.seconds:.3f}", timestamp=started)
    cases = [(subtest.name, _outcome(subtest)) for subtest in result.subtests]
    if result.status is not FileStatus.OK or result.unexpected or not cases:
        cases.insert(0, (result.test, _outcome(result)))
    _add_cases(suite, result.test.removeprefix("/"), cases)
    if result.output:
        ET.SubElement(suite, "system-out").text = cut(show_controls(result.output), _DETAIL)
    return suite


def _add_cases(suite: ET.Element, name: str, cases: Iterable[tuple[str, _Outcome | None]]) -> None:
    counts: Counter[str] = Counter()
    for case, outcome in cases:
        element = ET.SubElement(suite, "testcase", classname=show_controls(name), name=show_controls(case))
        if outcome is not None:
            tag, kind, message = outcome
            counts[tag] += 1
            ET.SubElement(element, tag, type=kind, message=one_line(message, _SUMMARY)).text = cut(show_controls(message), _DETAIL)
    suite.set("tests", str(len(suite)))
    for tag, attribute in _ATTRIBUTES.items():
        suite.set(attribute, str(counts[tag]))


def _outcome(each: FileResult | Subtest) -> _Outcome | None:
    passes = each.status in {"OK", "PASS"}
    if not each.unexpected:
        return None if passes else ("skipped", each.status, each.reason or "expected, without a reason")
    if passes:
        return "failure", each.status, f"passes, but the expectations say {each.expected}"
    return "error" if isinstance(each, FileResult) else "failure", each.status, each.message or each.status
