"""WebSockets in the thread of their session: a call needs no other thread. `server.py` has the rest of the HTTP connections.

A relay waits for the answer to each call. A live connection brings operations, and takes their results when they are there.
"""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

from aiohttp import web
from websockets.frames import DATA_OPCODES, Frame
from websockets.protocol import Protocol, Side, State

from webnn.javascript.channel import Bytes, Message
from webnn.serve.messages import MessageError, close_reason, unpack_aside
from webnn.serve.session import SMALL, Session

__all__ = ["HEARTBEAT", "LONGEST_FRAME", "LONGEST_RELAYED", "READY", "can_hand_over", "hand_over"]

#: The longest message through a relay, and through a live connection: above that, a page sends a request.
LONGEST_RELAYED, LONGEST_FRAME = 1 << 16, (1 << 22) + 1
#: Tells the page that calls may come: an empty message.
READY = b""
#: How often the browser at the other end is asked whether it is there, in seconds.
HEARTBEAT = 20.0
#: How many bytes of calls of a live connection are carried out without an answer while others wait. page_host.js sends more meanwhile.
_MUCH = 1 << 18

_Exchange = Callable[[int, Sequence[Message]], Awaitable[list[Bytes]]]


def can_hand_over() -> bool:
    """Return whether another event loop can take a connection of the running one. On Windows, it cannot: a socket stays with its loop."""
    return isinstance(asyncio.get_running_loop(), asyncio.SelectorEventLoop)


async def hand_over(request: web.Request, session: Session, *, isLive: bool = False) -> None:
    """Let a session read and write a WebSocket by itself until it ends. The connection is of no other use afterwards.

    Nothing may have come since the last message of ``request``. ``isLive``: it is the live connection of the page, otherwise a relay's.
    Raises `EndedError` if the session has ended.
    """
    transport = request.transport
    if not isinstance(transport, asyncio.Transport) or transport.is_closing():
        return  # the page is gone
    transport.pause_reading()
    connection: socket.socket = transport.get_extra_info("socket")
    try:
        await session.run(lambda exchange: _serve(connection, lambda: _Live(exchange, session) if isLive else _Relay(exchange)))
    finally:
        transport.abort()


async def _serve(shared: socket.socket, make: Callable[[], _Connection]) -> None:
    """Answer the calls of a connection until it ends: in the session's thread."""
    connection = shared.dup()
    try:
        transport, made = await asyncio.get_running_loop().connect_accepted_socket(make, connection)
    except BaseException:
        connection.close()
        raise
    try:
        await made.ended
    finally:
        transport.abort()


class _Connection(asyncio.Protocol):
    """Carries out the calls of a WebSocket, one after the other.

    Attributes:
        ended: Done when the connection has ended.
    """

    #: The longest message.
    longest = LONGEST_RELAYED

    def __init__(self, exchange: _Exchange) -> None:
        self.ended = asyncio.get_running_loop().create_future()
        self._exchange = exchange
        self._frames = Protocol(Side.SERVER, state=State.OPEN, max_size=self.longest)
        self._message = bytearray()
        #: The calls that came and are not begun, and what carries them out.
        self._calls: deque[bytes] = deque()
        self._work: asyncio.Task[None] | None = None
        self._isFull = False
        self._isSilent = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Tell the page that calls may come."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self.send(READY)
        self._timer = asyncio.get_running_loop().call_later(HEARTBEAT, self._beat)

    def data_received(self, data: bytes) -> None:
        """Take calls, and begin to answer them."""
        self._isSilent = False
        self._frames.receive_data(data)
        for frame in self._frames.events_received():
            # Other frames are answered already.
            if not isinstance(frame, Frame) or frame.opcode not in DATA_OPCODES:
                continue
            if not frame.fin or self._message:
                self._message += frame.data
            if not frame.fin:
                continue
            if not self._take(bytes(self._message or frame.data)):
                break
            self._message.clear()
        if self._calls and self._work is None:
            self._work = asyncio.ensure_future(self._carry_out())
        self._send()
        self._read_or_wait()

    def eof_received(self) -> None:
        """End the connection: the page is gone."""

    def connection_lost(self, _: Exception | None) -> None:
        """Take note of the end. A call that has come is carried out."""
        self._timer.cancel()
        if not self.ended.done():
            self.ended.set_result(None)

    def pause_writing(self) -> None:
        """Read no more calls while the page does not read the answers."""
        self._isFull = True
        self._read_or_wait()

    def resume_writing(self) -> None:
        """Read calls again."""
        self._isFull = False
        self._read_or_wait()

    def send(self, message: Bytes) -> None:
        """Send a message, if the connection has not ended."""
        if self._frames.state is State.OPEN and not self._transport.is_closing():
            self._frames.send_binary(message)
        self._send()

    def _take(self, call: bytes) -> bool:
        """Take a call; return whether more may come."""
        self._calls.append(call)
        return True

    def _answers(self, call: bytes) -> bool:
        """Return whether the page waits for the answer to a call."""
        return True

    def _read_or_wait(self) -> None:
        """Read calls only while no two of them wait, and the page reads the answers."""
        if self._isFull or len(self._calls) > 1:
            self._transport.pause_reading()
        elif not self._transport.is_reading():
            # It could not be heard meanwhile.
            self._isSilent = False
            self._transport.resume_reading()

    async def _carry_out(self) -> None:
        try:
            while self._calls:
                number, messages = await unpack_aside(call := self._calls.popleft())
                # The session knows what the page is.
                answer = await self._exchange(number, [each for each in messages if each.kind != "H"])
                if self._answers(call):
                    self.send(b"".join(answer))
        except MessageError as error:
            self._close(str(error))
        except BaseException:
            # The page must not wait for an answer.
            self._transport.abort()
            raise
        self._work = None
        self._read_or_wait()

    def _close(self, reason: str) -> None:
        """End the connection and say why."""
        self._calls.clear()
        if self._frames.state is State.OPEN:
            self._frames.send_close(1000, close_reason(reason))
        self._send()
        self._transport.close()

    def _beat(self) -> None:
        """Ask whether the browser is there, and end the connection if it did not answer the last time."""
        if self._isSilent and self._transport.is_reading():
            self._transport.abort()
            return
        self._isSilent = True
        if self._frames.state is State.OPEN:
            self._frames.send_ping(b"")
        self._send()
        self._timer = asyncio.get_running_loop().call_later(HEARTBEAT, self._beat)

    def _send(self) -> None:
        for piece in self._frames.data_to_send():
            # The end is an empty piece.
            if piece:
                self._transport.write(piece)
            else:
                self._transport.close()


class _Relay(_Connection):
    """The connection of a relay."""

    def _take(self, call: bytes) -> bool:
        if self._calls or self._work is not None:
            self._close("a relay waits for each answer")
            return False
        return super()._take(call)


class _Live(_Connection):
    """The live connection of a page: the results of its operations go back through it."""

    longest = LONGEST_FRAME

    def __init__(self, exchange: _Exchange, session: Session) -> None:
        super().__init__(exchange)
        self._session = session
        self._unanswered = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Tell the page that calls may come, and of what is done already."""
        super().connection_made(transport)
        self._session.connect(lambda body: self.send(b"".join(body)), self._transport.get_write_buffer_size)

    def _answers(self, call: bytes) -> bool:
        # Of much, the page keeps a copy until it is told, and sends the rest then. An answer is one to all calls before it.
        self._unanswered += len(call)
        if self._unanswered <= (_MUCH if self._calls else SMALL):
            return False
        self._unanswered = 0
        return True
