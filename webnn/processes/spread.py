"""Spreads tasks over workers: a bounded number at once. A task whose worker died runs again; one that ends each worker is found."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from webnn.processes.executors import Workers

__all__ = ["Outcome", "spread"]

T = TypeVar("T")
R = TypeVar("R")

#: How many tasks are under way for each worker, so that none waits for its next one.
_AHEAD = 2
#: How often a task is lost together with others before it runs alone.
_LOSSES = 3


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T, R]):
    """A task that has ended.

    Attributes:
        task: The task.
        result: What it returned; ``None`` if there is a problem.
        problem: Why it has no result: the error that it raised, or how its workers ended. Empty if it has one.
    """

    task: T
    result: R | None
    problem: str = ""


@dataclass(slots=True, eq=False)
class _Flight(Generic[T]):
    """A task that is under way.

    Attributes:
        future: ``None`` if it must wait until it can run alone.
        losses: How often it was lost.
    """

    task: T
    future: Future[Any] | None = None
    losses: int = field(default=0)

    @property
    def ended(self) -> bool:
        return self.future is not None and self.future.done()

    @property
    def loss(self) -> BaseException | None:
        """Why it was lost; an error that the task raised is no loss."""
        if self.future is None or not self.future.done():
            return None
        if self.future.cancelled():
            return RuntimeError("the task was cancelled: a worker that held its data has ended")
        return self.future.exception()


def spread(
    workers: Workers, function: Callable[..., R], tasks: Iterable[T], arguments: Callable[[T], Sequence[Any]], *, ordered: bool = False
) -> Generator[Outcome[T, R]]:
    """Run a function for each task on workers, and yield each task that has ended. Closing the iterator gives up the others.

    Args:
        workers: The workers.
        function: What a task does; a function of a module.
        tasks: The tasks; they are taken when a worker is free for them.
        arguments: Returns the arguments of the function for a task; called again if the task was lost.
        ordered: Yield the tasks in their order, not as they end.

    Raises:
        OSError: The executor is broken for good.
    """
    waiting = iter(tasks)
    flights: list[_Flight[T]] = []

    def start(flight: _Flight[T]) -> None:
        try:
            flight.future = workers.submit(_attempt, function, *arguments(flight.task))
        except (OSError, RuntimeError) as error:  # the pool broke a moment ago, or a worker that data was sent to
            flight.future = Future()
            flight.future.set_exception(error)

    try:
        while True:
            held = [flight for flight in flights if flight.future is None]
            while not held and len(flights) < _AHEAD * workers.count:
                try:
                    flights.append(_Flight(next(waiting)))
                except StopIteration:
                    break
                start(flights[-1])
            if not flights:
                return
            lost = [flight for flight in flights if flight.loss is not None]
            done = [flight for flight in flights[: 1 if ordered else None] if flight.ended and flight not in lost]
            if done:
                flights.remove(done[0])
                yield _outcome(done[0])
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
    reasons = {id(flight): f"{type(flight.loss).__name__}: {flight.loss}" for flight in lost}
    if not workers.renew():
        raise OSError(f"the executor is broken: {reasons[id(lost[0])]}")
    # With a new pool, all that were under way in the old one are lost.
    for flight in [flight for flight in flights if flight.loss is not None]:
        flight.losses += 1
        if flight.losses < _LOSSES:
            start(flight)
        elif flight.losses == _LOSSES:
            flight.future = None
        else:
            flights.remove(flight)
            reason = reasons.get(id(flight), "its worker was ended")
            yield Outcome(flight.task, None, f"its worker ends each time ({reason})")


def _outcome(flight: _Flight[T]) -> Outcome[T, Any]:
    succeeded, value = cast("Future[tuple[bool, Any]]", flight.future).result()
    return Outcome(flight.task, value) if succeeded else Outcome(flight.task, None, value)


def _attempt(function: Callable[..., Any], *arguments: Any) -> tuple[bool, Any]:
    """Run a task in a worker. Errors travel as texts, because not every exception can be pickled."""
    try:
        return True, function(*arguments)
    except Exception as error:  # whatever a task raises
        frames = traceback.extract_tb(error.__traceback__)
        return False, f"{type(error).__name__}: {error} (in {Path(frames[-1].filename).name}, line {frames[-1].lineno})"
