"""Drives a Chromium with WebNN: a page of a local server, functions that run in it, and what becomes of a page that hangs or crashes.

The browser runs foreign programs. It is started with its sandbox, and without one only where it cannot have one (as root, in containers).
It ends with this process, however that ends, and so does its folder of settings.
"""

from __future__ import annotations

import asyncio
import http.server
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, unquote, urlsplit

from webnn._extras import install_command
from webnn.browser.launch import NAMES, flags, needs_profile
from webnn.javascript.files import ORIGIN, File, Files, RefusedError
from webnn.processes.child import ends_at_signals

__all__ = [
    "VARIABLE",
    "Answer",
    "BrowserError",
    "Chromium",
    "PageCrashError",
    "PageError",
    "PageTimeoutError",
    "find_browser",
    "read_below",
    "serve",
]

_Value = TypeVar("_Value")
#: Status, headers and content for an address.
Answer = Callable[[str], tuple[int, Mapping[str, str], bytes] | None]

#: The environment variable that names the browser.
VARIABLE = "WEBNN_BROWSER"
#: How many seconds the browser has to end by itself.
_PATIENCE = 5.0
_NOTHING = File(b"", "text/plain")
_BLANK = File(b"<!doctype html><meta charset=utf-8><title>WebNN</title>", "text/html")
#: Isolation from other origins: a page has `SharedArrayBuffer` and precise clocks only with it.
_HEADERS = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
#: Runs a function in the page. Text goes in and comes out, so that a value is JSON and nothing else.
_CALL = """
async (text) => {
  try {
    return JSON.stringify({value: await (%s)(JSON.parse(text))});
  } catch (error) {
    const {name = 'Error', message = error, stack = ''} = Object(error);
    return JSON.stringify({name: String(name), message: String(message), stack: String(stack)});
  }
}
"""


class BrowserError(RuntimeError):
    """There is no browser that can be used: the program, its driver, or its WebNN is missing."""


class PageError(Exception):
    """The script threw an error, such as ``"TypeError"``, or the page could not be opened; the stack may be empty."""

    def __init__(self, name: str, message: str, stack: str = "") -> None:
        super().__init__(f"{name}: {message}")
        self.name, self.message, self.stack = name, message, stack


class PageTimeoutError(Exception):
    """The page was not done in time. The browser has ended; the next call starts it again."""


class PageCrashError(Exception):
    """The page, or the browser, ended. The next call starts it again."""


def find_browser(named: Path | None = None) -> Path:
    """Return the browser's program: the one that the user names, or else that of the environment variable WEBNN_BROWSER.

    One of `NAMES` is returned as it is, unless it is a program, too.

    Raises:
        BrowserError: No program is named, or the named one cannot be run.
    """
    stated = os.environ.get(VARIABLE)
    path = named or (Path(stated) if stated else None)
    if path is None:
        raise BrowserError(f"name the browser, a Chromium with WebNN: --browser PROGRAM or the environment variable {VARIABLE}")
    found = shutil.which(path)
    if found is None and str(path) not in NAMES:
        raise BrowserError(f"{path} is not a program that can be run, nor one of {', '.join(NAMES)}")
    return Path(found or path)


