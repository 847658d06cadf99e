"""The recorder behind `webnn.inspect.record_timeline`: the times of calls, and those of the work on the timelines of contexts."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from time import perf_counter
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar, TypeVarTuple

from webnn.context.timeline import Busy, Timeline
from webnn.inspect.recording import Line, attach, detach, watch_contexts
from webnn.inspect.timeline import CallTimeline, TimelineEvent
from webnn.validation.caller import find_line

if TYPE_CHECKING:
    from webnn.context.context import MLContext
    from webnn.context.graph import MLGraph
    from webnn.context.tensor import MLTensor

__all__ = ["TimelineRecorder", "record_timeline"]

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")

#: The most events that are kept.
_MOST = 200_000


def record_timeline() -> TimelineRecorder:
    """Record when a program calls, and when its contexts work; see docs/inspect.md.

    ``with webnn.inspect.record_timeline() as recorder: ...`` records the contexts that are made in the block, ``print(recorder.report())``
    shows the times, and ``recorder.report().to_chrome()`` is the time line for a trace viewer.

    Returns:
        A context manager, which can be entered once.
    """
    return TimelineRecorder()


class TimelineRecorder:
    """Records the times of calls and of work: what `record_timeline` returns. Any thread may call its methods.

    Args:
        newest: Keep no more events than this, the newest ones; by default the first 200,000 are kept.
    """

    def __init__(self, newest: int | None = None) -> None:
        self._lock = threading.Lock()
        self._entered = False
        self._emulation: AbstractContextManager[object] | None = None
        #: The program may drop them meanwhile.
        self._contexts: list[weakref.ref[MLContext]] = []
        self._began, self._ended = perf_counter(), 0.0
        self._calls = 0
        self._events: deque[TimelineEvent] = deque(maxlen=newest)
        self._left = 0
        #: The call that each thread is in: its number, its method and its line.
        self._current = threading.local()

    def __enter__(self) -> TimelineRecorder:
        if self._entered:
            raise RuntimeError("record_timeline: a recording can be entered only once")
        self._entered = True
        self._emulation = watch_contexts(self.watch)
        self._emulation.__enter__()
        self._began = perf_counter()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._ended = perf_counter()
        if self._emulation is not None:
            self._emulation.__exit__(kind, error, traceback)
        with self._lock:
            contexts, self._contexts = self._contexts, []
        for reference in contexts:
            context = reference()
            if context is None:
                continue
            detach(context, self)
            if context._state.host is not None:
                context._state.host.watch = None
            timeline = context._state.timeline
            if isinstance(timeline, _TimedTimeline):
                timeline.recorder = None

    def __repr__(self) -> str:
        return f"<TimelineRecorder: {len(self._events)} events>"

    def watch(self, context: MLContext) -> None:
        """Record a context that was just made and has done nothing yet."""
        with self._lock:
            self._contexts.append(weakref.ref(context))
            number = len(self._contexts)
        # The program does not have the context yet: its timeline has had no job.
        track = f"context {number}, {context._state.selection.device}"
        object.__setattr__(context._state, "timeline", _TimedTimeline(self, track))
        if context._state.host is not None:
            context._state.host.watch = partial(self._requested, f"process of {track}")
        attach(context, self)

    def _requested(self, track: str, begin: float, end: float) -> None:
        """Add a request to a process, if a recorded call made it."""
        if (call := self.current()) is not None:
            self.add(*call, begin, track, end=end, isRequest=True)

    def report(self) -> CallTimeline:
        """Return the recording up to now."""
        with self._lock:
            events = sorted(self._events, key=lambda each: (each.begin, each.isWork))
            return CallTimeline(events=tuple(events), seconds=(self._ended or perf_counter()) - self._began, left=self._left)

    def add(self, call: int, method: str, line: Line, begin: float, track: str = "", *, end: float = 0.0, isRequest: bool = False) -> None:
        """Add what ends now, or ended: work, or without a track a call on this thread."""
        end = end or perf_counter()
        event = TimelineEvent(
            method=method,
            track=track or f"thread {threading.current_thread().name}",
            isWork=bool(track),
            call=call,
            begin=begin - self._began,
            seconds=end - begin,
            file=line[0],
            line=line[1],
            isRequest=isRequest,
        )
        with self._lock:
            most = self._events.maxlen
            self._left += len(self._events) >= (_MOST if most is None else most)
            if most is not None or len(self._events) < _MOST:
                self._events.append(event)

    def current(self) -> tuple[int, str, Line] | None:
        """Return the call that this thread is in."""
        return getattr(self._current, "call", None)

    def within(self, call: tuple[int, str, Line], job: Callable[[], T]) -> T:
        """Do a job on this thread as the work of a call."""
        before = self.current()
        self._current.call = call
        try:
            return job()
        finally:
            self._current.call = before

    # The calls: `webnn.inspect.recording.Listener`.

    def begun(self, method: str) -> Callable[[], None]:
        """Learn that a call begins; return a function to call at its end."""
        with self._lock:
            self._calls += 1
            number = self._calls
        before, line = self.current(), find_line()
        self._current.call = (number, method, line)
        begin = perf_counter()

        def end() -> None:
            self._current.call = before
            self.add(number, method, line, begin)

        return end

    def created(self, tensor: MLTensor, line: Line) -> Callable[[], None]:
        """Learn of a new tensor: its end is not recorded."""
        return _nothing

    def copied(self, method: str, line: Line, size: int, made: int) -> None:
        """Learn of a copy: only times are recorded."""

    def dispatched(self, graph: MLGraph, inputs: Mapping[str, MLTensor], outputs: Mapping[str, MLTensor], line: Line) -> None:
        """Learn of a dispatch: only times are recorded."""

    def built(self, line: Line) -> None:
        """Learn of a build: only times are recorded."""

    def computed(self) -> None:
        """Learn of a computation over arrays: only times are recorded."""


class _TimedTimeline(Timeline):
    """A timeline that takes the time of the jobs that calls give it.

    Attributes:
        recorder: The recorder of the jobs; ``None`` once the recording has ended.
    """

    __slots__ = ("_track", "recorder")

    def __init__(self, recorder: TimelineRecorder, track: str) -> None:
        super().__init__()
        self.recorder: TimelineRecorder | None = recorder
        self._track = track

    def post(self, job: Callable[[], object], size: int = 0) -> None:
        """Append a job, and return."""
        super().post(self._timed(job), size)

    def hurry(self, job: Callable[[], object]) -> None:
        """Append a job whose result is awaited, and return."""
        super().hurry(self._timed(job))

    def attempt(self, job: Callable[[*Arguments], T], *arguments: *Arguments) -> T | Busy:
        """Run a job at once if the timeline is idle."""
        return super().attempt(self._timed(job), *arguments)

    def run(self, job: Callable[[], T]) -> T:
        """Run a job after all that are queued."""
        return super().run(self._timed(job))

    def _timed(self, job: Callable[[*Arguments], T]) -> Callable[[*Arguments], T]:
        """Return a job that is recorded as work of the call that this thread is in."""
        recorder, track = self.recorder, self._track
        call = None if recorder is None else recorder.current()
        if recorder is None or call is None:
            return job

        def work(*arguments: *Arguments) -> T:
            begin = perf_counter()
            try:
                return recorder.within(call, partial(job, *arguments))
            finally:
                recorder.add(*call, begin, track)

        return work


def _nothing() -> None:
    pass
