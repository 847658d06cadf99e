"""Bytes that a page writes to a tensor again are not sent again, and are those of now all the same."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tests.webnn.serve import test_page_host
from tests.webnn.serve.pages import VISITOR, Caller, end_all, request
from tests.webnn.serve.test_page_host import START, Page
from webnn.javascript.channel import Message
from webnn.serve import session as session_module
from webnn.serve.messages import MessageError, total_size
from webnn.serve.options import Options
from webnn.serve.script import make_script
from webnn.serve.session import SMALL, Session

COUNT = SMALL // 4
TENSOR = {"dataType": "float32", "shape": [COUNT], "readable": True, "writable": True}


# The session


def values(value: float) -> bytes:
    return np.full(COUNT, value, np.float32).tobytes()


def write(tensor: int, size: int = SMALL) -> bytes:
    """Return the text of a write without an answer."""
    view = {"kind": "Float32Array", "buffer": 0, "offset": 0, "length": size, "detached": False, "sent": True}
    return json.dumps(["MLContext", "writeTensor", 1, [{"$h": tensor}, {"$v": 0}], [view], [], []]).encode()


class Writer(Caller):
    """A page with a context and a tensor."""

    async def begin(self) -> Writer:
        await self.make(request("ML", "createContext", 0))
        self.tensor = await self.make(request("MLContext", "createTensor", 1, TENSOR))
        return self

    async def send(self, kind: str, content: bytes | None = None, text: bytes | None = None) -> None:
        self.number += 1
        parts = [text or write(self.tensor), *([] if content is None else [bytearray(content)])]
        await self.session.exchange(self.number, [Message(kind, parts)])

    async def read(self, tensor: int | None = None) -> float:
        _, [content] = await self.complete(request("MLContext", "readTensor", 1, {"$h": tensor or self.tensor}))
        [value] = set(np.frombuffer(content, np.float32))
        return float(value)


Begin = Callable[[], Any]


@pytest.fixture
async def begin() -> AsyncIterator[Begin]:
    sessions: list[Session] = []
    faults: list[str] = []

    async def begin_session() -> Writer:
        sessions.append(Session("0123456789abcdef", VISITOR, Options(), faults.append))
        return await Writer(sessions[-1]).begin()

    yield begin_session
    for session in sessions:
        session.end()
        session.join()
        assert not session._kept
    assert faults == []


async def test_the_last_bytes_are_found(begin: Begin) -> None:
    writer = await begin()
    for value in (1, 2):
        await writer.send("K", values(value))
        # Another write between them is another request, whose bytes are not kept.
        await writer.send("D", values(9))
        assert await writer.read() == 9
        for _ in range(2):
            await writer.send("S")
            assert await writer.read() == value
    assert writer.session.counts.told == 8


async def test_tensors_have_bytes_of_their_own(begin: Begin) -> None:
    writer = await begin()
    first, second = writer.tensor, await writer.make(request("MLContext", "createTensor", 1, TENSOR))
    await writer.send("K", values(1), write(first))
    await writer.send("K", values(2), write(second))
    for text in (write(first), write(second)):
        await writer.send("S", text=text)
    assert (await writer.read(first), await writer.read(second)) == (1, 2)


async def test_a_repeated_request_is_not_carried_out_again(begin: Begin) -> None:
    writer = await begin()
    await writer.send("K", values(1))
    await writer.send("S")
    again = writer.number
    await writer.send("K", values(2))
    for kind, number, content in (("S", again, []), ("K", again - 1, [values(1)])):
        await writer.session.exchange(number, [Message(kind, [write(writer.tensor), *content])])
    assert await writer.read() == 2
    await writer.send("S")
    assert await writer.read() == 2


async def test_sessions_have_bytes_of_their_own(begin: Begin) -> None:
    first, second = await begin(), await begin()
    await first.send("K", values(1))
    with pytest.raises(MessageError, match="there are no bytes that were kept"):
        await second.send("S")
    assert await second.read() == 0


@pytest.mark.parametrize(
    ("kind", "parts", "match"),
    [
        ("S", [write(9)], "there are no bytes that were kept"),
        ("S", [write(2), values(1)], "there are no bytes that were kept"),
        ("K", [write(2)], "has one part"),
        ("K", [write(2), values(1), values(1)], "has one part"),
        ("K", [write(2), b"little"], "has one part"),
        ("K", [write(2), bytes(session_module._MOST_KEPT + 1)], "has one part"),
        ("K", [write(2) + b" " * 5000, values(1)], "is short"),
    ],
    ids=["another request", "bytes", "no bytes", "two parts", "little", "much", "a long text"],
)
async def test_forged_messages(begin: Begin, kind: str, parts: list[bytes], match: str) -> None:
    writer = await begin()
    await writer.send("K", values(1))
    with pytest.raises(MessageError, match=match):
        await writer.session.exchange(writer.number + 1, [Message(kind, list(parts))])
    assert list(writer.session._kept.values()) == [values(1)]


async def test_what_is_kept_is_bounded(begin: Begin) -> None:
    writer = await begin()
    text = write(writer.tensor)
    most = session_module._MOST_KEPT // SMALL
    for number in range(most + 1):
        assert len(writer.session._kept) == number
        await writer.send("K", values(number), text + b" " * number)
    assert total_size(writer.session._kept.values()) == SMALL
    await writer.send("S", text=text + b" " * most)
    assert await writer.read() == most
    with pytest.raises(MessageError, match="there are no bytes that were kept"):
        await writer.send("S", text=text)


async def test_bytes_that_are_replaced_do_not_count(begin: Begin) -> None:
    """Of two requests whose bytes fill what may be kept, each is written again: both stay."""
    writer = await begin()
    half = session_module._MOST_KEPT // 2
    tensor = {**TENSOR, "shape": [half // 4]}
    texts = [write(await writer.make(request("MLContext", "createTensor", 1, tensor)), half) for _ in range(2)]
    for value, text in ((1, texts[0]), (1, texts[1]), (2, texts[0]), (2, texts[0])):
        await writer.send("K", np.full(half // 4, value, np.float32).tobytes(), text)
    assert total_size(writer.session._kept.values()) == session_module._MOST_KEPT
    for text in texts:
        await writer.send("S", text=text)
    # One byte more than fits: all others go.
    await writer.send("K", values(3))
    assert total_size(writer.session._kept.values()) == SMALL


# The page


@pytest.fixture
def page() -> Iterator[Page]:
    made = Page(Options())
    yield made
    made.close()
    assert made.faults == []


WRITE = START + (
    f"const made = () => context.createTensor({json.dumps(TENSOR)}), tensor = await made(), other = await made();"
    f"const values = new Float32Array({COUNT}), write = (to = tensor, from = values) => context.writeTensor(to, from);"
    "const read = async (of = tensor) => show(Array.from(new Set(new Float32Array(await context.readTensor(of)))).join());"
)


@pytest.fixture
def letters(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The letters of the writes that sessions carry out."""
    letters: list[str] = []

    def follow(method: Callable[..., Any]) -> Callable[..., Any]:
        def carry_out(*arguments: Any) -> Any:
            message: Message = arguments[-1]
            if b'"writeTensor"' in message.parts[0]:
                letters.append(message.kind)
            return method(*arguments)

        return carry_out

    for name in ("_tell", "_carry_out"):
        monkeypatch.setattr(Session, name, follow(getattr(Session, name)))
    return letters


