"""The server's own paths, as a page uses them."""

from __future__ import annotations

import asyncio
import io
import json
import threading
from collections.abc import AsyncIterator
from contextlib import suppress

import aiohttp
import pytest

from tests.support import PATIENCE
from tests.webnn.serve.pages import GREETING, HELLO, MADE_CONTEXT, NAME, PAIR, body, eventually, message, open_body, request
from webnn.javascript.channel import Bytes, Message
from webnn.serve import messages, relay, uploads
from webnn.serve import server as server_module
from webnn.serve.options import Options
from webnn.serve.server import Server
from webnn.serve.session import SMALL

CONTEXT, START = (message(kind, request("ML", "createContext", 0)) for kind in "CP")


@pytest.fixture
async def client() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


async def post(client: aiohttp.ClientSession, address: str, content: bytes = b"") -> tuple[int, bytes]:
    # aiohttp warns of large bodies that are bytes.
    async with client.post(address, data=io.BytesIO(content)) as response:
        return response.status, await response.read()


async def greet(live: aiohttp.ClientWebSocketResponse) -> None:
    """Say what the page is, and wait until calls may come."""
    await live.send_str(json.dumps(HELLO))
    assert await live.receive_bytes(timeout=PATIENCE) == relay.READY


@pytest.fixture(params=[relay.can_hand_over, lambda: False], ids=["handed over", "in the server's thread"])
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a session read its live connection in its own thread, or in the server's, where sockets cannot leave their loop."""
    monkeypatch.setattr(server_module, "can_hand_over", request.param)


WAYS = pytest.mark.usefixtures("_way")


@WAYS
async def test_a_session_lives_as_long_as_its_connection(server: Server, client: aiohttp.ClientSession) -> None:
    call = f"{server.endpoint}/call?s={NAME}"
    async with client.ws_connect(f"{server.endpoint}/live?s={NAME}") as live:
        await greet(live)
        status, content = await post(client, call, body(GREETING, CONTEXT))
        number, kind, [answer] = open_body([content])
        assert (status, number, kind) == (200, 1, "A")
        if "pending" in json.loads(answer):
            _, kind, [answer] = open_body([await live.receive_bytes(timeout=PATIENCE)])
        assert json.loads(answer) == {"value": MADE_CONTEXT}
        assert list(server.sessions.living) == [NAME]
    await eventually(lambda: not server.sessions.living)
    assert await post(client, call, body(CONTEXT, number=2)) == (410, b"webnn serve: the session of the page has ended\n")


async def test_a_body_comes_in_pieces(server: Server, client: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "_LONGEST_BODY", 4096)
    async with client.ws_connect(f"{server.endpoint}/live?s={NAME}") as live:
        await greet(live)
        await post(client, f"{server.endpoint}/call?s={NAME}", body(GREETING))
        content = body(message("C", b'"nothing"', bytes(2000)))
        for start in range(0, len(content) - 1, 500):
            assert (await post(client, f"{server.endpoint}/piece?s={NAME}", content[:-1][start : start + 500]))[0] == 200
        status, answer = await post(client, f"{server.endpoint}/call?s={NAME}", content[-1:])
        assert (status, open_body([answer])[:2]) == (200, (1, "A"))
        # Together they are as long as a body, at most.
        statuses = [(await post(client, f"{server.endpoint}/piece?s={NAME}", bytes(3000)))[0] for _ in range(3)]
        assert statuses == [200, 413, 413]
    await eventually(lambda: not server.sessions.living)
    async with asyncio.timeout(60):
        while server._uploads.held:
            await asyncio.sleep(0.05)


