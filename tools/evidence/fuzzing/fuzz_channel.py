"""The messages of a child that runs JavaScript."""

from __future__ import annotations

import os
from contextlib import closing
from io import FileIO

from tools.evidence.fuzzing.harness import Finding, fuzz, guided, refusing

with guided(__name__):
    from webnn.javascript.channel import Channel, ChannelError, Limit, Message

__all__ = ["PARSER", "TestOneInput"]

PARSER = ("javascript/channel.py",)
LIMITS = {"C": Limit(1 << 16, 1 << 17, 3, 1 << 17), "D": Limit(1 << 16), "B": Limit(1 << 17, 1 << 30, 1, 1 << 30)}


def TestOneInput(data: bytes) -> None:
    """Receive messages, send them on, and receive them again."""
    if len(data) > 1 << 19:  # a pipe holds no more
        return
    messages = receive(lambda writer, _: writer.write(data))
    if sum(len(part) for message in messages for part in message.parts) + 64 * len(messages) > 1 << 19:
        return
    again = receive(lambda _, channel: [channel.send(message.kind, message.parts) for message in messages])
    if again != messages:
        raise Finding("messages change on their way")


def receive(write: object) -> list[Message]:
    """Return the messages that one side writes, up to the first that is none."""
    found: list[Message] = []
    ends = os.pipe()
    with closing(FileIO(ends[0])) as reader:
        with closing(FileIO(ends[1], "w")) as writer:
            channel = Channel(reader, writer, LIMITS)
            write(writer, channel)  # type: ignore[operator]
        with refusing(ChannelError):
            while (message := channel.receive()) is not None:
                found.append(message)
    return found


if __name__ == "__main__":
    fuzz(TestOneInput)
