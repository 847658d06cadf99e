"""The door of a port: connections without a head are few and end soon, and those of other users are refused."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.support import PATIENCE
from tests.webnn.serve.pages import eventually
from tests.webnn.serve.raw import ask, connect, read_answer, request
from webnn.serve import door
from webnn.serve.folder import Folder
from webnn.serve.options import Options
from webnn.serve.server import Server

#: A user that is neither this one nor the system's own.
OTHER = 54321


@pytest.fixture
def private(tmp_path: Path) -> Iterator[Server]:
    """A server that answers this user only."""
    (tmp_path / "index.html").write_bytes(b"<!doctype html>")
    with Server(Folder(tmp_path), Options(), private=True) as running:
        yield running


def waiting(server: Server) -> int:
    return len(server._ports[0][1].waiting)


@pytest.mark.parametrize("start", [b"", b"G", b"\r\n", b"GET / HTTP/1.1\r\nHost: "], ids=["nothing", "letter", "empty line", "half"])
async def test_half_open_connections_do_not_keep_a_browser_out(server: Server, monkeypatch: pytest.MonkeyPatch, start: bytes) -> None:
    monkeypatch.setattr(door, "_MOST_WAITING", 8)
    async with AsyncExitStack() as stack:
        held = []
        for _ in range(40):
            reader, writer = await stack.enter_async_context(connect(server.port))
            writer.write(start)
            held.append(reader)
        await eventually(lambda: waiting(server) == 8)
        assert (await ask(server.port, "/")).status == 404
        # The oldest are gone.
        with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
            await asyncio.wait_for(held[0].readexactly(1), PATIENCE)
    await eventually(lambda: waiting(server) == 0)


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"\x16\x03\x01\x02\x00", 400),
        (b"\r\n\r\n\0", 400),
        (b"get / HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nX: " + b"a" * (door._LONGEST_HEAD + 1), 431),
        (b"\r\n" * door._LONGEST_HEAD, 431),
        (b"GET / HTTP/1.1\r\n", 408),
    ],
    ids=["TLS", "zero", "small letters", "long head", "empty lines", "silence"],
)
async def test_no_request(server: Server, monkeypatch: pytest.MonkeyPatch, sent: bytes, status: int) -> None:
    if status == 408:
        monkeypatch.setattr(door, "_PATIENCE", 0.01)
    async with connect(server.port) as (reader, writer):
        writer.write(sent)
        assert (await read_answer(reader)).status == status
    await eventually(lambda: waiting(server) == 0)


async def test_a_head_that_comes_in_pieces(server: Server) -> None:
    async with connect(server.port) as (reader, writer):
        for byte in b"\r\n" + request(server.port, "/"):
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0)
        assert (await read_answer(reader)).status == 404


async def test_the_server_stops_while_heads_are_awaited() -> None:
    running = await asyncio.to_thread(Server(None, Options()).start)
    async with connect(running.port) as (reader, writer):
        writer.write(b"GET")
        await eventually(lambda: waiting(running) == 1)
        await asyncio.wait_for(asyncio.to_thread(running.stop), PATIENCE)
        with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
            await asyncio.wait_for(reader.readexactly(1), PATIENCE)


# Other users


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whose a connection is")
def test_the_owner_of_a_connection() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as client:
        accepted, here = listener.accept()
        with accepted:
            assert door.find_owner(here, accepted.getsockname()) == os.geteuid()
        # No such connection.
        assert door.find_owner(("127.0.0.1", 1), client.getsockname()) is None


async def test_another_user_is_refused(private: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for owner, status in ((OTHER, 403), (None, 303), (0, 303), (getattr(os, "geteuid", lambda: 0)(), 303)):
        monkeypatch.setattr(door, "find_owner", lambda *_, owner=owner: owner)
        answer = await ask(private.port, private.address("/").removeprefix(private.url))
        assert answer.status == status
        if status == 403:
            assert answer.body == b"webnn serve: this server is for another user of the machine\n"


@pytest.mark.processes
@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only the system's own user can be another one, on Linux")
@pytest.mark.parametrize("port", ["port", "status_port"])
def test_a_process_of_another_user_is_refused(private: Server, port: str) -> None:
    program = (
        f"import os, socket, encodings.idna; os.setuid({OTHER}); s = socket.create_connection(('127.0.0.1', {getattr(private, port)})); "
        "s.sendall(b'GET / HTTP/1.1\\r\\n\\r\\n'); print(s.recv(100).split()[1].decode())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert done.stdout == "403\n"