@WAYS
async def test_a_large_body_does_not_hold_up_the_server(
    server: Server, client: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its thread answers the other pages meanwhile."""
    threads: list[int | None] = []
    unpack = messages.unpack

    def follow(content: Bytes) -> tuple[int, list[Message]]:
        threads.append(threading.get_ident())
        return unpack(content)

    monkeypatch.setattr(messages, "unpack", follow)
    async with client.ws_connect(f"{server.endpoint}/live?s={NAME}") as live:
        await greet(live)
        large = bytes(messages._LARGE)
        await live.send_bytes(body(message("P", b'"nothing"', large)))
        await live.receive_bytes(timeout=PATIENCE)
        status, _ = await post(client, f"{server.endpoint}/call?s={NAME}", body(message("C", b'"nothing"', large), number=2))
    assert (status, len(threads)) == (200, 2)
    assert server._thread.ident not in threads
    await eventually(lambda: not server.sessions.living)


@WAYS
async def test_a_live_connection_starts_operations(server: Server, client: aiohttp.ClientSession) -> None:
    async with client.ws_connect(f"{server.endpoint}/live?s={NAME}") as live:
        await greet(live)
        await live.send_bytes(body(START))
        number, kind, [answer] = open_body([await live.receive_bytes(timeout=PATIENCE)])
        assert (number, kind, json.loads(answer)) == (1, "R", {"value": MADE_CONTEXT})
        # Of much, the page is told that it has come.
        await live.send_bytes(body(message("P", b'"nothing"', bytes(SMALL)), number=2))
        assert {open_body([await live.receive_bytes(timeout=PATIENCE)])[:2] for _ in range(2)} == {(2, "A"), (2, "R")}
        # A page that waits repeats what it does not know to be done.
        builder = message("C", request("MLGraphBuilder", "constructor", None, {"$h": 1}))
        _, content = await post(client, f"{server.endpoint}/call?s={NAME}", body(START, message("P", b'"nothing"'), builder))
        number, kind, [answer] = open_body([content])
        assert (number, kind, json.loads(answer)["value"]["$h"]) == (3, "A", 2)
    await eventually(lambda: not server.sessions.living)


@pytest.mark.parametrize("greeting", [body(START), b"", b"no message"], ids=["a call", "empty", "noise"])
async def test_a_live_connection_begins_with_a_greeting(server: Server, client: aiohttp.ClientSession, greeting: bytes) -> None:
    async with client.ws_connect(f"{server.endpoint}/live?s={NAME}") as live:
        await live.send_bytes(greeting)
        assert (await live.receive(timeout=PATIENCE)).type is aiohttp.WSMsgType.CLOSE
    assert not server.sessions.living


@WAYS
async def test_a_live_connection_that_brings_something_else_ends(server: Server, client: aiohttp.ClientSession) -> None:
    async with client.ws_connect(f"{server.endpoint}/live?s={NAME}") as live:
        await greet(live)
        await live.send_bytes(b"no message")
        assert (await live.receive(timeout=PATIENCE)).type is aiohttp.WSMsgType.CLOSE
    await eventually(lambda: not server.sessions.living)


@WAYS
async def test_a_live_connection_that_brings_too_much_ends(server: Server, client: aiohttp.ClientSession) -> None:
    async with client.ws_connect(f"{server.endpoint}/live?s={NAME}") as live:
        await greet(live)
        # It ends before everything is read: what was sent then may break off, and the word of the end may be lost.
        with suppress(ConnectionError, aiohttp.ClientConnectionError):
            await live.send_bytes(bytes((1 << 22) + 1))
        assert (await live.receive(timeout=PATIENCE)).type in {aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.ERROR}
    await eventually(lambda: not server.sessions.living)


async def test_live_connections_are_bounded(server: Server, client: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "_MOST_LIVE", 1)
    async with client.ws_connect(f"{server.endpoint}/live?s={NAME}"):
        with pytest.raises(aiohttp.WSServerHandshakeError, match="503"):
            await client.ws_connect(f"{server.endpoint}/live?s={NAME}")


@pytest.mark.parametrize(
    ("path", "content", "status"),
    [
        ("call?s=" + NAME, b"", 400),
        ("call?s=" + NAME, body(CONTEXT), 410),
        ("call?s=x", body(GREETING), 400),
        ("call", body(GREETING), 400),
        ("call?s=" + NAME, body(message("H", b"{}")), 400),
        ("call?s=" + NAME, body(GREETING, number=0), 400),
        ("piece?s=" + NAME, b"part", 410),
        ("result?s=" + NAME, b"", 400),
        ("result?s=" + NAME + "&n=1", b"", 410),
        ("worker", b"", 400),
        ("worker", b"[]", 400),
        ("worker", b'{"url": 1, "type": "module"}', 400),
        ("worker", b'{"url": "/w.js", "type": "other"}', 400),
        ("worker", b'{"url": "/w.js", "type": "module"}', 200),
        ("ignored", b"", 400),
        ("ignored", b'["conv2d: options", ["a", 1], []]', 400),
        ("ignored", b'["conv2d: options", ["autoPad"], ["padding"]]', 200),
        ("other", b"", 404),
    ],
)
async def test_requests_that_cannot_be(server: Server, client: aiohttp.ClientSession, path: str, content: bytes, status: int) -> None:
    assert (await post(client, f"{server.endpoint}/{path}", content))[0] == status


async def test_the_script(server: Server, client: aiohttp.ClientSession) -> None:
    async with client.get(server.script_url) as response:
        text = await response.text()
    assert response.content_type == "text/javascript"
    assert server.endpoint in text
    assert '"MLGraphBuilder"' in text


async def test_without_the_token_there_is_nothing(server: Server, client: aiohttp.ClientSession) -> None:
    for path in ("webnn.js", "call", "live"):
        async with client.get(f"{server.url}/__webnn__/guessed/{path}") as response:
            assert response.status == 404


def test_a_wrong_option_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="profile"):
        Server(None, Options(profile="no such profile"))


def test_a_port_in_use(server: Server) -> None:
    with pytest.raises(OSError, match=str(server.port)):
        Server(None, Options(), port=server.port).start()


async def test_pair_is_a_descriptor(server: Server, client: aiohttp.ClientSession) -> None:
    builder = message("C", request("MLGraphBuilder", "constructor", None, {"$h": 1}))
    operand = message("C", request("MLGraphBuilder", "input", 2, "x", PAIR))
    address = f"{server.endpoint}/call?s={NAME}"
    await post(client, address, body(GREETING, CONTEXT))
    async with client.ws_connect(f"{server.endpoint}/live?s={NAME}") as live:
        await greet(live)
        async with asyncio.timeout(60):
            while not server.sessions.living[NAME].contexts():
                await asyncio.sleep(0.01)
        _, content = await post(client, address, body(builder, operand, number=2))
    assert json.loads(open_body([content])[2][0])["value"]["$a"] == {"dataType": "float32", "shape": [2]}