class Chromium:
    """A browser with one page. A context manager: the browser runs inside ``with``. A page is given up after ``timeout`` seconds.

    The program is a path, or one of `NAMES`. ``console`` is called with the level and the text of what the page writes to its console, and
    of errors that it does not catch. With ``native`` the browser has its own WebNN; otherwise its pages must bring theirs. With ``profile``
    the page is in the browser's own profile, not in a private window. ``answer`` answers requests in the place of the network; it returns
    ``None`` for other addresses. ``version`` is empty before it runs.
    """

    def __init__(
        self,
        executable: Path,
        *,
        timeout: float = 60.0,
        console: Callable[[str, str], None] = lambda *_: None,
        native: bool = True,
        profile: bool | None = None,
        answer: Answer | None = None,
    ) -> None:
        self._executable = executable
        self._answer = answer
        self._native = native
        self._profile = native and needs_profile() if profile is None else profile
        self._timeout = timeout
        self._console = console
        self._address: tuple[str, str, bool] | None = None
        self._process = 0
        self._playwright: Any = None
        self._browser: Any = None
        self._page: Any = None
        self._crash = asyncio.Event()
        self._signals = ExitStack()
        self._running = False
        self.version = ""
        self.sandboxed = True

    @property
    def name(self) -> str:
        """The browser, in words."""
        return f"{self.title} {self.version}{'' if self.sandboxed else ', without its sandbox'}"

    @property
    def title(self) -> str:
        """The browser without its version."""
        return NAMES.get(str(self._executable), "Chromium")

    def __enter__(self) -> Chromium:
        # A signal must not end this process before the browser has ended.
        self._signals.enter_context(ends_at_signals())
        try:
            self._start()
        except BaseException:
            self._signals.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        with self._signals:
            self._stop()

    def open(self, address: str, *, before: str = "", timeout: float | None = None, secure: bool = True) -> None:
        """Open a page, in place of the one that is open and without anything that it stored; ``before`` runs first in each frame.

        A page that is not a secure context has no WebNN.

        Raises:
            BrowserError: The browser has no WebNN.
            PageError: The page cannot be opened.
            PageTimeoutError: The page was not loaded in time.
            PageCrashError: The page, or the browser, ended.
        """
        if not self._running:
            self._start()
        self._address = address, before, secure
        self._perform(self._show(address, before, secure), self._timeout if timeout is None else timeout)

    def evaluate(self, function: str, argument: object = None, *, timeout: float | None = None) -> Any:
        """Call a function in the page with JSON, and return its value, or that of its promise: NaN and undefined become None.

        Raises:
            PageError: The function threw an error.
            PageTimeoutError: It was not done in time. The next call starts the browser again, with the same page; so it does after a crash.
            PageCrashError: The page, or the browser, ended.
        """
        if self._address is None:
            raise BrowserError("open a page first")
        if not self._running:
            address, before, secure = self._address
            self.open(address, before=before, secure=secure)
        call = self._page.evaluate(_CALL % function, json.dumps(argument))
        answer = json.loads(self._perform(call, self._timeout if timeout is None else timeout))
        if "name" in answer:
            raise PageError(**answer)
        return answer.get("value")

    def _start(self) -> None:
        try:
            # The extra `browser`.
            from playwright.async_api import async_playwright  # noqa: PLC0415
        except ImportError:
            raise BrowserError(f"the browser's driver is not installed: {install_command('browser')}") from None
        self._folder = Path(tempfile.mkdtemp(prefix="webnn-browser-"))
        self._runner = asyncio.Runner()
        self._runner.get_loop().set_exception_handler(lambda *_: None)  # what is left of a page that was given up
        self._browser = self._playwright = None
        self._running = True
        try:
            with _temporary(self._folder):
                self._playwright = self._runner.run(async_playwright().start())
            self._runner.run(self._launch())
        except BaseException:
            self._stop()
            raise

    async def _launch(self) -> None:
        """Start the browser with its sandbox, or else without."""
        from playwright.async_api import Error  # noqa: PLC0415

        try:
            if self.sandboxed:
                await self._launch_with(sandboxed=True)
        except Error as error:
            if "sandbox" not in str(error):
                raise BrowserError(f"{self._executable} does not start: {_first_line(error)}") from None
            self.sandboxed = False
        try:
            if not self.sandboxed:
                await self._launch_with(sandboxed=False)
        except Error as error:
            raise BrowserError(f"{self._executable} does not start: {_first_line(error)}") from None
        self.version = self._browser.version
        self._crash = asyncio.Event()
        session = await self._browser.new_browser_cdp_session()
        processes = (await session.send("SystemInfo.getProcessInfo"))["processInfo"]
        (self._process,) = (each["id"] for each in processes if each["type"] == "browser")

    async def _launch_with(self, *, sandboxed: bool) -> None:
        """Start the browser, and open its own profile if that is wanted."""
        named = str(self._executable)
        program = {"channel": named} if named in NAMES else {"executable_path": named}
        options = {**program, "headless": True, "args": flags(native=self._native, sandboxed=sandboxed), "chromium_sandbox": sandboxed}
        if self._profile:
            self._context = await self._playwright.chromium.launch_persistent_context(self._folder / "profile", **options)
            self._browser = self._context.browser
            await self._serve_all()
        else:
            self._browser = await self._playwright.chromium.launch(**options)

    def _stop(self) -> None:
        """End the browser and its driver, whatever state they are in, and remove what they stored."""
        if not self._running:
            return
        self._running = False
        try:
            if self._browser is not None and not self._ends(self._browser.close()):
                with suppress(OSError):
                    os.kill(self._process, getattr(signal, "SIGKILL", signal.SIGTERM))
            if self._playwright is not None:
                self._ends(self._playwright.stop())
        finally:
            with suppress(RuntimeError):  # what does not let itself be cancelled
                self._runner.close()
            _remove(self._folder)

    def _ends(self, coroutine: Coroutine[Any, Any, None]) -> bool:
        """Wait for the end of the browser or its driver; return whether it came."""
        try:
            self._runner.run(asyncio.wait_for(coroutine, _PATIENCE))
        except Exception:  # the driver's connection raises whatever broke it
            return False
        return True

    async def _serve_all(self) -> None:
        """Answer the requests of all pages in the place of the network."""
        if self._answer is not None:
            await self._context.route(lambda url: True, partial(_fulfill, self._answer))

    async def _show(self, address: str, before: str, secure: bool) -> None:
        if self._profile:
            earlier = self._context.pages
            await self._clear()
            self._page = await self._context.new_page()
            await self._page.add_init_script(before)
            for each in earlier:
                await each.close()
        else:
            for each in self._browser.contexts:
                await each.close()
            self._context = await self._browser.new_context()
            await self._serve_all()
            await self._context.add_init_script(before)
            self._page = await self._context.new_page()
        self._page.on("crash", lambda _: self._crash.set())
        self._page.on("console", lambda message: self._console(message.type, message.text))
        self._page.on("pageerror", lambda error: self._console("error", f"Uncaught {error}"))
        await self._page.goto(address, timeout=0)
        if secure and not await self._page.evaluate("'ml' in navigator"):
            raise BrowserError(f"{self._executable} {self.version} has no navigator.ml at {address}")

    async def _clear(self) -> None:
        """Remove what pages stored in the browser's own profile."""
        await self._context.clear_cookies()
        session = await self._context.new_cdp_session(self._context.pages[0])
        await session.send("Storage.clearDataForOrigin", {"origin": "*", "storageTypes": "all"})

    async def _race(self, coroutine: Coroutine[Any, Any, _Value], limit: float) -> _Value:
        """Wait for the page, or for its crash, of which older drivers do not tell those who wait."""
        task, crash = asyncio.create_task(coroutine), asyncio.create_task(self._crash.wait())
        try:
            await asyncio.wait([task, crash], timeout=limit, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            if crash.done():
                raise ConnectionError("Target crashed")
            raise TimeoutError
        finally:
            task.cancel()
            crash.cancel()

    def _perform(self, coroutine: Coroutine[Any, Any, _Value], limit: float) -> _Value:
        """Wait for the page; end the browser if the page hangs or ends."""
        from playwright.async_api import Error  # noqa: PLC0415

        try:
            return self._runner.run(self._race(coroutine, limit))
        except TimeoutError:
            self._stop()
            raise PageTimeoutError(f"the page was not done after {limit:g} s") from None
        except Error as error:
            if self._browser.is_connected() and not any(word in str(error).lower() for word in ("crash", "closed")):
                raise PageError("Error", _first_line(error)) from None
            self._stop()
            raise PageCrashError(f"the page ended: {_first_line(error)}") from None
        except ConnectionError as error:
            self._stop()
            raise PageCrashError(f"the page ended: {error}") from None
        except BrowserError:
            raise
        except Exception as error:  # the end of the driver has no class of its own
            self._stop()
            raise PageCrashError(f"the browser's driver ended: {error}") from None


@contextmanager
def _temporary(folder: Path) -> Iterator[None]:
    """Let a process that starts now put its temporary files into a folder."""
    names = ("TEMP", "TMP") if sys.platform == "win32" else ("TMPDIR",)
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, str(folder)))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _remove(folder: Path) -> None:
    """Remove a folder that processes may still write to while they end."""
    end = time.monotonic() + _PATIENCE
    while folder.exists() and time.monotonic() < end:
        shutil.rmtree(folder, ignore_errors=True)
        if folder.exists():
            time.sleep(0.05)


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [""]
    return lines[0].removeprefix("Page.evaluate: ").removeprefix("Page.goto: ").removeprefix("BrowserType.launch: ")


