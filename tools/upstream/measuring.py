"""Runs files of web-platform-tests in the emulator, and records which steps of a draft each one reaches."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tools.steps import reach
from tools.steps.cited import Key
from tools.steps.recording import Recorder
from webnn.wpt_runner.checkout import Checkout
from webnn.wpt_runner.flavours import Flavour
from webnn.wpt_runner.harness import run_test
from webnn.wpt_runner.levels import Level
from webnn.wpt_runner.results import FileResult
from webnn.wpt_runner.settings import Settings

__all__ = ["Measured", "measure"]

#: Time-outs are for machines that do nothing else.
_PATIENCE = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The results of files, and the files that reach each step.

    Attributes:
        results: By the path of the file.
        reached: The paths of the files, by the step; steps of one draft only.
    """

    results: dict[str, FileResult]
    reached: dict[Key, set[str]]


def measure(root: Path, paths: Sequence[str], level: Level, *, jobs: int) -> Measured:
    """Run files in windows, each in its first variant.

    Args:
        root: The checkout.
        paths: The files, by their paths in the checkout.
        level: The draft and its dialect.
        jobs: The number of processes.
    """
    shares = [list(paths[number::jobs]) for number in range(jobs)]
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        shared = list(pool.map(_run, [root] * jobs, shares, [level.revision] * jobs, [level.dialect] * jobs))
    draft = level.revision.partition("+")[0]
    reached: defaultdict[Key, set[str]] = defaultdict(set)
    for key, files in reach.gather([_name_draft(record, draft) for record, _ in shared]).items():
        if key[0] == draft:
            reached[key] |= files
    results = {result.file: result for _, found in shared for result in found}
    return Measured(results={path: results[path] for path in paths}, reached=dict(reached))


def _name_draft(record: dict[str, Any], draft: str) -> dict[str, Any]:
    """Add the draft to the errors that do not say theirs: the files run under one draft."""
    errors = [[frames, own or draft, *rest] for frames, own, *rest in record["errors"]]
    return {**record, "errors": errors}


def _run(root: Path, paths: Sequence[str], revision: str, dialect: str | None) -> tuple[dict[str, Any], list[FileResult]]:
    """Run files one after another, in a process of the pool."""
    checkout, results = Checkout(root), []
    settings = Settings(revision=revision, dialect=dialect, timeout_multiplier=_PATIENCE)
    recorder = Recorder(reach.failing_files())
    recorder.start()
    for path in paths:
        test = checkout.load(path).tests([], [Flavour.WINDOW])[0]
        recorder.switch(path)
        results.append(run_test(checkout, test, settings))
        recorder.switch("")
    # As a file would have it: the keys are texts.
    return json.loads(json.dumps(recorder.stop())), results
