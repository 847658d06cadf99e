"""The bodies of pages: what goes in comes out, and what an enemy sends is refused."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from webnn.serve.messages import MessageError, close_reason, pack, read_text, unpack


def body(*pieces: bytes, number: int = 1) -> bytes:
    return struct.pack("<I", number) + b"".join(pieces)


def message(kind: str, *parts: bytes) -> bytes:
    return b"WN" + kind.encode() + b"\0" + struct.pack(f"<I{len(parts)}Q", len(parts), *map(len, parts)) + b"".join(parts)


def test_messages_go_through() -> None:
    number, messages = unpack(body(message("H", b"{}"), message("D", b"one", b"12", b""), message("C", b"two"), number=7))
    assert number == 7
    assert [(kind, [bytes(part) for part in parts]) for kind, parts in messages] == [
        ("H", [b"{}"]),
        ("D", [b"one", b"12", b""]),
        ("C", [b"two"]),
    ]


def test_parts_can_be_written_to() -> None:
    _, [(_, [_, part])] = unpack(body(message("C", b"", b"12")))
    memoryview(part)[0:1] = b"9"
    assert bytes(part) == b"92"


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
        (body(b"WNC\0" + struct.pack("<IQ", 1, HUGE)), "at most 67108864 bytes"),
        (body(b"WNC\0" + struct.pack("<IQQ", 2, 1, HUGE) + b"x"), "incomplete"),
        (body(message("C", b"text")[:-1]), "incomplete"),
        (body(message("C", b"text"), b"rest"), "incomplete"),
    ],
)
def test_what_is_no_message_is_refused(content: bytes, why: str) -> None:
    with pytest.raises(MessageError, match=why):
        unpack(content)


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
