"""The tables of conformance: what a cell says of the cases of a device."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from webnn.wpt_runner.vectors.conformance import check_run, describe_runs, list_failures, read_runs, tabulate

RUN: dict[str, Any] = {
    "versions": {"webnn": "1"},
    "device": "gpu",
    "provider": "WebGpuExecutionProvider",
    "adapter": "llvmpipe (LLVM 19)",
    "profile": "",
    "seconds": 3,
}


def ran(status: str = "passed", worst: Any = 0, *, operations: str = "relu", types: str = "float32", **more: Any) -> dict[str, Any]:
    """Return a case of a report."""
    case = {"name": "x", "file": "unary", "operations": operations.split(), "types": types, "status": status, "worst": worst}
    return {**case, "left": [], "metric": "ULP", "tolerance": 2, "failure": "", "seconds": 0.5, **more}


def run_of(*cases: dict[str, Any], **more: Any) -> Any:
    return {**RUN, "cases": list(cases), **more}


@pytest.mark.parametrize(
    ("cases", "cell", "style", "value"),
    [
        ([ran(), ran("corrected", 1)], "2", "good", 1),
        ([ran(), ran(left=["relu"])], "2, 1 left", "", 1),
        ([ran(), ran("failed", 5), ran("expected", 3)], "1 of 3, 2 wrong by 2.5 tolerances", "bad", 1 / 3),
        ([ran("failed", "Infinity"), ran("failed", 3)], "0 of 2, 2 wrong by inf tolerances", "bad", 0),
        ([ran("failed", 3, tolerance=0)], "0 of 1, 1 wrong by 3 ULP", "bad", 0),
        ([ran("crashed", None), ran("expected", None), ran("timeout", None), ran("error", None)], "0 of 4, 4 failed", "bad", 0),
        ([ran("refused", None), ran()], "1 of 2, 1 refused", "", 0.5),
    ],
)
def test_cells(cases: list[dict[str, Any]], cell: str, style: str, value: float) -> None:
    table = tabulate([check_run(run_of(*cases))], types=True)
    assert table.columns == ("operation", "types", "gpu llvmpipe", "gpu llvmpipe: ms")
    [[operation, types, shown, time]] = table.rows
    assert (operation, types, shown, time) == ("relu", "float32", cell, "500.0")
    assert (getattr(shown, "style", ""), getattr(shown, "value", None)) == (style, value)


def test_rows_and_columns() -> None:
    """A graph of several operations counts for its file; a case that one run does not have is an empty cell; names occur once."""
    first = check_run(run_of(ran(), ran(types="float16"), ran(operations="add relu"), ran(operations="abs")))
    second = check_run(run_of(ran(), ran("refused", None, types="float16")))
    table = tabulate([first, second], types=True)
    assert table.columns[2::2] == ("gpu llvmpipe", "gpu llvmpipe #2")
    assert [row[::2] for row in table.rows] == [
        ["abs", "1", ""],
        ["relu", "1", "0 of 1, 1 refused"],
        ["relu", "1", "1"],
        ["unary", "1", ""],
    ]
    whole = tabulate([first, second], types=False)
    assert [row[::2] for row in whole.rows] == [["relu", "2", "1 of 2, 1 refused"]]
    assert whole.notes == ["2 more operations are right on every device, and stay there"]
    totals = describe_runs([first, second])
    assert [row[:7] for row in totals.rows] == [
        ["gpu llvmpipe", "4", "4", "0", "0", "0", "0"],
        ["gpu llvmpipe #2", "2", "1", "0", "0", "1", "0"],
    ]


def test_failures_are_listed() -> None:
    broken = ran("crashed", None, name="\x1b[31mx", failure="the process died (signal 11, SIGSEGV)")
    table = list_failures([check_run(run_of(ran(), broken, ran("refused", None)))])
    assert table.rows == [["relu", "float32", "gpu llvmpipe", "\\x1b[31mx", "the process died (signal 11, SIGSEGV)"]]


@pytest.mark.parametrize(
    ("more", "name"),
    [
        ({}, "gpu llvmpipe"),
        ({"adapter": ""}, "gpu WebGpu"),
        ({"device": "cpu", "provider": "CPUExecutionProvider", "adapter": "", "profile": "coreml"}, "cpu coreml"),
        ({"adapter": "\u202ex"}, "gpu \\u202ex"),
    ],
)
def test_names_of_runs(more: dict[str, str], name: str) -> None:
    assert check_run(run_of(**more)).name == name


def test_reading_runs(tmp_path: Path) -> None:
    """A file of one report, and one of several; infinities are texts."""
    one, several = tmp_path / "one.json", tmp_path / "several.json"
    one.write_text(json.dumps(run_of(ran("failed", "Infinity"))), encoding="utf-8")
    several.write_text(json.dumps({"runs": [run_of(), run_of(ran())]}), encoding="utf-8")
    contents, [found] = read_runs(one)
    assert contents == [run_of(ran("failed", "Infinity"))]
    assert found.cases[0].worst == math.inf
    assert [len(run.cases) for run in read_runs(several)[1]] == [0, 1]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[", "is not a report of conformance: it is not JSON"),
        ("[]", "is not a report of conformance: it must be an object"),
        ('{"runs": 3}', "is not a report of conformance: it must be an object"),
        ('{"cases": []}', "is not a report of conformance: it has no member 'versions'"),
        (json.dumps(run_of(ran(worst="big"))), "is not a report of conformance: cases"),
        (json.dumps(run_of(ran("fine"))), "is not a report of conformance: cases"),
        (json.dumps(run_of(ran(seconds=-1))), "cases[0].seconds must be at least 0.0, got -1"),
    ],
)
def test_what_is_not_a_report(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(message)):
        read_runs(path)