@pytest.mark.parametrize(
    ("program", "printed", "sent"),
    [
        ("write(); write(); await read();", ["0"], "KS"),
        ("write(); values.fill(1); write(); write(); await read();", ["1"], "KKS"),
        ("write(); values[0] = 1; write(); await read();", ["1,0"], "KK"),
        (f"write(); values[{COUNT - 1}] = 1; write(); await read();", ["0,1"], "KK"),
        ("write(); values[0] = -0; write(); show(Object.is(new Float32Array(await context.readTensor(tensor))[0], -0));", ["true"], "KK"),
        ("write(); write(other); values.fill(1); write(other); write(); await read(); await read(other);", ["1", "1"], "KKKK"),
        ("write(); values.fill(1); write(); values.fill(0); write(); await read();", ["0"], "KKK"),
        # A view of other elements is another request, and so is one of another place in its buffer.
        (
            f"const bytes = new Uint8Array({SMALL} + 1); write(); write(tensor, bytes.subarray(0, {SMALL}));"
            f"write(tensor, bytes.subarray(1)); bytes[{SMALL}] = 64; write(tensor, bytes.subarray(1));"
            "show(new Float32Array(await context.readTensor(tensor)).at(-1));",
            ["2"],
            "KKKK",
        ),
        ("write(); tensor.destroy(); await attempt(write); await read(other);", ["InvalidStateError", "0"], "KC"),
        ("write(); context.destroy(); await context.lost; await attempt(write);", ["InvalidStateError"], "KC"),
    ],
    ids=["equal", "different", "first", "last", "bits", "two tensors", "back", "views", "destroyed", "lost"],
)
def test_what_is_sent(page: Page, letters: list[str], program: str, printed: list[str], sent: str) -> None:
    assert [each.split(":")[0] for each in page.run(WRITE + program)] == printed
    assert "".join(letters) == sent


