"""Records which test reaches which step: where each error of the package is made, and which lines run that return a failure."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from coverage import Coverage

from webnn.validation import errors

__all__ = ["Recorder"]


class Recorder:
    """Records the errors and the lines of one test after another.

    Errors are recorded with the test in which they are made. Functions that return a failure throw nothing: of their files, the lines that
    run are recorded.

    Args:
        files: The files with such functions.
    """

    def __init__(self, files: Sequence[str]) -> None:
        self._made: dict[tuple[Any, ...], None] = {}
        self._measured = Coverage(data_file=None, include=list(files), config_file=False)
        # The process that distributes the tests runs none.
        self._measured.set_option("run:disable_warnings", ["no-data-collected", "module-not-imported", "already-imported"])
        self._where = errors.where
        self._test = ""

    def start(self) -> None:
        """Begin to record."""
        errors.where = self._record
        self._measured.start()

    def switch(self, test: str, *, context: str | None = None) -> None:
        """Begin another test; an empty name ends it. The lines have the name ``context``, by default the test's."""
        self._test = test
        self._measured.switch_context(test if context is None else context)

    def stop(self) -> dict[str, Any]:
        """End, and return the record: the errors, and of each file the tests that ran its lines."""
        self._measured.stop()
        errors.where = self._where
        data = self._measured.get_data()
        lines = {
            file: {
                line: sorted({test.partition("[")[0] for test in tests if test}) for line, tests in data.contexts_by_lineno(file).items()
            }
            for file in data.measured_files()
        }
        return {"errors": list(self._made), "lines": lines}

    def _record(self) -> tuple[tuple[str, int], ...]:
        """Record an error that is being made, in place of `webnn.validation.errors.where`."""
        frames = self._where()
        given = sys._getframe(1).f_locals
        if self._test:
            self._made[frames, given.get("draft", ""), given.get("operation", ""), given.get("argument", ""), self._test] = None
        return frames
