"""Messages that no page sends: forged, giant and slow ones. Each gets one refusal, and does not count as a fault of the emulator."""

from __future__ import annotations

import asyncio
import json
import struct

import aiohttp
import pytest

from tests.webnn.serve.pages import GREETING, NAME, body, end_all, message
from tests.webnn.serve.pages import request as request_of
from tests.webnn.serve.raw import ask, connect, read_answer, request
from tests.webnn.serve.test_guard_attacks import assert_alive, below
from webnn.javascript.channel import Message
from webnn.serve import sessions as counting
from webnn.serve import uploads
from webnn.serve.messages import MessageError
from webnn.serve.server import Server


def forge(magic: bytes = b"WN", kind: bytes = b"C", count: int = 1, lengths: tuple[int, ...] = (2,), rest: bytes = b"[]") -> bytes:
    return struct.pack("<I2scxI", 1, magic, kind, count) + struct.pack(f"<{len(lengths)}Q", *lengths) + rest


FORGED = {
    "empty": b"",
    "short": b"\1\0\0",
    "no message": b"\1\0\0\0",
    "noise": bytes(range(256)),
    "magic": forge(magic=b"NW"),
    "kind": forge(kind=b"Z"),
    "no parts": forge(count=0, lengths=()),
    "many parts": forge(count=2**32 - 1),
    "long part": forge(lengths=(2**64 - 1,)),
    "longer than it is": forge(lengths=(3,)),
    "sum overflows": forge(count=2, lengths=(2**63, 2**63)),
    "greeting is not JSON": body(message("H", b"{")),
    "greeting is deep": body(message("H", b"[" * 100_000)),
    "greeting is another": body(message("H", b'{"kind": 1}')),
    "greeting is not text": body(message("H", b"\xff")),
    "call is not text": body(GREETING, message("C", b"\xff")),
}


@pytest.mark.parametrize("content", FORGED.values(), ids=FORGED)
async def test_a_forged_message(server: Server, content: bytes) -> None:
    answer = await ask(server.port, below(server, f"call?s={NAME}"), method="POST", body=content)
    assert answer.status in {400, 411}
    assert answer.body.startswith((b"webnn serve: ", b"411"))
    end_all(server.sessions)


CONTEXT = request_of("ML", "createContext", 0)
#: Texts that the binding does not send, after a context and a builder were made: 1 and 2.
NO_CALLS = {
    "empty": b"",
    "nothing": b"null",
    "list": b"[]",
    "deep": b"[" * 100_000,
    "large number": b"[" + b"9" * 100_000 + b"]",
    "cut": CONTEXT[:-1],
    "more": CONTEXT[:-1] + b",[],[]]",
    "interface": request_of("Window", "open", None),
    "member": request_of("ML", "__init__", 0),
    "object": request_of("ML", "createContext", 99),
    "argument": request_of("MLGraphBuilder", "relu", 2, {"$h": 99}),
    "many arguments": request_of("ML", "createContext", 0, 1, 2, 3),
    "few arguments": request_of("MLGraphBuilder", "add", 2),
    "view": request_of("ML", "createContext", 0, {"$v": 0}),
    "bytes": request_of("ML", "createContext", 0, views=[{"kind": "x", "sent": True}]),
    "half a character": b'["\\ud800", "x", 0, [], [], []]',
}


@pytest.mark.parametrize("text", NO_CALLS.values(), ids=NO_CALLS)
@pytest.mark.parametrize("kind", ["C", "P", "D"])
async def test_a_forged_call_is_one_refusal(server: Server, kind: str, text: bytes) -> None:
    """The rest of the body is not carried out, and nothing is kept. The session goes on."""
    address = below(server, f"call?s={NAME}")
    made = [message("C", each) for each in (CONTEXT, request_of("MLGraphBuilder", "constructor", None, {"$h": 1}))]
    assert (await ask(server.port, address, method="POST", body=body(GREETING, made[0]))).status == 200
    [session] = server.sessions.living.values()
    while not session.contexts():
        await asyncio.sleep(0.001)
    assert (await ask(server.port, address, method="POST", body=body(made[1], number=2))).status == 200
    results = len(session._results)
    if kind == "D" and text.endswith(b"]"):
        text = text[:-1] + b", [-1]]"
    answer = await ask(server.port, address, method="POST", body=body(*[message(kind, text)] * 3, made[1], number=3))
    assert (answer.status, answer.body.count(b"\n")) == (400, 1)
    assert answer.body.startswith(b"webnn serve: request 3 is not one that the binding sends: ")
    assert (len(session._results), session._dispatcher._failed, session._dispatcher.faults) == (results, {}, [])
    assert (await ask(server.port, address, method="POST", body=body(made[1], number=4))).status == 200
    server.sessions.end(session)


