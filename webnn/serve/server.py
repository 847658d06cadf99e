"""The server of `webnn serve`: pages, and the emulator that they call. It has a thread of its own."""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import suppress
from functools import partial
from urllib.parse import urlsplit

from aiohttp import WSMsgType, web

from webnn.javascript.channel import Bytes
from webnn.javascript.idl import explain_members
from webnn.serve.access import Access
from webnn.serve.door import Door, is_own
from webnn.serve.guard import PREFIX, Guard, refuse
from webnn.serve.messages import MessageError, close_reason, read_text, total_size, unpack_aside
from webnn.serve.options import Options
from webnn.serve.pages import ENDPOINT, Endpoint, Pages
from webnn.serve.record import Record
from webnn.serve.relay import HEARTBEAT, LONGEST_FRAME, LONGEST_RELAYED, READY, can_hand_over, hand_over
from webnn.serve.reports import Sparing, exception_handler, make_logger
from webnn.serve.script import make_script
from webnn.serve.session import SMALL, EndedError, Session, Visitor, read_visitor
from webnn.serve.sessions import FullError, Sessions
from webnn.serve.status import Status
from webnn.serve.uploads import Uploads
from webnn.serve.warming import start_warming

__all__ = ["Server"]

#: The longest body of the status page's requests.
_LONGEST_TEXT = 1 << 16
#: How many live connections there may be: each may hold the bytes of a message.
_MOST_LIVE = 512
#: The most texts in a question about ignored members: each name that was given is compared with each that is known.
_MOST_NAMES = 200
#: How many connections wait until they are accepted. The system refuses more, or lets them try again.
_MOST_UNACCEPTED = 512
#: How often sessions without a live connection are looked at, in seconds.
_SWEEP = 2.0
#: How long a connection is kept: a browser that sends on one that was closed meanwhile sends again, or fails.
_KEEP_ALIVE = 3600.0
#: How long the connections of open pages have to end when the server stops, in seconds.
_PATIENCE = 0.5
#: How long a thread works before it hands over to another, in seconds. By default it is 5 ms, and a call changes threads three times.
_HAND_OVER = 0.0005
_NO_STORE = {"Cache-Control": "no-store"}


def _print(fault: str, left_out: int) -> None:
    sys.stderr.write(fault + (f"({left_out} more since the last one)\n" if left_out else ""))


