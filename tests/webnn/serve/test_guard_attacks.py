"""Attempts of others against a running server: pages, processes without the token, names that lead here, floods.

`test_messages_forged.py` has forged messages. Each attempt gets one refusal and costs bounded memory; the server goes on, and no
attempt is a fault of the emulator.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request
from multidict import CIMultiDict

from tests.webnn.serve.pages import GREETING, NAME, body, end_all
from tests.webnn.serve.raw import Answer, ask, connect, read_answer
from webnn.serve import guard
from webnn.serve import sessions as counting
from webnn.serve.folder import Folder
from webnn.serve.options import Options
from webnn.serve.proxy import Proxy
from webnn.serve.server import Server

#: The emulator's addresses, and how they are asked.
ENDPOINTS = [
    ("GET", "webnn.js"),
    ("POST", f"call?s={NAME}"),
    ("POST", f"result?s={NAME}&n=1"),
    ("POST", "worker"),
    ("GET", f"live?s={NAME}"),
    ("GET", f"relay?s={NAME}"),
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "index.html").write_bytes(b"<!doctype html>")
    return tmp_path


@pytest.fixture
def server(root: Path) -> Iterator[Server]:
    faults: list[str] = []
    with Server(Folder(root), Options(), on_fault=faults.append) as running:
        yield running
        assert not running.sessions.living
    assert faults == []


def below(server: Server, path: str) -> str:
    return f"/__webnn__/{server.token}/{path}"


def names_of(server: Server) -> list[str]:
    return [f"{name}:{server.port}" for name in ("127.0.0.1", "localhost", "[::1]", "LocalHost")]


async def assert_alive(server: Server) -> None:
    assert (await ask(server.port, below(server, "webnn.js"))).status == 200


# Names that lead here


def test_only_this_machine_can_connect(server: Server) -> None:
    """The server has no address of a network: it listens to the loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # Nothing is sent: it tells which address this machine would use.
            probe.connect(("192.0.2.1", 9))
        except OSError as error:
            pytest.skip(f"this machine has no network: {error}")
        address = probe.getsockname()[0]
    for port in (server.port, server.status_port):
        with socket.socket() as client:
            client.settimeout(5)
            with pytest.raises(OSError):  # noqa: PT011 (its text is the system's)
                client.connect((address, port))


async def test_the_names_of_this_machine(server: Server) -> None:
    for host in names_of(server):
        assert (await ask(server.port, "/", host=host)).status == 200


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.test",
        "evil.test:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "localhost.evil.test:{port}",
        "127.0.0.1.evil.test:{port}",
        "127.0.0.1:{port}@evil.test",
        "0.0.0.0:{port}",
        "127.1:{port}",
        "2130706433:{port}",
        "[::ffff:127.0.0.1]:{port}",
        " localhost:{port} .evil.test",
        "localhost.:{port}",
    ],
)
async def test_another_name_that_leads_here(server: Server, host: str) -> None:
    """DNS rebinding: the browser believes that the page of another name may read the answers."""
    for target in ("/", below(server, "webnn.js")):
        answer = await ask(server.port, target, host=host.format(port=server.port))
        assert answer.status in {400, 421}
        assert b"webnn.js" not in answer.body


async def test_two_hosts(server: Server) -> None:
    answer = await ask(server.port, "/", "Host: evil.test")
    assert answer.status in {400, 421}


@pytest.mark.parametrize(
    ("hosts", "passes"),
    [
        (["127.0.0.1:80"], True),
        ([], False),
        (["127.0.0.1:80", "evil.test"], False),
        (["evil.test", "127.0.0.1:80"], False),
        (["127.0.0.1:80", "127.0.0.1:80"], False),
        (["127.0.0.1:80", "localhost:80"], False),
        (["127.0.0.1:80,evil.test"], False),
    ],
    ids=str,
)
async def test_the_guard_wants_one_host(hosts: list[str], *, passes: bool) -> None:
    """Also with a version of aiohttp that lets several through."""

    class Transport(asyncio.Transport):
        def get_extra_info(self, name: str, default: object = None) -> object:
            return ("127.0.0.1", 80) if name == "sockname" else default

    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response()

    headers = CIMultiDict[str]([("Host", host) for host in hosts])
    asked = make_mocked_request("GET", "/", headers, transport=Transport())
    assert (await guard.Guard("token").check(asked, answer)).status == (200 if passes else 421)


@pytest.mark.parametrize(
    "target", ["http://evil.test/", "http://evil.test:{port}/", "https://127.0.0.1:{port}/", "//evil.test/", "*", "evil.test:443"]
)
async def test_another_server_in_the_first_line(server: Server, target: str) -> None:
    for method in ("GET", "CONNECT", "OPTIONS"):
        answer = await ask(server.port, target.format(port=server.port), method=method)
        assert answer.status in {400, 404, 405, 421}


