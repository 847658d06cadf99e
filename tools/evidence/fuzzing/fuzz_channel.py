"""The messages of a child that runs JavaScript."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from functools import partial
from io import FileIO

from tools.evidence.fuzzing.harness import Finding, fuzz, guided, refusing

with guided(__name__):
    from webnn.javascript import channel
    from webnn.javascript.channel import Channel, ChannelError, Limit, Message

__all__ = ["PARSER", "TestOneInput"]

PARSER = ("javascript/channel.py",)
LIMITS = {"C": Limit(1 << 12, 1 << 13, 3, 1 << 13), "D": Limit(1 << 12), "B": Limit(1 << 13, 1 << 30, 1, 1 << 30)}
#: The sizes of the channel, smaller, so that short inputs have parts that are large.
_SIZES = {"_BUFFER": 128, "_CHUNK": 512}
_LONGEST = 1 << 15


def TestOneInput(data: bytes) -> None:
    """Receive messages, send them on, and receive them again."""
    if len(data) > _LONGEST:  # a pipe holds no more
        return
    former = {name: getattr(channel, name) for name in _SIZES}
    vars(channel).update(_SIZES)
    try:
        messages = receive(lambda writer, _: writer.write(data), late=data[:1] == b"W" and len(data) % 16 == 0)
        if sum(map(_size, messages)) > _LONGEST:
            return
        if receive(partial(_send, messages)) != messages:
            raise Finding("messages change on their way")
    finally:
        vars(channel).update(former)


def _send(messages: Sequence[Message], _: FileIO, other: Channel) -> None:
    for each in messages:
        other.send(each.kind, each.parts)


def _size(message: Message) -> int:
    return 64 + sum(len(part) for part in message.parts)


def receive(write: Callable[[FileIO, Channel], object], *, late: bool = False) -> list[Message]:
    """Return the messages that one side writes, up to the first that is none. ``late`` has the other side wait for them."""
    found: list[Message] = []
    ends = os.pipe()
    with closing(FileIO(ends[0])) as reader:
        writer = FileIO(ends[1], "w")
        subject = Channel(reader, writer, LIMITS)

        def begin() -> None:
            with closing(writer):
                if late:
                    # Longer than the channel looks for messages by itself.
                    subject.introduce("")
                    time.sleep(0.001)
                write(writer, subject)

        thread = threading.Thread(target=begin)
        thread.start()
        if not late:
            thread.join()
        with refusing(ChannelError):
            if late:
                # The introduction, which the other side of a channel takes.
                subject._read(4)
            while (message := subject.receive()) is not None:
                found.append(message)
        thread.join()
    with suppress(OSError):
        # Without a reader.
        ends = os.pipe()
        os.close(ends[0])
        with closing(FileIO(ends[1], "w")) as closed, closing(FileIO(os.dup(ends[1]))) as other, suppress(BrokenPipeError):
            Channel(other, closed, LIMITS).send("C", [b""])
    return found


if __name__ == "__main__":
    fuzz(TestOneInput)
