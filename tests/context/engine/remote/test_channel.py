"""Messages: nothing that a process sends is believed before it is checked."""

from __future__ import annotations

import json
import os
from types import MappingProxyType
from typing import Any

import pytest

from webnn.context.devices.selection import CPU, WEBGPU, Device, Selection, SessionSettings
from webnn.context.engine.remote.channel import (
    Answer,
    Channel,
    ProtocolError,
    align,
    pack_answer,
    pack_device,
    pack_devices,
    pack_selection,
    read_answer,
    read_build,
    read_device,
    read_devices,
    read_text,
    unpack_selection,
)

GPU = Device(provider=WEBGPU, type="gpu", discrete=False, vendor="Mesa", plugin=True, simulated=True, options=MappingProxyType({"a": "b"}))


@pytest.mark.parametrize("size", [0, 1, 200_000, 1_000_000])
def test_an_answer_arrives_in_parts(size: int) -> None:
    body = os.urandom(size)
    messages = pack_answer(7, Answer.DONE, body)
    parts = [read_answer(message) for message in messages]
    assert {number for number, _, _ in parts} == {7}
    assert [end for _, end, _ in parts] == [*[Answer.MORE] * (len(parts) - 1), Answer.DONE]
    assert b"".join(part for _, _, part in parts) == body


@pytest.mark.parametrize("message", [b"", b"wnn\n", b"wnm\n\0\0\0\0\0", b"wnn\n\0\0\0\0\x04", b"\0" * 64])
def test_not_an_answer(message: bytes) -> None:
    with pytest.raises(ProtocolError):
        read_answer(message)


BUILT: dict[str, Any] = {"providers": [CPU], "assignments": [[CPU, ["a"]]], "leaves": True, "warnings": []}


def test_an_answer_to_a_build() -> None:
    assert read_build(json.dumps(BUILT).encode()) == ([CPU], [(CPU, ["a"])], True, [])
    assert read_build(json.dumps({**BUILT, "assignments": None}).encode()) == ([CPU], None, True, [])


@pytest.mark.parametrize(
    "told",
    [
        *("[]", "{", "null", '"' * 3, "[" * 100_000),
        *(json.dumps({**BUILT, **change}) for change in ({"more": 1}, {"providers": [1]}, {"providers": "a"}, {"warnings": [None]})),
        *(json.dumps({**BUILT, "assignments": value}) for value in ([CPU], [[CPU]], [[1, []]], [[CPU, [1]]], [[CPU, "a"]], 5)),
        json.dumps({name: BUILT[name] for name in ("providers", "assignments")}),
    ],
    ids=lambda told: told[:40],
)
def test_not_an_answer_to_a_build(told: str) -> None:
    with pytest.raises(ProtocolError):
        read_build(told.encode())


def test_devices_travel() -> None:
    assert read_devices(pack_devices([GPU], "")) == ([GPU], "")
    assert read_devices(pack_devices([], "is registered")) == ([], "is registered")


@pytest.mark.parametrize(
    "change",
    [{"handle": 1}, {"provider": 1}, {"type": None}, {"discrete": 0.5}, {"vendor": []}, {"options": []}, {"options": {"a": 1}}],
    ids=repr,
)
def test_not_a_device(change: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError):
        read_device({**pack_device(GPU), **change})


def test_a_selection_travels() -> None:
    selection = Selection(
        requested="",
        device="",
        devices=(GPU, Device(provider=CPU, type="cpu")),
        providers=((WEBGPU, MappingProxyType({"a": "b"})), (CPU, MappingProxyType({}))),
        settings=SessionSettings(threads=3, spin=0),
    )
    assert unpack_selection(json.loads(json.dumps(pack_selection(selection))), lambda device: device) == selection


def test_a_text_is_cut() -> None:
    assert read_text("ü".encode() * 200_000) == "ü" * 65_536
    assert read_text(b"\xff") == "\ufffd"


def test_parts_are_aligned() -> None:
    assert [align(size) for size in (0, 1, 64, 65)] == [0, 64, 64, 128]


def test_a_connection_ends() -> None:
    ours, theirs = Channel.pair()
    ours.send(b"a")
    assert theirs.wait(0)
    assert theirs.receive() == b"a"
    assert not theirs.wait(0)
    ours.close()
    assert theirs.wait(0)
    with pytest.raises((EOFError, OSError)):
        theirs.receive()
    theirs.close()


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="descriptors travel with their message on Linux only")
def test_a_descriptor_travels_with_its_message() -> None:
    ours, theirs = Channel.pair()
    with open(__file__, "rb") as file:
        ours.send(b"a", file.fileno())
    message, descriptor = theirs.receive_with_descriptor()
    assert message == b"a"
    with os.fdopen(descriptor, "rb") as file:
        assert file.read(3) == b'"""'
    ours.close()
    theirs.close()