# Without the token


@pytest.mark.parametrize(("method", "path"), ENDPOINTS)
async def test_no_token_no_answer(server: Server, method: str, path: str) -> None:
    wrong = [
        "",
        "x",
        server.token[:-1],
        f"{server.token}x",
        server.token.swapcase(),
        "é",
        "%00",
        "..",
        f"../{server.token}",
        f"%2f{server.token}",
    ]
    for token in wrong:
        answer = await ask(server.port, f"/__webnn__/{token}/{path}", method=method)
        assert answer.status in {400, 404}
        assert server.token.encode() not in answer.body
    for target in (f"/{server.token}/{path}", f"/__WEBNN__/{server.token}/{path}", f"/__webnn__?/{server.token}/{path}"):
        assert (await ask(server.port, target, method=method)).status in {404, 405}


async def test_the_token_is_in_no_answer_to_another_program(server: Server) -> None:
    """A program can fetch the page, and with it the token: only the browser keeps pages apart. A listing or an error has none."""
    for target in ("/none", "/__webnn__/", "/__webnn__/x/webnn.js"):
        assert server.token.encode() not in (await ask(server.port, target, "Accept: text/html")).body


def test_the_token_cannot_be_guessed(server: Server) -> None:
    assert len(server.token) >= 32
    with Server(None, Options()) as other:
        assert other.token != server.token


# Other pages


@pytest.mark.parametrize(("method", "path"), ENDPOINTS)
@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.test",
        "http://127.0.0.1",
        "http://127.0.0.1:1",
        "https://localhost:{port}",
        "null",
        "http://localhost.evil.test:{port}",
    ],
)
async def test_a_page_of_another_origin(server: Server, method: str, path: str, origin: str) -> None:
    """Also one that knows the token."""
    answer = await ask(server.port, below(server, path), f"Origin: {origin.format(port=server.port)}", method=method)
    assert answer.status == 403
    assert answer["Access-Control-Allow-Origin"] is None
    question = await ask(
        server.port,
        below(server, path),
        f"Origin: {origin.format(port=server.port)}",
        "Access-Control-Request-Method: POST",
        method="OPTIONS",
    )
    assert (question.status, question["Access-Control-Allow-Origin"]) == (403, None)


async def test_a_page_of_another_origin_cannot_load_the_script(server: Server) -> None:
    """Such a request has no origin: the browser is told not to hand the answer over."""
    answer = await ask(server.port, below(server, "webnn.js"), "Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: script")
    assert (answer["Cross-Origin-Resource-Policy"], answer["X-Content-Type-Options"]) == ("same-origin", "nosniff")


async def test_pages_of_this_server(server: Server) -> None:
    for host in names_of(server)[:3]:
        answer = await ask(server.port, below(server, "webnn.js"), f"Origin: http://{host}")
        assert (answer.status, answer["Access-Control-Allow-Origin"]) == (200, None)


async def test_pages_that_were_let_in() -> None:
    for origins, origin, status in (
        ({"https://a.test"}, "https://a.test", 200),
        ({"https://a.test"}, "https://a.test:1", 403),
        ({"https://a.test"}, "https://b.test", 403),
        ({"*"}, "https://b.test", 200),
    ):
        with Server(None, Options(), origins=origins) as server:
            answer = await ask(server.port, below(server, "webnn.js"), f"Origin: {origin}")
            allowed = origin if status == 200 else None
            assert (answer.status, answer["Access-Control-Allow-Origin"]) == (status, allowed)
            question = await ask(server.port, below(server, "call"), f"Origin: {origin}", method="OPTIONS")
            assert question["Access-Control-Allow-Private-Network"] == ("true" if allowed else None)
            # A refusal can be read, too: the page says what is wrong.
            refused = await ask(server.port, below(server, "call"), f"Origin: {origin}", method="POST", body=b"no message")
            assert refused["Access-Control-Allow-Origin"] == allowed