async def _fulfill(answer: Answer, route: Any) -> None:
    found = answer(route.request.url)
    if found is None:
        await route.fallback()
    else:
        status, headers, content = found
        await route.fulfill(status=status, headers=dict(headers), body=content)


Read = Callable[[str], File | None]


def read_below(folder: Path) -> Read:
    """Return a function that reads the files below a folder by their paths on a server, and refuses paths that lead out of it."""
    files = Files(folder, folder)
    return lambda path: files.read(ORIGIN + quote(path))


@contextmanager
def serve(files: Read | Mapping[str, File]) -> Iterator[str]:
    """Serve files to this machine only, to pages that are isolated from other origins; yield the address, which ends with a slash.

    Args:
        files: The files by their paths, such as ``"/a/b.js"``. A path without a file is not found; ``"/"`` has an empty page then.
    """
    read = files.get if isinstance(files, Mapping) else files
    with _Server(("127.0.0.1", 0), partial(_Handler, read)) as server:
        thread = threading.Thread(target=server.serve_forever, args=[0.05], daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


class _Server(http.server.ThreadingHTTPServer):
    """Says nothing of a page that is gone."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report an error in the handler."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(http.server.BaseHTTPRequestHandler):
    """Answers a request of a page."""

    protocol_version = "HTTP/1.1"

    def __init__(self, read: Read, *arguments: Any) -> None:
        self._read = read
        super().__init__(*arguments)

    def log_message(self, format: str, *args: object) -> None:
        """Write nothing."""

    def do_GET(self) -> None:
        """Send a file."""
        host, port = self.connection.getsockname()
        if self.headers["Host"] != f"{host}:{port}":
            # A name of another site that leads to this machine.
            return self._send(HTTPStatus.MISDIRECTED_REQUEST)
        path = unquote(urlsplit(self.path).path)
        try:
            file = self._read(path)
        except RefusedError:
            return self._send(HTTPStatus.FORBIDDEN)
        if file is None and path == "/":
            file = _BLANK
        return self._send(HTTPStatus.NOT_FOUND) if file is None else self._send(HTTPStatus.OK, file)

    def _send(self, status: HTTPStatus, file: File = _NOTHING) -> None:
        with suppress(ConnectionError):  # the page is gone
            self.send_response(status)
            for name, value in {**_HEADERS, "Content-Type": file.type, "Content-Length": str(len(file.content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(file.content)
