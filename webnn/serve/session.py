"""Sessions: one for each document and worker. A session has the emulator's objects of its page, and a thread that works for it."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import webnn
from webnn.javascript.calls import RequestError
from webnn.javascript.channel import Bytes, Message
from webnn.javascript.dispatch import Begun, Dispatcher
from webnn.serve.memory import Memory
from webnn.serve.messages import MessageError, pack, read_line, read_text, size_of, total_size
from webnn.serve.options import Options, facts_of
from webnn.serve.record import Record
from webnn.serve.reports import exception_handler
from webnn.serve.turns import Share, Turns
from webnn.validation.caller import LISTENER, PLACE

__all__ = ["SMALL", "EndedError", "Session", "Visitor", "read_visitor"]

#: How many bytes of results travel with an answer, and through the live connection. More are fetched.
SMALL, _LARGEST_PUSHED = 1 << 15, 1 << 22
#: How many bytes wait in a live connection that the page does not read. More results are fetched.
_MOST_UNSENT = 1 << 26
#: How long a page waits for the result of an operation, in seconds, before it goes on without.
_PATIENCE = 0.002
#: How long a request waits for those before it, in seconds, and how many requests and results may wait.
_LONGEST_WAIT, _MOST_WAITING, _MOST_RESULTS = 30.0, 64, 4096
#: The longest texts that a page says of itself, how many pages may be around it, and the most bytes of all that: the server reads it.
_LONGEST, _MOST_ANCESTORS, _LONGEST_HELLO = 4096, 32, 1 << 18
#: How many bytes of requests are kept.
_MOST_KEPT = 1 << 23
#: A word of the request of a build, and how many characters from the beginning have it.
_BUILD, _LONGEST_START = '"build"', 40
#: The letters of requests without an answer.
_TOLD = frozenset("DKS")
_KINDS = ("window", "worker", "sharedworker")
#: How the calls of objects of WebGPU begin.
_WEBGPU = '["GPU'
#: The answer to a request that asks for nothing.
_NOTHING: list[Bytes] = [b'{"value": null}']

#: Records an answer and its views.
_Note = Callable[[str, Sequence[Bytes]], None]


class EndedError(Exception):
    """The session has ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """Facts that a document or worker states about itself.

    Attributes:
        ancestors: The origins of the documents around it, the nearest first.
        allow: The attribute ``allow`` of its frame, where the page around it can be seen.
        policy: The header Permissions-Policy of the document.
        allowed: Whether the browser lets it use the feature "webnn"; ``None`` if the browser does not know the feature.
        first: The number of its next object; above 1 if an earlier session of it has ended.
    """

    kind: str = "window"
    url: str = ""
    origin: str = "null"
    ancestors: tuple[str, ...] = ()
    allow: str = ""
    policy: str = ""
    allowed: bool | None = None
    first: int = 1

    def document(self) -> webnn.Document:
        """Return the document around the program. Raises `ValueError` if the page has said something that cannot be."""
        parent: webnn.Document | None = None
        for origin in reversed(self.ancestors):
            parent = webnn.Document(origin=origin, parent=parent, secure=True)
        allow = self.allow if parent is not None else ""
        # A page without a secure context has no script of the emulator.
        document = webnn.Document(self.policy or None, origin=self.origin, parent=parent, allow=allow, secure=True)
        if self.allowed is None or self.allowed is document.allowedToUse("webnn"):
            return document
        # The browser has seen the headers and the attributes of all frames.
        return webnn.Document({"webnn": self.allowed}, origin=self.origin, secure=True)


def read_visitor(part: Bytes) -> Visitor:
    """Read what a page says of itself; a `MessageError` if it is not such a text."""
    if size_of(part) > _LONGEST_HELLO:
        raise MessageError(f"a page says what it is in at most {_LONGEST_HELLO} bytes, got {size_of(part)}")
    try:
        value = json.loads(read_text(part))
    except (ValueError, RecursionError):
        raise MessageError("a page says what it is in JSON") from None
    texts = ("kind", "url", "origin", "allow", "policy")
    if not isinstance(value, dict) or not all(isinstance(value.get(name), str) and len(value[name]) <= _LONGEST for name in texts):
        raise MessageError("a page says what it is in short texts")
    ancestors, first = value.get("ancestors"), value.get("first")
    if not isinstance(ancestors, list) or len(ancestors) > _MOST_ANCESTORS or not all(isinstance(each, str) for each in ancestors):
        raise MessageError("ancestors must be a list of origins")
    if type(first) is not int or not 1 <= first < 2**53 or value["kind"] not in _KINDS:
        raise MessageError("a page says its kind and the number of its next object")
    allowed = value.get("allowed")
    if allowed is not None and not isinstance(allowed, bool):
        raise MessageError("allowed must be true, false or null")
    return Visitor(**{name: value[name] for name in texts}, ancestors=tuple(ancestors), allowed=allowed, first=first)


