"""The answers of the process that has the drivers of a device: the program trusts nothing of them."""

from __future__ import annotations

import json

from tools.evidence.fuzzing.harness import fuzz, guided, refusing

with guided(__name__):
    from webnn.context.engine.remote import channel

__all__ = ["PARSER", "TestOneInput"]

PARSER = ("context/engine/remote/channel.py",)


def TestOneInput(data: bytes) -> None:
    """Read a message, and its body in each form that an answer can have."""
    with refusing(channel.ProtocolError):
        channel.read_answer(data)
    body = data[9:]
    channel.read_text(body)
    for read in (channel.read_build, channel.read_devices, channel.read_facts):
        with refusing(channel.ProtocolError):
            read(body)
    with refusing(channel.ProtocolError, ValueError, RecursionError):
        channel.read_device(json.loads(body))


if __name__ == "__main__":
    fuzz(TestOneInput)
