"""Runs one test of web-platform-tests in this process: a fresh realm, testharness.js, the scripts, the file."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import webnn
from webnn.javascript.idl import load_idl
from webnn.javascript.realm import Address, Realm, ScriptError, load_script
from webnn.validation.drafts import NEWEST
from webnn.wpt_runner.checkout import Checkout, Test
from webnn.wpt_runner.flavours import Flavour
from webnn.wpt_runner.results import FileResult, FileStatus, Subtest, SubtestStatus
from webnn.wpt_runner.serving import Server
from webnn.wpt_runner.sources import Sources

__all__ = ["HARNESS", "PLACEHOLDER", "TRACE", "Instrument", "Record", "Settings", "document_of", "run_test", "subtest_script", "time_limit"]

#: The time-outs of web-platform-tests, in seconds.
_NORMAL, _LONG = 10.0, 60.0
_LONGEST_OUTPUT = 64 * 1024
_LONGEST_TRACE, _DEEPEST_STACK = 10_000, 50
#: The path of testharness.js on the server.
HARNESS = "/resources/testharness.js"
#: The name of the subtest that represents all subtests that are not wanted.
PLACEHOLDER = "(subtests that are not wanted)"
#: Template of the script that reports API calls; %s is trace.js.
TRACE = "(global, emit) => (%s)(global, line => emit('trace', JSON.stringify(line.toWellFormed())))"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How tests run.

    Attributes:
        timeout_multiplier: Multiplies the time-outs of web-platform-tests, 10 s for a test and 60 s for a long one.
        memory: The most bytes that a test's JavaScript may allocate.
        dialect: Additions to the draft's IDL: the IDL of the tests has more.
        subtests: Parts of names: only subtests with one of them run, whatever their case; all if there is none.
        names_only: Tell the names of the subtests, as ``NOTRUN``, and run none.
        trace: Tell every call of the API.
    """

    revision: str = NEWEST
    timeout_multiplier: float = 1.0
    memory: int = 1 << 30
    dialect: str | None = None
    subtests: tuple[str, ...] = ()
    names_only: bool = False
    trace: bool = False

    def wants_subtest(self, name: str) -> bool:
        """Tell whether a subtest is reported."""
        return name != PLACEHOLDER and (not self.subtests or any(part.lower() in name.lower() for part in self.subtests))


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


_BLIND = Instrument()


def time_limit(test: Test, settings: Settings) -> float:
    """Return how long a test may run, in seconds in which its process works or sleeps."""
    return (_LONG if test.file.long else _NORMAL) * settings.timeout_multiplier


class Record:
    """The reports of a test while it runs.

    Attributes:
        sources: The scripts, by which stacks are read.
    """

    def __init__(self, settings: Settings, on_subtest: Callable[[Subtest], None], instrument: Instrument = _BLIND) -> None:
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


def run_test(
    checkout: Checkout,
    test: Test,
    settings: Settings,
    on_subtest: Callable[[Subtest], None] = lambda _: None,
    instrument: Instrument = _BLIND,
    on_refused: Callable[[Exception], None] | None = None,
) -> FileResult:
    """Run a test; each subtest is reported as soon as it has ended, and the instrument observes everything.

    `on_refused` receives the errors of calls that the emulator refuses, before the program does.
    """
    if test.file.is_page:
        from webnn.wpt_runner.pages.run import run_page  # noqa: PLC0415 (few tests are pages)

        return run_page(checkout, test, settings, on_subtest, instrument, on_refused)
    started = time.monotonic()
    record = Record(settings, on_subtest, instrument)
    harness, server = record.harness, Server(checkout)
    revision = load_idl(settings.revision, settings.dialect).revision
    with warnings.catch_warnings():
        # A variant may ask for a device that this machine lacks. The report names the device that ran, so tests give no warnings.
        warnings.simplefilter("ignore", webnn.DeviceFallbackWarning)
        realm = Realm(
            # The walls around this process let it start no other.
            ml=webnn.ML(revision=revision, isolate=False, document=document_of(server, test)),
            address=Address(pathname=test.address, search=test.variant, origin=server.hosts.origin),
            scope=test.flavour.scope,
            read=server.read,
            log=record.log,
            emit=record.emit,
            revision=settings.revision,
            memory=settings.memory,
            dialect=settings.dialect,
            observe=instrument.observe,
            on_refused=on_refused,
        )
        deadline = realm.worked() + time_limit(test, settings)
        message = _load(realm, server, test, settings, instrument, record.sources)
        if message:
            harness.update(status=FileStatus.ERROR, message=message)
        out_of_time = realm.run(lambda: bool(harness), deadline)
        if not harness:
            # Nothing more will happen in time, but the harness knows which subtests have not ended.
            _evaluate(realm, "timeout()")
            realm.run(lambda: bool(harness), realm.worked() + 1)
    if realm.faults:
        harness.update(status=FileStatus.CRASH, message=realm.faults[0])
    elif realm.exhausted:  # whatever the harness says: results may be lost
        harness.update(status=FileStatus.ERROR, message=f"it used up its memory, {settings.memory >> 20} MiB")
    elif not harness or harness["status"] == FileStatus.TIMEOUT:
        record.time_out(time_limit(test, settings) if out_of_time else None)
    return record.result(test, time.monotonic() - started)


def document_of(server: Server, test: Test) -> webnn.Document:
    """Return the page of a test that is a script, with the headers of its file: that of a worker has them, too."""
    headers = server.answer_path(f"/{test.file.path}").headers
    return webnn.Document(headers.get("permissions-policy"), origin=server.hosts.origin)


def _load(realm: Realm, server: Server, test: Test, settings: Settings, instrument: Instrument, sources: Sources) -> str:
    """Run the scripts of a test, as a page or a worker would; return why the test cannot begin, or an empty string."""
    scripts = [HARNESS, *test.file.sources]
    realm.evaluate(f"globalThis.META_TITLE = {json.dumps(test.file.title)};" if test.file.title else "")
    # The frames of the harness and of the binding count, too.
    realm.evaluate(f"Error.stackTraceLimit = {_DEEPEST_STACK};")
    for path in scripts:
        answer = server.answer_path(path)
        if answer.problem:
            return answer.problem
        source = answer.text
        try:
            if path == scripts[-1]:
                if settings.trace:
                    realm.connect(TRACE % load_script("trace.js"))
                realm.connect(instrument.script)
            realm.run_script(sources.add(path.removeprefix("/"), instrument.prepare(source)))
            if path == HARNESS:
                realm.connect_harness()
                realm.connect(subtest_script(settings))
        except ScriptError as error:
            if path == HARNESS:
                return f"{path}: {error}"
            # As in a page, the harness is notified, and the next script runs.
            realm.report(f"{path}: {sources.clean(str(error))}")
    if test.flavour is not Flavour.WINDOW:
        # The end of a worker's script, and the steps of the browser after it.
        _evaluate(realm, "done()")
    if test.flavour is Flavour.SERVICE:
        realm.dispatch("install")
    return ""


def subtest_script(settings: Settings, *, pause: bool = False) -> str:
    """Return the script that chooses subtests, for `Realm.connect`; with `pause`, a debugger stops before each of them."""
    options = {"wanted": [each.lower() for each in settings.subtests], "names": settings.names_only, "pause": pause}
    return f"(global, emit) => ({load_script('subtests.js')})(global, emit, {json.dumps({**options, 'placeholder': PLACEHOLDER})})"


def _evaluate(realm: Realm, source: str) -> None:
    """Run a statement; its error is reported to the window's listeners."""
    try:
        realm.evaluate(source)
    except ScriptError as error:
        realm.report(str(error))
