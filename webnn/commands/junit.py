"""JUnit XML, as continuous integration reads it: suites of cases."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from webnn.commands.text import cut, one_line, show_controls

__all__ = ["Case", "Outcome", "Suite", "write_suites"]

_SUMMARY, _DETAIL = 300, 20_000
_ATTRIBUTES = {"failure": "failures", "error": "errors", "skipped": "skipped"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a case ended that did not pass."""

    tag: Literal["failure", "error", "skipped"]
    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class Case:
    """A case; ``None`` is the outcome of one that passed, and the seconds are those that it took, if they are known."""

    name: str
    outcome: Outcome | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """Cases that ran together."""

    name: str
    group: str
    seconds: float = 0.0
    cases: Sequence[Case]
    output: str = ""


def write_suites(path: Path, name: str, suites: Iterable[Suite], *, started: float, seconds: float) -> None:
    """Write JUnit XML; an existing file is replaced."""
    stamp = datetime.fromtimestamp(started, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    root = ET.Element("testsuites", name=name, time=f"{seconds:.3f}")
    root.extend(_suite(suite, stamp) for suite in suites)
    for attribute in ("tests", *_ATTRIBUTES.values()):
        root.set(attribute, str(sum(int(suite.attrib[attribute]) for suite in root)))
    ET.indent(root, space=" ")
    path.write_bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n")


def _suite(suite: Suite, stamp: str) -> ET.Element:
    element = ET.Element("testsuite", name=show_controls(suite.name), time=f"{suite.seconds:.3f}", timestamp=stamp)
    counts: Counter[str] = Counter()
    for case in suite.cases:
        added = ET.SubElement(element, "testcase", classname=show_controls(suite.group), name=show_controls(case.name))
        if case.seconds is not None:
            added.set("time", f"{case.seconds:.3f}")
        outcome = case.outcome
        if outcome is not None:
            counts[outcome.tag] += 1
            summary, detail = one_line(outcome.message, _SUMMARY), cut(show_controls(outcome.message), _DETAIL)
            ET.SubElement(added, outcome.tag, type=outcome.kind, message=summary).text = detail
    element.set("tests", str(len(suite.cases)))
    for tag, attribute in _ATTRIBUTES.items():
        element.set(attribute, str(counts[tag]))
    if suite.output:
        ET.SubElement(element, "system-out").text = cut(show_controls(suite.output), _DETAIL)
    return element