@dataclass(slots=True)
class Counts:
    """Numbers of a session: calls, requests without an answer, and the bytes that came and went."""

    calls: int = 0
    told: int = 0
    received: int = 0
    sent: int = 0


class Session:
    """The emulator of one document or worker. Raises `ValueError` if the page has said something that cannot be, or an option is invalid.

    Attributes:
        started: When it began, as `time.time`.
        last: When it was called last, as `time.monotonic`.
        push: Sends a body to the page through its live connection; ``None`` while it has none.
        memory: Counts all that its page keeps.
    """

    def __init__(
        self,
        name: str,
        visitor: Visitor,
        options: Options,
        on_fault: Callable[[str], None],
        record: Record | None = None,
        turns: Turns | None = None,
    ) -> None:
        self.name = name
        self.visitor = visitor
        self.options = options
        self.started = time.time()
        self.last = time.monotonic()
        self.connections = 0
        self.push: Callable[[list[Bytes]], None] | None = None
        self._unsent: Callable[[], int] = lambda: 0
        self.counts = Counts()
        self.share = Share(turns or Turns())
        self.record = record or Record()
        self._on_fault = on_fault
        self._place: tuple[str, int] | None = None
        with self._listening():
            self._document = visitor.document()
        ml = self.record.watch(options.make_ml(self._document), timeline=options.timeline, lines=options.lines)
        self.memory = Memory(options.memory)
        self._dispatcher = Dispatcher(
            ml, options.idl(), on_lost=self._tell_lost, first=visitor.first, strict=True, facts_of=facts_of, keeper=self.memory
        )
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(exception_handler(on_fault))
        self._stop = asyncio.Event()
        self._turn = asyncio.Condition()
        self._waiting = 0
        #: The number of the last request, and its answer: pages repeat requests, and so do browsers.
        self._number = 0
        self._answer: list[Bytes] = []
        #: Operations whose results the page does not have yet, by the numbers of their requests.
        self._results: dict[int, asyncio.Future[list[Bytes]]] = {}
        #: Lost contexts that the page was not told of: handles and messages.
        self._losses: list[list[object]] = []
        #: The bytes that were written to tensors last, by the texts of the requests: the page does not send them again.
        self._kept: dict[str, bytes] = {}
        self._ended = False
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._work, name=f"webnn-serve-{name[:8]}", daemon=True)
        self._thread.start()

    # ---- From the server's thread

    async def exchange(self, number: int, messages: Sequence[Message]) -> list[Bytes]:
        """Carry out the requests of a body, in the order of their numbers and each of them once, and return the body of the answer.

        Raises `EndedError` if the session has ended, and `MessageError` if the page has sent requests that cannot be.
        """
        body: list[Bytes] = await self._ask(self._exchange(number, messages))
        return body

    async def result(self, number: int) -> list[Bytes]:
        """Wait for the result of an operation, and return its body. It is forgotten then.

        Raises `EndedError` if the session has ended, and `MessageError` if there is no such operation.
        """
        body: list[Bytes] = await self._ask(self._take(number))
        return body

    async def run(self, serve: Callable[[Callable[[int, Sequence[Message]], Awaitable[list[Bytes]]]], Coroutine[Any, Any, None]]) -> None:
        """Run a coroutine in the session's thread, until it or the session ends. Raises `EndedError` if the session has ended.

        ``serve`` makes the coroutine, of what carries out the requests of a body like `exchange`, for use in that thread.
        """
        await self._ask(serve(self._exchange))

    async def change(self, options: Options) -> None:
        """Use other options for the contexts that the page makes from now on.

        Raises `EndedError` if the session has ended, and `ValueError` if an option is invalid.
        """
        ml = self.record.watch(options.make_ml(self._document), timeline=options.timeline, lines=options.lines)
        self.options = options
        await self._ask(self._replace(ml))

    def connect(self, push: Callable[[list[Bytes]], None], unsent: Callable[[], int] = lambda: 0) -> None:
        """Take the live connection of the page. It gets what is done already.

        ``push`` sends a body. ``unsent`` returns how many bytes wait to be sent, because the page does not read. Both are called in the
        session's thread.
        """
        self.push, self._unsent = push, unsent
        with self._lock:
            if not self._ended:
                self._loop.call_soon_threadsafe(self._push_all)

    def contexts(self) -> dict[int, webnn.MLContext]:
        """Return the contexts that the page can still use, by their handles."""
        return self._dispatcher.contexts()

    @property
    def ended(self) -> bool:
        """The session has ended."""
        return self._ended

    def end(self) -> None:
        """End the session; requests that wait end with an `EndedError`. May be called several times, and from any thread."""
        with self._lock:
            if not self._ended:
                # An interrupt in between leaves a session that ends all the same.
                with suppress(RuntimeError):  # its loop has ended
                    self._loop.call_soon_threadsafe(self._stop.set)
                self._ended = True

    def join(self) -> None:
        """Wait until its thread has ended."""
        self._thread.join()

    async def _ask(self, coroutine: Any) -> Any:
        with self._lock:
            if self._ended:
                coroutine.close()
                raise EndedError
            future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return await asyncio.wrap_future(future)
        except (CancelledError, asyncio.CancelledError):
            if self._ended:
                raise EndedError from None
            raise

    # ---- In the session's thread

    def _work(self) -> None:
        loop = self._loop
        asyncio.set_event_loop(loop)
        try:
            loop.run_until_complete(self._stop.wait())
            rest = asyncio.all_tasks(loop)
            for task in rest:
                task.cancel()
            loop.run_until_complete(asyncio.gather(*rest, return_exceptions=True))
        finally:
            self._ended = True
            self.share.close()
            self._results.clear()
            self._kept.clear()
            self._dispatcher.clear()
            loop.close()

    async def _exchange(self, number: int, messages: Sequence[Message]) -> list[Bytes]:
        async with self._turn:
            await self._wait_for_turn(number)
            done, last = self._number + 1 - number, number + len(messages) - 1
            if done >= len(messages):
                return self._answer_again(last, messages)
            self.last = time.monotonic()
            try:
                async with self.share.working() as rest:
                    with self._listening():
                        for each, message in enumerate(messages[done:], self._number + 1):
                            await rest()
                            self._number, self._answer = each, []
                            self._answer = self._tell(message) if message.kind in _TOLD else await self._carry_out(each, message)
                            self._note_faults()
            except RequestError as error:
                raise MessageError(f"request {self._number} is not one that the binding sends: {error}") from None
            finally:
                self._turn.notify_all()
            return self._answer or pack(last, "A", _NOTHING)

    def _answer_again(self, last: int, messages: Sequence[Message]) -> list[Bytes]:
        """Answer requests that were carried out already."""
        if messages and messages[-1].kind == "C":
            if last != self._number or not self._answer:
                raise MessageError(f"the request {last} comes too late: {self._number} is done")
            return self._answer
        return pack(last, "A", _NOTHING)

    async def _wait_for_turn(self, number: int) -> None:
        if number <= self._number + 1:
            return
        if self._waiting >= _MOST_WAITING:
            raise MessageError("too many requests wait for those before them")
        self._waiting += 1
        try:
            async with asyncio.timeout(_LONGEST_WAIT):
                await self._turn.wait_for(lambda: number <= self._number + 1)
        except TimeoutError:
            raise MessageError(f"the request before {number} did not come") from None
        finally:
            self._waiting -= 1

    @contextmanager
    def _listening(self) -> Iterator[None]:
        """Have the record hear the warnings about the calls that are made meanwhile, and the calls come from the page's line."""
        token, place = LISTENER.set(self.record.warned), PLACE.set(self._place)
        try:
            yield
        finally:
            PLACE.reset(place)
            LISTENER.reset(token)

    def _tell(self, message: Message) -> list[Bytes]:
        """Carry out a request without an answer; return what `_carry_out` returns then."""
        kind, (text, *parts) = message
        request = read_text(text)
        if kind == "K":
            self._keep(request, parts)
        elif kind == "S":
            parts = [self._find_kept(request, parts)]
        note = self._noting(request, parts)
        self.counts.told += 1
        self._dispatcher.tell(request, parts)
        note("", ())
        return []

    async def _carry_out(self, number: int, message: Message) -> list[Bytes]:
        """Carry out a request, and return the body of the answer to it and those before it: empty if there is none, or none yet."""
        kind, (text, *parts) = message
        if kind == "H":
            raise MessageError("a page says what it is once, before everything else")
        request = read_text(text)
        if kind == "L":
            self._place = read_line(request, parts, wanted=self.options.lines)
            PLACE.set(self._place)
            return []
        note = self._noting(request, parts)
        self.counts.calls += 1
        if kind == "P":
            self._make_room()
            begun = self._dispatcher.begin(request, parts, tells_lost=False)
            self._expect(number)
            if isinstance(begun, Begun):
                self._count(request, begun)
                self._follow(number, begun, note)
            else:
                self._end(number, begun, note)
            return []
        answer = await self._call(number, request, parts, note)
        # A context that was destroyed is lost in the next turn of the loop.
        await asyncio.sleep(0)
        return pack(number, "A", answer)

    def _keep(self, text: str, parts: Sequence[Bytes]) -> None:
        """Keep a copy of the bytes of a request until others come with its text, by the rules of page_host.js."""
        if len(text) > _LONGEST or len(parts) != 1 or not SMALL <= size_of(parts[0]) <= _MOST_KEPT:
            raise MessageError(f"a request whose bytes are kept is short and has one part of {SMALL} to {_MOST_KEPT} bytes")
        if total_size(self._kept.values()) - len(self._kept.get(text, b"")) + size_of(parts[0]) > _MOST_KEPT:
            self._kept.clear()
        self._kept[text] = bytes(parts[0])

    def _find_kept(self, text: str, parts: Sequence[Bytes]) -> bytearray:
        if parts or text not in self._kept:
            raise MessageError("there are no bytes that were kept with this request")
        return bytearray(self._kept[text])

    async def _call(self, number: int, text: str, parts: list[Bytes], note: _Note) -> list[Bytes]:
        begun = self._dispatcher.begin(text, parts)
        if isinstance(begun, Begun):
            self._count(text, begun)
            await asyncio.wait({begun.future}, timeout=None if begun.is_awaited else _PATIENCE)
            if not begun.future.done():
                self._expect(number)
                self._follow(number, begun, note)
                return self._promise(number)
            begun = begun.answer()
        answered, buffers = begun
        # The methods of WebGPU return their bytes.
        if total_size(buffers) <= SMALL or text.startswith(_WEBGPU):
            note(answered, buffers)
            return [answered.encode(), *buffers]
        # Of other operations only those that return promises have results in bytes.
        self._expect(number)
        self._end(number, begun, note)
        return self._promise(number)

    def _count(self, text: str, begun: Begun) -> None:
        """Count the time of a build, which holds up all threads. Computations do not."""
        if _BUILD in text[:_LONGEST_START]:
            self.share.follow(begun.future)

    def _follow(self, number: int, begun: Begun, note: _Note) -> None:
        """Take the result of an operation that goes on, when it is there."""

        def finish(_: object) -> None:
            if begun.future.cancelled() or self._stop.is_set():
                return
            self._end(number, begun.answer(), note)
            self._note_faults()

        begun.future.add_done_callback(finish)

    def _noting(self, text: str, parts: Sequence[Bytes]) -> _Note:
        """Return what records a request that begins now, once it has its answer."""
        begin, received = time.perf_counter(), total_size(parts)
        self.counts.received += received

        def note(answered: str, buffers: Sequence[Bytes]) -> None:
            sent = total_size(buffers)
            self.counts.sent += sent
            self.record.called(text, answered, time.perf_counter() - begin, received, sent)

        return note

    def _make_room(self) -> None:
        if len(self._results) >= _MOST_RESULTS:
            raise MessageError(f"more than {_MOST_RESULTS} operations wait")

    def _expect(self, number: int) -> None:
        """Take note that an operation has a result later."""
        self._make_room()
        self._results[number] = self._loop.create_future()

    def _end(self, number: int, answer: tuple[str, list[Bytes]], note: _Note) -> None:
        """Take the result of an operation, and send it to the page or keep it until it is fetched."""
        answered, buffers = answer
        note(answered, buffers)
        self._results[number].set_result(pack(number, "R", [answered.encode(), *buffers]))
        self._push(number)

    @staticmethod
    def _promise(number: int) -> list[Bytes]:
        return [b'{"pending": %d}' % number]

    def _push_all(self) -> None:
        self._push_losses()
        for number in [number for number, result in self._results.items() if result.done()]:
            self._push(number)

    def _push(self, number: int) -> None:
        """Send a result through the live connection, or say that it can be fetched."""
        if (push := self.push) is None:
            return
        body = self._results[number].result()
        size = total_size(body)
        if size <= _LARGEST_PUSHED and self._unsent() + size <= _MOST_UNSENT:
            del self._results[number]
            push(body)
        else:
            push(pack(number, "N", [b""]))

    async def _take(self, number: int) -> list[Bytes]:
        if number not in self._results:
            raise MessageError(f"there is no operation {number}")
        # The page that waits may go away: the result stays.
        body = await asyncio.shield(self._results[number])
        self._results.pop(number, None)
        return body

    async def _replace(self, ml: webnn.ML) -> None:
        self._dispatcher.replace(ml)

    def _tell_lost(self, handle: int, message: str) -> None:
        self.record.lost.append(message)
        self._losses.append([handle, message])
        self._push_losses()

    def _push_losses(self) -> None:
        """Tell the page which contexts are lost, once it has a live connection."""
        if (push := self.push) is not None and self._losses:
            push(pack(0, "L", [json.dumps(self._losses).encode()]))
            self._losses = []

    def _note_faults(self) -> None:
        faults = self._dispatcher.faults
        while faults:
            self._on_fault(faults.pop(0))