#: Calls that a page may tell only if they are certain, and that Python refuses. The context is 1, its builder 2, an input -1.
_MATRIX = {"dataType": "float32", "shape": [2, 3]}
_VIEW = {"kind": "Float32Array", "buffer": 0, "offset": 0, "length": 4, "detached": False, "sent": True}
LIES = {
    "sizes": request_of("MLGraphBuilder", "matmul", 2, {"$h": -1}, {"$h": -1}),
    "too large": request_of("MLGraphBuilder", "expand", 2, {"$h": -1}, [2**31 - 1, 2**31 - 1, 2, 3]),
    "bytes": request_of("MLGraphBuilder", "constant", 2, _MATRIX, {"$v": 0}, views=[_VIEW]),
    "name": request_of("MLGraphBuilder", "input", 2, "x", _MATRIX),
}


@pytest.mark.parametrize("text", LIES.values(), ids=LIES)
async def test_a_lie_about_a_certain_call(server: Server, monkeypatch: pytest.MonkeyPatch, text: bytes) -> None:
    """Python checks every call: what the page takes for its result is the error, and its session goes on."""
    faults: list[str] = []
    monkeypatch.setattr(server.sessions, "_on_fault", faults.append)
    address = below(server, f"call?s={NAME}")

    def tell(told: bytes, handle: int) -> bytes:
        return message("D", told[:-1] + b", [%d]]" % handle, *([b"\0" * 4] if b"$v" in told else []))

    assert (await ask(server.port, address, method="POST", body=body(GREETING, message("C", CONTEXT)))).status == 200
    [session] = server.sessions.living.values()
    while not session.contexts():
        await asyncio.sleep(0.001)
    pieces = [
        message("C", request_of("MLGraphBuilder", "constructor", None, {"$h": 1})),
        tell(request_of("MLGraphBuilder", "input", 2, "x", _MATRIX), -1),
        tell(text, -2),
        message("C", request_of("MLGraphBuilder", "relu", 2, {"$h": -2})),
    ]
    answers = [await ask(server.port, address, method="POST", body=body(*pieces, number=2)) for _ in range(2)]
    # A replay is answered as before, and is not carried out again.
    assert answers[0].body == answers[1].body
    assert b'"error": ["TypeError", "' in answers[0].body
    assert (len(faults), sorted(session._dispatcher._failed)) == (1, [-2])
    again = await ask(server.port, address, method="POST", body=body(tell(text, -1), message("C", b'"nothing"'), number=6))
    assert (again.status, b"request 6 is not one that the binding sends" in again.body) == (400, True)
    late = await ask(server.port, address, method="POST", body=body(pieces[3], number=5))
    assert late.status == 400
    alive = await ask(
        server.port, address, method="POST", body=body(message("C", request_of("MLGraphBuilder", "relu", 2, {"$h": -1})), number=7)
    )
    assert b'"shape": [2, 3]' in alive.body
    server.sessions.end(session)


async def test_a_greeting_comes_once_and_first(server: Server) -> None:
    address = below(server, f"call?s={NAME}")
    nothing = message("C", b'"nothing"')
    answers = [
        await ask(server.port, address, method="POST", body=body(*pieces, number=number))
        for number, pieces in ((1, [nothing, GREETING]), (1, [GREETING, nothing]), (2, [nothing, GREETING]), (2, [GREETING, nothing]))
    ]
    assert [answer.status for answer in answers] == [400, 200, 400, 200]
    [session] = server.sessions.living.values()
    with pytest.raises(MessageError, match="a page says what it is once"):
        await session.exchange(3, [Message("H", [GREETING])])
    server.sessions.end(session)


