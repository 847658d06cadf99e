"""The requests of a context to its process.

A process that ends by itself, hangs, has too much memory or sends what it must not is a lost context; the program goes on.

The timeline of the context makes one request at a time. An interrupt waits for the answer, as it would for an engine in this process. A
second one does not; then the next request waits for it.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import time
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, TypeVar

from webnn.context.engine.remote.channel import LONGEST, PLACE, Answer, Operation, ProtocolError, read_answer, read_facts, read_text
from webnn.context.engine.remote.memory import Arena, Place, SharedMemory
from webnn.context.engine.remote.process import Process, abandon_spares, find_spare
from webnn.context.timeline import Living
from webnn.validation.errors import InvalidStateError, OperationError

if TYPE_CHECKING:
    from webnn.context.state import Loss
    from webnn.validation.descriptor import OperandDescriptor

T = TypeVar("T")

__all__ = ["HANG_LIMIT", "EngineError", "Host"]

#: The default of how long a build or a run may take, in seconds: a software GPU is slow.
HANG_LIMIT = 300.0
#: The default of the most memory, as a part of that of the machine.
_PART = 0.9
#: When a request that waits looks at the limits for the first time, and how often after that, in seconds.
_FIRST_LOOK, _LOOK = 0.05, 0.25
#: After how many requests the memory is looked at, if all of them are short.
_OFTEN = 256
_WRONG = "it sent what it must not"
#: How long the end of a process whose connection has ended may take, in seconds.
_PATIENCE = 10.0


class EngineError(Exception):
    """The engine of the process failed; the message is its own.

    Attributes:
        whole: The message needs no more words: it is not the engine's.
    """

    def __init__(self, message: str, *, whole: bool) -> None:
        super().__init__(message)
        self.whole = whole


class Host:
    """A process that does the work of a context. Not thread-safe: the context's timeline makes one request at a time.

    The process starts at once, and gets ready while the program goes on. It ends when the context is lost. Without a loss the next host
    has it, if that comes soon.

    Args:
        name: The words for the device in messages.
        loss: The context, which the end of the process loses.
        packages: Packages of plug-ins beside the known ones.
        hang_limit: How long a request may take, in seconds.
        memory_limit: The most bytes that the process may have; by default nine tenths of the memory of the machine.

    Attributes:
        arena: The memory that both sides have.
        graphs: The numbers for graphs.
        loss: The context.
        packages: The packages of plug-ins.
        watch: Called with the times at which each request begins and ends, by `time.perf_counter`; ``None`` if nobody watches.
    """

    __slots__ = (
        "__weakref__",
        "_channel",
        "_dropped",
        "_hang_limit",
        "_known",
        "_memory_limit",
        "_process",
        "arena",
        "graphs",
        "loss",
        "packages",
        "watch",
    )

    #: It ends after the graphs of its context.
    _endsFirst: ClassVar[bool] = False

    def __init__(
        self,
        name: str,
        loss: Loss,
        packages: Sequence[str] = (),
        *,
        hang_limit: float | None = None,
        memory_limit: int | None = None,
        cache: str = "",
    ) -> None:
        self.arena = Arena()
        self.graphs = itertools.count(1)
        self.watch: Callable[[float, float], None] | None = None
        #: The segments that the process has.
        self._known: set[int] = set()
        #: The graphs that are no longer in use.
        self._dropped: deque[int] = deque()
        self._hang_limit, self._memory_limit = _PATIENCE, 0
        spare = find_spare(cache)
        if spare is None or not self._try(spare):
            # An interrupt in between ends this host, and the host's end that of the process.
            self._take(Process(name, loss, cache))
            self._process.start()
        self.serve(name, loss, packages, hang_limit, memory_limit)
        _HOSTS.add(self)

    def _take(self, process: Process) -> None:
        # The end of the program ends the connection, and with it the process.
        weakref.finalize(self, process.retire).atexit = False
        self._process, self._channel = process, process.ours

    def _try(self, spare: Process) -> bool:
        """Take a process that rests; tell whether it still does."""
        self._take(spare)
        try:
            self._settle()
        except (OSError, EOFError, ProtocolError):
            spare.release()
            return False
        return True

    def serve(self, name: str, loss: Loss, packages: Sequence[str], hang_limit: float | None, memory_limit: int | None) -> None:
        """Serve another context from now on. The arguments are those of the class."""
        self.loss = loss
        self.packages = packages
        self._hang_limit = HANG_LIMIT if hang_limit is None else hang_limit
        self._memory_limit = _machine_memory() if memory_limit is None else memory_limit
        self._process.name, self._process.loss = name, loss
        # The process may have ended, and lost the context, before this or after it: the context's first call says so.
        with contextlib.suppress(InvalidStateError):
            loss.add(self, "createContext")
        if self._process.ended.is_set():
            loss.lose(self._process.reason)

    @property
    def end(self) -> str:
        """How the process ended, in words that follow "the process"; empty while it runs."""
        return self._process.end

    @property
    def cache(self) -> str:
        """The folder of optimized models in which the process may write; empty if there is none."""
        return self._process.cache

    def missing_walls(self) -> dict[str, str]:
        """Return which walls of the system do not stand around the process, with the reasons."""
        return dict(self.check(read_facts, self.request(Operation.PING, method="createContext"), "createContext"))

    @property
    def pid(self) -> int:
        """The number of the process; 0 before it has started."""
        return self._process.pid

    def allocate(self, descriptor: OperandDescriptor) -> SharedMemory:
        """Return the memory of a new tensor, all zeros.

        Raises:
            MemoryError: There is no memory.
        """
        return SharedMemory(self.arena, descriptor)

    def noise(self) -> str:
        """Return the end of what the process wrote to standard error and standard output: messages of drivers, at most 64 KiB."""
        return self._process.noise()

    def request(self, operation: Operation, body: bytes = b"", *, method: str, work: str = "") -> bytes:
        """Make a request, and wait for the answer.

        Args:
            operation: The operation.
            body: Its arguments.
            method: The method of the API, for the error.
            work: The words for what is done, for the reason of a loss.

        Returns:
            The body of the answer.

        Raises:
            EngineError: The engine failed.
            InvalidStateError: The process has ended, and the context is lost.
        """
        return self._ask(operation, body, None, method, work)

    def check(self, read: Callable[[bytes], T], body: bytes, method: str) -> T:
        """Read the body of an answer. A process that sends what it must not is ended.

        Raises:
            InvalidStateError: It did, and the context is lost.
        """
        try:
            return read(body)
        except ProtocolError:
            self._process.kill(_WRONG)
            raise self._lost(method) from None

    def drop(self, graph: int) -> None:
        """Have the process forget a graph, before its next request. Any thread may call this."""
        self._dropped.append(graph)

    def fetch(self, place: Place) -> None:
        """Have the newest numbers of a tensor in its memory: a device may have them.

        Raises:
            OperationError: The copy fails.
            InvalidStateError: The process has ended, and the context is lost.
        """
        try:
            self.request(Operation.FETCH, PLACE.pack(place.segment, place.offset), method="readTensor", work="a copy from the device")
        except EngineError as error:
            message = f"readTensor: the copy from the device failed: {error}"
            raise OperationError(message, operation="readTensor", rule="engine") from error

    def share(self, number: int, method: str, work: str) -> None:
        """Give the process a segment, unless it has it."""
        if number not in self._known:
            self._ask(Operation.SEGMENT, self._describe(number), number, method, work)
            self._known.add(number)
            self.arena.segments[number].close()

    def build(self, graph: int, number: int, length: int, work: str) -> bytes:
        """Have the process build a graph from a segment, which begins with the header; return the body of the answer."""
        head = graph.to_bytes(4, "little") + length.to_bytes(8, "little")
        return self._ask(Operation.BUILD, head + self._describe(number), number, "build", work)

    def _describe(self, number: int) -> bytes:
        segment = self.arena.segments[number]
        return number.to_bytes(4, "little") + segment.size.to_bytes(8, "little") + segment.name.encode()

    def _ask(self, operation: Operation, body: bytes, segment: int | None, method: str, work: str) -> bytes:
        watch = self.watch
        if watch is None:
            return self._exchange(operation, body, segment, method, work)
        begin = time.perf_counter()
        try:
            return self._exchange(operation, body, segment, method, work)
        finally:
            watch(begin, time.perf_counter())

    def _exchange(self, operation: Operation, body: bytes, segment: int | None, method: str, work: str) -> bytes:
        process = self._process
        if process.ended.is_set():
            raise self._lost(method)
        if self._dropped or self.arena.dropped:
            self._forget(method)
        process.work = work
        try:
            if process.busy:
                self._settle()
            process.busy = True
            number = process.send(operation, body, -1 if segment is None else self.arena.segments[segment].descriptor)
            end, answer = self._receive(number)
            self._process.busy = False
        except (OSError, EOFError, ProtocolError) as error:
            process.kill(_WRONG if isinstance(error, ProtocolError) else "")
            raise self._lost(method) from None
        except BaseException:  # an interrupt
            # The process does what it was asked for, as an engine in this process would. Its end loses the context by itself.
            with contextlib.suppress(OSError, EOFError, ProtocolError):
                self._settle()
            raise
        process.work = ""
        if end != Answer.DONE:
            process.failed = process.failed or end == Answer.FAILED
            raise EngineError(read_text(answer), whole=end == Answer.REFUSED)
        return answer

    def _settle(self) -> None:
        """Wait until the process has done what an interrupt did not wait for. It is not known whether that was sent, nor what came back."""
        self._receive(self._process.send(Operation.PING, b""))
        self._process.busy = False

    def _receive(self, number: int) -> tuple[int, bytes]:
        """Receive the answer to a request; those to requests before it are left out."""
        if not number % _OFTEN:
            self._check_memory()
        parts = b""
        while True:
            self._wait()
            told, end, body = read_answer(self._channel.receive())
            if told != number:
                continue
            if end != Answer.MORE:
                return end, parts + body
            parts += body
            if len(parts) > LONGEST:
                raise ProtocolError

    def _wait(self) -> None:
        """Wait for a message."""
        wait = self._channel.wait
        if wait(_FIRST_LOOK):
            return
        began = time.monotonic() - _FIRST_LOOK
        while True:
            if self._process.ended.is_set():
                raise EOFError
            if time.monotonic() - began > self._hang_limit:
                self._process.kill(f"it did not answer within {self._hang_limit:g} s")
            self._check_memory()
            if wait(_LOOK):
                return

    def _check_memory(self) -> None:
        used = _used_memory(self._process.pid)
        if used > self._memory_limit > 0:
            self._process.kill(f"it had {used:,} bytes of memory, more than the limit of {self._memory_limit:,}")

    def _forget(self, method: str) -> None:
        """Have the process forget graphs and segments."""
        graphs, segments = [*self._dropped], [*self.arena.dropped]
        known = [number for number in segments if number in self._known]
        try:
            # Before the request, which looks for them.
            _take_off(self._dropped, len(graphs))
            _take_off(self.arena.dropped, len(segments))
            self._ask(Operation.DROP, json.dumps([graphs, known]).encode(), None, method, "")
        except KeyboardInterrupt:  # the process may forget them twice
            self._dropped.extend(graphs)
            self.arena.dropped.extend(segments)
            raise
        self._known.difference_update(known)

    def _lost(self, method: str) -> Exception:
        """Lose the context; return the error of the call."""
        process = self._process
        process.ended.wait(_PATIENCE)
        self.loss.lose(process.reason)
        return self.loss.error(method)

    def _destroy(self) -> None:
        """End the process with the context."""
        self._process.kill()


_HOSTS: Living[Host] = Living()


def _begin_child() -> None:
    """Lose the contexts of the parent in a forked child, which must use neither their processes nor their tensors."""
    abandon_spares()
    for host in _HOSTS.all():
        host._process.abandon()
        host.loss.lose(host._process.reason)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_child)


def _take_off(queue: deque[int], count: int) -> None:
    """Take the first elements off a queue, to which other threads may append."""
    for _ in range(count):
        queue.popleft()


def _machine_memory() -> int:
    """Return the default limit in bytes; 0, which is none, where the system does not tell."""
    with contextlib.suppress(AttributeError, ValueError, OSError):
        return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * _PART)
    return 0


def _used_memory(pid: int) -> int:
    """Return how many bytes of memory a process has, without what it swapped out; 0 where the system does not tell."""
    with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/statm", "rb") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0
