"""The connections of relays: in the session's thread, and in the server's where a socket cannot leave it."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from types import SimpleNamespace

import aiohttp
import pytest
from websockets.frames import Frame, Opcode

from tests.support import PATIENCE
from tests.webnn.serve.pages import GREETING, HELLO, MADE_CONTEXT, NAME, NOTHING, body, end_all, eventually, message, open_body, request
from webnn.serve import messages
from webnn.serve import relay as handed
from webnn.serve import server as serving
from webnn.serve.messages import unpack
from webnn.serve.options import Options
from webnn.serve.server import Server
from webnn.serve.session import SMALL

CONTEXT = message("C", request("ML", "createContext", 0))


def on_other_loops() -> bool:
    """Stand in for `can_hand_over` of a loop that keeps its sockets."""
    return False


WAYS = pytest.mark.parametrize("can_hand_over", [handed.can_hand_over, on_other_loops], ids=["handed over", "in the server's thread"])


@asynccontextmanager
async def open_relay(server: Server, name: str = NAME) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    """Open a relay that calls may come through."""
    async with aiohttp.ClientSession() as client, client.ws_connect(f"{server.endpoint}/relay?s={name}") as relay:
        await relay.send_str(json.dumps(HELLO))
        assert await relay.receive_bytes(timeout=PATIENCE) == handed.READY
        yield relay


async def call(relay: aiohttp.ClientWebSocketResponse, content: bytes) -> tuple[int, object]:
    """Call through a relay, and return the number and the text of the answer."""
    await relay.send_bytes(content)
    number, kind, [answer, *_] = open_body([await relay.receive_bytes(timeout=PATIENCE)])
    assert kind == "A"
    return number, json.loads(answer)


@WAYS
async def test_calls(server: Server, monkeypatch: pytest.MonkeyPatch, can_hand_over: Callable[[], bool]) -> None:
    monkeypatch.setattr(serving, "can_hand_over", can_hand_over)
    async with open_relay(server) as relay:
        # The first body of a page says what it is, although the session has begun.
        assert await call(relay, body(GREETING, NOTHING)) == (1, {"value": None})
        number, answer = await call(relay, body(CONTEXT, number=2))
        assert number == 2
        if answer == {"pending": 2}:
            # A context that takes long comes another way.
            _, _, [result] = open_body(await server.sessions.find(NAME).result(2))
            answer = json.loads(result)
        assert answer == {"value": MADE_CONTEXT}
        builder = message("C", request("MLGraphBuilder", "constructor", None, {"$h": 1}))
        number, answer = await call(relay, body(NOTHING, builder, number=3))
        assert (number, answer) == (4, {"value": {"$i": "MLGraphBuilder", "$h": 2}})
        # A request that was carried out is not carried out again.
        assert await call(relay, body(builder, number=4)) == (4, answer)
        assert server.sessions.find(NAME).counts.calls == 4
    end_all(server.sessions)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows: a socket stays with its loop")
async def test_a_call_needs_no_other_thread(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[str] = []

    def watch(content: bytes) -> object:
        threads.append(threading.current_thread().name)
        return unpack(content)

    monkeypatch.setattr(messages, "unpack", watch)
    async with open_relay(server) as relay:
        await call(relay, body(NOTHING))
    assert threads == [server.sessions.find(NAME)._thread.name]
    end_all(server.sessions)


@WAYS
@pytest.mark.parametrize("content", [b"no message", body(NOTHING), b""], ids=["noise", "a call", "empty"])
async def test_a_relay_begins_with_a_greeting(
    server: Server, monkeypatch: pytest.MonkeyPatch, can_hand_over: Callable[[], bool], content: bytes
) -> None:
    monkeypatch.setattr(serving, "can_hand_over", can_hand_over)
    async with aiohttp.ClientSession() as client, client.ws_connect(f"{server.endpoint}/relay?s={NAME}") as relay:
        await relay.send_bytes(content)
        assert (await relay.receive(timeout=PATIENCE)).type is aiohttp.WSMsgType.CLOSE
    assert not server.sessions.living


@pytest.mark.parametrize("connection", ["relay", "live"])
@pytest.mark.parametrize("lead", ["", "a"], ids=["even", "odd"])
async def test_why_a_greeting_is_refused(server: Server, connection: str, lead: str) -> None:
    """In whole characters, wherever the text is cut."""
    async with aiohttp.ClientSession() as client, client.ws_connect(f"{server.endpoint}/{connection}?s={NAME}") as socket:
        await socket.send_str(json.dumps({**HELLO, "origin": lead + "é" * 60}))
        end = await socket.receive(timeout=PATIENCE)
    assert (end.type, str(end.extra)[:14]) == (aiohttp.WSMsgType.CLOSE, "origin must be")


@WAYS
async def test_a_session_that_has_ended_has_no_relay(
    server: Server, monkeypatch: pytest.MonkeyPatch, can_hand_over: Callable[[], bool]
) -> None:
    """Neither an open one, nor another."""
    monkeypatch.setattr(serving, "can_hand_over", can_hand_over)
    async with open_relay(server) as relay:
        await call(relay, body(NOTHING))
        session = server.sessions.find(NAME)
        server._loop.call_soon_threadsafe(server.sessions.end, session)
        await eventually(lambda: not server.sessions.living)
        await asyncio.to_thread(session.join)
        with suppress(ConnectionError):
            await relay.send_bytes(body(NOTHING, number=2))
        assert (await relay.receive(timeout=PATIENCE)).type in {aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.ERROR}
    async with aiohttp.ClientSession() as client, client.ws_connect(f"{server.endpoint}/relay?s={NAME}") as relay:
        await relay.send_str(json.dumps(HELLO))
        assert (await relay.receive(timeout=PATIENCE)).type is aiohttp.WSMsgType.CLOSE


@WAYS
async def test_the_server_stops_while_a_relay_is_open(monkeypatch: pytest.MonkeyPatch, can_hand_over: Callable[[], bool]) -> None:
    monkeypatch.setattr(serving, "can_hand_over", can_hand_over)
    server = await asyncio.to_thread(Server(None, Options()).start)
    try:
        async with open_relay(server) as relay:
            await call(relay, body(NOTHING))
            await asyncio.to_thread(server.stop)
            assert (await relay.receive(timeout=PATIENCE)).type is not aiohttp.WSMsgType.BINARY
    finally:
        await asyncio.to_thread(server.stop)


@WAYS
async def test_a_page_that_goes(server: Server, monkeypatch: pytest.MonkeyPatch, can_hand_over: Callable[[], bool]) -> None:
    """Its call is carried out, and its connection is not held."""
    monkeypatch.setattr(serving, "can_hand_over", can_hand_over)
    ended: list[bool] = []
    answer = serving.Server._relay

    async def follow(self: Server, asked: aiohttp.web.Request) -> aiohttp.web.StreamResponse:
        try:
            return await answer(self, asked)
        finally:
            ended.append(True)

    monkeypatch.setattr(serving.Server, "_relay", follow)
    with Server(None, Options()) as other:
        for number in range(1, 5):
            async with open_relay(other) as relay:
                await relay.send_bytes(body(NOTHING, number=number))
                assert relay._response.connection is not None
                transport = relay._response.connection.transport
                assert transport is not None
                transport.abort()
        await eventually(lambda: len(ended) == 4)
        async with open_relay(other) as relay:
            assert await call(relay, body(NOTHING, number=5)) == (5, {"value": None})


# Messages of others


def frame(content: bytes, opcode: Opcode = Opcode.BINARY, *, fin: bool = True, isMasked: bool = True) -> bytes:
    return Frame(opcode, content, fin).serialize(mask=isMasked)


async def exchange(number: int, messages: object) -> list[bytes]:
    """Answer at once."""
    return [b"answer"]


@asynccontextmanager
async def connect(answer: Callable[..., object] = exchange) -> AsyncIterator[tuple[handed._Relay, socket.socket]]:
    """Connect a relay in this loop; yield it and the page's end."""
    loop = asyncio.get_running_loop()
    near, far = socket.socketpair()
    far.setblocking(False)
    with far:
        transport, relay = await loop.connect_accepted_socket(lambda: handed._Relay(answer), near)  # type: ignore[arg-type]
        assert await receive(far, 2) == b"\x82\x00"
        yield relay, far
        transport.abort()
        await relay.ended


