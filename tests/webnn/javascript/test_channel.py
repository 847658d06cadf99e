"""Messages over pipes."""

from __future__ import annotations

import os
import struct
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from io import FileIO

import pytest

from webnn.javascript import channel
from webnn.javascript.channel import Channel, ChannelError, Limit, Message

LIMITS = {"C": Limit(text=4 << 20, buffer=4 << 20, buffers=3, total=6 << 20), "F": Limit(text=8)}


@dataclass
class Ends:
    """A channel, and the pipes' other ends."""

    channel: Channel
    to_channel: FileIO
    from_channel: FileIO


@pytest.fixture
def ends() -> Iterator[Ends]:
    first, second = os.pipe(), os.pipe()
    with ExitStack() as stack:
        reader, other_writer = (stack.enter_context(FileIO(number, mode)) for number, mode in zip(first, "rw", strict=True))
        other_reader, writer = (stack.enter_context(FileIO(number, mode)) for number, mode in zip(second, "rw", strict=True))
        yield Ends(Channel(reader, writer, LIMITS), other_writer, other_reader)


@pytest.mark.parametrize("parts", [[], [b""], [b"text"], [b"", b"\x00\xff", b""], [b"t", bytes(3 << 20)], [bytes(3 << 20)]])
def test_a_message_arrives(ends: Ends, parts: list[bytes]) -> None:
    # One end reads exactly the messages that the other sends: a channel's own messages come back to it.
    echo = Channel(ends.from_channel, ends.to_channel, LIMITS)

    def answer() -> None:
        message = echo.receive()
        assert message is not None
        echo.send(message.kind, message.parts)

    thread = threading.Thread(target=answer)
    thread.start()
    ends.channel.send("C", parts)
    assert ends.channel.receive() == Message("C", [bytearray(part) for part in parts])
    thread.join()


def test_a_part_may_be_larger_than_what_is_read_at_once(ends: Ends, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel, "_CHUNK", 1000)
    test_a_message_arrives(ends, [b"t" * 2500, b"b" * 5001])


@pytest.mark.parametrize(
    "content",
    [b"", b"WN", b"WNC\0\1\0\0\0", struct.pack("<2scxIQ", b"WN", b"C", 1, 5) + b"abc"],
    ids=["nothing", "half a header", "no length", "half a part"],
)
def test_an_end_in_the_middle_is_an_end(ends: Ends, content: bytes) -> None:
    ends.to_channel.write(content)
    ends.to_channel.close()
    assert ends.channel.receive() is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"hello, world", "begins no message"),
        (b"WNZ\0\1\0\0\0", "there is no message 'Z'"),
        (b"WNC\0\xff\xff\xff\xff", "a message 'C' has at most 4 parts, got 4294967295"),
        (struct.pack("<2scxIQ", b"WN", b"C", 1, 1 << 62), "wants a part of 4611686018427387904 bytes, where at most 4194304 are possible"),
        (struct.pack("<2scxIQQ", b"WN", b"C", 2, 1, 6 << 30), "wants a part of 6442450944 bytes, where at most 4194304 are possible"),
        (struct.pack("<2scxIQQQ", b"WN", b"C", 3, 1, 4 << 20, 4 << 20), "wants 8388608 bytes, where at most 6291456 are possible"),
        (struct.pack("<2scxIQ", b"WN", b"F", 1, 9), "wants a part of 9 bytes, where at most 8 are possible"),
    ],
)
def test_what_is_no_message(ends: Ends, content: bytes, message: str) -> None:
    ends.to_channel.write(content)
    with pytest.raises(ChannelError, match=message):
        ends.channel.receive()


def test_several_messages_come_at_once(ends: Ends) -> None:
    parts = [[b"one"], [], [b"two", b"\1" * 100, bytes(channel._BUFFER)], [b"three", b""]]
    content = b"".join(struct.pack(f"<2scxI{len(each)}Q", b"WN", b"C", len(each), *map(len, each)) + b"".join(each) for each in parts)
    # A write may end within a message.
    for start in range(0, len(content), 50_000):
        ends.to_channel.write(content[start : start + 50_000])
    for each in parts:
        assert ends.channel.receive() == Message("C", [bytearray(part) for part in each])
    ends.to_channel.close()
    assert ends.channel.receive() is None


@pytest.mark.skipif(sys.platform != "linux", reason="other systems are always asked to wait")
def test_a_child_that_is_watched_in_vain_is_watched_less(ends: Ends, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    message = b"WNC\0\0\0\0\0"

    class Poll:
        def poll(self) -> None:
            calls.append("wait")
            ends.to_channel.write(message)

    def look() -> None:
        calls.append("look")
        if calls[-3:] == ["look"] * 3:
            ends.to_channel.write(message)

    os.set_blocking(ends.channel._reader.fileno(), False)
    monkeypatch.setattr(ends.channel, "_poll", Poll())
    monkeypatch.setattr(os, "sched_yield", look)
    looks, wait = ["look"] * 3, ["wait"]
    for patience, expected in (
        (1e9, looks),
        (1e9, looks),
        # It is in vain: two messages are waited for, after the next time four.
        (0, wait),
        (1e9, wait),
        (1e9, wait),
        (0, wait),
        *[(1e9, wait)] * 4,
        (1e9, looks),
        # It was not in vain: it begins anew.
        (0, wait),
        (1e9, wait),
        (1e9, wait),
        (1e9, looks),
    ):
        monkeypatch.setattr(channel, "_PATIENCE", patience)
        calls.clear()
        assert ends.channel.receive() == Message("C", [])
        assert calls == expected


def test_nobody_listens(ends: Ends) -> None:
    ends.from_channel.close()
    with pytest.raises(BrokenPipeError):
        ends.channel.send("A", [bytes(1 << 22)])


def test_memory_is_taken_as_bytes_come(ends: Ends) -> None:
    size = 1 << 40
    channel = Channel(ends.channel._reader, ends.channel._writer, {"C": Limit(text=size)})
    ends.to_channel.write(struct.pack("<2scxIQ", b"WN", b"C", 1, size) + b"abc")
    ends.to_channel.close()
    assert channel.receive() is None
