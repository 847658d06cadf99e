"""A context's timeline: its work runs in order, one job at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

__all__ = ["Timeline"]

T = TypeVar("T")


class Timeline:
    """One worker thread, started at the first job that needs it, and a way round it for callers that wait anyway.

    Jobs run in the order of submission. A caller that waits on an idle timeline runs its job itself, because a hand-over to another
    thread costs more than a small graph. The interpreter's exit waits for the jobs under way.
    """

    __slots__ = ("_executor", "_lock", "_pending", "_turn")

    def __init__(self) -> None:
        #: Held by whichever thread runs a job.
        self._turn = threading.Lock()
        #: Guards `_executor` and `_pending`.
        self._lock = threading.Lock()
        self._executor: ThreadPoolExecutor | None = None
        self._pending = 0

    def submit(self, job: Callable[[], T]) -> Future[T]:
        """Append a job; it runs on the worker thread.

        Raises:
            RuntimeError: The interpreter is exiting.
        """
        # Not before the first job that needs a thread: it takes a while to load.
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415

        with self._lock:
            if self._executor is None:
                self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="webnn")
            future = self._executor.submit(self._run, job)
            self._pending += 1
        # Also when the job was cancelled before it began.
        future.add_done_callback(self._finished)
        return future

    def run(self, job: Callable[[], T]) -> T:
        """Run a job after all submitted ones and return what it returns: on this thread if the timeline is idle."""
        if self._turn.acquire(blocking=False):
            try:
                if not self._pending:
                    return job()
            finally:
                self._turn.release()
        return self.submit(job).result()

    def _run(self, job: Callable[[], T]) -> T:
        with self._turn:
            return job()

    def _finished(self, _: Future[T]) -> None:
        with self._lock:
            self._pending -= 1
