"""``wptreport.json``, the report of web-platform-tests' own tools: written for them, and read from them.

The format is that of ``wpt run --log-wptreport``. It has no reasons, titles and console output: they are lost when a report is read
back. The member ``stack`` is this runner's own; tools that do not know it ignore it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from webnn.commands.text import replace_surrogates
from webnn.wpt_runner.flavours import Flavour
from webnn.wpt_runner.foreign import check_json, load_json
from webnn.wpt_runner.results import FileResult, FileStatus, RunResult, Subtest, SubtestStatus

__all__ = ["parse_wptreport", "read_wptreport", "write_wptreport"]

_Status = TypeVar("_Status", FileStatus, SubtestStatus)

#: The end of the year 9999, in milliseconds since 1970.
_LATEST = 253_402_300_799_000
#: The product's version has one name in a run's `info`, and another in the report.
_PRODUCT_VERSION, _BROWSER_VERSION = "product_version", "browser_version"
#: The identifiers of the tests that this runner runs; the file's name and the flavour follow from them.
_TEST = re.compile(r"/(?P<stem>[^/].*(\.any(\.(?P<flavour>worker|sharedworker|serviceworker))?|\.window))\.html", re.DOTALL)

#: Demands that other JSON does not have.
_DEMANDS = dict.fromkeys(("greater_than_equal", "less_than_equal"), "must be a time in milliseconds since 1970")


def write_wptreport(run: RunResult, path: Path) -> None:
    """Write ``wptreport.json``; an existing file is replaced."""
    started = round(run.started * 1000)
    info = {_BROWSER_VERSION if name == _PRODUCT_VERSION else name: value for name, value in run.info.items()}
    report = {
        "run_info": {name: replace_surrogates(value) for name, value in info.items()},
        "time_start": started,
        "results": [_result(result) for result in run.results],
        "subsuites": {result.subsuite: {} for result in run.results if result.subsuite},
        "time_end": started + round(run.seconds * 1000),
    }
    path.write_text(json.dumps(report) + "\n", encoding="utf-8", newline="\n")


def read_wptreport(path: Path) -> RunResult:
    """Read a ``wptreport.json`` of any product, also one that gzip compressed.

    Without an expectation in the report, the status counts as expected. Raises `OSError` if the file cannot be read, and `ValueError` if it
    is not such a report; the message names the place.
    """
    return parse_wptreport(load_json(path, "wptreport"), path)


def parse_wptreport(content: object, path: Path) -> RunResult:
    """Return the run of a report's content; messages name the path. Raises `ValueError` if it is not a report; see `read_wptreport`."""
    report = check_json(_Report, content, f"{path} is not a wptreport", demands=_DEMANDS)
    started = report.time_start or report.time_end or 0.0
    results = [_file_result(path, index, raw) for index, raw in enumerate(report.results)]
    return RunResult(
        results=sorted(results, key=lambda result: (result.file, result.variant, result.flavour, result.subsuite)),
        started=started / 1000,
        seconds=0.0 if report.time_end is None else max(0.0, report.time_end - started) / 1000,
        info=_info(report.run_info),
    )


def _result(result: FileResult) -> dict[str, Any]:
    return {
        "test": replace_surrogates(result.test),
        "subsuite": result.subsuite,
        "subtests": [
            {"name": replace_surrogates(subtest.name)} | _outcome(subtest.status, subtest.expected or SubtestStatus.PASS, subtest)
            for subtest in result.subtests
        ],
        **_outcome(result.status, result.expected or FileStatus.OK, result),
        "duration": round(result.seconds * 1000),
    }


def _outcome(status: str, expected: str, each: FileResult | Subtest) -> dict[str, Any]:
    return {
        "status": status,
        "message": replace_surrogates(each.message) or None,
        **({"stack": replace_surrogates(each.stack)} if each.stack else {}),
        **({} if status == expected else {"expected": expected}),
        "known_intermittent": [],
    }


# Reading.

_Text = Annotated[str, Field(strict=True), AfterValidator(replace_surrogates)]
_Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
_Time = Annotated[_Number, Field(ge=0, le=_LATEST)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Report(_Model):
    """The report; its results are checked one by one, because there may be millions of subtests."""

    results: list[Any]
    run_info: dict[str, Any] = {}
    time_start: _Time | None = None
    time_end: _Time | None = None


class _Subtest(_Model):
    name: _Text
    status: SubtestStatus
    message: _Text | None = None
    stack: _Text | None = None
    expected: SubtestStatus | None = None
    known_intermittent: list[str] = []


class _Result(_Model):
    test: Annotated[_Text, Field(pattern="^/")]
    status: FileStatus
    subtests: list[_Subtest]
    message: _Text | None = None
    stack: _Text | None = None
    duration: _Number | None = None
    expected: FileStatus | None = None
    known_intermittent: list[str] = []
    subsuite: _Text = ""


def _file_result(path: Path, index: int, raw: object) -> FileResult:
    result = check_json(_Result, raw, f"{path} is not a wptreport", ("results", index))
    file, variant, flavour = _split(result.test)
    return FileResult(
        file=file,
        variant=variant,
        flavour=flavour,
        status=result.status,
        message=result.message or "",
        stack=result.stack or "",
        subtests=[
            Subtest(
                name=each.name,
                status=each.status,
                message=each.message or "",
                stack=each.stack or "",
                expected=_expected(each, SubtestStatus.PASS),
            )
            for each in result.subtests
        ],
        seconds=(result.duration or 0) / 1000,
        expected=_expected(result, FileStatus.OK),
        subsuite=result.subsuite,
    )


def _expected(raw: Any, usual: _Status) -> _Status | None:
    expected: _Status = raw.status if raw.expected is None or raw.status in raw.known_intermittent else raw.expected
    return None if expected is usual else expected


def _split(test: str) -> tuple[str, str, Flavour]:
    """Return file, variant and flavour of an identifier, such that `FileResult.test` is the identifier again."""
    page = re.split("[?#]", test, maxsplit=1)[0]
    known = _TEST.fullmatch(page)
    if known is None:
        return page, test.removeprefix(page), Flavour.WINDOW
    flavour = Flavour(known["flavour"] or "window")
    return f"{known['stem'].removesuffix(flavour.suffix)}.js", test.removeprefix(page), flavour


def _info(raw: Mapping[str, Any]) -> dict[str, str]:
    info = {}
    for name, value in raw.items():
        if isinstance(value, str | int | float):
            text = value if isinstance(value, str) else json.dumps(value)
            info[_PRODUCT_VERSION if name == _BROWSER_VERSION else name] = replace_surrogates(text)
    return info
