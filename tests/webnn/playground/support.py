"""A server of the playground, in a thread, and requests to it."""

from __future__ import annotations

import asyncio
import http.client
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from aiohttp import web

from webnn.playground.server import Playground

__all__ = ["Address", "serving"]


class Address:
    """Where a playground listens."""

    def __init__(self, playground: Playground, port: int) -> None:
        self.playground, self.port = playground, port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}{self.playground.path}/"

    def ask(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        """Send a request; a path without a slash in front is one of the page's own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.request(method, path if path.startswith("/") else f"{self.playground.path}/{path}", body, dict(headers or {}))
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def act(self, what: str, values: object, **headers: str) -> tuple[int, dict[str, Any]]:
        """Ask for a run as the page does; ``headers`` replace those of the page, and empty ones are left out."""
        own = {"Content-Type": "application/json", "X-WebNN-Status": "1", "Origin": f"http://127.0.0.1:{self.port}"}
        own |= {name.replace("_", "-"): value for name, value in headers.items()}
        status, _, body = self.ask("POST", what, json.dumps(values).encode(), {name: value for name, value in own.items() if value})
        return status, json.loads(body) if body.startswith(b"{") else {}


@contextmanager
def serving(playground: Playground) -> Iterator[Address]:
    """Serve a playground while the block runs."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def open_it() -> web.AppRunner:
        runner = web.AppRunner(playground.application(), handler_cancellation=True, shutdown_timeout=0.5)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return runner

    runner = asyncio.run_coroutine_threadsafe(open_it(), loop).result()
    try:
        yield Address(playground, runner.addresses[0][1])
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
