"""The emulator in pages that Playwright opens, at any address: `Emulator`.

Playwright itself is not imported: it is that of the tests. Other drivers of browsers use `Emulator.script` or `Emulator.script_url`.

Playwright runs a script before those of each document, but not in workers. A page says which worker it is about to start, and waits. Then
the request for the worker's script is routed, once, and the script gets a first statement. No other request is routed. But as soon as a
browser has a route, it sends the bodies of all requests to Playwright: a large constant takes 80 ms more for each megabyte, and one of more
than about 100 MB ends Playwright. Without workers (``workers=False``) there is no route.
"""

from __future__ import annotations

import asyncio
import inspect
import re
import threading
from collections.abc import Callable, Generator, Iterable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlsplit
from weakref import WeakSet

from webnn.serve.injection import Kind, inject_into_worker
from webnn.serve.journal import Counts, Journal, count
from webnn.serve.options import Options
from webnn.serve.policies import Addresses
from webnn.serve.record import RecordedCall
from webnn.serve.server import Server
from webnn.serve.session import Visitor

__all__ = ["Counts", "Emulator"]

_Steps = Generator[Any, Any, None]
_Perform = Callable[[_Steps], Any]

#: The permission to reach this machine from a page of another one. Older browsers, and those other than Chromium, do not know it.
_PERMISSION = "local-network-access"
#: How long a page waits for the test before it starts a worker, in seconds.
_PATIENCE = 30.0
#: No address.
_NOWHERE = re.compile("^webnn-serve:$")
_POLICY = "content-security-policy"
#: Headers that are about a body as it was sent.
_OF_THE_BODY = frozenset({"content-encoding", "content-length", "etag", "transfer-encoding"})
_BLOCKED = (
    "the Content-Security-Policy of a page blocks the emulator; make the context with browser.new_context(bypass_csp=True), or, with "
    'pytest-playwright, add "bypass_csp": True to the fixture browser_context_args'
)
_NOT_REACHED = (
    "the worker {} has no emulator: another route of the test answers its script. Let the script begin with "
    'importScripts("{}"); or, in a module, with import "{}";'
)
_NO_TEST = "the worker {} has no emulator: the test did not wait for the page, by a function of Playwright, while the worker started"


