"""The report of `webnn check` for continuous integration."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

from tests.webnn.check.test_show import REFUSED, graph, report
from webnn.check.ci import annotate, write_junit
from webnn.check.report import ModelReport, Run, Verdict

BUILDS = Run(profile="large", verdict=Verdict.BUILDS, required=True, graphs=(graph(),))
REQUIRED = REFUSED.model_copy(update={"required": True})
CRASHED = Run(profile="other,\n::error::x", verdict=Verdict.CRASHED, error="the process died (100 %)\nlast words")


def test_junit(tmp_path: Path) -> None:
    path = tmp_path / "report.xml"
    write_junit(report(REFUSED, REQUIRED, BUILDS, CRASHED), path, 0.0)
    suites = ET.parse(path).getroot()
    assert {name: suites.attrib[name] for name in ("name", "tests", "failures", "errors", "skipped")} == {
        "name": "webnn check",
        "tests": "5",
        "failures": "1",
        "errors": "0",
        "skipped": "2",
    }
    cases = {case.attrib["name"]: [each.tag for each in case] for case in suites.iter("testcase")}
    assert cases["without a profile"] == cases["large"] == []
    assert [child.tag for case in suites.iter("testcase") for child in case] == ["skipped", "failure", "skipped"]
    failure = next(suites.iter("failure"))
    assert failure.text == "maxPool2d [pool]: input is int8, allowed: float32, float16\nchange: cast input to float16"
    assert suites[0].attrib["timestamp"] == "1970-01-01T00:00:00"


def test_annotations() -> None:
    assert list(annotate(report(REFUSED, REQUIRED, BUILDS, CRASHED))) == [
        "::warning file=program.py,title=webnn check%3A small::refused: maxPool2d [pool]: input is int8, allowed: float32, float16"
        "%0Achange: cast input to float16",
        "::error file=program.py,title=webnn check%3A small::refused: maxPool2d [pool]: input is int8, allowed: float32, float16"
        "%0Achange: cast input to float16",
        # Nothing in a name or a message can begin another command.
        "::warning file=program.py,title=webnn check%3A other%2C%0A%3A%3Aerror%3A%3Ax::crashed: the process died (100 %25)%0Alast words",
    ]


def test_a_program_that_fails_without_a_profile() -> None:
    failing = report().model_copy(update={"baseline": Run(profile=None, verdict=Verdict.ERROR, error="ValueError: no")})
    assert list(annotate(failing)) == ["::error file=program.py,title=webnn check%3A without a profile::error: ValueError: no"]


def test_a_model_that_onnxruntime_refuses(tmp_path: Path) -> None:
    refused = report(BUILDS).model_copy(update={"model": ModelReport(nodes=(), refusal="a type error")})
    assert list(annotate(refused)) == [
        "::error file=program.py,title=webnn check%3A ONNX Runtime refuses the model::a type error",
    ]
    write_junit(refused, tmp_path / "report.xml", 0.0)
    cases = {case.attrib["name"]: [each.tag for each in case] for case in ET.parse(tmp_path / "report.xml").iter("testcase")}
    assert cases == {"ONNX Runtime": ["failure"], "without a profile": [], "large": []}