async def test_the_status_page_is_for_nobody_else() -> None:
    """Pages do not know its token or its port, and no other origin may ask, whatever was let in: not even that of the pages."""
    with Server(None, Options(), origins={"*"}) as server:
        target = server.status_url.removeprefix(server.status_origin)
        for host in ("127.0.0.1", "localhost"):
            own = f"{host}:{server.status_port}"
            assert (await ask(server.status_port, target, f"Origin: http://{own}", host=own)).status == 200
        for origin in ("https://a.test", server.url, f"http://localhost:{server.port}", "null"):
            answer = await ask(server.status_port, target, f"Origin: {origin}")
            assert (answer.status, answer["Access-Control-Allow-Origin"]) == (403, None)
            question = await ask(server.status_port, target, f"Origin: {origin}", "Access-Control-Request-Method: POST", method="OPTIONS")
            assert (question.status, question["Access-Control-Allow-Origin"]) == (403, None)
        assert (await ask(server.status_port, target.replace(server.status_token, server.token))).status == 404
        assert (await ask(server.status_port, target.replace("status", "webnn.js"))).status == 404
        script = (await ask(server.port, below(server, "webnn.js"))).body.decode()
        assert server.status_token not in script
        assert f":{server.status_port}" not in script


@pytest.mark.parametrize(
    "host", ["", "evil.test", "evil.test:{port}", "127.0.0.1", "127.0.0.1:{other}", "localhost:{other}", "[::1]:{other}"]
)
async def test_another_name_that_leads_to_the_status_page(server: Server, host: str) -> None:
    """DNS rebinding, and the port of the pages."""
    target = server.status_url.removeprefix(server.status_origin)
    answer = await ask(server.status_port, target, host=host.format(port=server.status_port, other=server.port))
    assert answer.status in {400, 421}
    assert b"webnn serve</title>" not in answer.body


async def test_the_status_page_cannot_be_loaded_elsewhere(server: Server) -> None:
    answer = await ask(server.status_port, server.status_url.removeprefix(server.status_origin))
    assert (answer.status, answer["Cross-Origin-Resource-Policy"]) == (200, "same-origin")
    assert "frame-ancestors 'none'" in str(answer["Content-Security-Policy"])


# Floods


async def test_sessions_are_bounded(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "_MOST_SESSIONS", 3)
    answers: list[Answer] = [
        await ask(server.port, below(server, f"call?s={number:032x}"), method="POST", body=body(GREETING)) for number in range(5)
    ]
    assert [answer.status for answer in answers] == [200, 200, 200, 503, 503]
    assert len(server.sessions.living) == 3
    end_all(server.sessions)
    await assert_alive(server)


async def test_requests_at_once_are_bounded(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "_MOST_REQUESTS", 4)
    async with AsyncExitStack() as stack, aiohttp.ClientSession() as client:
        for _ in range(4):
            await stack.enter_async_context(client.ws_connect(f"{server.endpoint}/live?s={NAME}"))
        assert (await ask(server.port, below(server, "webnn.js"))).status == 503
        # Pages are not concerned.
        assert (await ask(server.port, "/")).status == 200
    while (await ask(server.port, below(server, "webnn.js"))).status == 503:
        await asyncio.sleep(0.01)


async def test_connections_that_say_nothing(server: Server) -> None:
    async with AsyncExitStack() as stack:
        for _ in range(200):
            _, writer = await stack.enter_async_context(connect(server.port))
            writer.write(b"GET / HT")
        await assert_alive(server)


@pytest.mark.parametrize(
    "content",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nX: " + b"a" * 100_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"X: a\r\n" * 10_000 + b"\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n",
    ],
    ids=["tls", "no version", "version", "long line", "long header", "many headers", "two lengths", "negative length", "folded"],
)
async def test_what_is_no_request(server: Server, content: bytes) -> None:
    async with connect(server.port) as (reader, writer):
        writer.write(content)
        answer = await read_answer(reader)
        assert answer.status in {400, 421, 505}
    await assert_alive(server)


# The proxy reaches one server


@pytest.mark.parametrize(
    "target",
    [
        "//evil.test/",
        "http://evil.test/",
        "/@evil.test/",
        "/\\evil.test/",
        "/..//evil.test/",
        "/%2f%2fevil.test/",
        "/:80/",
        "*",
        "evil.test:443",
    ],
)
async def test_a_proxy_reaches_what_it_was_told_only(target: str) -> None:
    reached: list[str] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        reached.append(head.decode().split("\r\n")[0].split()[1])
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    other = await asyncio.start_server(answer, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{other.sockets[0].getsockname()[1]}"
    server = await asyncio.to_thread(Server(Proxy(address), Options()).start)
    try:
        for method in ("GET", "CONNECT"):
            got = await ask(server.port, target, method=method)
            # Either the server that it was told got the path, as it is, or the request was refused.
            assert got.status in {200, 400, 404, 421}
            assert reached == ([target] if got.status == 200 else [])
            reached.clear()
        assert (await ask(server.port, "/", host="evil.test")).status == 421
        assert not reached
    finally:
        await asyncio.to_thread(server.stop)
        other.close()
