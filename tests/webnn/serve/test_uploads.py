"""Bodies on their way: announcements hold nothing, what is held is counted, and what does not come is forgotten."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from types import SimpleNamespace

import pytest

import webnn
from tests.support import PATIENCE
from tests.webnn.serve.pages import GREETING, NOTHING, body, end_all, eventually, message
from tests.webnn.serve.raw import Answer, ask, connect, read_answer, request
from webnn.serve import door, guard, memory, messages, session, sessions, uploads
from webnn.serve import server as server_module
from webnn.serve.options import Options
from webnn.serve.server import Server
from webnn.serve.uploads import _AHEAD, _MOST_UPLOADS

NAMES = [f"{number:032x}" for number in range(3)]


class Sender:
    """A session that sends bodies, whole or not."""

    def __init__(self, server: Server, name: str = NAMES[0]) -> None:
        self.server = server
        self._name = name
        self._open = AsyncExitStack()

    async def __aenter__(self) -> Sender:
        await self._open.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._open.aclose()

    def address(self, path: str) -> str:
        return f"/__webnn__/{self.server.token}/{path}?s={self._name}"

    async def ask(self, path: str, content: bytes) -> Answer:
        return await ask(self.server.port, self.address(path), method="POST", body=content)

    async def announce(self, path: str, size: int, content: bytes = b"") -> asyncio.StreamReader:
        """Send the beginning of a body, and leave the connection open."""
        reader, writer = await self._open.enter_async_context(connect(self.server.port))
        writer.write(request(self.server.port, self.address(path), f"Content-Length: {size}", method="POST") + content)
        await writer.drain()
        return reader


async def until_held(server: Server, size: int) -> None:
    await eventually(lambda: server._uploads.held == size)


@pytest.fixture
async def sender(server: Server) -> AsyncIterator[Sender]:
    async with Sender(server) as made:
        assert (await made.ask("call", body(GREETING))).status == 200
        yield made
    end_all(server.sessions)


async def test_an_announcement_holds_little(sender: Sender, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others send while bodies of 2 GiB are announced, and never come."""
    monkeypatch.setattr(uploads, "_MOST_BYTES", 4 * _AHEAD)
    for path in ("call", "call", "piece"):
        await sender.announce(path, uploads._LONGEST_BODY, b"beginning")
    async with asyncio.timeout(PATIENCE):
        while sender.server._uploads.held < 3 * _AHEAD:
            await asyncio.sleep(0.01)
    async with Sender(sender.server, NAMES[1]) as other:
        assert (await other.ask("call", body(GREETING, NOTHING))).status == 200
        # Bytes are counted as they come.
        assert (await other.ask("call", bytes(_AHEAD + 1000))).status == 503
    assert sender.server._uploads.held <= 4 * _AHEAD


@pytest.mark.parametrize("path", ["call", "piece", "worker", "ignored"])
async def test_a_session_sends_a_few_bodies_at_once(sender: Sender, path: str) -> None:
    for _ in range(_MOST_UPLOADS):
        await sender.announce(path, 1000)
    async with asyncio.timeout(PATIENCE):
        while sum(sender.server._uploads._coming.values()) < _MOST_UPLOADS:
            await asyncio.sleep(0.01)
    refused = await sender.ask(path, body(NOTHING, number=2))
    assert (refused.status, f"at most {_MOST_UPLOADS} bodies at once" in refused.body.decode()) == (429, True)
    async with Sender(sender.server, NAMES[1]) as other:
        assert (await other.ask("call", body(GREETING, NOTHING))).status == 200


@pytest.mark.parametrize("path", ["call", "piece", "worker", "ignored"])
async def test_a_body_that_does_not_come_is_refused(sender: Sender, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "_LONGEST_SILENCE", 0.1)
    readers = [await sender.announce(path, 1000, b"beginning") for _ in range(3)]
    assert {(await read_answer(reader)).status for reader in readers} == {408}
    await until_held(sender.server, 0)
    assert not sender.server._uploads._coming


async def test_a_slow_body_may_go_on(sender: Sender, monkeypatch: pytest.MonkeyPatch) -> None:
    """Silence is counted from the last byte."""
    monkeypatch.setattr(uploads, "_LONGEST_SILENCE", 1.0)
    content = body(NOTHING, number=1)
    async with connect(sender.server.port) as (reader, writer):
        writer.write(request(sender.server.port, sender.address("call"), f"Content-Length: {len(content)}", method="POST"))
        for start in range(len(content)):
            writer.write(content[start : start + 1])
            await asyncio.sleep(0.04)
        assert (await read_answer(reader)).status == 200


