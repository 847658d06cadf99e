"""Runs one HTML test in this process."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import webnn
from webnn.javascript.realm import Realm, ScriptError, load_script
from webnn.wpt_runner.checkout import Checkout, Test
from webnn.wpt_runner.observing import Instrument, Record
from webnn.wpt_runner.pages.browsing import Browsing, Page, Program
from webnn.wpt_runner.results import FileResult, FileStatus, Subtest
from webnn.wpt_runner.serving import Server
from webnn.wpt_runner.settings import HARNESS, TRACE, Settings, subtest_script, time_limit

__all__ = ["run_page"]

#: The runner has its own time-outs and reports.
_SET_UP = "if (typeof setup === 'function') setup({output: false, explicit_timeout: true});"


def run_page(
    checkout: Checkout,
    test: Test,
    settings: Settings,
    on_subtest: Callable[[Subtest], None],
    instrument: Instrument,
    on_refused: Callable[[Exception], None] | None,
) -> FileResult:
    """Run an HTML test, as `run_test` does for a script; its frames and workers run beside it."""
    started = time.monotonic()
    record = Record(settings, on_subtest, instrument)
    harness, server, top = record.harness, Server(checkout), list[Page]()

    def run_script(realm: Realm, path: str, source: str, line: int) -> None:
        is_test = bool(top) and realm is top[0].realm
        realm.run_script(record.sources.add(path, "\n" * line + (instrument.prepare(source) if is_test else source)))
        if is_test and f"/{path}" == HARNESS:
            realm.connect_harness()
            realm.evaluate(_SET_UP)
            realm.connect(subtest_script(settings))
            if settings.trace:
                realm.connect(TRACE % load_script("trace.js"))
            realm.connect(instrument.script)

    program = Program(
        revision=settings.revision,
        dialect=settings.dialect,
        memory=settings.memory,
        log=record.log,
        emit=record.emit,
        script=run_script,
        realm={"observe": instrument.observe, "on_refused": on_refused},
    )
    browsing = Browsing(server, program)
    with warnings.catch_warnings():
        # The report names the device that ran; a policy that refuses is a result.
        warnings.simplefilter("ignore", webnn.WebNNWarning)
        deadline = browsing.worked() + time_limit(test, settings)
        problem = browsing.open(server.hosts.address(test.file.path, test.variant), top.append)
        if problem:
            harness.update(status=FileStatus.ERROR, message=problem)
        out_of_time = browsing.run(lambda: bool(harness), deadline)
        if not harness and top:
            _end(top[0].realm)
            browsing.run(lambda: bool(harness), browsing.worked() + 1)
        browsing.close()
    if browsing.faults:
        harness.update(status=FileStatus.CRASH, message=browsing.faults[0])
    elif browsing.exhausted:
        harness.update(status=FileStatus.ERROR, message=f"it used up its memory, {settings.memory >> 20} MiB")
    elif browsing.problems:
        harness.update(status=FileStatus.ERROR, message=browsing.problems[0])
    elif not harness or harness["status"] == FileStatus.TIMEOUT:
        record.time_out(time_limit(test, settings) if out_of_time else None)
    return record.result(test, time.monotonic() - started)


def _end(realm: Realm) -> None:
    """Have the harness say which subtests have not ended."""
    try:
        realm.evaluate("timeout()")
    except ScriptError as error:
        realm.report(str(error))