async def receive(far: socket.socket, size: int) -> bytes:
    """Receive this number of bytes, fewer only at the end."""
    received = b""
    async with asyncio.timeout(PATIENCE):
        while len(received) < size and (more := await asyncio.get_running_loop().sock_recv(far, size - len(received))):
            received += more
    return received


ANSWER = b"\x82\x06answer"


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (frame(body(NOTHING)), ANSWER),
        (frame(body(NOTHING)[:7], fin=False) + frame(body(NOTHING)[7:], Opcode.CONT), ANSWER),
        (frame(body(NOTHING)[:7], fin=False) + frame(b"?", Opcode.PING) + frame(body(NOTHING)[7:], Opcode.CONT), b"\x8a\x01?" + ANSWER),
        (frame(b"?", Opcode.PONG) + frame(body(NOTHING)), ANSWER),
    ],
    ids=["whole", "in parts", "a ping between parts", "a pong"],
)
async def test_frames(sent: bytes, expected: bytes) -> None:
    for step in (1, len(sent)):
        async with connect() as (_, far):
            for start in range(0, len(sent), step):
                await asyncio.get_running_loop().sock_sendall(far, sent[start : start + step])
                await asyncio.sleep(0)
            assert await receive(far, len(expected)) == expected


@pytest.mark.parametrize(
    ("sent", "code", "reason"),
    [
        (frame(b"no message"), 1000, b"incomplete"),
        (frame(b""), 1000, b"begins with a number"),
        (frame(body(NOTHING)) * 2, 1000, b"waits for each answer"),
        (frame(bytes(handed.LONGEST_RELAYED + 1)), 1009, b""),
        (frame(bytes(handed.LONGEST_RELAYED), fin=False) + frame(b"x", Opcode.CONT), 1009, b""),
        (frame(body(NOTHING), isMasked=False), 1002, b""),
        (b"\xff" * 20, 1002, b""),
        (frame(b"", Opcode.CLOSE), 1005, b""),
    ],
    ids=["no message", "empty", "two calls at once", "too long", "too long in parts", "no mask", "noise", "the end"],
)
async def test_what_ends_a_relay(sent: bytes, code: int, reason: bytes) -> None:
    async with connect() as (relay, far):
        await asyncio.get_running_loop().sock_sendall(far, sent)
        received = await receive(far, 1 << 20)
        assert b"answer\x82" not in received
        close = received[received.index(b"\x88") :]
        assert (int.from_bytes(close[2:4] or b"\x03\xed"), reason in close) == (code, True)
        assert len(relay._message) <= handed.LONGEST_RELAYED
        await asyncio.wait_for(relay.ended, PATIENCE)


