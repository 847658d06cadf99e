"""The messages between a program and the process of a context, and the connection that carries them.

A request is an operation, a number and a body; its answer has the same number. The program trusts nothing that the process sends: what an
answer holds is checked here. No message is a pickle, and large data does not travel: it lies in memory that both sides have.
"""

from __future__ import annotations

import json
import os
import select
import socket
import struct
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields
from enum import IntEnum
from multiprocessing import connection
from types import MappingProxyType
from typing import Any

from webnn.context.devices.selection import Device, Selection, SessionSettings

__all__ = [
    "LONGEST",
    "PLACE",
    "REQUEST",
    "SIZE",
    "Answer",
    "Channel",
    "Operation",
    "ProtocolError",
    "align",
    "pack_answer",
    "pack_device",
    "pack_devices",
    "pack_selection",
    "read_answer",
    "read_build",
    "read_device",
    "read_devices",
    "read_facts",
    "read_text",
    "unpack_selection",
]

#: The beginning of a request: the operation, and its number.
REQUEST = struct.Struct("<BI")
#: An input or output in shared memory: the number of the segment, 0 for none, and the position in it.
PLACE = struct.Struct("<IQ")
#: The size of a dimension. If sizes differ from run to run, the sizes of all inputs and outputs end the request.
SIZE = struct.Struct("<I")
#: The beginning of an answer: a mark, the number of the request, and how it ended. A part of another message is not taken for one.
_ANSWER = struct.Struct("<4sIB")
_MARK = b"wnn\n"
#: The most bytes of a message. A longer answer is sent in parts.
_PACKET = 1 << 17
#: The most bytes of an answer: the names of the nodes of a large model.
LONGEST = 64 << 20
#: The most characters of a text.
_LONGEST_TEXT = 1 << 16
#: Parts of a segment begin at multiples of this number of bytes, as the engine's own memory does.
_ALIGNMENT = 64


class Operation(IntEnum):
    """The requests."""

    PING = 0
    DEVICES = 1
    VERIFY = 2
    SEGMENT = 3
    BUILD = 4
    RUN = 5
    REPEAT = 6
    DROP = 7
    END_PROFILE = 8
    PROBE = 9
    REST = 10
    #: As RUN, with the memory of tensors. A byte for each input follows the places: 1 if the program has written the tensor.
    DISPATCH = 11
    #: Bring the numbers of a tensor to where the program sees them. The body is its place.
    FETCH = 12


class Answer(IntEnum):
    """How a request ended."""

    #: The body is the result.
    DONE = 0
    #: The engine failed. The body is its message.
    FAILED = 1
    #: The session does not start for a reason of ours. The body is the whole message.
    REFUSED = 2
    #: The body is a part; the next answer with this number has the next one.
    MORE = 3


class ProtocolError(Exception):
    """The process sent what it must not."""


class Channel:
    """An end of a connection. Not thread-safe.

    An interrupt may end a call at any time. On Linux a message is sent and received by one call of the system, or not at all, together with
    the descriptor of a segment. Elsewhere an interrupt at the wrong moment can leave a part of a message, which the other side refuses.

    Args:
        link: A socket that keeps the boundaries of messages; where there is none, a connection of `multiprocessing`.
    """

    __slots__ = ("_link", "wait")

    #: Waits at most some seconds for a message, or for the end of the connection; tells whether there is one.
    wait: Callable[[float], bool]

    def __init__(self, link: Any) -> None:
        self._link = link
        if hasattr(select, "poll"):
            # Other ways make such an object for each call.
            poll = select.poll()
            poll.register(link.fileno(), select.POLLIN)
            self.wait = lambda seconds: bool(poll.poll(seconds * 1000))
        else:
            self.wait = lambda seconds: connection.wait([link], seconds) != []

    @classmethod
    def pair(cls) -> tuple[Channel, Channel]:
        """Return both ends of a new connection."""
        if sys.platform == "linux":
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            return cls(ours), cls(theirs)
        first, second = connection.Pipe()
        return cls(first), cls(second)

    @classmethod
    def open(cls, handle: int) -> Channel:
        """Open the end that this process inherited."""
        if sys.platform == "linux":
            return cls(socket.socket(fileno=handle))
        kind = connection.PipeConnection if sys.platform == "win32" else connection.Connection
        return cls(kind(handle))

    def send(self, message: bytes, descriptor: int = -1) -> None:
        """Send a message, and with it the descriptor of a file.

        Raises:
            OSError: The other side has ended.
        """
        if sys.platform != "linux":
            self._link.send_bytes(message)
            if sys.platform != "win32" and descriptor >= 0:
                with socket.socket(fileno=os.dup(self._link.fileno())) as carrier:
                    socket.send_fds(carrier, [b"\0"], [descriptor])
        elif descriptor < 0:
            self._link.send(message)
        else:
            socket.send_fds(self._link, [message], [descriptor])

    def receive(self) -> bytes:
        """Receive a message.

        Raises:
            EOFError: The other side has ended.
            OSError: It has, or the message is too long.
        """
        if sys.platform != "linux":
            return bytes(self._link.recv_bytes(_PACKET))
        message: bytes = self._link.recv(_PACKET)
        if not message:
            raise EOFError
        return message

    def receive_with_descriptor(self) -> tuple[bytes, int]:
        """Receive a message, and the descriptor that came with it; -1 if there is none. Elsewhere than on Linux `take_descriptor` has it.

        Raises:
            EOFError: The other side has ended.
            OSError: It has.
        """
        if sys.platform != "linux":
            return self.receive(), -1
        message, descriptors, _, _ = socket.recv_fds(self._link, _PACKET, 1)
        if not message:
            raise EOFError
        return message, descriptors[0] if descriptors else -1

    def take_descriptor(self) -> int:
        """Receive a descriptor that follows a message; -1 on Windows, which has names in its place."""
        if sys.platform == "win32":
            return -1
        with socket.socket(fileno=os.dup(self._link.fileno())) as carrier:
            _, descriptors, _, _ = socket.recv_fds(carrier, 1, 1)
        return descriptors[0]

    def fileno(self) -> int:
        """Return the descriptor, or the handle."""
        number: int = self._link.fileno()
        return number

    def close(self) -> None:
        """Close this end."""
        self._link.close()


