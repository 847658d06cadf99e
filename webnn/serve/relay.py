"""A relay's connection in the thread of its session: a call needs no other thread. `server.py` has the rest of the HTTP connections."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence

from aiohttp import web
from websockets.frames import DATA_OPCODES, Frame
from websockets.protocol import Protocol, Side, State

from webnn.javascript.channel import Bytes, Message
from webnn.serve.messages import MessageError, close_reason, unpack
from webnn.serve.session import Session

__all__ = ["LONGEST_RELAYED", "READY", "can_hand_over", "hand_over"]

#: The longest message through a relay: above that, a page sends a request.
LONGEST_RELAYED = 1 << 16
#: Tells the relay that calls may come: an empty message.
READY = b""

_Exchange = Callable[[int, Sequence[Message]], Awaitable[list[Bytes]]]


def can_hand_over() -> bool:
    """Return whether another event loop can take a connection of the running one. On Windows, it cannot: a socket stays with its loop."""
    return isinstance(asyncio.get_running_loop(), asyncio.SelectorEventLoop)


async def hand_over(request: web.Request, session: Session) -> None:
    """Let a session read and write a WebSocket by itself until it ends. The connection is of no other use afterwards.

    Nothing may have come since the last message of ``request``. Raises `EndedError` if the session has ended.
    """
    transport = request.transport
    if not isinstance(transport, asyncio.Transport) or transport.is_closing():
        return  # the page is gone
    transport.pause_reading()
    connection: socket.socket = transport.get_extra_info("socket")
    try:
        await session.run(lambda exchange: _serve(connection, exchange))
    finally:
        transport.abort()


async def _serve(shared: socket.socket, exchange: _Exchange) -> None:
    """Answer the calls of a connection until it ends: in the session's thread."""
    connection = shared.dup()
    try:
        transport, relay = await asyncio.get_running_loop().connect_accepted_socket(lambda: _Relay(exchange), connection)
    except BaseException:
        connection.close()
        raise
    try:
        await relay.ended
    finally:
        transport.abort()


class _Relay(asyncio.Protocol):
    """Answers the calls of a relay, one at a time.

    Attributes:
        ended: Done when the connection has ended.
    """

    def __init__(self, exchange: _Exchange) -> None:
        self.ended = asyncio.get_running_loop().create_future()
        self._exchange = exchange
        self._frames = Protocol(Side.SERVER, state=State.OPEN, max_size=LONGEST_RELAYED)
        self._message = bytearray()
        self._call: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Tell the relay that calls may come."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._frames.send_binary(READY)
        self._send()

    def data_received(self, data: bytes) -> None:
        """Begin to answer a call."""
        self._frames.receive_data(data)
        for frame in self._frames.events_received():
            # Other frames are answered already.
            if not isinstance(frame, Frame) or frame.opcode not in DATA_OPCODES:
                continue
            self._message += frame.data
            if not frame.fin:
                continue
            if self._call is not None:
                self._close("a relay waits for each answer")
                break
            self._call = asyncio.ensure_future(self._answer(bytes(self._message)))
            self._message.clear()
        self._send()

    def eof_received(self) -> None:
        """End the connection: the page is gone."""

    def connection_lost(self, _: Exception | None) -> None:
        """Take note of the end. A call that has begun is carried out."""
        if not self.ended.done():
            self.ended.set_result(None)

    def pause_writing(self) -> None:
        """Read no more calls while the page does not read the answers."""
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        """Read calls again."""
        self._transport.resume_reading()

    async def _answer(self, message: bytes) -> None:
        try:
            number, messages = unpack(message)
            # The session knows what the page is.
            answer = b"".join(await self._exchange(number, [each for each in messages if each.kind != "H"]))
        except MessageError as error:
            self._close(str(error))
        except BaseException:
            # The page must not wait for an answer.
            self._transport.abort()
            raise
        else:
            if self._frames.state is State.OPEN:
                self._frames.send_binary(answer)
        self._call = None
        self._send()

    def _close(self, reason: str) -> None:
        """End the connection and say why."""
        if self._frames.state is State.OPEN:
            self._frames.send_close(1000, close_reason(reason))
        self._send()
        self._transport.close()

    def _send(self) -> None:
        for piece in self._frames.data_to_send():
            # The end is an empty piece.
            if piece:
                self._transport.write(piece)
            else:
                self._transport.close()
