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
from webnn.javascript.realm import Address, Realm, ScriptError
from webnn.validation.drafts import DEFAULT
from webnn.wpt_runner.checkout import Checkout, Test
from webnn.wpt_runner.results import FileResult, FileStatus, Subtest, SubtestStatus

__all__ = ["Instrument", "Settings", "run_test", "time_limit"]

#: The time-outs of web-platform-tests, in seconds.
_NORMAL, _LONG = 10.0, 60.0
_LONGEST_OUTPUT = 64 * 1024
_HARNESS = "/resources/testharness.js"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How tests run.

    Attributes:
        revision: The revision of the draft.
        timeout_multiplier: Multiplies the time-outs of web-platform-tests, 10 s for a test and 60 s for a long one.
        memory: The most bytes that a test's JavaScript may allocate.
        dialect: Additions to the draft's IDL: the IDL of the tests has more.
    """

    revision: str = DEFAULT
    timeout_multiplier: float = 1.0
    memory: int = 1 << 30
    dialect: str | None = None


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
    """Return how long a test may run, in seconds."""
    return (_LONG if test.file.long else _NORMAL) * settings.timeout_multiplier


def run_test(
    checkout: Checkout,
    test: Test,
    settings: Settings,
    on_subtest: Callable[[Subtest], None] = lambda _: None,
    instrument: Instrument = _BLIND,
) -> FileResult:
    """Run a test; each subtest is reported as soon as it has ended, and the instrument observes everything."""
    started = time.monotonic()
    deadline = started + time_limit(test, settings)
    subtests: list[Subtest] = []
    output: list[str] = []
    written = 0
    harness: dict[str, str] = {}

    def emit(kind: str, text: str) -> None:
        content = json.loads(text)
        if kind == "complete":
            harness.update(content)
        elif kind == "subtest":
            subtests.append(Subtest(name=content["name"], status=SubtestStatus(content["status"]), message=content["message"]))
            on_subtest(subtests[-1])
        else:
            instrument.tell(kind, content)

    def log(level: str, text: str) -> None:
        nonlocal written
        if written < _LONGEST_OUTPUT:
            output.append(f"{level}: {text}"[:_LONGEST_OUTPUT])
            written += len(output[-1])

    with warnings.catch_warnings():
        # A variant may ask for a device that this machine lacks. The report names the device that ran, so tests give no warnings.
        warnings.simplefilter("ignore", webnn.DeviceFallbackWarning)
        realm = Realm(
            ml=webnn.ML(revision=load_idl(settings.revision, settings.dialect).revision),
            address=Address(pathname="/" + test.file.path.removesuffix(".js") + ".html", search=test.variant),
            read=checkout.read_url,
            log=log,
            emit=emit,
            revision=settings.revision,
            memory=settings.memory,
            dialect=settings.dialect,
            observe=instrument.observe,
        )
        message = _load(realm, checkout, test, instrument)
        if message:
            harness.update(status=FileStatus.ERROR, message=message)
        out_of_time = realm.run(lambda: bool(harness), deadline)
        if not harness:
            # Nothing more will happen in time, but the harness knows which subtests have not ended.
            _give_up(realm)
            realm.run(lambda: bool(harness), time.monotonic() + 1)
    if realm.faults:
        harness.update(status=FileStatus.CRASH, message=realm.faults[0])
    elif realm.exhausted:  # whatever the harness says: results may be lost
        harness.update(status=FileStatus.ERROR, message=f"it used up its memory, {settings.memory >> 20} MiB")
    elif not harness or harness["status"] == FileStatus.TIMEOUT:
        reason = f"it was not done after {time_limit(test, settings):g} s" if out_of_time else "it waits for something that will not happen"
        harness.update(status=FileStatus.TIMEOUT, message=harness.get("message") or reason)
    return FileResult(
        file=test.file.path,
        variant=test.variant,
        status=FileStatus(harness["status"]),
        message=harness["message"],
        subtests=subtests,
        seconds=time.monotonic() - started,
        title=test.file.title,
        output="\n".join(output),
    )


def _load(realm: Realm, checkout: Checkout, test: Test, instrument: Instrument) -> str:
    """Run the scripts of a test, as a page would; return why the test cannot begin, or an empty string."""
    scripts = [_HARNESS, *test.file.scripts, "/" + test.file.path]
    realm.evaluate(f"globalThis.META_TITLE = {json.dumps(test.file.title)};" if test.file.title else "")
    for path in scripts:
        source = checkout.read(path)
        if source is None:
            return f"there is no file {path} in the checkout"
        try:
            if path == scripts[-1]:
                realm.connect(instrument.script)
            realm.evaluate(instrument.prepare(source))
            if path == _HARNESS:
                realm.connect_harness()
        except ScriptError as error:
            if path == _HARNESS:
                return f"{path}: {error}"
            # As in a page, the harness is notified, and the next script runs.
            realm.report(f"{path}: {error}")
    return ""


def _give_up(realm: Realm) -> None:
    try:
        realm.evaluate("timeout()")
    except ScriptError as error:
        realm.report(str(error))