async def test_pieces_are_counted_until_the_answer(sender: Sender) -> None:
    content = body(message("C", b'"nothing"', bytes(3000)), NOTHING, number=1)
    for start, size in ((0, 1000), (1000, 1500)):
        assert (await sender.ask("piece", content[start : start + size])).status == 200
        assert sender.server._uploads.held == start + size
    # A request that breaks off leaves them.
    async with connect(sender.server.port) as (_, writer):
        writer.write(request(sender.server.port, sender.address("call"), "Content-Length: 1000", method="POST") + b"wrong")
        await writer.drain()
        async with asyncio.timeout(PATIENCE):
            while not sender.server._uploads._coming:
                await asyncio.sleep(0.01)
    await until_held(sender.server, 2500)
    assert (await sender.ask("call", content[2500:])).status == 200
    await until_held(sender.server, 0)


async def test_a_body_that_waits_for_its_turn_is_held(sender: Sender) -> None:
    late = body(NOTHING, number=2)
    waiting = asyncio.create_task(sender.ask("call", late))
    await until_held(sender.server, len(late))
    assert (await sender.ask("call", body(NOTHING, number=1))).status == 200
    assert (await waiting).status == 200
    await until_held(sender.server, 0)


async def test_pieces_and_the_rest_are_one_body(sender: Sender, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "_LONGEST_BODY", 4096)
    statuses = [(await sender.ask(path, bytes(3000))).status for path in ("piece", "piece", "call")]
    assert statuses == [200, 413, 413]
    assert sender.server._uploads.held == 3000


async def test_pieces_whose_rest_does_not_come_are_forgotten(sender: Sender, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = sender.server._uploads
    assert (await sender.ask("piece", bytes(1000))).status == 200
    kept.sweep([NAMES[0]])
    assert kept.held == 1000
    now = time.monotonic() + uploads._LONGEST_UPLOAD + 1
    with monkeypatch.context() as patch:
        patch.setattr(uploads, "time", SimpleNamespace(monotonic=lambda: now))
        kept.sweep([NAMES[0]])
    assert (kept.held, kept._pieces) == (0, {})
    assert (await sender.ask("piece", bytes(1000))).status == 200
    kept.sweep([])
    assert (kept.held, kept._pieces) == (0, {})


async def test_a_result_that_waits_is_no_upload() -> None:
    """A page fetches many results at once: they have no bodies."""
    faults = webnn.Faults(delay=0.3)
    with Server(None, Options(faults=faults)) as server:
        async with Sender(server) as sender:
            start = message("P", b'["ML", "createContext", 0, [], [], []]')
            count = 2 * _MOST_UPLOADS
            assert (await sender.ask("call", body(GREETING, *[start] * count))).status == 200
            answers = await asyncio.gather(
                *(ask(server.port, f"{sender.address('result')}&n={1 + number}", method="POST") for number in range(count))
            )
    assert {answer.status for answer in answers} == {200}


LIMITS = {
    "messages": f"{messages._MOST_MESSAGES:,}",
    "parts": f"{messages._MOST_PARTS:,}",
    "bytes of one text (JSON)": f"{messages._LONGEST_TEXT >> 20} MiB",
    "brackets, colons and commas of one text": f"{messages._MOST_MARKS:,}",
    "bytes of all texts": f"{messages._MOST_TEXT >> 20} MiB",
    "bytes": f"{uploads._LONGEST_BODY >> 30} GiB",
    "bodies on their way at once": f"{uploads._MOST_UPLOADS}",
    "silence within a body": f"{uploads._LONGEST_SILENCE:.0f} s",
    "time for a body, and for the rest of one that comes in pieces": f"{uploads._LONGEST_UPLOAD / 60:.0f} min",
    "its first message": f"{session._LONGEST_HELLO >> 10} KiB",
    "results that are not fetched": f"{session._MOST_RESULTS:,}",
    "bytes of writes that are kept for equal ones": f"{session._MOST_KEPT >> 20} MiB",
    "bytes of bodies at once": f"{uploads._MOST_BYTES >> 30} GiB",
    "sessions": f"{sessions._MOST_SESSIONS}",
    "bytes that its page keeps": f"{memory.MEMORY >> 30} GiB, or what `--memory-limit` says in MiB",
    "live connections": f"{server_module._MOST_LIVE}",
    "requests at once": f"{guard._MOST_REQUESTS:,}",
    "connections without the head of a request": f"{door._MOST_WAITING}",
    "seconds until that head is there": f"{door._PATIENCE:.0f}",
    "bytes of that head": f"{door._LONGEST_HEAD >> 10} KiB",
}


def test_the_limits_are_documented() -> None:
    text = (Path(__file__).parents[3] / "docs" / "pages.md").read_text(encoding="utf-8").partition("### What is limited")[2]
    rows = [[cell.strip() for cell in line.split("|")[1:3]] for line in text.splitlines() if line.startswith("|")]
    assert {name: most for name, most in rows if most[:1].isdigit()} == LIMITS
