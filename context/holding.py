"""A timeline whose work can wait for bytes from outside, such as those of a buffer of a GPU that the program reads asynchronously."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar, TypeVarTuple

import numpy as np

from webnn.context.timeline import BUSY, Busy, Timeline

if TYPE_CHECKING:
    Bytes: TypeAlias = np.ndarray[Any, np.dtype[np.uint8]]

__all__ = ["Coming", "HoldingTimeline"]

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")
#: How many jobs wait for bytes, and how many bytes they hold. A program that never yields would fill the memory.
_MOST_JOBS, _MOST_BYTES = 1 << 13, 1 << 28


class Coming:
    """The bytes of a buffer that is destroyed, before they are there."""

    __slots__ = ("_then",)

    def __init__(self) -> None:
        self._then: Callable[[Bytes | None], None] | None = None

    def then(self, take: Callable[[Bytes | None], None]) -> None:
        """Set what takes the bytes; ``None`` if they are lost."""
        self._then = take

    def give(self, data: Bytes | None) -> None:
        """Hand the bytes over. A second call does nothing."""
        take, self._then = self._then, None
        if take is not None:
            take(data)


class _Job(NamedTuple):
    """A job that waits.

    Attributes:
        isUrgent: Somebody awaits its result.
        gate: Where it waits for something itself: has an element once that is there.
    """

    run: Callable[[], object]
    size: int = 0
    isUrgent: bool = False
    gate: list[None] | None = None


class HoldingTimeline(Timeline):
    """A `Timeline` on which a job can wait for bytes, and all that is queued after it.

    `run` does not wait for them, as is right for builds and new tensors, which depend on nothing that is queued.

    Attributes:
        epoch: How many times all held work was let go. So a tensor remembers whether work that writes it is held.
    """

    __slots__ = ("_heldBytes", "_heldJobs", "_holding", "_lettingGo", "_lock", "epoch")

    def __init__(self) -> None:
        super().__init__()
        self.epoch = 0
        #: Never held while a job runs, or a thread waits for one.
        self._lock = threading.Lock()
        self._heldJobs: deque[_Job] = deque()
        self._heldBytes = 0
        self._holding = self._lettingGo = False

    @property
    def isFull(self) -> bool:
        """So much work is held that a program should queue no more."""
        return len(self._heldJobs) >= _MOST_JOBS or self._heldBytes >= _MOST_BYTES

    @property
    def holds(self) -> bool:
        """Work waits for bytes."""
        return self._holding

    def hold(self, job: Callable[[], object]) -> Callable[[], None]:
        """Append a job; return the function that lets it run. Jobs that are queued later come after it."""
        gate: list[None] = []
        with self._lock:
            self._holding = True
            self._heldJobs.append(_Job(job, gate=gate))

        def let_go() -> None:
            gate.append(None)
            self._let_go()

        return let_go

    def post(self, job: Callable[[], object], size: int = 0) -> None:
        """Append a job as in `Timeline`."""
        if not self._keep(_Job(job, size)):
            super().post(job, size)

    def hurry(self, job: Callable[[], object]) -> None:
        """Append a job as in `Timeline`."""
        if not self._keep(_Job(job, isUrgent=True)):
            super().hurry(job)

    def attempt(self, job: Callable[[*Arguments], T], *arguments: *Arguments) -> T | Busy:
        """Run a job at once if the timeline is idle and nothing is held, as in `Timeline`."""
        return BUSY if self._holding else super().attempt(job, *arguments)

    def _keep(self, job: _Job) -> bool:
        if not self._holding:
            return False
        with self._lock:
            if not self._holding:
                return False
            self._heldJobs.append(job)
            self._heldBytes += job.size
        return True

    def _let_go(self) -> None:
        """Queue held jobs, in their order, up to the first one that waits itself. One thread at a time does so."""
        isMine = False
        while True:
            with self._lock:
                if self._lettingGo and not isMine:
                    return
                job = self._heldJobs[0] if self._heldJobs else None
                self._lettingGo = isMine = job is not None and (job.gate is None or bool(job.gate))
                if job is None and self._holding:
                    self._holding = False
                    self.epoch += 1
                if job is None or not isMine:
                    return
                self._heldJobs.popleft()
                self._heldBytes -= job.size
            if job.isUrgent:
                super().hurry(job.run)
            else:
                super().post(job.run, job.size)
