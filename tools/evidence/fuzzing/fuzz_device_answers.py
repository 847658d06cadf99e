"""The answers of the process that has the drivers of a device: the program trusts nothing of them."""

from __future__ import annotations

import json
import os
from contextlib import closing, suppress
from dataclasses import replace

from tools.evidence.fuzzing.harness import Finding, fuzz, guided, refusing

with guided(__name__):
    from webnn.context.devices.selection import Selection
    from webnn.context.engine.remote import channel

__all__ = ["PARSER", "TestOneInput"]

PARSER = ("context/engine/remote/channel.py",)
_HEAD = 9


def TestOneInput(data: bytes) -> None:
    """Receive a message, and read its body in each form that an answer can have; pack what it says again."""
    message = _receive(data[: 1 << 16])
    with refusing(channel.ProtocolError):
        number, end, body = channel.read_answer(message)
        parts = [channel.read_answer(each) for each in channel.pack_answer(number, channel.Answer(end), body * 3)]
        if b"".join(part for _, _, part in parts) != body * 3 or parts[-1][:2] != (number, end):
            raise Finding("packing changes an answer")
    body = message[_HEAD:]
    channel.read_text(body)
    for read in (channel.read_build, channel.read_facts):
        with refusing(channel.ProtocolError):
            read(body)
    with refusing(channel.ProtocolError):
        devices, reason = channel.read_devices(body)
        if channel.read_devices(channel.pack_devices(devices, reason)) != (devices, reason):
            raise Finding("packing changes devices")
    with refusing(channel.ProtocolError, ValueError, RecursionError):
        device = channel.read_device(json.loads(body))
        selection = Selection(requested="", device="", devices=(device,), providers=((device.provider, device.options),))
        told = json.loads(json.dumps(channel.pack_selection(selection)))
        if channel.unpack_selection(told, lambda found: replace(found, handle=None)) != selection:
            raise Finding("packing changes a selection")


def _receive(data: bytes) -> bytes:
    """Send a message through a connection."""
    ours, theirs = channel.Channel.pair()
    with closing(ours), closing(theirs):
        theirs.send(data)
        theirs.send(data, theirs.fileno())
        # Nothing comes of an empty one, which is the end.
        with suppress(EOFError):
            message, (again, descriptor) = ours.receive(), ours.receive_with_descriptor()
            os.close(descriptor)
            if message != again or ours.wait(0):
                raise Finding("a message changes on its way")
            return message
    return b""


if __name__ == "__main__":
    fuzz(TestOneInput)