def align(size: int) -> int:
    """Round a number of bytes up to where the next part of a segment begins."""
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def pack_answer(number: int, end: Answer, body: bytes) -> list[bytes]:
    """Return the messages of an answer."""
    size = _PACKET - _ANSWER.size
    parts = [body[first : first + size] for first in range(0, len(body), size)] or [b""]
    more = _ANSWER.pack(_MARK, number, Answer.MORE)
    return [*(more + part for part in parts[:-1]), _ANSWER.pack(_MARK, number, end) + parts[-1]]


def read_answer(message: bytes) -> tuple[int, int, bytes]:
    """Return the number, the end and the body of a message of an answer.

    Raises:
        ProtocolError: It is not an answer.
    """
    if len(message) < _ANSWER.size or message[:4] != _MARK:
        raise ProtocolError
    _, number, end = _ANSWER.unpack_from(message)
    if end > Answer.MORE:
        raise ProtocolError
    return number, end, message[_ANSWER.size :]


def read_text(body: bytes) -> str:
    """Return a text."""
    return body.decode("utf-8", "replace")[:_LONGEST_TEXT]


def _load(body: bytes, kinds: Mapping[str, type | tuple[type, ...]]) -> dict[str, Any]:
    """Return the members of a JSON object, which must be these."""
    try:
        told = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ProtocolError from error
    if not isinstance(told, dict) or told.keys() != kinds.keys() or not all(isinstance(told[name], kinds[name]) for name in kinds):
        raise ProtocolError
    return told


def _texts(value: object) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ProtocolError
    return value


def read_build(body: bytes) -> tuple[list[str], list[tuple[str, list[str]]] | None, bool, list[str]]:
    """Return what is told of a session.

    Returns:
        The providers, the groups of nodes that each got (``None`` if it is not known), whether a dispatch leaves numbers on a device, and
        warnings.

    Raises:
        ProtocolError: The body is something else.
    """
    told = _load(body, {"providers": list, "assignments": (list, type(None)), "leaves": bool, "warnings": list})
    groups: list[tuple[str, list[str]]] | None = None
    if told["assignments"] is not None:
        groups = []
        for each in told["assignments"]:
            if not isinstance(each, list) or len(each) != 2 or not isinstance(each[0], str):
                raise ProtocolError
            groups.append((each[0], _texts(each[1])))
    return _texts(told["providers"]), groups, told["leaves"], _texts(told["warnings"])


def read_devices(body: bytes) -> tuple[list[Device], str]:
    """Return devices, and why there is none.

    Raises:
        ProtocolError: The body is something else.
    """
    told = _load(body, {"devices": list, "reason": str})
    return [read_device(each) for each in told["devices"]], told["reason"]


def read_facts(body: bytes) -> dict[str, str]:
    """Return the facts about data types: `webnn.context.devices.capabilities.Facts`.

    Raises:
        ProtocolError: The body is something else.
    """
    try:
        told = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ProtocolError from error
    if not isinstance(told, dict):
        raise ProtocolError
    return dict(zip(told, _texts([*told.values()]), strict=True))


#: The members of a device that travel: the engine's own object does not.
_FACTS = [each.name for each in fields(Device) if each.name != "handle"]


def pack_device(device: Device) -> dict[str, Any]:
    """Return what both sides know of a device."""
    return {**{name: getattr(device, name) for name in _FACTS}, "options": dict(device.options)}


def read_device(value: object) -> Device:
    """Return a device, without the engine's object.

    Raises:
        ProtocolError: The value is something else.
    """
    if not isinstance(value, dict) or value.keys() != set(_FACTS):
        raise ProtocolError
    options = value["options"]
    if not isinstance(options, dict) or not all(isinstance(each, str) for each in options.values()):
        raise ProtocolError
    if not all(isinstance(value[name], str | bool | None) for name in _FACTS if name != "options"):
        raise ProtocolError
    if not all(isinstance(value[name], str) for name in ("provider", "type")):
        raise ProtocolError
    return Device(**{**value, "options": MappingProxyType(options)})


def pack_devices(devices: Sequence[Device], reason: str) -> bytes:
    """Make the body that `read_devices` reads."""
    return json.dumps({"devices": [pack_device(each) for each in devices], "reason": reason}).encode()


def pack_selection(selection: Selection) -> dict[str, Any]:
    """Return a selection as plain data, for `unpack_selection`."""
    return {
        "devices": [pack_device(each) for each in selection.devices],
        "providers": [[name, dict(options)] for name, options in selection.providers],
        "settings": asdict(selection.settings),
    }


def unpack_selection(told: Mapping[str, Any], find: Callable[[Device], Device]) -> Selection:
    """Return the selection of another process, with the devices that `find` returns for its devices."""
    return Selection(
        requested="",
        device="",
        devices=tuple(find(read_device(each)) for each in told["devices"]),
        providers=tuple((name, MappingProxyType(options)) for name, options in told["providers"]),
        settings=SessionSettings(**told["settings"]),
    )
