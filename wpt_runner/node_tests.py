"""Tests in Node: those that use what quickjs-ng lacks, and one that a debugger looks at."""

from __future__ import annotations

import io
import json
import re
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, BinaryIO, cast
from urllib.parse import quote

from webnn.javascript.files import ORIGIN, File, Files
from webnn.javascript.node import FAULT, OUT_OF_TIME, InstalledNode, NodeMissingError, NodeProgram, find_node, run_program
from webnn.javascript.page_scripts import Script
from webnn.javascript.realm import load_script
from webnn.wpt_runner.checkout import Checkout, Test
from webnn.wpt_runner.flavours import Flavour
from webnn.wpt_runner.harness import document_of
from webnn.wpt_runner.observing import Record
from webnn.wpt_runner.results import FileResult, FileStatus, Subtest
from webnn.wpt_runner.serving import Server
from webnn.wpt_runner.settings import HARNESS, PLACEHOLDER, TRACE, Settings, subtest_script, time_limit

__all__ = ["debug_test", "run_test_in_node"]

#: Seconds after the time limit when Node is ended. Until then the harness can report what it waits for.
_GRACE = 2.0
#: Addresses of scripts that are not the test's begin with this.
_OWN = "webnn:"
#: A line of a stack.
_FRAME = re.compile(r"\s+at .*:\d+:\d+\)?$")
#: How `run_program` reports a fault, in the record.
_NOTE = "error: webnn: "
#: The text of an uncaught error, in JavaScript.
_DESCRIBE = "error instanceof Error ? `${error.name}: ${error.message}` : String(error)"
#: Features of pages and workers that a program in Node lacks. An uncaught error is an event of a page; a program would end.
_BEGIN = """
globalThis.GLOBAL = {{isWindow: () => {is_window}, isWorker: () => !{is_window}, isShadowRealm: () => false}};
globalThis.META_TITLE = {title};
if ({is_window}) {{
  const Window = class Window extends EventTarget {{ constructor() {{ throw new TypeError('Window: Illegal constructor'); }} }};
  Object.defineProperty(globalThis, 'Window', {{value: Window, writable: true, configurable: true}});
  Object.setPrototypeOf(globalThis, Window.prototype);
  process.on('uncaughtException', error => {{
    const message = {describe};
    if (typeof add_completion_callback !== 'function') {{ // there is no harness
      console.error(message);
      process.exit(1);
    }}
    dispatchEvent(Object.assign(new Event('error'), {{error, message}}));
  }});
  process.on('unhandledRejection', (reason, promise) => {{
    dispatchEvent(Object.assign(new Event('unhandledrejection', {{cancelable: true}}), {{reason, promise}}));
  }});
}}
"""
#: `emit` gets the reports of `harness.js`, `subtests.js` and `trace.js`.
_CONNECT = """
{{
  const emit = ({emit})();
  {calls}
}}
"""
#: The harness, in a worker.
_LOAD = "importScripts({url});"
#: Another script of a worker. If it fails, the harness gets the error, and the next script runs: as with the scripts of a page.
_IMPORT = """
try {{ importScripts({url}); }} catch (error) {{
  const message = {describe};
  dispatchEvent(Object.assign(new Event('error'), {{error, message}}));
}}
"""
#: The page that starts the worker. It shows the worker's errors on the console; the harness in the worker judges them.
_PAGE = "new Worker({address}).onerror = ({{message}}) => console.error(message);"
#: Shows the subtests to a person.
_SHOW = """() => {{
  const isOfTest = line => line.includes('{origin}/') && !line.includes('{harness}');
  const frames = stack => stack.split('\\n').filter(isOfTest).map(line => `\\n${{line}}`).join('');
  let rejected = '';
  return (kind, text) => {{
    const told = JSON.parse(text);
    if (kind === 'rejected') rejected = told;
    if (kind !== 'complete' && kind !== 'subtest' || told.name === {placeholder}) return;
    const {{name = 'the test as a whole', status, message, stack}} = told;
    console.log(`${{status}} ${{name}}${{message && `: ${{message}}`}}${{message && (frames(stack) || frames(rejected))}}`);
    rejected = '';
  }};
}}"""
#: Tells the runner everything, in lines with a word that no test knows, and has the harness end the test when its time is over.
_TELL = """() => {{
  const print = console.log.bind(console), {{timeout}} = globalThis;
  if (typeof timeout !== 'function') throw new TypeError('testharness.js must define timeout()');
  const timer = setTimeout(timeout, {milliseconds});
  if (GLOBAL.isWindow()) {{
    timer.unref();
    process.on('beforeExit', timeout); // nothing more will happen
  }}
  return (kind, text) => {{
    if (kind === 'complete') clearTimeout(timer);
    print(`{token} ${{kind}} ${{text}}`);
  }};
}}"""


