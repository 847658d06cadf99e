"""Pages of another server: what is changed, what passes as it is, and that no third server is reached."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable

import aiohttp
import pytest
from aiohttp import WSMsgType, web
from multidict import CIMultiDict

from tests.support import PATIENCE
from tests.webnn.serve.raw import ask, connect, read_answer, request
from webnn.serve import proxy
from webnn.serve.options import Options
from webnn.serve.proxy import Proxy
from webnn.serve.server import Server

DOCUMENT = "Sec-Fetch-Dest: document"
PAGE = b"<!doctype html><html><head></head></html>"

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Other:
    """The other server. `answer` answers all requests."""

    def __init__(self) -> None:
        self.requests: list[web.BaseRequest] = []
        self.bodies: list[bytes] = []
        self.answer: Handler = self.page
        self.url = ""

    async def page(self, _: web.Request) -> web.StreamResponse:
        return web.Response(body=PAGE, content_type="text/html", headers={"ETag": '"a"', "Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT"})

    async def handle(self, asked: web.BaseRequest) -> web.StreamResponse:
        self.requests.append(asked)
        if asked.headers.get("Upgrade") is None:
            self.bodies.append(await asked.read())
        return await self.answer(asked)

    def say(self, body: bytes | str = PAGE, status: int = 200, **headers: str) -> None:
        """Answer the same to every request."""
        named = {"Content-Type": "text/html", **{name.replace("_", "-"): value for name, value in headers.items()}}
        content = body.encode() if isinstance(body, str) else body

        async def answer(_: web.BaseRequest) -> web.StreamResponse:
            return web.Response(status=status, body=content, headers=named)

        self.answer = answer


@pytest.fixture
async def other() -> AsyncIterator[Other]:
    served = Other()
    runner = web.ServerRunner(web.Server(served.handle, auto_decompress=False), shutdown_timeout=1.0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    served.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield served
    await runner.cleanup()


@pytest.fixture
async def server(other: Other) -> AsyncIterator[Server]:
    running = await asyncio.to_thread(Server(Proxy(f"{other.url}/app/?a"), Options()).start)
    yield running
    await asyncio.to_thread(running.stop)


async def test_a_document_gets_the_script(other: Other, server: Server) -> None:
    answer = await ask(server.port, "/a%20b/c?d=%C3%A9&e", DOCUMENT, "Range: bytes=0-1", 'If-None-Match: "a"')
    assert answer.status == 200
    assert answer.body == f'<!doctype html><html><head><script src="{server.script_url}"></script></head></html>'.encode()
    assert (answer["ETag"], answer["Last-Modified"], answer["Cache-Control"]) == (None, None, "no-store")
    [asked] = other.requests
    assert asked.rel_url.raw_path_qs == "/a%20b/c?d=%C3%A9&e"
    assert "Range" not in asked.headers
    assert "If-None-Match" not in asked.headers
    assert asked.headers["Accept-Encoding"] == "identity"
    assert asked.headers["Host"] == other.url.removeprefix("http://")


async def test_what_a_script_reads_stays(other: Other, server: Server) -> None:
    answer = await ask(server.port, "/", "Sec-Fetch-Dest: empty", 'If-None-Match: "b"')
    assert (answer.body, answer["ETag"]) == (PAGE, '"a"')
    assert other.requests[0].headers["If-None-Match"] == '"b"'


async def test_the_policies_of_the_headers(other: Other, server: Server) -> None:
    other.say(Content_Security_Policy="script-src 'nonce-ab'; connect-src 'self'", Permissions_Policy='webnn=(self "https://a.test")')
    answer = await ask(server.port, "/", DOCUMENT)
    base = f"{server.endpoint}/"
    assert answer.all("Content-Security-Policy") == [
        f"script-src 'nonce-ab'; connect-src 'self' {base} ws{base.removeprefix('http')}; "
        f"script-src-elem 'nonce-ab' {base}webnn.js; worker-src 'nonce-ab' {base}"
    ]
    assert (
        f'<script nonce="ab" src="{base}webnn.js?policy=webnn%3D%28self%20%22https%3A%2F%2Fa.test%22%29"></script>'.encode() in answer.body
    )
    # A policy that only reports is left alone.
    other.say(Content_Security_Policy_Report_Only="default-src 'none'")
    assert (await ask(server.port, "/", DOCUMENT)).all("Content-Security-Policy-Report-Only") == ["default-src 'none'"]


@pytest.mark.parametrize(
    ("encoding", "encode"),
    [("gzip", gzip.compress), ("X-GZIP", gzip.compress), ("deflate", zlib.compress), ("identity", bytes)],
)
async def test_a_compressed_document_is_decoded(other: Other, server: Server, encoding: str, encode: Callable[[bytes], bytes]) -> None:
    # Once: gzip writes the time.
    content = encode(PAGE)
    other.say(content, Content_Encoding=encoding)
    answer = await ask(server.port, "/", DOCUMENT)
    assert answer["Content-Encoding"] is None
    assert server.script_url.encode() in answer.body
    # Everything else passes unchanged.
    answer = await ask(server.port, "/", "Sec-Fetch-Dest: empty")
    assert (answer["Content-Encoding"], answer.body) == (encoding, content)


@pytest.mark.parametrize(
    ("body", "encoding", "why"),
    [
        (b"", "br", "the server has compressed the page, which it was not asked for: br"),
        (b"", "gzip, gzip", "the server has compressed the page"),
        (b"no gzip", "gzip", "the page that the server has compressed cannot be read"),
        (gzip.compress(bytes(1 << 21)), "gzip", "has at most 1048576 bytes"),
        (bytes(1 << 21), "identity", "has at most 1048576 bytes"),
    ],
    ids=["br", "twice", "broken", "bomb", "long"],
)
async def test_a_document_that_cannot_be_changed(
    other: Other, server: Server, monkeypatch: pytest.MonkeyPatch, body: bytes, encoding: str, why: str
) -> None:
    monkeypatch.setattr(proxy, "LONGEST_CHANGED", 1 << 20)
    other.say(body, Content_Encoding=encoding)
    answer = await ask(server.port, "/", DOCUMENT)
    assert answer.status == 502
    assert why in answer.body.decode()


@pytest.mark.parametrize(("inner", "outer"), [("gzip", "gzip"), ("gzip", "identity"), ("identity", "deflate")])
async def test_a_document_with_two_encodings_in_two_headers(other: Other, server: Server, inner: str, outer: str) -> None:
    encode: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "deflate": zlib.compress, "identity": bytes}

    async def answer(_: web.BaseRequest) -> web.StreamResponse:
        headers = CIMultiDict([("Content-Type", "text/html"), ("Content-Encoding", inner), ("Content-Encoding", outer)])
        return web.Response(body=encode[outer](encode[inner](PAGE)), headers=headers)

    other.answer = answer
    changed = await ask(server.port, "/", DOCUMENT)
    assert changed.status == 502
    assert f"the server has compressed the page, which it was not asked for: {inner}, {outer}" in changed.body.decode()
    # A script gets the bytes and both headers as they came.
    passed = await ask(server.port, "/", "Sec-Fetch-Dest: empty")
    assert (passed.status, passed.all("Content-Encoding")) == (200, [inner, outer])


@pytest.mark.parametrize(
    ("location", "rewritten"),
    [
        ("{other}/a?b#c", "{server}/a?b#c"),
        ("{other}", "{server}"),
        ("/a", "/a"),
        ("a/b", "a/b"),
        # Other servers are the browser's business.
        ("https://a.test/", "https://a.test/"),
        ("{other}.evil.test/", "{other}.evil.test/"),
        ("{other}1/", "{other}1/"),
        ("{other}@evil.test/", "{other}@evil.test/"),
        ("//evil.test/", "//evil.test/"),
    ],
)
async def test_a_redirect_is_rewritten_and_not_followed(other: Other, server: Server, location: str, rewritten: str) -> None:
    other.say("", 302, Location=location.format(other=other.url))
    answer = await ask(server.port, "/", DOCUMENT)
    assert (answer.status, answer["Location"]) == (302, rewritten.format(other=other.url, server=server.url))
    assert len(other.requests) == 1


@pytest.mark.parametrize(
    ("cookie", "rewritten"),
    [
        ("a=b", "a=b"),
        ("a=b; Path=/; HttpOnly", "a=b; Path=/; HttpOnly"),
        ("a=b; Domain=example.test; Path=/", "a=b; Path=/"),
        ("a=b;secure;DOMAIN=.x", "a=b"),
        ("a=b; SameSite=None; Secure; Partitioned", "a=b; SameSite=Lax"),
        ("a=secure; SameSite=Strict", "a=secure; SameSite=Strict"),
        ("__Host-a=b; Secure; Path=/; SameSite=None", "__Host-a=b; Secure; Path=/; SameSite=None"),
        ("__Secure-a=b; Secure; Domain=x", "__Secure-a=b; Secure"),
        ("", ""),
        (";", ";"),
    ],
)
def test_a_cookie_is_for_this_machine(cookie: str, rewritten: str) -> None:
    assert proxy._rewrite_cookie(cookie) == rewritten


async def test_headers(other: Other, server: Server) -> None:
    async def answer(_: web.BaseRequest) -> web.StreamResponse:
        response = web.Response(body=b"{}", content_type="application/json")
        for name, value in (
            ("Set-Cookie", "a=1; Domain=x"),
            ("Set-Cookie", "b=2; Secure"),
            ("Strict-Transport-Security", "max-age=1"),
            ("Access-Control-Allow-Origin", other.url),
            ("Connection", "X-Only-Here"),
            ("X-Only-Here", "1"),
            ("X-Other", "\u00e9"),
        ):
            response.headers.add(name, value)
        return response

    other.answer = answer
    own = f"http://localhost:{server.port}"
    sent = [
        f"Origin: {own}",
        f"Referer: {own}/a",
        "Cookie: a=1",
        "Connection: X-Mine",
        "X-Mine: 1",
        "TE: trailers",
        "X-Kept: 2",
        "Authorization: Basic eA==",
    ]
    got = await ask(server.port, "/", *sent, host=own.removeprefix("http://"))
    assert got.all("Set-Cookie") == ["a=1", "b=2"]
    assert [got[name] for name in ("Strict-Transport-Security", "X-Only-Here", "Access-Control-Allow-Origin")] == [None, None, own]
    [asked] = other.requests
    named = ("Origin", "Referer", "Cookie", "X-Mine", "TE", "X-Kept", "Authorization")
    assert [asked.headers.get(name) for name in named] == [other.url, f"{other.url}/a", "a=1", None, None, "2", "Basic eA=="]


async def test_bodies_stream_both_ways() -> None:
    """The other server answers before it has the whole request, and the browser has the beginning before the end is sent."""
    rest = asyncio.Event()

    async def handle(asked: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(asked)
        async for chunk in asked.content.iter_any():
            await response.write(chunk.upper())
        await response.write(b"!")
        return response

    runner = web.ServerRunner(web.Server(handle), shutdown_timeout=1.0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    address = f"http://127.0.0.1:{runner.addresses[0][1]}"
    running = await asyncio.to_thread(Server(Proxy(address), Options()).start)

    async def upload() -> AsyncIterator[bytes]:
        yield b"begin"
        await rest.wait()
        yield b"end"

    try:
        async with aiohttp.ClientSession() as client, asyncio.timeout(PATIENCE), client.post(running.url, data=upload()) as answer:
            assert await answer.content.readexactly(5) == b"BEGIN"
            rest.set()
            assert await answer.content.read() == b"END!"
    finally:
        await asyncio.to_thread(running.stop)
        await runner.cleanup()


async def test_an_upload_arrives(other: Other, server: Server) -> None:
    other.say("ok", Content_Type="text/plain")
    body = bytes(range(256)) * 4096
    for extra in ((), ("Content-Encoding: gzip",), ("Expect: 100-continue",)):
        async with connect(server.port) as (reader, writer):
            writer.write(request(server.port, "/upload", *extra, method="PUT", body=body))
            if extra[-1:] == ("Expect: 100-continue",):
                assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100")
            assert (await read_answer(reader)).body == b"ok"
    assert other.bodies == [body] * 3
    assert [asked.headers["Content-Length"] for asked in other.requests] == [str(len(body))] * 3


async def test_an_answer_that_breaks_off_does_not_look_complete(other: Other, server: Server) -> None:
    async def answer(asked: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/plain"})
        await response.prepare(asked)
        await response.write(b"begin")
        assert asked.transport is not None
        asked.transport.abort()
        return response

    other.answer = answer
    async with aiohttp.ClientSession() as client, client.get(server.url) as got:
        with pytest.raises(aiohttp.ClientError):
            await got.read()


@pytest.mark.parametrize(("status", "method"), [(204, "GET"), (304, "GET"), (200, "HEAD"), (404, "GET")])
async def test_answers_without_a_body(other: Other, server: Server, status: int, method: str) -> None:
    other.say("" if status != 404 else PAGE, status)
    answer = await ask(server.port, "/", DOCUMENT, method=method, head_only=True)
    assert answer.status == status


async def test_a_websocket_passes(other: Other, server: Server) -> None:
    closed: list[int | None] = []

    async def answer(asked: web.BaseRequest) -> web.StreamResponse:
        socket = web.WebSocketResponse(protocols=["vite-hmr"])
        await socket.prepare(asked)
        async for message in socket:
            if message.type is WSMsgType.TEXT:
                await socket.send_str(f"{asked.headers['Origin']} {message.data}")
            elif message.data == b"end":
                await socket.close(code=4001)
            else:
                await socket.send_bytes(message.data[::-1])
        closed.append(socket.close_code)
        return socket

    other.answer = answer
    async with aiohttp.ClientSession(headers={"Origin": server.url}) as client, asyncio.timeout(PATIENCE):
        async with client.ws_connect(f"{server.url}/hmr?token=a", protocols=["other", "vite-hmr"]) as socket:
            assert socket.protocol == "vite-hmr"
            await socket.send_str("a")
            assert await socket.receive_str() == f"{other.url} a"
            await socket.send_bytes(b"\0\1")
            assert await socket.receive_bytes() == b"\1\0"
            await socket.send_bytes(b"end")
            await socket.receive()
            assert socket.close_code == 4001
        async with client.ws_connect(f"{server.url}/hmr") as socket:
            assert socket.protocol is None
        while len(closed) < 2:
            await asyncio.sleep(0.01)
    assert other.requests[0].rel_url.raw_path_qs == "/hmr?token=a"


async def test_a_websocket_that_is_refused(other: Other, server: Server) -> None:
    other.say("no", 403)
    async with aiohttp.ClientSession() as client:
        with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
            await client.ws_connect(server.url)
    assert caught.value.status == 403


async def test_a_server_that_does_not_answer(other: Other) -> None:
    gone = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{gone.sockets[0].getsockname()[1]}"
    gone.close()
    await gone.wait_closed()
    running = await asyncio.to_thread(Server(Proxy(address), Options()).start)
    try:
        answer = await ask(running.port, "/", DOCUMENT)
        assert (answer.status, answer["Content-Type"]) == (502, "text/html; charset=utf-8")
        assert f"{address} does not answer" in answer.body.decode()
    finally:
        await asyncio.to_thread(running.stop)


async def test_a_server_that_leads_to_itself() -> None:
    target = Proxy("http://127.0.0.1:9")
    running = await asyncio.to_thread(Server(target, Options()).start)
    target._origin = running.url
    try:
        answer = await ask(running.port, "/")
        assert answer.status == 508
    finally:
        await asyncio.to_thread(running.stop)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "localhost:5173",
        "ftp://a.test",
        "http://",
        "http:///a",
        "http://user@a.test",
        "http://a.test:99999",
        "file:///etc/passwd",
        "http://[::1",
    ],
)
def test_an_address_that_cannot_be(address: str) -> None:
    with pytest.raises(ValueError, match="a proxy needs the address of a server, such as http://localhost:5173, got"):
        Proxy(address)


def test_the_page_that_is_opened() -> None:
    assert [Proxy(address).start for address in ("http://a.test", "http://a.test/b%20c?d#e")] == ["/", "/b%20c?d"]
