"""The messages between a program and the process of a context, and the connection that carries them.

A request is an operation, a number and a body; its answer has the same number. The program trusts nothing that the process sends: what an
answer holds is checked here. No message is a pickle, and large data does not travel: it lies in memory that both sides have.
"""

from __future__ import annotations

import json
import select
import struct
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields
from enum import IntEnum
from multiprocessing import connection
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from webnn.context.devices.selection import Device, Selection, SessionSettings

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

__all__ = [
    "PLACE",
    "REQUEST",
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
    "read_text",
    "unpack_selection",
]

#: The beginning of a request: the operation, and its number.
REQUEST = struct.Struct("<BI")
#: An input or output in shared memory: the number of the segment, 0 for none, and the position in it.
PLACE = struct.Struct("<IQ")
#: The beginning of an answer: a mark, the number of the request, and how it ended. A part of another message is not taken for one.
_ANSWER = struct.Struct("<4sIB")
_MARK = b"wnn\n"
#: The most bytes of an answer: the names of the nodes of a large model.
_LONGEST = 64 << 20
#: The most characters of a text.
_LONGEST_TEXT = 1 << 16
#: Parts of a segment begin at multiples of this number of bytes, as the engine's own memory does.
_ALIGNMENT = 64


class Operation(IntEnum):
    """What a process is asked for."""

    PING = 0
    DEVICES = 1
    VERIFY = 2
    SEGMENT = 3
    BUILD = 4
    RUN = 5
    REPEAT = 6
    DROP = 7
    END_PROFILE = 8


class Answer(IntEnum):
    """How a request ended."""

    #: The body is the result.
    DONE = 0
    #: The engine failed. The body is its message.
    FAILED = 1
    #: The session does not start for a reason of ours. The body is the whole message.
    REFUSED = 2


class ProtocolError(Exception):
    """The process sent what it must not."""


class Channel:
    """A connection. Not thread-safe.

    Args:
        link: Its end.
    """

    __slots__ = ("_link", "wait")

    #: Waits at most some seconds for a message, or for the end of the connection; tells whether there is one.
    wait: Callable[[float], bool]

    def __init__(self, link: Connection) -> None:
        self._link = link
        if hasattr(select, "poll"):
            # `Connection.poll` makes such an object for each call.
            poll = select.poll()
            poll.register(link.fileno(), select.POLLIN)
            self.wait = lambda seconds: bool(poll.poll(seconds * 1000))
        else:
            self.wait = lambda seconds: connection.wait([link], seconds) != []

    @classmethod
    def open(cls, handle: int) -> Channel:
        """Open the end that this process inherited."""
        if sys.platform == "win32":
            return cls(connection.PipeConnection(handle))
        return cls(connection.Connection(handle))

    def send(self, message: bytes) -> None:
        """Send a message."""
        self._link.send_bytes(message)

    def receive(self) -> bytes:
        """Receive a message.

        Raises:
            EOFError: The other side has ended.
            OSError: It has, or the message is too long.
        """
        return self._link.recv_bytes(_LONGEST)

    def fileno(self) -> int:
        """Return the descriptor, or the handle."""
        return self._link.fileno()

    def close(self) -> None:
        """Close this end."""
        self._link.close()


def align(size: int) -> int:
    """Round a number of bytes up to where the next part of a segment begins."""
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def pack_answer(number: int, end: Answer, body: bytes = b"") -> bytes:
    """Make an answer."""
    return _ANSWER.pack(_MARK, number, end) + body


def read_answer(message: bytes) -> tuple[int, int, bytes]:
    """Return the number, the end and the body of an answer.

    Raises:
        ProtocolError: It is not an answer.
    """
    if len(message) < _ANSWER.size or message[:4] != _MARK:
        raise ProtocolError
    _, number, end = _ANSWER.unpack_from(message)
    if end > Answer.REFUSED:
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


def read_build(body: bytes) -> tuple[list[str], list[tuple[str, list[str]]] | None, list[str]]:
    """Return the providers of a session, the groups of nodes that each got (``None`` if it is not known), and warnings.

    Raises:
        ProtocolError: The body is something else.
    """
    told = _load(body, {"providers": list, "assignments": (list, type(None)), "warnings": list})
    groups: list[tuple[str, list[str]]] | None = None
    if told["assignments"] is not None:
        groups = []
        for each in told["assignments"]:
            if not isinstance(each, list) or len(each) != 2 or not isinstance(each[0], str):
                raise ProtocolError
            groups.append((each[0], _texts(each[1])))
    return _texts(told["providers"]), groups, _texts(told["warnings"])


def read_devices(body: bytes) -> tuple[list[Device], str]:
    """Return devices, and why there is none.

    Raises:
        ProtocolError: The body is something else.
    """
    told = _load(body, {"devices": list, "reason": str})
    return [read_device(each) for each in told["devices"]], told["reason"]


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