def run_test_in_node(
    checkout: Checkout, test: Test, settings: Settings, lack: str, on_subtest: Callable[[Subtest], None] = lambda _: None
) -> FileResult:
    """Run a test of a window or of a dedicated worker in Node; each subtest is reported as soon as it has ended.

    The time-out counts the time of the clock, and `memory` does not hold: the walls around Node have a limit. ``lack`` names the features
    that quickjs-ng lacks, for messages.
    """
    started = time.monotonic()
    record, limit = Record(settings, on_subtest), time_limit(test, settings)
    told, token = record.harness, secrets.token_hex(16)
    try:
        node = find_node()
        program = _tested_program(checkout, test, settings, token, limit)
    except NodeMissingError as error:
        told.update(status=FileStatus.ERROR, message=f"it uses {lack}, which quickjs-ng lacks: {error}")
    except FileNotFoundError as error:
        told.update(status=FileStatus.ERROR, message=str(error))
    else:
        outputs = [cast("BinaryIO", _Teller(record, token, level, test)) for level in ("log", "error")]
        with settings.emulate():
            code = run_program(node, program, stdout=outputs[0], stderr=outputs[1])
        if code == FAULT:
            told.update(
                status=FileStatus.CRASH, message=next((line for line in record.output if line.startswith(_NOTE)), "the emulator failed")
            )
        elif code == OUT_OF_TIME or (told and told["status"] == FileStatus.TIMEOUT):
            record.time_out(None if time.monotonic() - started < limit else limit)
        elif not told:
            told.update(status=FileStatus.CRASH, message=f"Node ended with the exit code {code}: {' '.join(record.output[-1:])}")
    return record.result(test, time.monotonic() - started)


def debug_test(checkout: Checkout, test: Test, settings: Settings, node: InstalledNode) -> int:
    """Run a test of a window in Node, which waits for a debugger and stops before each subtest; return the exit code.

    Raises `FileNotFoundError` if the checkout lacks one of its scripts.
    """
    show = _SHOW.format(harness=HARNESS, origin=ORIGIN, placeholder=json.dumps(PLACEHOLDER))
    scripts = _scripts(checkout, test, show, [load_script("harness.js"), subtest_script(settings, pause=True)])
    with settings.emulate():
        return run_program(node, _program(checkout, test, settings, scripts, inspect=True))


def _tested_program(checkout: Checkout, test: Test, settings: Settings, token: str, limit: float) -> NodeProgram:
    """Return the program that a test is: that of a worker has a page that starts it."""
    tell = _TELL.format(token=token, milliseconds=round(1000 * limit))
    calls = [load_script("harness.js"), subtest_script(settings), *([TRACE % load_script("trace.js")] if settings.trace else [])]
    scripts, timeout = _scripts(checkout, test, tell, calls), limit + _GRACE
    if test.flavour is Flavour.WINDOW:
        return _program(checkout, test, settings, scripts, timeout=timeout)
    harness = f"{ORIGIN}{HARNESS}"
    lines = []
    for each in scripts:
        load = "{source}" if each.url.startswith(_OWN) else _LOAD if each.url == harness else _IMPORT
        lines.append(load.format(source=each.source, url=json.dumps(each.url), describe=_DESCRIBE))
    served = {**{each.url: str(each.source) for each in scripts}, _address(test): "\n".join([*lines, "done();"])}
    page = _script(f"{_OWN}page", _PAGE.format(address=json.dumps(_address(test))))
    return _program(checkout, test, settings, [page], timeout=timeout, served=served)


