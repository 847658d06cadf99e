"""Runs a program in the emulator and in the browser, and watches it in both."""

from __future__ import annotations

import io
import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from urllib.parse import quote

from webnn.browser.chromium import Chromium, PageCrashError, PageError, PageTimeoutError, read_below, serve
from webnn.browser.watch import LARGEST, Log, Watch
from webnn.javascript.ends import OUT_OF_TIME
from webnn.javascript.files import ORIGIN, File, Files
from webnn.javascript.node import InstalledNode, NodeProgram, run_program
from webnn.javascript.page_scripts import Script, scripts_of_page, scripts_of_script
from webnn.validation.revision import Revision

__all__ = ["SETTLED", "Subject", "run_in_browser", "run_in_emulator"]

#: After how many seconds without a call, and with nothing to wait for, a page counts as done.
SETTLED = 0.5
#: How much longer if less happened than in the emulator: it may wait for a timer.
_SLOWER = 8
_PAGES = (".html", ".htm")
#: Node's report of an uncaught error: the name and the message.
_UNCAUGHT = re.compile(r"^(?:Uncaught )?(\w*(?:Error|Exception))(?: \[(\w+)\])?: (.*)$", re.MULTILINE)
#: How a page decides whether a script is a module. Node decides in the same way.
_UNKNOWN = """
const text = await (await fetch(%s)).text();
const only = ['Cannot use import statement', "Unexpected token 'export'", "Cannot use 'import.meta'", 'await is only valid'];
let kind = '';
try { new Function(text); } catch (error) { if (only.some(each => error.message.startsWith(each))) kind = 'module'; }
const script = document.createElement('script');
script.type = kind;
script.src = %s;
document.head.append(script);
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A program that runs in several hosts: a file ``.mjs``, ``.js`` or a page below the folder that it may read.

    A host ends it after ``timeout`` seconds. ``largest`` is the size of the largest result whose bytes are kept.
    """

    program: Path
    root: Path
    timeout: float = 60.0
    largest: int = LARGEST

    @property
    def path(self) -> str:
        """The path of the program on a server."""
        return "/" + self.program.resolve().relative_to(self.root.resolve()).as_posix()

    @property
    def is_page(self) -> bool:
        """It is a page."""
        return self.program.suffix.lower() in _PAGES

    @property
    def page(self) -> str:
        """The path of the page that it is, or of the one that runs it."""
        return self.path if self.is_page else f"{self.path}.html"


def run_in_emulator(
    subject: Subject, node: InstalledNode, revision: str | Revision, dialect: str | None, host: str = "the emulator"
) -> Log:
    """Run a program in Node, with the settings of `webnn.emulate`."""
    watch = Watch(host, subject.largest)
    address = f"{ORIGIN}{quote(subject.path)}"
    if subject.is_page:
        scripts = scripts_of_page(subject.program.read_text(encoding="utf-8-sig", errors="replace"), address)
    else:
        scripts = scripts_of_script(subject.program.resolve(), address)
    program = NodeProgram(
        scripts=[Script(url=f"{ORIGIN}/-/watch.js", kind="classic", source=watch.script), *scripts],
        location=f"{ORIGIN}{quote(subject.page)}",
        arguments=["node", str(subject.program)],
        files=Files(subject.root, subject.root),
        timeout=subject.timeout,
        revision=revision,
        dialect=dialect,
    )
    stdout, stderr = io.BytesIO(), io.BytesIO()
    code = run_program(node, program, stdout=stdout, stderr=stderr)
    for line in stdout.getvalue().decode(errors="replace").split("\n"):
        watch.hear(line)
    if code:
        last_words = stderr.getvalue().decode(errors="replace")
        uncaught = _UNCAUGHT.search(last_words)
        if uncaught is not None and code != OUT_OF_TIME:
            watch.log.uncaught.append((uncaught[2] or uncaught[1], uncaught[3]))
        else:
            watch.log.end = last_words.strip().removeprefix("webnn: ").splitlines()[-1] if last_words.strip() else f"the exit code {code}"
    return watch.log


def run_in_browser(subject: Subject, executable: Path, *, expected: int = 0, settled: float = SETTLED) -> tuple[Log, str]:
    """Run a program in a browser; return its log, and the browser in words.

    It is done after ``settled`` seconds without a call. ``expected`` is how much happened in another host (`Log.size`).
    """
    watch = Watch("the browser", subject.largest)
    heard = [time.monotonic()]

    def hear(_: str, text: str) -> None:
        if watch.hear(text):
            heard[0] = time.monotonic()

    with serve(_files(subject)) as address, Chromium(executable, timeout=subject.timeout, console=hear) as browser:
        name = browser.name
        try:
            browser.open(f"{address}{quote(subject.page[1:])}", before=watch.script)
            heard[0] = time.monotonic()
            _wait(browser, watch, lambda: time.monotonic() - heard[0], subject.timeout, expected, settled)
        except (PageError, PageTimeoutError, PageCrashError) as error:
            watch.log.end = str(error)
    return watch.log, name


def _wait(browser: Chromium, watch: Watch, silence: Callable[[], float], timeout: float, expected: int, settled: float) -> None:
    """Wait until the page has nothing more to do."""
    deadline = time.monotonic() + timeout
    while (now := time.monotonic()) < deadline:
        status = browser.evaluate(watch.status, timeout=deadline - now)
        patience = settled if watch.log.size >= expected else settled * _SLOWER
        if not status["pending"] and silence() > patience:
            return
        browser.evaluate(f"() => new Promise(done => setTimeout(done, {settled * 200:.0f}))", timeout=timeout)
    raise PageTimeoutError(f"the program was not done after {timeout:g} s")


def _files(subject: Subject) -> Callable[[str], File | None]:
    """Return the reader of the browser's server: the files below the root, and the page of a script."""
    read = read_below(subject.root)
    if subject.is_page:
        return read
    (script,) = scripts_of_script(subject.program.resolve(), quote(subject.path))
    source = json.dumps(script.url)
    elements = {
        "module": f'<script type="module" src={source}></script>',
        "classic": f"<script src={source}></script>",
        "unknown": f'<script type="module">{_UNKNOWN % (source, source)}</script>',
    }
    page = f"<!doctype html><meta charset=utf-8><title>{escape(subject.program.name)}</title>{elements[script.kind]}"
    wrapper = File(page.encode(), "text/html")
    return lambda path: wrapper if path == subject.page else read(path)
