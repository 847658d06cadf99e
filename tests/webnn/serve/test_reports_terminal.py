"""The terminal of `webnn serve`: what clients do wrong is answered, and not printed."""

from __future__ import annotations

import asyncio
import base64
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import NoReturn
from urllib.parse import urlsplit

import pytest

from tests.support import PATIENCE
from tests.webnn.serve.pages import HELLO, NAME, VISITOR, body, message, request
from tests.webnn.serve.raw import ask, connect
from tests.webnn.serve.raw import request as write
from webnn.serve import reports
from webnn.serve.options import Options
from webnn.serve.reports import Sparing
from webnn.serve.server import Server

DOCUMENT = "Sec-Fetch-Dest: document"
KEY = base64.b64encode(bytes(16)).decode()
UPGRADE = ("Upgrade: websocket", "Connection: Upgrade", f"Sec-WebSocket-Key: {KEY}", "Sec-WebSocket-Version: 13")
#: Bytes that are not HTTP. The server answers, and closes the connection.
NO_HTTP = [
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"GET\r\n\r\n",
    b"G@T / HTTP/1.1\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nX: " + b"a" * 100_000 + b"\r\n\r\n",
    b"GET / HTTP/1.1\r\n" + b"X: a\r\n" * 10_000 + b"\r\n",
    b"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
]

#: Bytes that are not frames of a WebSocket: without a mask, of no known kind, too long, without an end.
FRAMES = [bytes(range(256)), b"\x81\x02\xff\xff", b"\x82\xff" + b"\xff" * 8, b"\xf1\x00", b"\x88\x01a", b"\x81\x85abcd\x01", b""]


async def offend(port: int, token: str) -> None:
    """Do everything that a client can do wrong, each several times."""
    emulator = f"/__webnn__/{token}"
    call = f"{emulator}/call?s={NAME}"
    for content in NO_HTTP:
        async with connect(port) as (reader, writer):
            writer.write(content)
            await asyncio.wait_for(reader.read(), PATIENCE)
    # Requests that break off, in the head, in the body, in a chunk; and a client that does not wait for the answer.
    half = [
        b"GET / HT",
        write(port, call, "Content-Length: 1000", method="POST") + b"half",
        write(port, f"{emulator}/worker", "Content-Length: 1000", method="POST") + b"half",
        write(port, f"{emulator}/ignored", "Transfer-Encoding: chunked", method="POST") + b"5\r\nhalf",
        write(port, call, method="POST", body=body(message("H", json.dumps(HELLO).encode()))),
        write(port, "/", DOCUMENT),
    ]
    for content in half * 3:
        async with connect(port) as (_, writer):
            writer.write(content)
            await writer.drain()
    for path in ("worker", "ignored", f"call?s={NAME}", f"piece?s={NAME}"):
        for chunk in (b"zz\r\n\r\n", b"5\r\nab\r\n", b"ffffffffffffffffff\r\na", b"5;" + b"a" * 100_000):
            async with connect(port) as (reader, writer):
                writer.write(write(port, f"{emulator}/{path}", "Transfer-Encoding: chunked", method="POST") + chunk)
                writer.write_eof()
                await asyncio.wait_for(reader.read(), PATIENCE)
    # WebSockets: wrong handshakes, a protocol that the server does not have, frames that are none.
    for place in ("live", "relay"):
        target = f"{emulator}/{place}?s={NAME}"
        for headers in ((), UPGRADE[:2], (*UPGRADE[:3], "Sec-WebSocket-Version: 99"), (*UPGRADE[:2], "Sec-WebSocket-Key: x", UPGRADE[3])):
            assert (await ask(port, target, *headers)).status == 400
        for frame in FRAMES:
            async with connect(port) as (reader, writer):
                writer.write(write(port, target, *UPGRADE, "Sec-WebSocket-Protocol: a, b").replace(b"Connection: close\r\n", b""))
                head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)
                assert head.startswith(b"HTTP/1.1 101")
                writer.write(frame)
                writer.write_eof()
                await asyncio.wait_for(reader.read(), PATIENCE)
    # Calls that the binding does not send.
    for number, text in enumerate((b"[]", b"[[[[", request("ML", "createContext", 9), request("ML", "createContext", 0, 1, 2, 3)), 1):
        answer = await ask(port, call, method="POST", body=body(message("C", text), number=number))
        assert answer.status == 400


@pytest.mark.processes
async def test_what_clients_do_wrong_is_not_printed(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<!doctype html><title>a</title>", encoding="utf-8")
    command = [sys.executable, "-u", "-m", "webnn", "serve", str(tmp_path), "--port", "0", "--no-token"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            first = await asyncio.to_thread(process.stdout.readline)
            port = urlsplit(first.split()[-1]).port
            assert port is not None
            page = (await ask(port, "/", DOCUMENT)).body.decode()
            await offend(port, page.partition("/__webnn__/")[2].partition("/")[0])
            # It goes on.
            assert (await ask(port, "/", DOCUMENT)).status == 200
        finally:
            process.kill()
        _, printed = await asyncio.to_thread(process.communicate)
    assert printed == ""


def test_one_fault_a_second_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, int]] = []
    now = 0.0
    monkeypatch.setattr(reports, "time", SimpleNamespace(monotonic=lambda: now))
    tell = Sparing(lambda text, left_out: told.append((text, left_out)))
    for step in range(25):
        now = 100 + step / 10
        tell(str(step))
    assert told == [("0", 0), ("10", 9), ("20", 9)]


async def test_faults_of_the_server_are_told() -> None:
    """An error that no client has caused is one of the emulator."""
    faults: list[str] = []
    loop = asyncio.get_running_loop()
    handle = reports.exception_handler(faults.append)
    logger = reports.make_logger(faults.append)
    for error in (ConnectionResetError("gone"), ValueError("broken")):
        handle(loop, {"message": "a task failed", "exception": error})
        logger.error("Error handling request", exc_info=error)
    logger.debug("nothing")
    assert [each.splitlines()[-1] for each in faults] == ["ValueError: broken"] * 2


async def test_faults_of_handlers_and_event_loops_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    faults: list[str] = []

    def fail(*_: object) -> NoReturn:
        raise ValueError("broken")

    with Server(None, Options(), on_fault=faults.append) as server:
        monkeypatch.setattr(server, "script", fail)
        assert (await ask(server.port, f"/__webnn__/{server.token}/webnn.js")).status == 500
        session = server.sessions.begin(NAME, VISITOR)
        for loop in (server._loop, session._loop):
            loop.call_soon_threadsafe(fail)
        async with asyncio.timeout(PATIENCE):
            while len(faults) < 3:
                await asyncio.sleep(0.01)
    assert [each.splitlines()[-1] for each in faults] == ["ValueError: broken"] * 3
