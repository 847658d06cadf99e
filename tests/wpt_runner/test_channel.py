"""Messages over pipes."""

from __future__ import annotations

import os
import struct
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from io import FileIO

import pytest

from webnn.wpt_runner.javascript.channel import Channel, ChannelError, Message


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
        yield Ends(Channel(reader, writer), other_writer, other_reader)


@pytest.mark.parametrize("parts", [[], [b""], [b"text"], [b"", b"\x00\xff", b""], [b"t", bytes(3 << 20)], [bytes(3 << 20)]])
def test_a_message_arrives(ends: Ends, parts: list[bytes]) -> None:
    # What one end sends, the other reads as it is: a channel's own messages come back to it.
    echo = Channel(ends.from_channel, ends.to_channel)

    def answer() -> None:
        message = echo.receive()
        assert message is not None
        echo.send(message.kind, message.parts)

    thread = threading.Thread(target=answer)
    thread.start()
    ends.channel.send("C", parts)
    assert ends.channel.receive() == Message("C", [bytearray(part) for part in parts])
    thread.join()


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
        (b"WNC\0\xff\xff\xff\xff", "begins no message"),
        (struct.pack("<2scxIQ", b"WN", b"C", 1, 1 << 62), "wants a part of 4611686018427387904 bytes"),
    ],
)
def test_what_is_no_message(ends: Ends, content: bytes, message: str) -> None:
    ends.to_channel.write(content)
    with pytest.raises(ChannelError, match=message):
        ends.channel.receive()


def test_nobody_listens(ends: Ends) -> None:
    ends.from_channel.close()
    with pytest.raises(BrokenPipeError):
        ends.channel.send("A", [bytes(1 << 22)])
