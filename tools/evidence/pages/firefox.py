"""Drives a Firefox, by WebDriver BiDi: a page of a local server, and functions that run in it."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import tempfile
from collections.abc import Callable, Coroutine
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import aiohttp

from webnn.browser.chromium import Answer, BrowserError, PageCrashError, PageError, PageTimeoutError

__all__ = ["Firefox"]

_ADDRESS = re.compile(rb"WebDriver BiDi listening on (ws://\S+)")
#: Runs a function, and returns its value as JSON.
_CALL = "(async () => JSON.stringify({value: await (%s)()}))()"


class Firefox:
    """A Firefox with one page. A context manager: the browser runs inside ``with``.

    Args:
        executable: The program.
        timeout: After how many seconds a page is given up.
        console: Always empty: the console of the page is not read.
        answer: Not used: nothing answers in the place of the network.

    Attributes:
        version: The version that the browser states; empty before it runs.
    """

    def __init__(
        self,
        executable: Path,
        *,
        timeout: float = 60.0,
        console: Callable[[str, str], None] = lambda *_: None,
        answer: Answer | None = None,
    ) -> None:
        self._executable = executable
        self._timeout = timeout
        self._numbers = count(1)
        self.version = ""

    @property
    def name(self) -> str:
        """The browser, in words."""
        return f"Firefox {self.version}"

    def __enter__(self) -> Firefox:
        self._runner = asyncio.Runner()
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        command = [str(self._executable), "--headless", "--no-remote", "--profile", self._folder.name, "--remote-debugging-port", "0"]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            self._runner.run(self._connect())
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(Exception):  # the browser may have ended
            self._runner.run(self._close())
        self._end()

    def open(self, address: str, *, timeout: float | None = None, secure: bool = True) -> None:
        """Open a page of this machine, which is a secure context, in place of the one that is open.

        Raises:
            PageError: The page cannot be opened.
            PageTimeoutError: It was not loaded in time.
            PageCrashError: The browser ended.
        """
        self._perform(self._show(address), timeout)

    def evaluate(self, function: str, *, timeout: float | None = None) -> Any:
        """Call a function in the page, and return its value, or that of its promise, as JSON has it.

        Raises:
            PageError: The function threw an error.
            PageTimeoutError: It was not done in time.
            PageCrashError: The browser ended.
        """
        target = {"expression": _CALL % function, "target": {"context": self._context}, "awaitPromise": True}
        answer = self._perform(self._ask("script.evaluate", target), timeout)
        if answer["type"] == "exception":
            raise PageError("Error", answer["exceptionDetails"]["text"])
        return json.loads(answer["result"]["value"]).get("value")

    async def _connect(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            if match := _ADDRESS.search(line):
                break
        else:
            raise BrowserError(f"{self._executable} does not start")
        self._client = aiohttp.ClientSession()
        self._socket = await self._client.ws_connect(f"{match[1].decode()}/session", max_msg_size=0)
        answer = await self._ask("session.new", {"capabilities": {}})
        self.version = answer["capabilities"]["browserVersion"]
        self._context = (await self._ask("browsingContext.getTree", {}))["contexts"][0]["context"]

    async def _show(self, address: str) -> None:
        # Another tab: nothing of the page before is left.
        before = self._context
        self._context = (await self._ask("browsingContext.create", {"type": "tab"}))["context"]
        await self._ask("browsingContext.close", {"context": before})
        await self._ask("browsingContext.navigate", {"context": self._context, "url": address, "wait": "complete"})

    async def _ask(self, method: str, parameters: dict[str, Any]) -> Any:
        """Send a command, and return its result. Events are not asked for."""
        number = next(self._numbers)
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        async for message in self._socket:
            answer = json.loads(message.data)
            # The answers to commands that were given up come late.
            if answer.get("id") != number:
                continue
            if answer["type"] == "error":
                raise PageError(answer["error"], answer["message"])
            return answer["result"]
        raise ConnectionError("its connection has ended")

    def _perform(self, coroutine: Coroutine[Any, Any, Any], timeout: float | None) -> Any:
        limit = self._timeout if timeout is None else timeout
        try:
            return self._runner.run(asyncio.wait_for(coroutine, limit))
        except TimeoutError:
            raise PageTimeoutError(f"the page was not done after {limit:g} s") from None
        except ConnectionError as error:
            raise PageCrashError(f"the browser ended: {error}") from None

    async def _close(self) -> None:
        with suppress(PageError, ConnectionError):
            await self._ask("browser.close", {})
        await self._client.close()

    def _end(self) -> None:
        self._process.kill()
        self._process.wait()
        if self._process.stderr is not None:
            self._process.stderr.close()
        self._runner.close()
        self._folder.cleanup()
