"""The server of `webnn playground`: one page, and the runs that it asks for. All addresses hold a token that no other page knows."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Mapping
from functools import partial
from typing import Any

from aiohttp import web

from webnn.playground.assets import TYPES, describe, load
from webnn.playground.order import Order, read_order
from webnn.playground.runs import BusyError, Runs
from webnn.serve.guard import PREFIX, Guard, refuse
from webnn.serve.status import HEADERS, Action, RefusedError, act

__all__ = ["Playground"]

#: The longest request of the page, in bytes: a program of the longest length, each of its characters escaped.
_LONGEST = 1 << 19
#: The frame for the browser's own WebNN: its documents have an origin that nothing else has, and no way to the network.
_FRAME = "native.html"
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src data:; frame-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_FRAME_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)


class Playground:
    """The page and its runs.

    Args:
        languages: The languages that may run. A program in Python has the rights of the user.
        timeout: How many seconds a program may take.
        start: The program that the page begins with; ``None`` for the first example.

    Attributes:
        token: The secret part of the addresses.
        runs: The programs that run.
    """

    def __init__(
        self, languages: tuple[str, ...] = ("javascript",), *, timeout: float = 30.0, start: Mapping[str, str] | None = None
    ) -> None:
        self.token = secrets.token_urlsafe(24)
        self._languages = languages
        self.runs = Runs(timeout)
        self._start = start

    @property
    def path(self) -> str:
        """The path of the page."""
        return f"{PREFIX}/{self.token}/playground"

    def application(self) -> web.Application:
        """Return the application of aiohttp."""
        application = web.Application(client_max_size=_LONGEST, middlewares=[Guard(self.token).check])
        actions: dict[str, Action] = {what: partial(self._run, what) for what in ("run", "check")}
        application.add_routes(
            [
                web.get("/playground", _explain),
                web.get(f"{self.path}/", partial(_send, "index.html")),
                web.get(f"{self.path}/state.json", self._state),
                *[web.get(f"{self.path}/{name}", partial(_send, name)) for name in TYPES],
                *[web.post(f"{self.path}/{name}", partial(act, action)) for name, action in actions.items()],
            ]
        )
        return application

    def serve(self, listening: socket.socket) -> None:
        """Serve until Ctrl-C, on a socket that listens on this machine."""
        web.run_app(self.application(), sock=listening, print=None, access_log=None, shutdown_timeout=0.5, handler_cancellation=True)

    async def _state(self, _: web.Request) -> web.Response:
        return web.json_response(describe(self._languages, self._start), headers=HEADERS)

    async def _run(self, what: str, values: dict[str, Any]) -> dict[str, Any]:
        order = self._read(values)
        try:
            return await self.runs.run(order, what)
        except BusyError:
            raise RefusedError(409, "too many programs run: wait until one has ended") from None

    def _read(self, values: dict[str, Any]) -> Order:
        try:
            order = read_order(values)
        except (TypeError, ValueError) as error:
            raise RefusedError(400, str(error)) from None
        if order.language not in self._languages:
            raise RefusedError(403, f"programs in {order.language} do not run here: start webnn playground --{order.language}")
        return order


async def _send(name: str, _: web.Request) -> web.Response:
    policy = _FRAME_POLICY if name == _FRAME else _POLICY
    kind = TYPES.get(name, "text/html")
    return web.Response(text=load(name), content_type=kind, charset="utf-8", headers={**HEADERS, "Content-Security-Policy": policy})


async def _explain(_: web.Request) -> web.Response:
    """Answer the address of a link, which has no token: the program is in its fragment, which a browser does not send."""
    return refuse(
        404, "this is a link to a program. Open it with: webnn playground 'LINK'. Or paste it into the field Link of an open page"
    )
