"""Runs one test of web-platform-tests in this process: a fresh realm, testharness.js, the scripts, the file."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable

import webnn
from webnn.javascript.idl import load_idl
from webnn.javascript.realm import Address, Realm, ScriptError, load_script
from webnn.wpt_runner.checkout import Checkout, Test
from webnn.wpt_runner.flavours import Flavour
from webnn.wpt_runner.observing import BLIND, Instrument, Record
from webnn.wpt_runner.results import FileResult, FileStatus, Subtest
from webnn.wpt_runner.serving import Server
from webnn.wpt_runner.settings import HARNESS, TRACE, Settings, subtest_script, time_limit
from webnn.wpt_runner.sources import Sources

__all__ = ["document_of", "run_test"]

_DEEPEST_STACK = 50


def run_test(
    checkout: Checkout,
    test: Test,
    settings: Settings,
    on_subtest: Callable[[Subtest], None] = lambda _: None,
    instrument: Instrument = BLIND,
    on_refused: Callable[[Exception], None] | None = None,
) -> FileResult:
    """Run a test; each subtest is reported as soon as it has ended, and the instrument observes everything.

    `on_refused` receives the errors of calls that the emulator refuses, before the program does.
    """
    if test.file.is_page:
        from webnn.wpt_runner.pages.run import run_page  # noqa: PLC0415 (few tests are pages)

        with settings.emulate():
            return run_page(checkout, test, settings, on_subtest, instrument, on_refused)
    started = time.monotonic()
    record = Record(settings, on_subtest, instrument)
    harness, server = record.harness, Server(checkout)
    revision = load_idl(settings.revision, settings.dialect).revision
    with warnings.catch_warnings(), settings.emulate():
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


def _evaluate(realm: Realm, source: str) -> None:
    """Run a statement; its error is reported to the window's listeners."""
    try:
        realm.evaluate(source)
    except ScriptError as error:
        realm.report(str(error))
