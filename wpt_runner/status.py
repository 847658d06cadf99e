"""The implementation status of WebNN's operations, as the working group's page reads it: ``webnn_status.json``.

The group keeps the file by hand. Reports tell whether an operation has tests, and whether each backend passes them: this is measured.
Everything else, such as the operators of a backend and the version that added them, is kept as it is in a file that is given.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict

from webnn.validation.drafts import DRAFTS, find_revision
from webnn.wpt_runner.foreign import check_json, load_json
from webnn.wpt_runner.scores import Run, Score, make_table, name_row

__all__ = ["Measured", "check_backend", "make_status", "read_status", "write_status"]

#: The marks of the page: every test passes, and some do. The page shows nothing for others.
SUPPORTED, IN_PROGRESS, NONE = 4, 3, 0
_CONFORMANCE = "/conformance_tests/"
#: The part of anchors that the group's page adds.
_PREFIX = "api-mlgraphbuilder-"
_BACKEND = re.compile(r"[a-z][a-z0-9_]*")
_LIST = "impl_status"

Entry = dict[str, Any]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True)

    op: str
    wpt: str = ""


class _Status(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True)

    impl_status: list[_Entry]


class Measured(NamedTuple):
    """An operation with what was measured.

    Attributes:
        operation: The operation, as the file names it.
        scores: The score of each backend; ``None`` if its run has no test of the operation.
        before: The mark of each backend in the file that was given; ``None`` if it has none.
        after: The mark now.
    """

    operation: str
    scores: tuple[Score | None, ...]
    before: tuple[int | None, ...]
    after: tuple[int | None, ...]


def check_backend(name: str) -> str:
    """Say what is wrong with the name of a backend, which begins the names of its members; empty if nothing is."""
    return "" if _BACKEND.fullmatch(name) else f"must be lower case letters, digits and _, such as tflite, got {name!r}"


def read_status(path: Path) -> dict[str, Any]:
    """Read a file ``webnn_status.json``.

    Raises `OSError` if it cannot be read, and `ValueError` if it is not such a file; the message names the place.
    """
    content: Any = load_json(path, "webnn_status.json")
    check_json(_Status, content, f"{path} is not a webnn_status.json")
    return dict(content)


def make_status(runs: Mapping[str, Run], base: Mapping[str, Any] | None = None) -> tuple[dict[str, Any], list[Measured]]:
    """Return the file's content with the marks that were measured, and what was measured of each operation.

    An operation without a test in a run keeps its mark. Operations of the newest draft that the file lacks are added, at the end.

    Args:
        runs: The run of each backend, by the name that begins its members, such as ``tflite``.
        base: The content of a file to keep; a new one if it is not given.
    """
    # The group counts the tests of results, not those of validation.
    scored = [_only_conformance(run) for run in runs.values()]
    table = make_table(scored)
    rows = {row.name: row.scores for row in (*table.operations, *table.others)}
    stems = {name_row(test): _stem(test) for run in scored for test in run.scores}
    shares = [_sum_shares(run) for run in scored]
    for run in scored:
        stems |= {name: _stem(test) for test, each in run.shares.items() for name in each if name not in rows}
    rows |= {name: tuple([each.get(name) for each in shares]) for name in stems if name not in rows}
    content = {**base} if base is not None else {_LIST: []}
    entries: list[Entry] = [{**entry} for entry in content[_LIST]]
    known = {_operation(entry, rows) for entry in entries}
    operations = find_revision(DRAFTS[-1]).operations
    entries += [_new_entry(name, operations[name].anchor) for name in sorted(operations) if name not in known and name in rows]
    measured = []
    for entry in entries:
        name = _operation(entry, rows)
        scores = rows.get(name, (None,) * len(runs))
        if name in rows:
            entry["wpt"], entry["wpt_progress"] = stems[name], SUPPORTED
        before, after = [], []
        for backend, score in zip(runs, scores, strict=True):
            before.append(entry.get(f"{backend}_progress"))
            _complete(entry, backend)
            if score is not None:
                entry[f"{backend}_progress"] = _mark(score)
            after.append(entry[f"{backend}_progress"])
        measured.append(Measured(entry["op"], scores, tuple(before), tuple(after)))
    return {**content, _LIST: entries}, measured


def write_status(content: Mapping[str, Any]) -> str:
    """Write the file as the group does."""
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _only_conformance(run: Run) -> Run:
    return replace(
        run,
        scores={test: score for test, score in run.scores.items() if _CONFORMANCE in test},
        shares={test: each for test, each in run.shares.items() if _CONFORMANCE in test},
    )


def _stem(test: str) -> str:
    return PurePosixPath(test).name.partition(".")[0]


def _sum_shares(run: Run) -> dict[str, Score]:
    """Return the score of each operation in tests of several ones: that of all their variants and flavours."""
    sums: dict[str, Score] = {}
    for each in run.shares.values():
        for name, score in each.items():
            before = sums.get(name, Score(0, 0))
            sums[name] = Score(before.passed + score.passed, before.total + score.total)
    return sums


def _operation(entry: Entry, rows: Mapping[str, Sequence[Score | None]]) -> str:
    """Return the row of an entry: ``relu``, ``reduction / reduceL1``; or that of its test file, which several operations may share."""
    name: str = entry["op"].rpartition("/")[2].strip()
    return name if name in rows else name_row(entry.get("wpt") or name)


def _new_entry(name: str, anchor: str) -> Entry:
    return {"op": name, "op_id": anchor.rpartition(_PREFIX)[2], "version": "", "wpt": "", "wpt_progress": NONE, "notes": ""}


def _complete(entry: Entry, backend: str) -> None:
    """Give an entry the members of a backend that it lacks, before its notes."""
    notes = entry.pop("notes", None)
    entry.setdefault(f"{backend}_op", [""])
    entry.setdefault(f"{backend}_progress", NONE)
    entry.setdefault(f"{backend}_chromium_version_added", "")
    if notes is not None:
        entry["notes"] = notes


def _mark(score: Score) -> int:
    return SUPPORTED if score.passed >= score.total else IN_PROGRESS if score.passed else NONE
