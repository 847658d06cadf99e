"""The bodies of pages: what goes in comes out, and what an enemy sends is refused."""

from __future__ import annotations

import struct
import threading

import numpy as np
import pytest

from tests.webnn.serve.pages import body, message
from webnn.javascript.channel import Bytes, Message
from webnn.serve import messages
from webnn.serve.messages import MessageError, close_reason, pack, read_text, size_of, unpack, unpack_aside


def test_messages_go_through() -> None:
    number, got = unpack(body(message("H", b"{}"), message("D", b"one", b"12", b""), message("C", b"two"), number=7))
    assert number == 7
    assert [(kind, [bytes(part) for part in parts]) for kind, parts in got] == [
        ("H", [b"{}"]),
        ("D", [b"one", b"12", b""]),
        ("C", [b"two"]),
    ]


@pytest.mark.parametrize("size", [2, messages._LARGE], ids=["small", "large"])
@pytest.mark.parametrize("kind", [bytes, bytearray])
def test_parts_have_memory_of_their_own(kind: type[bytes | bytearray], size: int) -> None:
    content = kind(body(message("C", b"", b"1" * size)))
    _, [(_, [_, part])] = unpack(content)
    memoryview(part)[0:1] = b"9"
    assert (size_of(part), bytes(part[:2])) == (size, b"91")
    assert content[-size:] == b"1" * size


@pytest.mark.parametrize(
    ("text", "size", "isUnwritable"),
    [
        (b'["MLGraphBuilder","constant",-1]', 8, True),
        (b'["MLGraphBuilder","constant",-1]', messages._LARGEST_CONSTANT, False),
        (b'["MLContext","writeTensor",1]', 8, False),
    ],
    ids=["constant", "large constant", "tensor"],
)
def test_a_constant_cannot_be_written_to(text: bytes, size: int, isUnwritable: bool) -> None:
    """So the builder does not copy it."""
    _, [(_, [_, part])] = unpack(body(message("D", text, b"1" * size)))
    assert memoryview(part).readonly is isUnwritable
    assert (type(part) is bytes) is isUnwritable


def test_packed_bodies_have_the_same_form() -> None:
    content = memoryview(np.array([1, 2], np.float32))
    assert b"".join(pack(3, "C", [b"text", content])) == body(message("C", b"text", struct.pack("<2f", 1, 2)), number=3)


HUGE = 1 << 62


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "begins with a number"),
        (b"\1\0\0", "begins with a number"),
        (body(), "at least one message"),
        (body(b"WNC"), "incomplete"),
        (body(b"XXC\0\1\0\0\0" + bytes(8)), "no such message"),
        (body(b"WNA\0\1\0\0\0" + bytes(8)), "no such message"),
        (body(b"WNC\0\0\0\0\0"), "incomplete"),
        (body(b"WNC\0\2\0\0\0" + bytes(8)), "incomplete"),
        (body(b"WNC\0\xff\xff\xff\xff" + bytes(8)), "incomplete"),
        (body(b"WNC\0" + struct.pack("<IQ", 1, HUGE)), f"at most {messages._LONGEST_TEXT} bytes"),
        (body(message("C", b"text"), message("H", b"{}")), "no such message"),
        (body(message("H", b"{}"), message("H", b"{}")), "no such message"),
        (body(b"WNC\0" + struct.pack("<IQQ", 2, 1, HUGE) + b"x"), "incomplete"),
        (body(message("C", b"text")[:-1]), "incomplete"),
        (body(message("C", b"text"), b"rest"), "incomplete"),
    ],
)
def test_what_is_no_message_is_refused(content: bytes, why: str) -> None:
    with pytest.raises(MessageError, match=why):
        unpack(content)


LITTLE = message("C", b"[]")


@pytest.mark.parametrize(
    ("limit", "most", "pieces", "why"),
    [
        ("_MOST_MESSAGES", 3, [LITTLE] * 3, "a body has at most 3 messages"),
        ("_MOST_PARTS", 6, [LITTLE, message("D", b"[]", *[b""] * 4)], "the messages of a body have at most 6 parts"),
        ("_LONGEST_TEXT", 2, [LITTLE], "the text of a message has at most 2 bytes, got 3"),
        ("_MOST_TEXT", 6, [LITTLE] * 3, "the texts of a body have at most 6 bytes"),
    ],
    ids=["messages", "parts", "text", "texts"],
)
def test_what_a_body_may_have(monkeypatch: pytest.MonkeyPatch, limit: str, most: int, pieces: list[bytes], why: str) -> None:
    assert getattr(messages, limit) > 1 << 10
    monkeypatch.setattr(messages, limit, most)
    assert len(unpack(body(*pieces))[1]) == len(pieces)
    with pytest.raises(MessageError, match=why):
        unpack(body(*pieces, message("C", b"[1]")))


@pytest.mark.parametrize("mark", list("[{:,"))
def test_a_text_that_takes_long_to_read_is_refused(mark: str) -> None:
    most = messages._MOST_MARKS
    assert read_text(b"x" + mark.encode() * most) == "x" + mark * most
    with pytest.raises(MessageError, match=f"at most {most} brackets, colons and commas"):
        read_text(b"x" + mark.encode() * (most + 1))


@pytest.mark.parametrize("size", [0, messages._LARGE], ids=["small", "large"])
async def test_a_large_body_is_unpacked_in_another_thread(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    threads: list[int] = []

    def follow(content: Bytes) -> tuple[int, list[Message]]:
        threads.append(threading.get_ident())
        return unpack(content)

    monkeypatch.setattr(messages, "unpack", follow)
    assert (await unpack_aside(body(message("C", b"", bytes(size)))))[0] == 1
    assert (threads == [threading.get_ident()]) == (size == 0)


def test_text_is_utf_8() -> None:
    assert read_text("é".encode()) == "é"
    with pytest.raises(MessageError, match="from byte 1 on"):
        read_text(b"a\xff")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("why", "why"),
        ("a" * 200, "a" * 100),
        ("é" * 200, "é" * 50),
        ("a" + "é" * 200, "a" + "é" * 49),
        ("\ud800", "?"),
        (ValueError("é"), "é"),
    ],
    ids=["short", "long", "two bytes each", "cut in a character", "half a character", "an error"],
)
def test_reasons_are_cut_between_characters(text: object, reason: str) -> None:
    assert close_reason(text) == reason