def _scripts(checkout: Checkout, test: Test, emit: str, calls: Sequence[str]) -> list[Script]:
    """Return the scripts of a test, and those that make Node a page and report the harness's results.

    ``emit`` is the source of a function that makes ``emit``. ``calls`` are sources of functions of the global object and of ``emit``, which
    are called when there is a harness. Raises `FileNotFoundError` if the checkout lacks a script.
    """
    is_window = json.dumps(test.flavour is Flavour.WINDOW)
    begin = _BEGIN.format(is_window=is_window, title=json.dumps(test.file.title), describe=_DESCRIBE)
    connect = _CONNECT.format(emit=emit, calls="\n".join(f"({each})(globalThis, emit);" for each in calls))
    scripts, server = [_script(f"{_OWN}begin", begin)], Server(checkout)
    for path in (HARNESS, *test.file.sources):
        answer = server.answer_path(path)
        if answer.problem:
            raise FileNotFoundError(answer.problem)
        scripts.append(_script(f"{ORIGIN}{quote(path)}", answer.text))
        if path == HARNESS:
            scripts.append(_script(f"{_OWN}connect", connect))
    return scripts


def _program(
    checkout: Checkout,
    test: Test,
    settings: Settings,
    scripts: list[Script],
    *,
    timeout: float | None = None,
    inspect: bool = False,
    served: Mapping[str, str] | None = None,
) -> NodeProgram:
    return NodeProgram(
        scripts=scripts,
        location=_address(test),
        arguments=["node", _address(test)],
        files=_ServedFiles(checkout, served or {}),
        revision=settings.revision,
        dialect=settings.dialect,
        document=document_of(Server(checkout), test),
        inspect=inspect,
        timeout=timeout,
        # In a shell, which has no document, the harness takes it that all tests are there when promises go on.
        together=True,
        elements=False,
    )


def _address(test: Test) -> str:
    return f"{ORIGIN}{quote(test.address)}{test.variant}"


def _script(url: str, source: str) -> Script:
    return Script(url=url, kind="classic", source=source)


class _ServedFiles(Files):
    """The files of a checkout, and scripts by their addresses: those of the test, and that of its worker."""

    def __init__(self, checkout: Checkout, served: Mapping[str, str]) -> None:
        super().__init__(checkout.root, checkout.root)
        self._served = served

    def read(self, address: str) -> File | None:
        served = self._served.get(address)
        return super().read(address) if served is None else File(served.encode(), "text/javascript")


class _Teller(io.RawIOBase):
    """An output of Node: lines with the token go to the record, and others are what the test's console shows.

    Once the test has ended it hangs up, which ends Node: a timer or a worker may keep it busy.
    """

    def __init__(self, record: Record, token: str, level: str, test: Test) -> None:
        self._record, self._token, self._level, self._test = record, f"{token} ", level, test
        self._rest = b""

    def write(self, content: Any) -> int:
        """Take a part of the output."""
        *lines, self._rest = (self._rest + bytes(content)).split(b"\n")
        for line in (each.decode("utf-8", "replace") for each in lines):
            # The test's groups indent its console.
            _, found, told = line.partition(self._token)
            if found:
                self._tell(*told.split(" ", 1))
            elif self._is_shown(line):
                self._record.log(self._level, line.replace(f"{ORIGIN}/", ""))
        if self._record.harness:
            raise BrokenPipeError
        return len(content)

    def _tell(self, kind: str, text: str) -> None:
        told = json.loads(text)
        if isinstance(told, dict):
            told = {name: self._clean(value) for name, value in told.items()}
        elif kind != "trace":
            told = self._clean(told)
        self._record.emit(kind, json.dumps(told))

    def _clean(self, text: str) -> str:
        """Return a text without the frames of Node, the harness and the worker's script, with paths in the checkout in the others."""
        return "\n".join(filter(self._is_shown, text.split("\n"))).replace(f"{ORIGIN}/", "")

    def _is_shown(self, line: str) -> bool:
        own = ORIGIN in line and HARNESS not in line and f"{_address(self._test)}:" not in line
        return own or not _FRAME.match(line)
