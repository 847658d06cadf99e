"""Spreads tasks over workers: a bounded number at once. A task whose worker died runs again; one that ends each worker is found.

Where a task costs much beside its work, several short ones go to a worker together.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence, Sized
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Generic, TypeVar, cast

from webnn.processes.executors import Workers
from webnn.processes.spawn import describe_error

__all__ = ["Outcome", "spread"]

T = TypeVar("T")
R = TypeVar("R")

#: How many tasks are under way for each worker, so that none waits for its next one.
_AHEAD = 2
#: Tasks go together until they take this number of seconds, and this number at most: tasks under way need memory.
_WORTH, _TOGETHER = 0.5, 4
#: How often a task is lost together with others before it runs alone.
_LOSSES = 3


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T, R]):
    """A task that has ended.

    Attributes:
        result: The result; ``None`` if there is a problem.
        problem: Why it has no result: the error that it raised, or how its workers ended. Empty if it has one.
    """

    task: T
    result: R | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class _Attempt:
    """The end of a task in its worker: its result, or the text of its error, and how long it took, in seconds."""

    result: Any
    problem: str
    seconds: float


@dataclass(slots=True, eq=False)
class _Flight(Generic[T]):
    """Tasks that are under way together.

    Attributes:
        future: ``None`` if they must wait until they can run alone.
    """

    tasks: list[T]
    future: Future[list[_Attempt]] | None = None
    losses: int = field(default=0)

    @property
    def ended(self) -> bool:
        return self.future is not None and self.future.done()

    @property
    def loss(self) -> BaseException | None:
        """Why they were lost; an error that a task raised is not a loss."""
        if self.future is None or not self.future.done():
            return None
        if self.future.cancelled():
            return RuntimeError("the task was cancelled: a worker that held its data has ended")
        return self.future.exception()


def spread(
    workers: Workers, function: Callable[..., R], tasks: Iterable[T], arguments: Callable[[T], Sequence[Any]], *, ordered: bool = False
) -> Generator[Outcome[T, R]]:
    """Run a function for each task on workers, and yield each task that has ended. Closing the iterator gives up the others.

    The function must be one of a module. Tasks are taken when a worker is free for them. ``arguments`` returns those of the function for a
    task; it is called again if the task was lost. Raises `OSError` if the executor is broken for good.
    """
    waiting = iter(tasks)
    left = len(tasks) if isinstance(tasks, Sized) else 0
    flights: list[_Flight[T]] = []
    ready: deque[Outcome[T, R]] = deque()
    seconds = math.inf  # of the last task that ended

    def count() -> int:
        """Return how many tasks go together next: fewer towards the end, so that all workers end at once."""
        if not workers.costly:
            return 1
        return max(1, min(left // (2 * _AHEAD * workers.count), int(_WORTH / max(seconds, _WORTH / _TOGETHER))))

    def start(flight: _Flight[T]) -> None:
        try:
            given = [argument for task in flight.tasks for argument in arguments(task)]
            flight.future = workers.submit(_attempt, function, len(flight.tasks), *given)
        except (OSError, RuntimeError) as error:  # the pool broke a moment ago, or a worker that data was sent to
            flight.future = Future()
            flight.future.set_exception(error)

    try:
        while True:
            if ready:
                yield ready.popleft()
                continue
            held = [flight for flight in flights if flight.future is None]
            while not held and len(flights) < _AHEAD * workers.count and (chosen := list(islice(waiting, count()))):
                left -= len(chosen)
                flights.append(_Flight(chosen))
                start(flights[-1])
            if not flights:
                return
            lost = [flight for flight in flights if flight.loss is not None]
            done = [flight for flight in flights[: 1 if ordered else None] if flight.ended and flight not in lost]
            if done:
                flights.remove(done[0])
                for task, attempt in zip(done[0].tasks, cast("Future[list[_Attempt]]", done[0].future).result(), strict=True):
                    seconds = attempt.seconds
                    ready.append(Outcome(task, attempt.result, attempt.problem))
            elif lost:
                yield from _recover(workers, flights, lost, start)
            elif running := [flight.future for flight in flights if flight.future is not None and not flight.ended]:
                if not wait(running, workers.look, FIRST_COMPLETED).done:
                    workers.poll()
            else:
                start(held[0])
    finally:
        for flight in flights:
            if flight.future is not None:
                flight.future.cancel()


def _recover(
    workers: Workers, flights: list[_Flight[T]], lost: Sequence[_Flight[T]], start: Callable[[_Flight[T]], None]
) -> Generator[Outcome[T, Any]]:
    """Start lost tasks again; yield one that ends every worker."""
    reasons = {id(flight.future): f"{type(flight.loss).__name__}: {flight.loss}" for flight in lost}
    if not workers.renew():
        raise OSError(f"the executor is broken: {reasons[id(lost[0].future)]}")
    # With a new pool, all that were under way in the old one are lost. From now on each task is on its own.
    flights[:] = [
        each
        for flight in flights
        for each in ([flight] if flight.loss is None else [_Flight([task], flight.future, flight.losses) for task in flight.tasks])
    ]
    for flight in [flight for flight in flights if flight.loss is not None]:
        flight.losses += 1
        if flight.losses < _LOSSES:
            start(flight)
        elif flight.losses == _LOSSES:
            flight.future = None
        else:
            flights.remove(flight)
            reason = reasons.get(id(flight.future), "its worker was ended")
            yield Outcome(flight.tasks[0], None, f"its worker ends each time ({reason})")


def _attempt(function: Callable[..., Any], count: int, *arguments: Any) -> list[_Attempt]:
    """Run tasks in a worker, each with as many of the arguments."""
    attempts = []
    size = len(arguments) // count
    for index in range(count):
        began = time.perf_counter()
        result, problem = None, ""
        try:
            result = function(*arguments[index * size : (index + 1) * size])
        except Exception as error:  # whatever a task raises
            problem = describe_error(error)
        attempts.append(_Attempt(result, problem, time.perf_counter() - began))
    return attempts
