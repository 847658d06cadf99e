"""Runs tests of a checkout in a real browser, as web-platform-tests' own server and runner would."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

from webnn.browser.chromium import Chromium, PageCrashError, PageError, PageTimeoutError, Read, serve
from webnn.commands.text import one_line
from webnn.wpt_runner.browser.pages import answer_pages, read_pages
from webnn.wpt_runner.checkout import Checkout, Test
from webnn.wpt_runner.results import FileResult, FileStatus, Subtest, SubtestStatus
from webnn.wpt_runner.serving import Server
from webnn.wpt_runner.settings import Settings, time_limit
from webnn.wpt_runner.substitution import Hosts

__all__ = ["Driver", "Pair", "TestBrowser", "compare_results"]

#: The harness in the page has its own limit, after which it reports what it waits for.
_GRACE = 3.0
_LONGEST_RECORD = 200


class Driver(Protocol):
    """Drives a browser with one page, as `Chromium` does."""

    version: str

    @property
    def name(self) -> str:
        """The browser, in words."""
        ...

    def open(self, address: str, *, timeout: float | None = None, secure: bool = True) -> None:
        """Open a page, which may not be a secure context."""
        ...

    def evaluate(self, function: str, *, timeout: float | None = None) -> Any:
        """Call a function in the page, and return its value."""
        ...


class TestBrowser:
    """Runs tests in a browser, one after another."""

    __test__ = False

    def __init__(self, browser: Driver, address: str, settings: Settings, records: _Records) -> None:
        self._browser = browser
        self._address = address
        self._settings = settings
        self._records = records
        self.name, self.version = browser.name, browser.version

    @classmethod
    @contextmanager
    def start(
        cls,
        checkout: Checkout,
        executable: Path,
        settings: Settings,
        *,
        server: Callable[[Read], AbstractContextManager[str]] = serve,
        driver: Callable[..., AbstractContextManager[Driver]] = Chromium,
    ) -> Iterator[TestBrowser]:
        """Start a browser beside a server of the checkout.

        ``server`` serves the pages and yields the address; ``driver`` takes the arguments of `Chromium`.
        """
        records = _Records()
        pages, note = read_pages(checkout, records.mark, settings.timeout_multiplier), records.hear
        answer = answer_pages(Server(checkout), records.mark, settings.timeout_multiplier)
        with server(pages) as address, driver(executable, timeout=_GRACE, console=note, answer=answer) as browser:
            yield cls(browser, address, settings, records)

    def run(self, test: Test) -> FileResult:
        """Run a test. A page that hangs or crashes is a result: the subtests that ended before are kept."""
        records, started = self._records, time.monotonic()
        records.clear()
        limit = time_limit(test, self._settings) + _GRACE
        page = Hosts().address(test.file.path, test.variant)
        if not test.file.is_page:
            # Scripts have no second origin: their pages come by a real connection, and are isolated.
            page = f"{self._address}{quote(test.file.path.removesuffix('.js'))}{test.flavour.suffix}.html{test.variant}"
        status, message = FileStatus.CRASH, ""
        try:
            self._browser.open(page, timeout=limit, secure=not page.startswith("http:") or not test.file.is_page)
            found = self._browser.evaluate(f"() => globalThis[{json.dumps(records.mark)}]", timeout=limit)
            for record in found if isinstance(found, list) else [found]:
                records.add(json.dumps(record))
        except PageTimeoutError:
            status, message = FileStatus.TIMEOUT, f"the page was not done after {limit:g} s"
        except PageCrashError as error:
            message = str(error)
        except PageError as error:
            status, message = FileStatus.ERROR, str(error)
        harness = records.harness or {"status": status, "message": message, "stack": ""}
        return FileResult(
            file=test.file.path,
            variant=test.variant,
            flavour=test.flavour,
            status=FileStatus(harness["status"]),
            message=harness["message"],
            stack=harness["stack"],
            subtests=list(records.subtests.values()),
            seconds=time.monotonic() - started,
            title=test.file.title,
            output="\n".join(records.output),
        )


class _Records:
    """The records of one page, and what else it wrote to its console."""

    def __init__(self) -> None:
        self.mark = f"webnn-{secrets.token_hex(8)}"
        self.clear()

    def clear(self) -> None:
        """Begin anew."""
        self.subtests: dict[str, Subtest] = {}
        self.harness: dict[str, str] = {}
        self.output: list[str] = []

    def hear(self, level: str, line: str) -> None:
        """Take a line of the console."""
        head, found, text = line.partition(self.mark)
        if found and not head:
            self.add(text)
        else:
            self.output.append(f"{level}: {line}")

    def add(self, record: str) -> None:
        """Take a record, perhaps a second time. The page may have made it up."""
        try:
            kind, text = json.loads(record)
            content = json.loads(text)
            if kind == "complete":
                self.harness = {key: f"{content[key]}" for key in ("message", "stack")} | {"status": FileStatus(content["status"])}
            else:
                name, message, stack = (f"{content[key]}" for key in ("name", "message", "stack"))
                self.subtests[name] = Subtest(name=name, status=SubtestStatus(content["status"]), message=message, stack=stack)
        except (ValueError, TypeError, KeyError, RecursionError):
            message = f"the page made up a result: {one_line(record, _LONGEST_RECORD)}"
            self.harness = {"status": FileStatus.ERROR, "message": message, "stack": ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A test in the emulator and in the browser.

    Attributes:
        differing: The subtests whose statuses differ, those of the emulator first; ``None`` where one has no such subtest.
    """

    emulator: FileResult
    browser: FileResult
    differing: Sequence[tuple[Subtest | None, Subtest | None]] = field(default=())

    @property
    def differs(self) -> bool:
        """The test as a whole or a subtest has different statuses."""
        return self.emulator.status is not self.browser.status or bool(self.differing)


def compare_results(emulator: FileResult, browser: FileResult) -> Pair:
    """Compare the results of one test, subtest by subtest."""
    find: Callable[[FileResult], dict[str, Subtest]] = lambda result: {each.name: each for each in result.subtests}  # noqa: E731
    ours, theirs = find(emulator), find(browser)
    pairs = [(ours.get(name), theirs.get(name)) for name in {**ours, **theirs}]
    return Pair(
        emulator=emulator,
        browser=browser,
        differing=[(our, their) for our, their in pairs if our is None or their is None or our.status is not their.status],
    )
