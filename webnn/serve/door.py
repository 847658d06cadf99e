"""The door of a port: a connection reaches the server once the head of its first request is there, and its owner is admitted.

The number of connections without a head is limited, and their time. When there are too many, the oldest of them ends. A browser gets in,
because it sends its head at once.
"""

from __future__ import annotations

import asyncio
import os
import re
import socket
import struct
import sys
from collections.abc import Callable
from contextlib import suppress

__all__ = ["Door", "find_owner", "is_own"]

#: How many connections may be without a head, how long they may take for it, in seconds, and the most bytes of a head.
_MOST_WAITING, _PATIENCE, _LONGEST_HEAD = 256, 10.0, 1 << 16
#: How a request begins, and how its head ends. Servers skip empty lines in front.
_BEGINNING, _END = re.compile(rb"[\r\n]*(?:[A-Z]|$)"), re.compile(rb"\r?\n\r?\n")
_ANSWERS = {
    400: "400 Bad Request\r\n\r\nwebnn serve: this is not a request\n",
    403: "403 Forbidden\r\n\r\nwebnn serve: this server is for another user of the machine\n",
    408: "408 Request Timeout\r\n\r\nwebnn serve: the head of the request did not come\n",
    431: f"431 Request Header Fields Too Large\r\n\r\nwebnn serve: the head of a request has at most {_LONGEST_HEAD} bytes\n",
}
#: The messages of Linux's sock_diag(7): a header, the question about one connection, and the place of the owner in the answer.
_HEADER, _QUESTION, _OWNER = struct.Struct("=IHHII"), struct.Struct("=BBBBI2s2s4s12x4s12xI8s"), struct.Struct("=64xI")
_SOCK_DIAG, _BY_FAMILY, _ANY_STATE, _NO_COOKIE = 4, 20, 0xFFFFFFFF, b"\xff" * 8


class Door:
    """Makes the protocols of a port's connections.

    Args:
        make: Makes what takes a connection whose first head is there.
        admits: Tells whether the server is for the other end of a connection.
    """

    def __init__(self, make: Callable[[], asyncio.Protocol], admits: Callable[[asyncio.Transport], bool]) -> None:
        self.make = make
        self.admits = admits
        #: The connections without a head, the oldest first.
        self.waiting: dict[_Entrance, None] = {}

    def __call__(self) -> asyncio.Protocol:
        """Make the protocol of a new connection."""
        return _Entrance(self)

    def close(self) -> None:
        """End the connections without a head."""
        for each in list(self.waiting):
            each.abort()


class _Entrance(asyncio.Protocol):
    """A connection without a head."""

    def __init__(self, door: Door) -> None:
        self._door = door
        self._head = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the head."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._timer = asyncio.get_running_loop().call_later(_PATIENCE, self._answer, 408)
        waiting = self._door.waiting
        waiting[self] = None
        if len(waiting) > _MOST_WAITING:
            next(iter(waiting)).abort()

    def data_received(self, data: bytes) -> None:
        """Take a part of the head, and hand the connection over when it is complete."""
        if self not in self._door.waiting:
            return
        begin = max(0, len(self._head) - 3)
        self._head += data
        if _BEGINNING.match(self._head) is None:
            self._answer(400)
        elif _END.search(self._head.lstrip(b"\r\n") if begin == 0 else self._head, begin) is None:
            if len(self._head) > _LONGEST_HEAD:
                self._answer(431)
        elif not self._door.admits(self._transport):
            self._answer(403)
        else:
            self._leave()
            protocol = self._door.make()
            self._transport.set_protocol(protocol)
            protocol.connection_made(self._transport)
            protocol.data_received(bytes(self._head))

    def connection_lost(self, _: Exception | None) -> None:
        """Forget the connection."""
        self._leave()

    def abort(self) -> None:
        """End the connection without a word."""
        self._leave()
        self._transport.abort()

    def _answer(self, status: int) -> None:
        self._leave()
        first, text = _ANSWERS[status].split("\r\n\r\n")
        head = f"HTTP/1.1 {first}\r\nConnection: close\r\nContent-Length: {len(text)}\r\nContent-Type: text/plain\r\n\r\n"
        self._transport.write((head + text).encode("ascii"))
        self._transport.close()

    def _leave(self) -> None:
        self._timer.cancel()
        self._door.waiting.pop(self, None)


def is_own(transport: asyncio.Transport) -> bool:
    """Tell whether a connection of this machine may be this user's: another one's is refused where the system knows whose it is.

    The system's own user reads all that this process has anyway, and forwards connections of users.
    """
    if sys.platform == "win32":
        return True
    return find_owner(transport.get_extra_info("peername"), transport.get_extra_info("sockname")) in {None, 0, os.geteuid()}


def find_owner(here: tuple[str, int], there: tuple[str, int]) -> int | None:
    """Return the user that owns one end of a connection of this machine, over IPv4; ``None`` if the system does not say it.

    Args:
        here: The address of that end.
        there: The address of the other end.
    """
    if sys.platform != "linux":
        return None
    ports, hosts = [struct.pack("!H", port) for _, port in (here, there)], [socket.inet_aton(host) for host, _ in (here, there)]
    question = _QUESTION.pack(socket.AF_INET, socket.IPPROTO_TCP, 0, 0, _ANY_STATE, *ports, *hosts, 0, _NO_COOKIE)
    with suppress(OSError, struct.error), socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _SOCK_DIAG) as kernel:
        kernel.settimeout(1)
        kernel.send(_HEADER.pack(_HEADER.size + len(question), _BY_FAMILY, 1, 1, 0) + question)
        answer = kernel.recv(1 << 16)
        # Anything else is an error: the connection has ended, or there is no such answer on this system.
        if _HEADER.unpack_from(answer)[1] == _BY_FAMILY:
            owner: int = _OWNER.unpack_from(answer, _HEADER.size)[0]
            return owner
    return None
