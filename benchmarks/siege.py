"""A page beside attackers of the same server: the time of its small call, against its quiet time.

The attackers are in a process of their own, whose work counts less to the system than the server's: it is the server that must be fair.
They open 3,000 connections that never finish a request, send 60 MiB and more of messages that must be refused, and are 16 pages that build
networks as fast as they can. In quiet they are stopped, so that both sides are measured in turns.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.cookiejar import CookieJar
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from benchmarks.measure import Effort, Result, SkippedError, summarize

__all__ = ["CASES"]

_HALF_OPEN, _GREEDY, _HOSTILE = 3000, 16, 60 << 20
#: The number of small calls in a turn.
_CALLS = 300
#: How long the server has to finish, or to begin, what the attackers ask, in seconds.
_PAUSE = 0.5
_HELLO = {"kind": "window", "url": "http://a.test/", "origin": "http://a.test", "ancestors": [], "allow": "", "policy": "", "first": 1}
_ROOT = Path(__file__).parents[1]
_SCRIPT = re.compile(r"/__webnn__/[\w-]+")


def _request(interface: str, member: str, handle: int | None, *arguments: object, views: object = (), dropped: object = ()) -> bytes:
    return json.dumps([interface, member, handle, arguments, views, dropped]).encode()


def _message(kind: str, *parts: bytes) -> bytes:
    from webnn.serve.messages import pack

    return b"".join(map(bytes, pack(1, kind, parts)))[4:]


def _body(number: int, *messages: bytes) -> bytes:
    return number.to_bytes(4, "little") + b"".join(messages)


class _Page:
    """A page without a browser: it sends bodies of calls through one connection."""

    def __init__(self, port: int, path: str) -> None:
        from websockets.sync.client import connect

        name = secrets.token_hex(16)
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self._path = f"{path}/call?s={name}"
        self._number = 1
        self._builder = 0
        if b"pending" in self.send(_message("H", json.dumps(_HELLO).encode()) + _message("C", _request("ML", "createContext", 0))):
            self._ask(f"{path}/result?s={name}&n=1", b"")
        # The session lives as long as this connection.
        self._live = connect(f"ws://127.0.0.1:{port}{path}/live?s={name}")
        self._live.send(json.dumps(_HELLO))

    def send(self, messages: bytes) -> bytes:
        """Send a request, and return the answer."""
        content = self._ask(self._path, _body(self._number, messages))
        self._number += 1
        return content

    def _ask(self, path: str, body: bytes) -> bytes:
        self._connection.request("POST", path, body)
        answer = self._connection.getresponse()
        content = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"a call was refused: {answer.status} {content!r}")
        return content

    def call(self) -> None:
        """Make a small call: make a builder, and drop the one before."""
        dropped = [self._builder] if self._builder else []
        answer = self.send(_message("C", _request("MLGraphBuilder", "constructor", None, {"$h": 1}, dropped=dropped)))
        self._builder = int(answer.split(b'"$h": ')[1].split(b"}")[0].split(b",")[0])

    def measure(self, count: int) -> float:
        """Return the median of the seconds of small calls."""
        seconds = []
        for _ in range(count):
            start = time.perf_counter()
            self.call()
            seconds.append(time.perf_counter() - start)
        return float(np.median(seconds))


@contextmanager
def _serve(folder: Path) -> Iterator[tuple[int, str]]:
    """Serve a folder with ``webnn serve``; yield the port, and the path of the emulator."""
    command = [sys.executable, "-P", "-m", "webnn", "serve", "--port", "0", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().split()[-1]
            opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
            page = opener.open(urllib.request.Request(address, headers={"Accept": "text/html"})).read().decode()
            found = _SCRIPT.search(page)
            assert found is not None
            yield int(urlsplit(address).port or 0), found[0]
        finally:
            process.terminate()


@contextmanager
def _siege(port: int, path: str) -> Iterator[subprocess.Popen[str]]:
    """Let the attackers work inside ``with``; yield their process."""
    command = [sys.executable, "-m", "benchmarks.siege", str(port), path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=_ROOT) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            if process.stdout.readline() != "ready\n":
                raise RuntimeError("the attackers failed")
            yield process
            process.stdin.close()
            sys.stderr.write(process.stdout.read())
        finally:
            process.kill()


def _measure(effort: Effort) -> Result:
    import importlib.util

    if importlib.util.find_spec("aiohttp") is None:
        raise SkippedError("the extra serve is not installed")
    quiet: list[float] = []
    besieged: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "index.html").write_text("<!doctype html><title>A page</title>")
        with _serve(Path(folder)) as (port, path):
            page = _Page(port, path)
            page.measure(_CALLS)
            with _siege(port, path) as attackers:
                for _ in range(effort.rounds):
                    for seconds, sign in ((quiet, signal.SIGSTOP), (besieged, signal.SIGCONT)):
                        attackers.send_signal(sign)
                        time.sleep(_PAUSE)
                        seconds.append(page.measure(effort.repeats(_CALLS)))
    title = (
        f"A page's small call beside {_HALF_OPEN} half-open connections, {_HOSTILE >> 20} MiB of hostile messages, {_GREEDY} greedy pages"
    )
    return summarize("page-siege", title, (besieged, quiet), unit="ms", bar=2, against="the same call in quiet")


# The attackers


async def _hold(port: int, opened: asyncio.Event, counts: Counter[str]) -> None:
    """Hold connections that never finish their first request."""
    writers = []
    for index in range(_HALF_OPEN):
        with suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET / HTTP/1.1\r\nHost: 127")
            writers.append(writer)
            counts["half-open connections"] += 1
        if index % 100 == 99:
            await asyncio.sleep(0)
    opened.set()
    await asyncio.Event().wait()


async def _post(session: Any, address: str, body: bytes) -> int:
    async with session.post(address, data=body) as answer:
        await answer.read()
        return int(answer.status)


async def _press(session: Any, base: str, counts: Counter[str]) -> None:
    """Send messages that must be refused, one after the other."""
    size, many = 1 << 22, 1 << 17
    hostile = [
        _body(1, _message("C", b"[" * (size - 1))),
        _body(1, _message("C", b"[" + b"{}," * (size // 12) + b"{}]")),
        _body(1, _message("H", b"9" * (size - 1))),
        _body(1, _message("C", b'"nothing"') * many)[:size],
        _body(1, _message("C", b'["' + b"a" * (size - 4) + b'"]')),
    ]
    for number in range(1 << 30):
        body = hostile[number % len(hostile)]
        counts["hostile bytes"] += len(body)
        with suppress(Exception):
            await _post(session, f"{base}/call?s={secrets.token_hex(16)}", body)


def _network(first: int, operations: int, dropped: list[int]) -> list[bytes]:
    """Return the requests of a network, without answers but the last one, which builds it. Its objects have handles from ``first`` down."""
    names = iter(range(first, first - operations - 2, -1))

    def tell(member: str, handle: int | None, *arguments: object, dropped: list[int] | tuple[()] = ()) -> int:
        made = next(names)
        told.append(_message("D", _request("MLGraphBuilder", member, handle, *arguments, dropped=dropped)[:-1] + b", [%d]]" % made))
        return made

    told: list[bytes] = []
    builder = tell("constructor", None, {"$h": 1}, dropped=dropped)
    x = y = tell("input", builder, "x", {"dataType": "float32", "shape": [512, 512]})
    for _ in range(operations):
        y = tell("matmul", builder, {"$h": y}, {"$h": x}) if operations < 10 else tell("relu", builder, {"$h": y})
    return [*told, _message("C", _request("MLGraphBuilder", "build", builder, {"$r": [["y", {"$h": y}]]}))]


async def _read(live: Any) -> None:
    """Read what the server sends, which asks from time to time whether the page is there."""
    async for _ in live:
        pass


async def _visit(session: Any, base: str, operations: int, counts: Counter[str]) -> None:
    """Build networks as fast as one page can."""
    name, number, first = secrets.token_hex(16), 1, -1
    address, hello = f"{base}/call?s={name}", json.dumps(_HELLO)
    context = _message("H", hello.encode()) + _message("C", _request("ML", "createContext", 0))
    assert await _post(session, address, _body(number, context)) == 200
    # It has been made then, or its result was there before.
    await _post(session, f"{base}/result?s={name}&n=1", b"")
    dropped: list[int] = []
    # The session lives as long as this connection.
    async with session.ws_connect(f"{base}/live?s={name}") as live:
        await live.send_str(hello)
        reading = asyncio.ensure_future(_read(live))
        while not reading.done():
            messages = _network(first, operations, dropped)
            with suppress(Exception):
                status = await _post(session, address, _body(number + 1, *messages))
                counts[f"greedy bodies with the status {status}"] += 1
            dropped = list(range(first, first - operations - 2, -1))
            number += len(messages)
            first -= operations + 2


async def _attack(port: int, path: str) -> None:
    import aiohttp

    base, counts = f"http://127.0.0.1:{port}{path}", Counter[str]()
    opened = asyncio.Event()
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        tasks = [asyncio.ensure_future(_hold(port, opened, counts))]
        await opened.wait()
        os.nice(10)
        work: list[Awaitable[None]] = [_press(session, base, counts) for _ in range(2)]
        work += [_visit(session, base, (4, 500)[index % 2], counts) for index in range(_GREEDY)]
        tasks += [asyncio.ensure_future(each) for each in work]
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.read)
        while counts["hostile bytes"] < _HOSTILE:
            await asyncio.sleep(0.1)
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        failed = [each for each in results if not isinstance(each, asyncio.CancelledError)]
    print("".join(f"  {name}: {count}\n" for name, count in counts.items()), *failed)


def _main() -> None:
    import resource

    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    asyncio.run(_attack(int(sys.argv[1]), sys.argv[2]))


CASES: Mapping[str, Callable[[Effort], Result]] = MappingProxyType({"page-siege": _measure})

if __name__ == "__main__":
    _main()