class Server:
    """Serves pages, and the emulator behind their `navigator.ml`. A context manager: it runs inside ``with``.

    Raises `ValueError` if an option is invalid.

    Args:
        pages: Where pages come from; ``None`` serves the emulator only.
        options: The options of `navigator.ml`.
        port: The port; 0 for one that is free.
        origins: The origins of other servers' pages that may use the emulator; ``"*"`` for all.
        on_fault: Called with the traceback of an error of the emulator itself, from any thread. By default one a second is printed.
        on_worker: Awaited before a page starts a worker: with the name of the page's session and the address of the worker's script.
        make_record: Makes what remembers the calls of a page.
        private: Answer this user's connections only, where the system says whose they are, and pages only to browsers that have opened
            `address`.
        alone: The process only serves, until the server stops: its threads hand over to each other sooner, and its garbage collector leaves
            out what is loaded at the start.

    Attributes:
        token: The secret part of the emulator's addresses.
        status_token: The token of the status page, which pages do not know.
        status_port: The port of the status page. Its origin differs, so nothing of a page, not even its service worker, can reach it.
    """

    def __init__(
        self,
        pages: Pages | None,
        options: Options,
        *,
        port: int = 0,
        origins: Collection[str] = (),
        on_fault: Callable[[str], None] | None = None,
        on_worker: Callable[[str, str], Awaitable[None]] | None = None,
        make_record: Callable[[Visitor], Record] = lambda _: Record(),
        private: bool = False,
        alone: bool = False,
    ) -> None:
        options.make_ml()
        self.token = secrets.token_urlsafe(24)
        self.status_token = secrets.token_urlsafe(24)
        self.port = port
        self.status_port = 0
        self.origins = frozenset(origins)
        self._on_fault = on_fault or Sparing(_print)
        self.sessions = Sessions(options, self._on_fault, make_record)
        self._on_worker = on_worker
        self._pages = pages
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(exception_handler(self._on_fault))
        self._runners: list[web.AppRunner] = []
        self._ports: list[tuple[asyncio.Server, Door]] = []
        self._access = Access() if private else None
        self._alone = alone
        self._warming: threading.Thread | None = None
        self._thread = threading.Thread(target=self._loop.run_forever, name="webnn-serve", daemon=True)
        self._uploads = Uploads()
        self._live_connections = 0

    @property
    def url(self) -> str:
        """The address of the pages."""
        return f"http://127.0.0.1:{self.port}"

    def address(self, path: str, *, once: bool = False) -> str:
        """Return the address of a page for the browser of this user. ``once``: it can be opened one time, if the pages are private."""
        return self.url + path if self._access is None else self._access.address(self.url + path, once=once)

    def _admit(self, address: str) -> str:
        """Return the address with which another browser opens a page that a session names; a foreign address gets no token."""
        try:
            parts = urlsplit(address)
        except ValueError:
            return address
        isOwn = (parts.scheme, parts.netloc) in {("http", f"127.0.0.1:{self.port}"), ("http", f"localhost:{self.port}")}
        return address if self._access is None or not isOwn else self._access.address(address)

    @property
    def endpoint(self) -> str:
        """The address of the emulator."""
        return f"{self.url}{PREFIX}/{self.token}"

    @property
    def status_origin(self) -> str:
        """The origin of the status page."""
        return f"http://127.0.0.1:{self.status_port}"

    @property
    def status_url(self) -> str:
        """The address of the status page."""
        return f"{self.status_origin}{PREFIX}/{self.status_token}/status"

    @property
    def script_url(self) -> str:
        """The address of the script for documents and workers."""
        return f"{self.endpoint}/webnn.js"

    def script(self, endpoint: str | None = None, policy: str = "") -> str:
        """Return the script for documents and workers."""
        options = self.sessions.options
        return make_script(endpoint or self.endpoint, options.idl(), policy, lines=options.lines)

    def announced(self, url: str) -> str | None:
        """Return the type of the worker that is about to start with a script, ``"classic"`` or ``"module"``; ``None`` if none is."""
        return self.sessions.workers.get(url)

    def change(self, options: Options) -> None:
        """Use other options for later contexts, while the server runs. Raises `ValueError` if an option is invalid."""
        asyncio.run_coroutine_threadsafe(self.sessions.change(options), self._loop).result()

    def start(self) -> Server:
        """Start to serve. Raises `OSError` if the port is in use."""
        if self._alone:
            self._interval = sys.getswitchinterval()
            sys.setswitchinterval(_HAND_OVER)
        self._thread.start()
        self._warming = start_warming(alone=self._alone)
        try:
            asyncio.run_coroutine_threadsafe(self._open(), self._loop).result()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """End all sessions and stop to serve."""
        if self._loop.is_closed():
            return
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        if self._warming is not None:
            self._warming.join()
        if self._alone:
            sys.setswitchinterval(self._interval)

    def __enter__(self) -> Server:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    async def _open(self) -> None:
        status = web.Application(client_max_size=_LONGEST_TEXT, middlewares=[Guard(self.status_token).check])
        status.router.add_routes(Status(self.sessions, self._admit).routes(f"{PREFIX}/{self.status_token}"))
        self.port = await self._listen(self._application(), self.port)
        self.status_port = await self._listen(status, 0)

    async def _listen(self, application: web.Application, port: int) -> int:
        """Serve an application, and return the port."""
        # A body stays compressed if it came so: a little could become very much.
        runner = web.AppRunner(
            application,
            access_log=None,
            auto_decompress=False,
            keepalive_timeout=_KEEP_ALIVE,
            handle_signals=False,
            logger=make_logger(self._on_fault),
            shutdown_timeout=_PATIENCE,
        )
        self._runners.append(runner)
        await runner.setup()
        assert runner.server is not None
        door = Door(runner.server, is_own if self._access is not None else lambda _: True)
        server = await self._loop.create_server(door, "127.0.0.1", port, backlog=_MOST_UNACCEPTED)
        self._ports.append((server, door))
        bound: int = server.sockets[0].getsockname()[1]
        return bound

    async def _close(self) -> None:
        for server, door in self._ports:
            server.close()
            door.close()
        self.sessions.close()
        for runner in self._runners:
            await runner.shutdown()
            await runner.cleanup()
        if self._pages is not None:
            await self._pages.close()

    def _application(self) -> web.Application:
        application = web.Application(client_max_size=_LONGEST_TEXT, middlewares=[Guard(self.token, self.origins).check])
        application[ENDPOINT] = Endpoint(token=self.token, isolate=self.sessions.options.isolate, announced=self.announced)
        path = f"{PREFIX}/{self.token}"
        application.router.add_get(f"{path}/webnn.js", self._script)
        application.router.add_get(f"{path}/live", self._live)
        application.router.add_get(f"{path}/relay", self._relay)
        for name, handler in (
            ("call", partial(_refusing, self._call)),
            ("piece", partial(_refusing, self._piece)),
            ("result", partial(_refusing, self._result)),
            ("worker", self._worker),
            ("ignored", self._ignored),
        ):
            application.router.add_post(f"{path}/{name}", handler)
        application.router.add_route("*", "/{path:.*}", self._page)
        application.cleanup_ctx.append(self._sweep)
        return application

    async def _sweep(self, _: web.Application) -> AsyncIterator[None]:
        async def sweep() -> None:
            while True:
                await asyncio.sleep(_SWEEP)
                self.sessions.sweep()
                self._uploads.sweep(self.sessions.living)

        task = asyncio.create_task(sweep())
        yield
        task.cancel()

    async def _page(self, request: web.Request) -> web.StreamResponse:
        if self._pages is None or request.path.startswith(f"{PREFIX}/"):
            return refuse(404, "there is no such page")
        if self._access is not None and (answer := self._access.check(request)) is not None:
            return answer
        return await self._pages.answer(request)

    async def _script(self, request: web.Request) -> web.Response:
        endpoint = f"http://{request.host}{PREFIX}/{self.token}"
        text = self.script(endpoint, request.query.get("policy", ""))
        return web.Response(text=text, content_type="text/javascript", charset="utf-8", headers=_NO_STORE)

    async def _call(self, request: web.Request) -> web.StreamResponse:
        name = request.query.get("s", "")
        async with self._uploads.receive(request, name) as body:
            return _body(await self._answer(name, body))

    async def _answer(self, name: str, body: Bytes) -> list[Bytes]:
        number, [first, *rest] = await unpack_aside(body)
        if first.kind == "H":
            return await self.sessions.begin(name, read_visitor(first.parts[0])).exchange(number, rest)
        return await self.sessions.find(name).exchange(number, [first, *rest])

    async def _piece(self, request: web.Request) -> web.StreamResponse:
        """Keep a part of a body whose rest comes later."""
        await self._uploads.receive_piece(request, self.sessions.find(request.query.get("s", "")).name)
        return web.Response(headers=_NO_STORE)

    async def _result(self, request: web.Request) -> web.StreamResponse:
        try:
            number = int(request.query.get("n", ""))
        except ValueError as error:
            raise MessageError(str(error)) from None
        return _body(await self.sessions.find(request.query.get("s", "")).result(number))

    async def _worker(self, request: web.Request) -> web.Response:
        try:
            value = json.loads(read_text(await self._uploads.receive_other(request, request.query.get("s", ""))))
            url, kind = value["url"], value["type"]
        except (MessageError, ValueError, RecursionError, TypeError, KeyError):
            return refuse(400, "the script of a worker is announced by its address and its type")
        if not isinstance(url, str) or kind not in ("classic", "module"):
            return refuse(400, "the type of a worker is classic or module")
        self.sessions.announce(url, kind)
        if self._on_worker is not None:
            await self._on_worker(request.query.get("s", ""), url)
        return web.Response(headers=_NO_STORE)

    async def _ignored(self, request: web.Request) -> web.Response:
        """Say why members of a dictionary are ignored: the texts of warnings."""
        try:
            question = read_text(await self._uploads.receive_other(request, request.query.get("s", "")))
            if question.count('"') > 2 * _MOST_NAMES:
                return refuse(400, f"a question about ignored members has at most {_MOST_NAMES} texts")
            texts = await asyncio.to_thread(explain_members, self.sessions.options.idl(), question)
        except (MessageError, RecursionError, ValueError):
            return refuse(400, "there is no such dictionary")
        return web.json_response(texts, headers=_NO_STORE)

    async def _live(self, request: web.Request) -> web.StreamResponse:
        """Hold the live connection of a page: its session ends with it. It brings requests whose answers the page does not wait for."""
        if self._live_connections >= _MOST_LIVE:
            return refuse(503, "there are too many live connections")
        isHandedOver = can_hand_over()
        socket = web.WebSocketResponse(heartbeat=None if isHandedOver else HEARTBEAT, max_msg_size=LONGEST_FRAME, compress=False)
        await socket.prepare(request)
        session: Session | None = None
        self._live_connections += 1
        try:
            if (greeting := await socket.receive()).type is not WSMsgType.TEXT:
                return socket
            session = self.sessions.begin(request.query.get("s", ""), read_visitor(greeting.data.encode()))
            self.sessions.connect(session)
            # The page sends nothing before it is told that it may: no byte of a call is received here.
            if isHandedOver:
                await hand_over(request, session, isLive=True)
            else:
                await self._hold(socket, session)
        except (EndedError, FullError, MessageError) as error:
            await socket.close(message=close_reason(error).encode())
        finally:
            self._live_connections -= 1
            if session is not None:
                self.sessions.disconnect(session)
        return socket

    async def _hold(self, socket: web.WebSocketResponse, session: Session) -> None:
        """Do what `hand_over` does for a live connection, where it cannot leave this thread."""
        loop = asyncio.get_running_loop()
        sending: set[asyncio.Task[None]] = set()
        # Each is changed by one thread only.
        pushed = sent = unanswered = 0

        async def send(body: list[Bytes]) -> None:
            nonlocal sent
            with suppress(ConnectionError):  # the page is gone
                await socket.send_bytes(b"".join(body))
            sent += total_size(body)

        def start(body: list[Bytes]) -> None:
            task = loop.create_task(send(body))
            sending.add(task)
            task.add_done_callback(sending.discard)

        def push(body: list[Bytes]) -> None:
            nonlocal pushed
            if not loop.is_closed():
                pushed += total_size(body)
                loop.call_soon_threadsafe(partial(start, body))

        await socket.send_bytes(READY)
        session.connect(push, lambda: pushed - sent)
        async for message in socket:
            if message.type is WSMsgType.BINARY:
                answer = await session.exchange(*await unpack_aside(message.data))
                # Of much, the page keeps a copy until it is told, and sends the rest then.
                if (unanswered := unanswered + len(message.data)) > SMALL:
                    unanswered = 0
                    await send(answer)

    async def _relay(self, request: web.Request) -> web.StreamResponse:
        """Answer the calls of a worker that waits in shared memory: in its session's thread, if that can be."""
        isHandedOver, name = can_hand_over(), request.query.get("s", "")
        socket = web.WebSocketResponse(heartbeat=None if isHandedOver else HEARTBEAT, max_msg_size=LONGEST_RELAYED, compress=False)
        await socket.prepare(request)
        try:
            greeting = await socket.receive()
            if greeting.type is not WSMsgType.TEXT:
                return socket
            session = self.sessions.begin(name, read_visitor(greeting.data.encode()))
            # The relay sends nothing before it is told that it may: no byte of a call is received here.
            if isHandedOver:
                await hand_over(request, session)
                return socket
            await socket.send_bytes(READY)
            async for message in socket:
                if message.type is WSMsgType.BINARY:
                    await socket.send_bytes(b"".join(await self._answer(name, message.data)))
        except (EndedError, FullError, MessageError) as error:
            await socket.close(message=close_reason(error).encode())
        return socket


async def _refusing(handler: Callable[[web.Request], Awaitable[web.StreamResponse]], request: web.Request) -> web.StreamResponse:
    """Refuse a request that has no session, or that cannot be."""
    try:
        return await handler(request)
    except EndedError:
        return refuse(410, "the session of the page has ended")
    except FullError as error:
        return refuse(503, str(error))
    except MessageError as error:
        return refuse(400, str(error))


def _body(pieces: list[Bytes]) -> web.Response:
    return web.Response(body=b"".join(pieces), content_type="application/octet-stream", headers=_NO_STORE)