async def test_a_page_that_does_not_read_is_not_read() -> None:
    """The queue for it is bounded, and it is served when it reads again."""
    count, content = 100, bytes(100)
    pings, pong = frame(content, Opcode.PING) * count, frame(content, Opcode.PONG, isMasked=False)
    async with connect() as (relay, far):
        sent = 0
        async with asyncio.timeout(PATIENCE):
            while relay._transport.is_reading():
                with suppress(BlockingIOError):
                    sent += far.send(pings[sent % len(pings) :])
                await asyncio.sleep(0)
        assert relay._transport.get_write_buffer_size() < 1 << 20
        rest = pings[sent % len(pings) :]
        sending = asyncio.ensure_future(asyncio.get_running_loop().sock_sendall(far, rest + frame(body(NOTHING))))
        pongs = pong * ((sent + len(rest)) // len(pings) * count)
        assert await receive(far, len(pongs) + len(ANSWER)) == pongs + ANSWER
        await sending


async def test_an_error_ends_the_connection() -> None:
    """The page must not wait for an answer that does not come."""

    async def fail(number: int, messages: object) -> list[bytes]:
        raise ValueError("wrong")

    reported: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context["exception"]))
    async with connect(fail) as (relay, far):
        await asyncio.get_running_loop().sock_sendall(far, frame(body(NOTHING)))
        assert await receive(far, 1) == b""
        await asyncio.wait_for(relay.ended, PATIENCE)
        relay._work = None
    await eventually(lambda: len(reported) == 1)
    assert isinstance(reported[0], ValueError)


# Live connections