class Emulator:
    """An emulator for pages, and what they did with it. A context manager: it runs inside ``with``.

    Args:
        options: The options of `navigator.ml`.

    Raises:
        TypeError: An option has the wrong type.
        ValueError: An option has an invalid value.
    """

    def __init__(self, options: Options | None = None) -> None:
        self._faults: list[str] = []
        self._gate = _Gate()
        self._tasks: set[asyncio.Future[None]] = set()
        #: The requests for workers' scripts that were answered here.
        self._answered = WeakSet[Any]()
        self._journals: list[Journal] = []
        self._server = Server(
            None,
            options or Options(),
            origins={"*"},
            on_fault=self._faults.append,
            on_worker=self._wait_for_route,
            make_record=self._begin_journal,
        )

    def __enter__(self) -> Emulator:
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop()

    @property
    def options(self) -> Options:
        """The options of `navigator.ml`."""
        return self._server.sessions.options

    @property
    def script(self) -> str:
        """The script that puts the emulator behind `navigator.ml`; it runs before those of the page."""
        return self._server.script()

    @property
    def script_url(self) -> str:
        """The address of the script, for pages that load it themselves."""
        return self._server.script_url

    @property
    def faults(self) -> list[str]:
        """Why pages did not get the emulator, and tracebacks of its own errors. With any, a test with ``webnn_page`` fails."""
        return list(self._faults)

    @property
    def log(self) -> list[RecordedCall]:
        """The calls of all documents and workers, one after the other; of each the last 10,000."""
        return [call for journal in self._journals for call in reversed(journal.calls()[0])]

    @property
    def counts(self) -> Counts:
        """How often what was done."""
        return count(self._journals)

    @property
    def lost(self) -> list[str]:
        """Why contexts were lost; a context that the page destroyed is lost, too."""
        return [message for journal in self._journals for message in journal.lost]

    @property
    def warnings(self) -> list[str]:
        """The warnings of the emulator, such as those about fallbacks, each once."""
        return list(dict.fromkeys(message for journal in self._journals for message in journal.warnings()[0]))

    def _begin_journal(self, _: Visitor) -> Journal:
        journal = Journal()
        self._journals.append(journal)
        return journal

    def add_to(self, context: Any, *, workers: bool = True) -> Any:
        """Put the emulator into the pages and workers of a Playwright context, before its first page is opened.

        The context must be made with ``bypass_csp=True`` if its pages have a Content-Security-Policy.

        Args:
            context: A ``BrowserContext`` of Playwright's synchronous or asynchronous API.
            workers: Workers have the emulator, too. Without, large constants travel faster.

        Returns:
            For the asynchronous API a coroutine, which is to be awaited; else ``None``.
        """
        if inspect.iscoroutinefunction(context.route):
            return _perform_asynchronously(self._add(context, self._start, workers))
        return _perform(self._add(context, _perform, workers))

    # For drivers in another process

    @property
    def endpoint(self) -> str:
        """The address that pages reach the emulator at."""
        return self._server.endpoint

    def change(self, options: Options) -> None:
        """Use other options for contexts that pages make from now on. Raises `ValueError` if an option is invalid."""
        self._server.change(options)

    def let_pass(self, announcement: str) -> None:
        """Let a page start the worker that it announces by a request to this address: its script is routed."""
        self._gate.open(parse_qs(urlsplit(announcement).query)["s"][0])

    def inject(self, body: bytes, kind: Kind, headers: Iterable[tuple[str, str]]) -> tuple[dict[str, str], bytes]:
        """Put the emulator into the script of a worker; return the headers and the body of the response that the worker gets."""
        named = [(name.lower(), value) for name, value in headers]
        policies = [value for name, value in named if name == _POLICY]
        changed = inject_into_worker(body, Addresses(f"{self._server.endpoint}/"), kind, policies)
        kept = {name: value for name, value in named if name not in _OF_THE_BODY and name != _POLICY}
        if changed.policies:
            kept[_POLICY] = ", ".join(changed.policies)
        return kept, changed.body

    def note(self, fault: str) -> None:
        """Remember a fault, once."""
        if fault not in self._faults:
            self._faults.append(fault)

    # Steps that call Playwright. Each call is yielded: the asynchronous API returns coroutines.

    def _add(self, context: Any, perform: _Perform, workers: bool) -> _Steps:
        try:
            yield context.grant_permissions([_PERMISSION])
        except Exception as error:
            if "unknown permission" not in str(error).lower():
                raise
        yield context.add_init_script(self.script)
        if workers:
            self._gate.closed = True
            # A page that waits cannot be told that there are routes from now on. So there is one from the beginning.
            yield context.route(_NOWHERE, lambda route: route.fallback())
            context.on("request", lambda request: self._hear(context, request, perform))
        context.on("requestfailed", self._note_failure)

    def _hear(self, context: Any, request: Any, perform: _Perform) -> None:
        """Hear of a request: a page that is about to start a worker sends one, and waits."""
        if request.url.startswith(f"{self._server.endpoint}/worker?"):
            perform(self._route(context, request.url, request.post_data_json))

    def _route(self, context: Any, announcement: str, worker: Mapping[str, Any]) -> _Steps:
        url, kind = worker["url"].partition("#")[0], worker["type"]

        def answer(route: Any) -> Any:
            context.remove_listener("response", check)
            self._answered.add(route.request)
            steps = self._answer(route, url, kind)
            return _perform_asynchronously(steps) if inspect.iscoroutinefunction(route.fetch) else _perform(steps)

        def check(response: Any) -> None:
            # Workers that start at the same time may have the same script.
            if response.url.partition("#")[0] == url and response.request not in self._answered:
                context.remove_listener("response", check)
                self.note(_NOT_REACHED.format(url, self.script_url, self.script_url))

        context.on("response", check)
        try:
            yield context.route(re.compile(f"^{re.escape(url)}$"), answer, times=1)
        finally:
            self.let_pass(announcement)

    def _answer(self, route: Any, url: str, kind: Kind) -> _Steps:
        try:
            response = yield route.fetch()
        except Exception:  # there is no such server: another route of the test may answer
            self.note(_NOT_REACHED.format(url, self.script_url, self.script_url))
            yield route.fallback()
            return
        if not response.ok:
            yield route.fulfill(response=response)
            return
        headers = [(header["name"], header["value"]) for header in response.headers_array]
        kept, body = self.inject((yield response.body()), kind, headers)
        yield route.fulfill(status=response.status, headers=kept, body=body)

    def _start(self, steps: _Steps) -> None:
        """Begin to perform steps with the asynchronous API, in its event loop."""
        task = asyncio.ensure_future(_perform_asynchronously(steps))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # Faults

    def _note_failure(self, request: Any) -> None:
        if request.url.startswith(self._server.endpoint) and request.failure == "csp":
            self.note(_BLOCKED)

    async def _wait_for_route(self, session: str, url: str) -> None:
        """Wait, in the server's thread, until the request for a worker's script is routed."""
        try:
            await self._gate.wait(session)
        except TimeoutError:
            self.note(_NO_TEST.format(url))


class _Gate:
    """Where pages wait for the test.

    Attributes:
        closed: Pages wait. They do not if there is no Playwright.
    """

    def __init__(self) -> None:
        self.closed = False
        self._passes: dict[str, Future[None]] = {}
        self._lock = threading.Lock()

    async def wait(self, name: str) -> None:
        """Wait until the gate opens for a session; a `TimeoutError` if it does not."""
        if not self.closed:
            return
        try:
            async with asyncio.timeout(_PATIENCE):
                await asyncio.wrap_future(self._find(name))
        finally:
            with self._lock:
                del self._passes[name]

    def open(self, name: str) -> None:
        """Let a session pass, also one that comes later. May be called from any thread."""
        future = self._find(name)
        if not future.done():
            future.set_result(None)

    def _find(self, name: str) -> Future[None]:
        with self._lock:
            return self._passes.setdefault(name, Future())


def _perform(steps: _Steps) -> None:
    """Perform steps with the synchronous API."""
    value = None
    with suppress(StopIteration):
        while True:
            value = steps.send(value)


async def _perform_asynchronously(steps: _Steps) -> None:
    """Perform steps with the asynchronous API."""
    advance = partial(steps.send, None)
    while True:
        try:
            step = advance()
        except StopIteration:
            return
        try:
            advance = partial(steps.send, await step)
        except Exception as error:  # the steps decide what becomes of it
            advance = partial(steps.throw, error)
