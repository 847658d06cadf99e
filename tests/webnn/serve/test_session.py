"""Sessions: the order of requests, results that come later, and the end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import numpy as np
import pytest

import webnn
from tests.webnn.serve.pages import HELLO, PAIR, VISITOR, Caller, open_body, request
from webnn import viewer
from webnn.javascript.channel import Bytes, Message
from webnn.serve import sessions as limits
from webnn.serve.messages import MessageError
from webnn.serve.options import Options
from webnn.serve.session import SMALL, EndedError, Session, Visitor, read_visitor
from webnn.serve.sessions import FullError, Sessions

Begin = Callable[..., Session]


@pytest.fixture
async def begin() -> AsyncIterator[Begin]:
    """Begin sessions. None of them may have a fault."""
    sessions: list[Session] = []
    faults: list[str] = []

    def begin_session(visitor: Visitor = VISITOR, **options: Any) -> Session:
        sessions.append(Session("0123456789abcdef", visitor, Options(**options), faults.append))
        return sessions[-1]

    yield begin_session
    for session in sessions:
        session.end()
        session.join()
    assert faults == []


CONTEXT = request("ML", "createContext", 0)


def listen(session: Session, *options: Callable[[], int]) -> asyncio.Queue[list[Bytes]]:
    """Connect a page to a session; return what it is sent."""
    pushed: asyncio.Queue[list[Bytes]] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    session.connect(lambda body: loop.call_soon_threadsafe(pushed.put_nowait, body) and None, *options)
    return pushed


async def test_requests_are_carried_out_by_their_numbers(begin: Begin) -> None:
    session = begin()
    second = asyncio.create_task(session.exchange(2, [Message("C", [b'"nothing"'])]))
    await asyncio.sleep(0.05)
    assert not second.done()
    await Caller(session).complete(CONTEXT)
    number, kind, [answer] = open_body(await second)
    assert (number, kind, json.loads(answer)) == (2, "A", {"value": None})


async def test_a_request_that_comes_again_gets_the_same_answer(begin: Begin) -> None:
    session = begin()
    caller = Caller(session)
    await caller.complete(CONTEXT)
    message = Message("C", [request("MLGraphBuilder", "constructor", None, {"$h": 1})])
    first, again = [await session.exchange(2, [message]) for _ in range(2)]
    assert first == again
    with pytest.raises(MessageError, match="the request 1 comes too late"):
        await session.exchange(1, [message])


async def test_requests_without_an_answer_come_first(begin: Begin) -> None:
    session = begin()
    caller = Caller(session)
    builder, x, _ = await prepare(caller)
    told = json.dumps(["MLGraphBuilder", "relu", builder, [{"$h": x}], [], [], [-1]]).encode()
    messages = [Message("D", [told]), Message("C", [request("MLGraphBuilder", "relu", builder, {"$h": -1})])]
    _, _, [answer] = open_body(await session.exchange(caller.number + 1, messages))
    assert json.loads(answer)["value"]["$i"] == "MLOperand"
    assert (session.counts.told, session.counts.calls) == (1, 5)


async def test_requests_that_are_repeated_are_carried_out_once(begin: Begin) -> None:
    session = begin()
    builder = Message("P", [request("MLGraphBuilder", "constructor", None, {"$h": 1})])
    start = Message("P", [CONTEXT])
    assert open_body(await session.exchange(1, [start]))[:2] == (1, "A")
    await session.result(1)
    assert open_body(await session.exchange(1, [start, builder]))[:2] == (2, "A")
    assert open_body(await session.exchange(1, [start, builder]))[:2] == (2, "A")
    assert open_body(await session.exchange(2, [builder, Message("C", [b'"nothing"'])]))[:2] == (3, "A")
    assert session.counts.calls == 3
    _, kind, [answer] = open_body(await session.result(2))
    assert (kind, json.loads(answer)["value"]["$h"]) == ("R", 2)


async def test_results_that_a_page_does_not_read_are_fetched(begin: Begin) -> None:
    session = begin()
    pushed = listen(session, lambda: 1 << 26)
    await session.exchange(1, [Message("P", [CONTEXT])])
    assert open_body(await asyncio.wait_for(pushed.get(), 60))[:2] == (1, "N")
    assert open_body(await session.result(1))[:2] == (1, "R")


async def prepare(caller: Caller) -> tuple[int, int, int]:
    """Make a context, a builder and an operand; return the handles of the last two, and that of its relu."""
    await caller.make(CONTEXT)
    builder = await caller.make(request("MLGraphBuilder", "constructor", None, {"$h": 1}))
    x = await caller.make(request("MLGraphBuilder", "input", builder, "x", PAIR))
    return builder, x, await caller.make(request("MLGraphBuilder", "relu", builder, {"$h": x}))


async def test_a_page_tells_its_lines(begin: Begin) -> None:
    session = begin(lines=True)
    caller = Caller(session)
    builder, x, _ = await prepare(caller)
    told = [
        json.dumps(["MLGraphBuilder", name, builder, [{"$h": x}], [], [], [handle]]).encode() for name, handle in (("sin", -1), ("cos", -2))
    ]
    ask = request("MLGraphBuilder", "add", builder, {"$h": -1}, {"$h": -2})
    messages = [Message("L", [b"https://a.test/p.js:7"]), *(Message("D", [each]) for each in told), Message("C", [ask])]
    _, _, [answer] = open_body(await session.exchange(caller.number + 1, messages))
    caller.number += len(messages)
    # A later body goes on from the same line.
    last = await caller.make(request("MLGraphBuilder", "exp", builder, {"$h": json.loads(answer)["value"]["$h"]}))
    await caller.complete(request("MLGraphBuilder", "build", builder, {"$r": [["y", {"$h": last}]]}))
    [graph] = [each.graph() for each in session.record.graphs()[0]]
    assert graph is not None
    lines = viewer.find_lines(graph)
    assert [lines[each] for each in sorted(lines)][-4:] == [("https://a.test/p.js", 7)] * 4


@pytest.mark.parametrize(
    ("lines", "parts", "fault"),
    [
        (False, [b"a:1"], "if it is asked for them"),
        (True, [b"a:1", b""], "alone"),
        (True, [b"a"], "an address and a number, got 'a'"),
        (True, [b"a:" + b"1" * 10], "an address and a number"),
        (True, [b"a" * 2000 + b":1"], "an address and a number"),
        (True, [b"\xff:1"], "not UTF-8"),
    ],
    ids=["not asked for", "with bytes", "without a number", "a long number", "a long address", "no text"],
)
async def test_lines_that_are_none(begin: Begin, lines: bool, parts: list[bytes], fault: str) -> None:
    session = begin(lines=lines)
    with pytest.raises(MessageError, match=fault):
        await session.exchange(1, [Message("L", list(parts))])


async def begin_slowly(begin: Begin) -> tuple[Caller, int, int]:
    """Begin to build a graph, which takes long; return who did, the number of the operation, and the handle of an operand."""
    faults = webnn.Faults()
    caller = Caller(begin(faults=faults))
    builder, x, y = await prepare(caller)
    faults.delay = 0.3
    answer, _ = await caller.answer(request("MLGraphBuilder", "build", builder, {"$r": [["y", {"$h": y}]]}))
    return caller, answer["pending"], x


async def test_a_slow_operation_does_not_hold_up_the_next_call(begin: Begin) -> None:
    caller, pending, x = await begin_slowly(begin)
    result = asyncio.create_task(caller.session.result(pending))
    assert await caller.make(request("MLGraphBuilder", "constructor", None, {"$h": 1})) > x
    assert not result.done()
    _, kind, [text] = open_body(await result)
    assert (kind, json.loads(text)["value"]["$i"]) == ("R", "MLGraph")
    with pytest.raises(MessageError, match="there is no operation"):
        await caller.session.result(pending)


async def test_a_waiter_that_goes_away_leaves_the_result(begin: Begin) -> None:
    """A browser may end a request, and fetch the result again: others wait for the same one."""
    caller, pending, _ = await begin_slowly(begin)
    gone, *others = [asyncio.create_task(caller.session.result(pending)) for _ in range(3)]
    await asyncio.sleep(0.05)
    gone.cancel()
    with pytest.raises(asyncio.CancelledError):
        await gone
    for other in others:
        _, kind, [text] = open_body(await other)
        assert (kind, json.loads(text)["value"]["$i"]) == ("R", "MLGraph")


@pytest.mark.parametrize(("count", "kind"), [(4, "R"), (1 << 20, "N")], ids=["small", "large"])
async def test_results_are_pushed(begin: Begin, count: int, kind: str) -> None:
    faults = webnn.Faults()
    session = begin(faults=faults)
    caller = Caller(session)
    await caller.make(CONTEXT)
    descriptor = {"dataType": "float32", "shape": [count], "readable": True, "writable": True}
    tensor = await caller.make(request("MLContext", "createTensor", 1, descriptor))
    view = {"kind": "ArrayBuffer", "buffer": 0, "offset": 0, "length": 4 * count, "detached": False, "sent": True}
    content = np.arange(count, dtype=np.float32).tobytes()
    await caller.complete(request("MLContext", "writeTensor", 1, {"$h": tensor}, {"$v": 0}, views=[view]), content)
    pushed = listen(session)
    faults.delay = 0.05
    answer, _ = await caller.answer(request("MLContext", "readTensor", 1, {"$h": tensor}))
    number, letter, parts = open_body(await asyncio.wait_for(pushed.get(), 60))
    assert (number, letter) == (answer["pending"], kind)
    if kind == "N":
        _, _, parts = open_body(await session.result(number))
    assert parts[1] == content


async def test_the_bytes_of_large_results_are_counted(begin: Begin) -> None:
    session = begin()
    caller = Caller(session)
    await caller.make(CONTEXT)
    descriptor = {"dataType": "float32", "shape": [SMALL], "readable": True}
    tensor = await caller.make(request("MLContext", "createTensor", 1, descriptor))
    _, [content] = await caller.complete(request("MLContext", "readTensor", 1, {"$h": tensor}))
    assert len(content) == session.counts.sent == 4 * SMALL


async def test_a_read_that_waits_names_the_fault(begin: Begin) -> None:
    faults = webnn.Faults(failCompute=1, delay=0.1)
    session = begin(faults=faults)
    caller = Caller(session)
    builder, _, y = await prepare(caller)
    graph = await caller.make(request("MLGraphBuilder", "build", builder, {"$r": [["y", {"$h": y}]]}))
    given, made = [await caller.make(request("MLContext", "createTensor", 1, {**PAIR, "readable": True})) for _ in range(2)]
    sides = [{"$r": [[name, {"$h": tensor}]]} for name, tensor in (("x", given), ("y", made))]
    await caller.answer(request("MLContext", "dispatch", 1, {"$h": graph}, *sides))
    # It waits for the computation.
    answer, _ = await caller.complete(request("MLContext", "readTensor", 1, {"$h": made}))
    assert answer["error"][0] == "InvalidStateError"
    assert "an injected fault (failCompute=1)" in answer["error"][1]


@pytest.mark.parametrize("early", [False, True], ids=["connected before", "connected after"])
async def test_a_lost_context_is_pushed(begin: Begin, early: bool) -> None:
    session = begin()
    caller = Caller(session)
    await caller.make(CONTEXT)
    if early:
        await caller.answer(request("MLContext", "destroy", 1))
    pushed = listen(session)
    if not early:
        await caller.answer(request("MLContext", "destroy", 1))
    _, kind, [text] = open_body(await asyncio.wait_for(pushed.get(), 60))
    assert (kind, json.loads(text)) == ("L", [[1, "destroy() was called"]])


async def test_the_end(begin: Begin) -> None:
    session = begin(faults=webnn.Faults(delay=30))
    caller = Caller(session)
    answer, _ = await caller.answer(CONTEXT)
    waiting = [asyncio.create_task(each) for each in (session.result(answer["pending"]), session.exchange(9, []))]
    await asyncio.sleep(0.05)
    session.end()
    session.end()
    for task in waiting:
        with pytest.raises(EndedError):
            await task
    with pytest.raises(EndedError):
        await caller.answer(CONTEXT)
    session.join()
    assert session.ended
    assert session.contexts() == {}


async def test_other_options_make_later_contexts(begin: Begin) -> None:
    session = begin()
    caller = Caller(session)
    await caller.make(CONTEXT)
    await session.change(Options(faults=webnn.Faults(refuse=["cpu", "gpu", "npu"])))
    answer, _ = await caller.complete(CONTEXT)
    assert answer["error"][0] == "NotSupportedError"
    with pytest.raises(ValueError, match="profile"):
        await session.change(Options(profile="no such profile"))
    assert list(session.contexts()) == [1]


@pytest.mark.parametrize(
    ("visitor", "allowed"),
    [
        (VISITOR, True),
        (Visitor(origin="https://a.test", policy="webnn=()"), False),
        (Visitor(origin="https://a.test", ancestors=("https://a.test",)), True),
        (Visitor(origin="https://b.test", ancestors=("https://a.test",)), False),
        (Visitor(origin="https://b.test", ancestors=("https://a.test",), allow="webnn"), True),
        (Visitor(origin="https://a.test", ancestors=("https://b.test", "https://a.test")), False),
        # A browser that knows the feature decides: a frame of another origin does not see its attribute.
        (Visitor(origin="https://b.test", ancestors=("https://a.test",), allowed=True), True),
        (Visitor(origin="https://b.test", ancestors=("https://a.test",), allowed=False), False),
        (Visitor(origin="https://a.test", allowed=False), False),
        (Visitor(origin="https://a.test", policy="webnn=()", allowed=True), True),
    ],
)
async def test_the_permissions_policy(begin: Begin, visitor: Visitor, *, allowed: bool) -> None:
    answer, _ = await Caller(begin(visitor)).complete(CONTEXT)
    assert answer.get("error", ["none"])[0] == ("none" if allowed else "SecurityError")


def test_a_visitor_is_read() -> None:
    told = {**HELLO, "kind": "worker", "ancestors": ["https://b.test"], "first": 7}
    visitor = Visitor(kind="worker", url="https://a.test/", origin="https://a.test", ancestors=("https://b.test",), first=7)
    assert read_visitor(json.dumps(told).encode()) == visitor
    for allowed in (True, False, None):
        assert read_visitor(json.dumps({**told, "allowed": allowed}).encode()).allowed is allowed


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff",
        b"[" * 100_000,
        b"[]",
        b"{}",
        *(
            json.dumps({**HELLO, **wrong}).encode()
            for wrong in (
                {"kind": "serviceworker"},
                {"url": 1},
                {"url": "x" * 5000},
                {"ancestors": "https://a.test"},
                {"ancestors": [1]},
                {"ancestors": ["https://a.test"] * 33},
                {"first": 0},
                {"first": True},
                {"first": 1e300},
                {"policy": None},
                {"allowed": 1},
                {"allowed": "yes"},
            )
        ),
    ],
)
def test_what_no_page_says_of_itself_is_refused(content: bytes) -> None:
    with pytest.raises(MessageError):
        read_visitor(content)


NAME = "0123456789abcdef"


async def test_sessions_end_with_the_last_connection() -> None:
    sessions = Sessions(Options(), pytest.fail)
    session = sessions.begin(NAME, VISITOR)
    assert sessions.begin(NAME, VISITOR) is session is sessions.find(NAME)
    for _ in range(2):
        sessions.connect(session)
    sessions.disconnect(session)
    assert not session.ended
    sessions.disconnect(session)
    assert session.ended
    assert sessions.living == {}
    # A late request does not begin it again.
    for find in (lambda: sessions.find(NAME), lambda: sessions.begin(NAME, VISITOR)):
        with pytest.raises(EndedError):
            find()
    session.join()


async def test_silent_pages_without_a_connection_end(monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = Sessions(Options(), pytest.fail)
    kept, silent = [sessions.begin(NAME + digit, VISITOR) for digit in "01"]
    sessions.connect(kept)
    sessions.sweep()
    assert len(sessions.living) == 2
    monkeypatch.setattr(limits, "_IDLE", -1.0)
    sessions.sweep()
    assert list(sessions.living.values()) == [kept]
    assert silent.ended
    sessions.close()


@pytest.mark.parametrize("name", ["", "short", "x" * 32, "0" * 65, "../0123456789abcdef"])
async def test_names_are_digits(name: str) -> None:
    with pytest.raises(MessageError, match="hexadecimal"):
        Sessions(Options(), pytest.fail).begin(name, VISITOR)


async def test_there_are_at_most_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_MOST_SESSIONS", 1)
    sessions = Sessions(Options(), pytest.fail)
    sessions.begin(NAME, VISITOR)
    with pytest.raises(FullError, match="there are 1 sessions"):
        sessions.begin(NAME + "0", VISITOR)
    sessions.close()


def test_announced_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_MOST_WORKERS", 2)
    sessions = Sessions(Options(), pytest.fail)
    for url, kind in (("/a", "classic"), ("/b", "module"), ("/a", "module"), ("/c", "classic")):
        sessions.announce(url, kind)
    assert dict(sessions.workers) == {"/a": "module", "/c": "classic"}