async def test_a_long_greeting_is_refused(server: Server) -> None:
    answer = await ask(server.port, below(server, f"call?s={NAME}"), method="POST", body=body(message("H", b" " * (1 << 19))))
    assert (answer.status, b"a page says what it is in at most" in answer.body) == (400, True)


async def test_a_question_with_many_texts_is_refused(server: Server) -> None:
    """Each name that was given is compared with each that is known: half a minute, for what fits in the longest question."""
    names = [f"padding{number}" for number in range(200)]
    statuses = []
    for texts in (names, names[:50]):
        question = json.dumps(["conv2d: options", texts, texts]).encode()
        statuses.append((await ask(server.port, below(server, "ignored"), method="POST", body=question)).status)
    assert statuses == [400, 200]


@pytest.mark.parametrize("name", ["", "x", "../../x", "A" * 64, "0" * 65, "0" * 5000, "%00" * 20])
async def test_a_forged_session(server: Server, name: str) -> None:
    answer = await ask(server.port, below(server, f"call?s={name}"), method="POST", body=body(GREETING))
    assert answer.status == 400
    assert (await ask(server.port, below(server, f"call?s={name}"), method="POST", body=body(message("C", b"[]")))).status == 410


async def test_a_session_is_known_by_its_name_only(server: Server) -> None:
    answer = await ask(server.port, below(server, f"result?s={NAME}&n=1"), method="POST")
    assert answer.status == 410
    for number in ("", "x", "9" * 5000, "-1"):
        assert (await ask(server.port, below(server, f"result?s={NAME}&n={number}"), method="POST")).status in {400, 410}


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'"a"', b'{"url": 1, "type": "module"}', b'{"url": "a", "type": "x"}', b"[" * 60_000, b"\xff", b"x" * 70_000],
)
async def test_a_forged_announcement(server: Server, content: bytes) -> None:
    answer = await ask(server.port, below(server, "worker"), method="POST", body=content)
    assert answer.status in {400, 413}
    assert not server.sessions.workers


async def test_announcements_are_bounded(server: Server) -> None:
    async with aiohttp.ClientSession() as client:
        for number in range(counting._MOST_WORKERS + 10):
            async with client.post(f"{server.endpoint}/worker", json={"url": f"http://a/{number}", "type": "module"}) as answer:
                assert answer.status == 200
    assert len(server.sessions.workers) == counting._MOST_WORKERS


async def test_a_giant_body_is_refused_before_it_comes(server: Server) -> None:
    for length in (uploads._LONGEST_BODY + 1, 2**62):
        answer = await ask(server.port, below(server, f"call?s={NAME}"), f"Content-Length: {length}", method="POST")
        assert answer.status == 413


async def test_a_body_without_a_length_is_refused(server: Server) -> None:
    answer = await ask(server.port, below(server, f"call?s={NAME}"), "Transfer-Encoding: chunked", method="POST")
    assert answer.status == 411


async def test_many_bytes_at_once_are_refused(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "_MOST_BYTES", 1000)
    async with connect(server.port) as (_, writer):
        writer.write(request(server.port, below(server, f"call?s={NAME}"), "Content-Length: 900", method="POST"))
        await writer.drain()
        while not server._uploads.held:
            await asyncio.sleep(0.01)
        refused = await ask(server.port, below(server, f"call?s={NAME}"), "Content-Length: 900", method="POST")
        assert refused.status == 503
    # The one that went has given its part back.
    while server._uploads.held:
        await asyncio.sleep(0.01)
    await assert_alive(server)


async def test_a_slow_body_is_refused(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "_LONGEST_UPLOAD", 0.2)
    async with connect(server.port) as (reader, writer):
        writer.write(request(server.port, below(server, f"call?s={NAME}"), "Content-Length: 900", method="POST") + b"x")
        assert (await read_answer(reader)).status == 408
    assert server._uploads.held == 0


async def test_a_little_does_not_become_much(server: Server) -> None:
    """A compressed body is not decompressed: what it could become is not known."""
    answer = await ask(server.port, below(server, f"call?s={NAME}"), "Content-Encoding: gzip", method="POST", body=body(GREETING))
    assert answer.status == 200
    end_all(server.sessions)