def test_a_little_is_always_sent(page: Page, letters: list[str]) -> None:
    little = {**TENSOR, "shape": [2]}
    program = START + (
        f"const tensor = await context.createTensor({json.dumps(little)}), values = new Float32Array(2);"
        "for (let index = 0; index < 3; index++) context.writeTensor(tensor, values);"
        "show(new Float32Array(await context.readTensor(tensor)).join());"
    )
    assert page.run(program) == ["0,0"]
    assert "".join(letters) == "DDD"


def test_another_session_has_no_bytes(page: Page, letters: list[str]) -> None:
    """After a session has ended, everything is sent again."""
    program = WRITE + "write(); write(); await read(); globalThis.saved = context;"
    assert page.run(program) == ["0"]
    end_all(page.sessions)
    # The page knows it from the first call after the end of its live connection.
    make = "const builder = new MLGraphBuilder(saved);"
    for steps in (f"for (const each of sockets) each.close(); {make}", make):
        [error] = page.run(f"try {{ {steps} }} catch (error) {{ console.log(error.name); }}")
        assert error == "InvalidStateError"
    assert page.run(program) == ["0"]
    assert "".join(letters) == "KSKS"


def test_both_sides_forget_alike(letters: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The bytes of two tensors are kept at most, and three are written in turns."""
    own, most = "MOST_KEPT = 1 << 23,", 2 * SMALL
    assert own in make_script("", Options().idl())
    assert session_module._MOST_KEPT == 1 << 23
    monkeypatch.setattr(session_module, "_MOST_KEPT", most)
    monkeypatch.setattr(
        test_page_host, "make_script", lambda *args, **named: make_script(*args, **named).replace(own, f"MOST_KEPT = {most},")
    )
    page = Page(Options())
    program = START + (
        f"const make = () => context.createTensor({json.dumps(TENSOR)}), tensors = [await make(), await make(), await make()];"
        f"const values = new Float32Array({COUNT}).fill(1);"
        "for (let round = 0; round < 3; round++) for (const each of tensors) context.writeTensor(each, values);"
        "context.writeTensor(tensors[2], values); context.writeTensor(tensors[1], values);"
        "for (const each of tensors) show(Array.from(new Set(new Float32Array(await context.readTensor(each)))).join());"
    )
    assert page.run(program) == ["1", "1", "1"]
    # A fourth write needs the place of both.
    assert "".join(letters) == "KKK" * 3 + "SK"
    [session] = page.sessions.living.values()
    assert total_size(session._kept.values()) <= most
    page.close()
    assert page.faults == []
