"""How many subtests of each operation pass, here and in browsers: scores of runs, and one table of them.

Scores are read from reports (``wptreport.json``) and from what wpt.fyi exports: the answer of its ``/api/search``, which has several runs,
and the summary of a run, ``...-summary_v2.json.gz``.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from webnn.commands.text import replace_surrogates
from webnn.validation.drafts import DRAFTS, find_revision
from webnn.wpt_runner.foreign import check_json, load_json, write_path
from webnn.wpt_runner.reports.wptreport import parse_wptreport
from webnn.wpt_runner.results import FileResult, FileStatus, RunResult, SubtestStatus

__all__ = ["FACTS", "Row", "Run", "Score", "Table", "make_table", "name_row", "read_runs", "score_run"]

_WHAT = "wptreport"
_FOLDER = "/webnn/"
#: The most runs of a file.
_MOST_RUNS = 64
_REVISION = 10
#: The facts about a run, with their names in a report. The emulator and a browser write the same ones.
FACTS: Mapping[str, str] = MappingProxyType(
    {"draft": "webnn", "dialect": "dialect", "profile": "profile", "engine": "engine", "system": "os"}
)
#: The letter of a test that passes as a whole.
_PASSED = "P"


class Score(NamedTuple):
    """How many subtests passed, and how many there were. A test without subtests counts as one."""

    passed: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The scores of a run.

    Attributes:
        revision: The commit of web-platform-tests, empty if it is unknown.
        scores: By the tests' identifiers, those of WebNN alone.
        old: The file is of a kind that counts the status of each test as one more subtest.
        shares: Of tests of several operations, the score of each operation: that of the subtests whose names begin with its own. Exports of
            wpt.fyi do not have them.
        facts: The values that the report has for names of `FACTS`: the draft, the engine, and so on.
    """

    name: str
    revision: str = ""
    source: str = ""
    scores: Mapping[str, Score]
    old: bool = False
    shares: Mapping[str, Mapping[str, Score]] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)


