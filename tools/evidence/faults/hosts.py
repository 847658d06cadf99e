"""Where programs run: an engine in this process with the emulator, and pages of a real browser with its own WebNN or with the emulator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from tools.evidence.pages.serving import Reports, serve_files
from webnn.browser.chromium import Chromium, PageCrashError, PageTimeoutError, Read, serve
from webnn.context.profiles import load_profile
from webnn.javascript.files import File
from webnn.javascript.realm import Address, Realm
from webnn.serve.options import Options
from webnn.wpt_runner.checkout import Checkout
from webnn.wpt_runner.pages.browsing import Browsing, Page, Program
from webnn.wpt_runner.serving import Server

__all__ = ["IMITATION", "PLAIN", "Answer", "Pages", "open_browser", "run_here", "show_here"]

#: The draft without additions, and the emulator of Chromium 153.
PLAIN = Options()
#: ONNX Runtime computes: LiteRT, where it is installed, has further faults, which depend on its version and on the processor.
IMITATION = Options(dialect="chromium-153", profile=replace(load_profile("tflite"), engine=""))
_LONGEST = 60.0
_MEMORY = 1 << 30
_ENDS = ("PASS", "FAIL")
#: A page whose script is not a module: those of `webnn wpt run` run none.
_PAGE = "<!doctype html><body><script>(async () => {\n%s})();</script>"
#: Waits for the last line of a page.
_LINES = """
() => new Promise(done => {
  const look = () => {
    const text = document.querySelector('pre')?.textContent ?? '';
    if (/^(PASS|FAIL)$/m.test(text)) done(text); else setTimeout(look, 10);
  };
  look();
})
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The end of a program: what it got, ``"crash"`` or ``"hang"``, and the lines that it showed."""

    got: str
    passes: bool
    lines: tuple[str, ...] = ()

    @classmethod
    def of(cls, text: str) -> Answer:
        """Read the lines of a page."""
        lines = tuple(text.strip().splitlines())
        got = next((line.removeprefix("got ") for line in lines if line.startswith("got ")), "")
        return cls(got=got, passes=bool(lines) and lines[-1] == "PASS", lines=lines)


def run_here(source: str, options: Options = PLAIN) -> str:
    """Run a program with the emulator in this process; return what it writes to its console, or the name of its error.

    Args:
        source: JavaScript, which may await.
        options: The options of the emulator.

    Raises:
        RuntimeError: The program does not end, or the emulator has a fault of its own.
    """
    lines: list[str] = []
    ended: list[str] = []
    realm = Realm(
        ml=options.make_ml(),
        address=Address(pathname="/program.html"),
        read=lambda _: None,
        log=lambda _, text: lines.append(text),
        emit=lambda kind, text: ended.append(text if kind == "error" else ""),
        revision=options.idl().revision,
        memory=_MEMORY,
        dialect=options.dialect,
    )
    call = "() => emit('done', ''), error => emit('error', `${error.name ?? error}`)"
    realm.connect(f"(window, emit) => (async () => {{\n{source}\n}})().then({call})")
    realm.run(lambda: bool(ended), realm.worked() + _LONGEST)
    if realm.faults:
        raise RuntimeError(f"the emulator has a fault of its own: {realm.faults[0]}")
    if not ended:
        raise RuntimeError(f"the program did not end; it wrote {lines}")
    return "\n".join([*lines, *filter(None, ended)])


def show_here(script: str) -> Answer:
    """Run the script of a page in the pages of `webnn wpt run`, in this process: they have frames.

    Raises:
        RuntimeError: The emulator has a fault of its own.
    """
    lines: list[str] = []
    program = Program(
        revision=PLAIN.idl().revision.name,
        dialect=PLAIN.dialect,
        memory=_MEMORY,
        log=lambda _, text: lines.append(text),
        emit=lambda *_: None,
        script=lambda realm, _, source, line: realm.run_script("\n" * line + source),
    )
    with TemporaryDirectory() as folder:
        root = Path(folder)
        for path, text in {"webnn/page.https.html": _PAGE % script, "resources/testharness.js": ""}.items():
            (root / path).parent.mkdir()
            (root / path).write_text(text, encoding="utf-8")
        server = Server(Checkout(root))
        browsing = Browsing(server, program)
        opened: list[Page] = []
        problem = browsing.open(server.hosts.address("webnn/page.https.html"), opened.append)
        browsing.run(lambda: bool(lines) and lines[-1] in _ENDS, browsing.worked() + _LONGEST)
        browsing.close()
    faults = [problem] * bool(problem) + browsing.faults + browsing.problems
    if faults:
        raise RuntimeError(f"the emulator has a fault of its own: {faults[0]}")
    return Answer.of("\n".join(lines)) if lines and lines[-1] in _ENDS else Answer(got="hang", passes=False, lines=tuple(lines))


class Pages:
    """Pages in a browser."""

    def __init__(self, browser: Chromium, address: str) -> None:
        self._browser = browser
        self._address = address

    def show(self, path: str) -> Answer:
        """Open a page, and wait for its end."""
        try:
            self._browser.open(f"{self._address}{path}")
            return Answer.of(self._browser.evaluate(_LINES))
        except PageCrashError:
            return Answer(got="crash", passes=False)
        except PageTimeoutError:
            return Answer(got="hang", passes=False)

    def run(self, source: str) -> str:
        """Run a program in an empty page; return the same as `run_here`."""
        function = f"""async () => {{
          const lines = [], console = {{log: (...words) => lines.push(words.join(' '))}};
          try {{ await (async () => {{\n{source}\n}})(); }} catch (error) {{ lines.push(error.name ?? `${{error}}`); }}
          return lines.join('\\n');
        }}"""
        try:
            self._browser.open(self._address)
            return str(self._browser.evaluate(function))
        except PageCrashError:
            return "crash"
        except PageTimeoutError:
            return "hang"


@contextmanager
def open_browser(executable: Path, pages: Mapping[str, str], *, emulated: bool, timeout: float = 30.0) -> Iterator[tuple[Pages, str]]:
    """Start a browser with pages, by their paths; yield them, and the browser in words.

    Args:
        executable: The browser.
        pages: The texts of the pages.
        emulated: The pages get the emulator in place of the browser's WebNN, as by `webnn serve`.
        timeout: After how many seconds a page hangs.
    """
    read = _reader(pages)
    reports = Reports()
    server = serve_files(read, PLAIN, reports) if emulated else serve(read)
    with server as address, Chromium(executable, timeout=timeout, native=not emulated) as browser:
        yield Pages(browser, address), f"{browser.title} {browser.version}"
    if reports.faults:
        raise RuntimeError(f"the emulator has a fault of its own: {reports.faults[0]}")


def _reader(pages: Mapping[str, str]) -> Read:
    files = {f"/{path}": File(text.encode(), "text/javascript" if path.endswith(".js") else "text/html") for path, text in pages.items()}
    return files.get
