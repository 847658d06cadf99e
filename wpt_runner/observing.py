"""The reports of a test while it runs, and instruments that observe it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import Any

from webnn.wpt_runner.checkout import Test
from webnn.wpt_runner.results import FileResult, FileStatus, Subtest, SubtestStatus
from webnn.wpt_runner.settings import Settings
from webnn.wpt_runner.sources import Sources

__all__ = ["BLIND", "Instrument", "Record"]

_LONGEST_OUTPUT, _LONGEST_TRACE = 64 * 1024, 10_000


class Instrument:
    """Observes a test while it runs; this base class does nothing.

    Attributes:
        script: The source of a function of the global object and of ``emit``; called when the scripts have run, before the file itself.
    """

    script = "() => {}"

    def prepare(self, source: str) -> str:
        """Return the source that runs in place of a script's."""
        return source

    def observe(self, target: object, member: str, values: Sequence[Any], result: Any) -> None:
        """Receive a call that the emulator answered: the object, the member, the arguments, and the result."""

    def tell(self, kind: str, content: Any) -> None:
        """Receive what the script emits."""


#: Observes nothing.
BLIND = Instrument()


class Record:
    """The reports of a test while it runs.

    Attributes:
        sources: The scripts, by which stacks are read.
    """

    def __init__(self, settings: Settings, on_subtest: Callable[[Subtest], None], instrument: Instrument = BLIND) -> None:
        self.sources = Sources()
        self.subtests: list[Subtest] = []
        self.output: list[str] = []
        self.harness: dict[str, str] = {}
        self._settings = settings
        self._on_subtest = on_subtest
        self._instrument = instrument
        self._written = 0
        # Since the last subtest ended.
        self._began = time.monotonic()
        self._rejected = ""
        self._trace: list[str] = []

    def emit(self, kind: str, text: str) -> None:
        """Receive the reports of `harness.js`, `subtests.js` and the instrument."""
        content = json.loads(text)
        match kind:
            case "complete":
                self.harness.update(content)
            case "subtest":
                self._end(**content)
            case "name":
                self._add(Subtest(name=content, status=SubtestStatus.NOTRUN))
            case "rejected":
                self._rejected = content
            case "trace":
                self._trace += [content] if len(self._trace) < _LONGEST_TRACE else []
            case _:
                self._instrument.tell(kind, content)

    def log(self, level: str, text: str) -> None:
        """Receive a line of the console."""
        if self._written < _LONGEST_OUTPUT:
            self.output.append(f"{level}: {self.sources.clean(text)}"[:_LONGEST_OUTPUT])
            self._written += len(self.output[-1])

    def time_out(self, limit: float | None) -> None:
        """End the test: its time is over, or nothing will happen any more. The harness may know better."""
        reason = "it waits for something that will not happen" if limit is None else f"it was not done after {limit:g} s"
        self.harness.update(status=FileStatus.TIMEOUT, message=self.harness.get("message") or reason)

    def result(self, test: Test, seconds: float) -> FileResult:
        """Return the result of a test that has ended."""
        message, stack = self.sources.split(self.harness["message"], self.harness.get("stack", ""))
        return FileResult(
            file=test.file.path,
            variant=test.variant,
            flavour=test.flavour,
            status=FileStatus(self.harness["status"]),
            message=message,
            stack=stack,
            subtests=self.subtests,
            seconds=seconds,
            title=test.file.title,
            output="\n".join(self.output),
        )

    def _end(self, name: str, status: str, message: str, stack: str) -> None:
        # The harness does not know where the reason of a rejected promise was made.
        message, place = self.sources.split(message, stack)
        if message and not place:
            _, place = self.sources.split("", self._rejected)
        trace, self._trace, self._rejected = "\n".join(self._trace), [], ""
        if self._settings.wants_subtest(name):
            seconds = time.monotonic() - self._began
            self._add(Subtest(name=name, status=SubtestStatus(status), message=message, stack=place, trace=trace, seconds=seconds))
        self._began = time.monotonic()

    def _add(self, subtest: Subtest) -> None:
        self.subtests.append(subtest)
        self._on_subtest(subtest)