class Row(NamedTuple):
    """An operation, or another name of test files, or a single file, with a score for each run; ``None`` where the run has no such test."""

    name: str
    scores: tuple[Score | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The scores of several runs: operations first, then other test files; and the totals.

    Attributes:
        names: The runs' names, different from each other.
    """

    names: Sequence[str]
    operations: Sequence[Row]
    others: Sequence[Row]
    total: Row


def read_runs(path: Path) -> RunResult | list[Run]:
    """Read a file of results: the run of a report, or the scores of the runs that wpt.fyi exported.

    Raises `OSError` if the file cannot be read, and `ValueError` if it is not such a file; the message names the place.
    """
    content = load_json(path, _WHAT)
    if isinstance(content, dict) and "runs" in content:
        return _read_search(path, content)
    if isinstance(content, dict) and content and all(name.startswith("/") for name in content):
        return [_read_summary(path, content)]
    return parse_wptreport(content, path)


def score_run(path: Path, run: RunResult) -> Run:
    """Return the scores of a report's run."""
    scores: dict[str, Score] = {}
    shares: dict[str, Mapping[str, Score]] = {}
    operations = set(_operations().values())
    for result in run.results:
        if result.test.startswith(_FOLDER):
            name = f"{result.subsuite}:{result.test}" if result.subsuite else result.test
            passed = sum(subtest.status is SubtestStatus.PASS for subtest in result.subtests)
            scores[name] = _score(passed, len(result.subtests), whole=result.status is FileStatus.PASS)
            if name_row(name) not in operations:
                shares[name] = _share(result, operations)
    name = " ".join(filter(None, (run.info.get("product", ""), run.info.get("product_version", "")))) or path.name
    facts = {fact: run.info[member] for fact, member in FACTS.items() if run.info.get(member)}
    return Run(name=name, revision=run.info.get("revision", ""), source=str(path), scores=scores, shares=shares, facts=facts)


def _share(result: FileResult, operations: Collection[str]) -> dict[str, Score]:
    """Return the score of each operation that names of subtests begin with."""
    counts: dict[str, list[bool]] = defaultdict(list)
    for subtest in result.subtests:
        first = subtest.name.partition(" ")[0]
        if first in operations:
            counts[first].append(subtest.status is SubtestStatus.PASS)
    return {operation: Score(sum(each), len(each)) for operation, each in counts.items()}


def make_table(runs: Sequence[Run], *, files: bool = False) -> Table:
    """Make one table of several runs.

    A row adds up the tests of all folders, variants and flavours. With ``files``, it has those of one file, and no row is an operation's.
    """
    sums: dict[str, list[list[Score]]] = defaultdict(lambda: [[] for _ in runs])
    for column, run in enumerate(runs):
        for test, score in run.scores.items():
            sums[_file(test) if files else name_row(test)][column].append(score)
    rows = [Row(name, tuple(map(_add, sums[name]))) for name in sorted(sums, key=lambda name: (name.lower(), name))]
    known = set[str]() if files else set(find_revision(DRAFTS[-1]).operations)
    return Table(
        names=_distinct(runs),
        operations=[row for row in rows if row.name in known],
        others=[row for row in rows if row.name not in known],
        total=Row("total", tuple(_add(run.scores.values()) for run in runs)),
    )


def name_row(test: str) -> str:
    """Return the operation of a test by the name of its file: ``reduceL1`` for ``/webnn/validation_tests/reduce_l1.https.any.html``."""
    operations = _operations()
    stem = PurePosixPath(re.split("[?#]", test, maxsplit=1)[0]).name.partition(".")[0]
    return operations.get(re.sub("[_-]", "", stem).lower(), stem)


@cache
def _operations() -> Mapping[str, str]:
    return {name.lower(): name for name in find_revision(DRAFTS[-1]).operations}


def _file(test: str) -> str:
    """Return the path of a test file below the folder of WebNN, without what its pages add: ``conformance_tests/relu``."""
    return re.split(r"[?#]|\.", test.rpartition(":")[2].removeprefix(_FOLDER), maxsplit=1)[0]


def _add(scores: Iterable[Score]) -> Score | None:
    found = list(scores)
    return Score(sum(each.passed for each in found), sum(each.total for each in found)) if found else None


def _score(passed: int, total: int, *, whole: bool) -> Score:
    return Score(passed, total) if total else Score(int(whole), 1)


def _distinct(runs: Sequence[Run]) -> list[str]:
    """Return names that differ: those of several runs have the facts that tell the runs apart, or else numbers."""
    seen: Counter[str] = Counter()
    found = []
    for run in runs:
        alike = [each for each in runs if each.name == run.name]
        apart = [run.facts.get(fact, f"no {fact}") for fact in FACTS if len({each.facts.get(fact) for each in alike}) > 1]
        name = ", ".join([run.name, *apart])
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return found


# Exports of wpt.fyi.

_Text = Annotated[str, Field(strict=True), AfterValidator(replace_surrogates)]
_Count = Annotated[int, Field(strict=True, ge=0)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Product(_Model):
    browser_name: _Text
    browser_version: _Text = ""
    os_name: _Text = ""
    revision: _Text = ""
    full_revision_hash: _Text = ""


class _Search(_Model):
    runs: Annotated[list[_Product], Field(max_length=_MOST_RUNS)]
    results: list[Any]


class _Status(_Model):
    passes: _Count
    total: _Count
    status: _Text = ""
    newAggProcess: Annotated[bool, Field(strict=True)] = False


class _Result(_Model):
    test: Annotated[_Text, Field(pattern="^/")]
    legacy_status: list[_Status]


class _Summary(_Model):
    s: _Text
    c: Annotated[list[_Count], Field(min_length=2, max_length=2)]


@dataclass(slots=True)
class _Column:
    scores: dict[str, Score] = field(default_factory=dict)
    old: bool = False


def _read_search(path: Path, content: Mapping[str, Any]) -> list[Run]:
    search = check_json(_Search, content, _where(path))
    columns = [_Column() for _ in search.runs]
    for index, raw in enumerate(search.results):
        result = check_json(_Result, raw, _where(path), ("results", index))
        if len(result.legacy_status) != len(columns):
            place = write_path(("results", index, "legacy_status"))
            wrong = f"{place} must have {len(columns)} elements, got {len(result.legacy_status)}"
            raise ValueError(f"{_where(path)}: {wrong}")
        if not result.test.startswith(_FOLDER):
            continue
        for column, status in zip(columns, result.legacy_status, strict=True):
            # Neither a status nor subtests: the run has no such test.
            if status.total or status.status:
                column.scores[result.test] = _score(status.passes, status.total, whole=status.status == _PASSED)
                column.old |= not status.newAggProcess
    return [
        Run(
            name=" ".join(filter(None, (run.browser_name, run.browser_version, run.os_name))),
            revision=run.full_revision_hash or run.revision,
            source=str(path),
            scores=column.scores,
            old=column.old,
        )
        for run, column in zip(search.runs, columns, strict=True)
    ]


def _read_summary(path: Path, content: Mapping[str, Any]) -> Run:
    """Read the summary of one run. Only the file's name has the product: ``chrome-130.0-linux-20.04-0a1b2c3d4e-summary_v2.json.gz``."""
    scores: dict[str, Score] = {}
    old = False
    for test, raw in content.items():
        # The first kind of summary has the counts alone.
        entry = check_json(_Summary, {"s": "", "c": raw} if isinstance(raw, list) else raw, _where(path), (test,))
        old |= isinstance(raw, list)
        if test.startswith(_FOLDER):
            scores[replace_surrogates(test)] = _score(entry.c[0], entry.c[1], whole=entry.s == _PASSED)
    name = re.sub(r"(-[0-9a-f]{10})?-summary(_v2)?\.json(\.gz)?$", "", path.name)
    return Run(name=name, source=str(path), scores=scores, old=old)


def _where(path: Path) -> str:
    return f"{path} is not an export of wpt.fyi"