@asynccontextmanager
async def connect_live(
    answer: Callable[..., object] = exchange,
) -> AsyncIterator[tuple[list[tuple[Callable[..., None], Callable[[], int]]], socket.socket]]:
    """Connect a live connection in this loop; yield what its session is given, and the page's end."""
    given: list[tuple[Callable[..., None], Callable[[], int]]] = []
    near, far = socket.socketpair()
    far.setblocking(False)
    session = SimpleNamespace(connect=lambda *connection: given.append(connection))
    with far:
        transport, live = await asyncio.get_running_loop().connect_accepted_socket(
            lambda: handed._Live(answer, session),  # type: ignore[arg-type]
            near,
        )
        assert await receive(far, 2) == b"\x82\x00"
        yield given, far
        transport.abort()
        await live.ended


async def test_calls_of_a_live_connection_queue() -> None:
    """In their order, one at a time; only much is answered, and what the session pushes goes between."""
    goesOn, begun = asyncio.Event(), list[int]()

    async def work(number: int, _: object) -> list[bytes]:
        begun.append(number)
        await goesOn.wait()
        return [b"answer"]

    async with connect_live(work) as ([(push, unsent)], far):
        calls = [body(NOTHING, number=1), body(message("D", b'"nothing"', bytes(SMALL)), number=2), body(NOTHING, number=3)]
        await asyncio.get_running_loop().sock_sendall(far, b"".join(map(frame, calls)))
        await eventually(lambda: begun == [1])
        push([b"pu", b"shed"])
        assert await receive(far, 8) == b"\x82\x06pushed"
        goesOn.set()
        assert await receive(far, len(ANSWER)) == ANSWER
        await eventually(lambda: begun == [1, 2, 3])
        assert unsent() == 0


async def test_calls_of_much_in_all_are_answered_once() -> None:
    """The page sends the rest then. While others wait, there are fewer answers."""
    goesOn = asyncio.Event()

    async def work(number: int, _: object) -> list[bytes]:
        await goesOn.wait()
        return [b"%d;" % number]

    async with connect_live(work) as (_, far):
        size = SMALL // 2
        calls = [body(message("D", b'"nothing"', bytes(size)), number=number) for number in range(1, 41)]
        sending = asyncio.ensure_future(asyncio.get_running_loop().sock_sendall(far, b"".join(map(frame, calls))))
        await asyncio.sleep(0.05)
        goesOn.set()
        await asyncio.wait_for(sending, PATIENCE)
        numbers, received = list[int](), b""
        while not numbers or numbers[-1] < 39:
            received += await receive(far, 1)
            if received.endswith(b";"):
                numbers.append(int(received[2:-1]))
                received = b""
        steps = [later - earlier for earlier, later in zip([0, *numbers], numbers, strict=False)]
        # A page waits for an answer if it has sent 2 MiB.
        assert 2 <= min(steps) <= max(steps) <= handed._MUCH // size + 1
        assert len(numbers) < 20


async def test_a_busy_session_does_not_read_its_live_connection() -> None:
    goesOn = asyncio.Event()

    async def work(*_: object) -> list[bytes]:
        await goesOn.wait()
        return []

    async with connect_live(work) as (_, far):
        call = frame(body(message("D", b'"nothing"', bytes(1 << 20))))
        sending = asyncio.ensure_future(asyncio.get_running_loop().sock_sendall(far, call * 30))
        for _ in range(200):
            await asyncio.sleep(0.001)
        assert not sending.done()
        goesOn.set()
        await asyncio.wait_for(sending, PATIENCE)


@pytest.mark.parametrize("isThere", [True, False], ids=["there", "gone"])
async def test_a_browser_that_is_gone(monkeypatch: pytest.MonkeyPatch, isThere: bool) -> None:
    """It is asked whether it is there; without an answer, the connection ends."""
    monkeypatch.setattr(handed, "HEARTBEAT", 0.05)
    async with connect() as (relay, far):
        for _ in range(3):
            assert await receive(far, 2) == (b"\x89\x00" if isThere or not relay.ended.done() else b"")
            if isThere:
                await asyncio.get_running_loop().sock_sendall(far, frame(b"", Opcode.PONG))
            else:
                assert await receive(far, 1) == b""
                await asyncio.wait_for(relay.ended, PATIENCE)
                break
        assert relay.ended.done() is not isThere
