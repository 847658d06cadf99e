"""The pytest plug-in that records which test reaches which step: ``-p tools.steps.plugin``.

It keeps where each error of the package was made, with the tests that made it. Of functions that return a failure and throw nothing, it
keeps the lines that ran. It writes both to a file of the folder ``WEBNN_STEPS_FOLDER``.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from coverage import Coverage

from webnn.validation import errors

_FOLDER = Path(os.environ["WEBNN_STEPS_FOLDER"])
_FILES = json.loads(os.environ["WEBNN_STEPS_FILES"])

_made: dict[tuple[Any, ...], None] = {}
_measured = Coverage(data_file=None, include=_FILES, config_file=False)
# The process that distributes the tests runs none.
_measured.set_option("run:disable_warnings", ["no-data-collected", "module-not-imported", "already-imported"])
_where = errors.where


def _record() -> tuple[tuple[str, int], ...]:
    """Record an error that is being made, in place of `webnn.validation.errors.where`."""
    frames = _where()
    given = sys._getframe(1).f_locals
    # Without the parameters, which may be many.
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0].partition("[")[0]
    if test:
        _made[frames, given.get("draft", ""), given.get("operation", ""), given.get("argument", ""), test] = None
    return frames


def pytest_configure() -> None:
    """Begin to record."""
    errors.where = _record
    _measured.start()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Run a test as a context of the coverage."""
    _measured.switch_context(item.nodeid)
    try:
        return (yield)
    finally:
        _measured.switch_context("")


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish() -> None:
    """Write what was recorded, before a process of `pytest-xdist` reports that it is done, because then it may be ended."""
    _measured.stop()
    data = _measured.get_data()
    lines = {
        file: {line: sorted({test.partition("[")[0] for test in tests if test}) for line, tests in data.contexts_by_lineno(file).items()}
        for file in data.measured_files()
    }
    record = {"errors": list(_made), "lines": lines}
    (_FOLDER / f"{os.getpid()}.json").write_text(json.dumps(record), encoding="utf-8")
