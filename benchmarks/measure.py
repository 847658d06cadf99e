"""Interleaved measurements and what is read from them."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

__all__ = [
    "UNITS",
    "Array",
    "Batch",
    "Effort",
    "OutputsDifferError",
    "Result",
    "SkippedError",
    "Unit",
    "check_same",
    "compete",
    "interleave",
    "processor_time",
    "summarize",
    "summarize_difference",
]

Array = np.ndarray[Any, np.dtype[Any]]

#: Does the work a number of times. The return value is discarded after the clock was read.
Batch = Callable[[int], object]

Unit = Literal["s", "ms", "µs"]
#: How many of a unit are a second.
UNITS: Mapping[Unit, float] = MappingProxyType({"s": 1.0, "ms": 1e3, "µs": 1e6})

#: The figure that the bar limits: webnn's time divided by onnxruntime's, webnn's rate or time alone, or the difference of the times.
Metric = Literal["ratio", "rate", "time", "difference"]

#: The two sides' outputs may differ by this much, relative to the largest value.
TOLERANCE = 1e-5


class SkippedError(Exception):
    """A benchmark cannot run here; the message says why."""


class OutputsDifferError(Exception):
    """The two sides of a benchmark compute different numbers: there is nothing to compare."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How long to measure.

    Attributes:
        rounds: How many times the two sides take turns.
        scale: The factor of the number of calls per turn.
    """

    rounds: int
    scale: float = 1.0

    def repeats(self, usual: int) -> int:
        """Return the number of calls per turn."""
        return max(1, round(usual * self.scale))


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of one benchmark.

    Attributes:
        name: The benchmark's name on the command line.
        title: The measured operation, in words.
        unit: The unit of `webnn` and `other`.
        webnn: The median of webnn's side.
        other: The median of the other side.
        against: The name of the other side.
        metric: The meaning of `value`.
        value: The value of `metric` for the medians.
        low: The smallest of the rounds.
        high: The largest of the rounds.
        bar: The highest `value` that passes; for a rate, the lowest. ``None`` for no bar.
        notes: Further figures.
    """

    name: str
    title: str
    unit: str
    webnn: float
    other: float
    against: str
    metric: Metric
    value: float
    low: float
    high: float
    bar: float | None
    notes: str = ""

    @property
    def ok(self) -> bool:
        """The bar is kept, if there is one."""
        if self.bar is None:
            return True
        return self.value >= self.bar if self.metric == "rate" else self.value <= self.bar


def check_same(ours: Array, theirs: Array, *, steps: int = 0) -> None:
    """Compare the outputs of the two sides.

    Args:
        ours: The output of webnn.
        theirs: The output of the other side.
        steps: By how many steps quantized numbers may differ.

    Raises:
        OutputsDifferError: They differ by more than `TOLERANCE`, or more steps.
    """
    if ours.shape != theirs.shape:
        raise OutputsDifferError(f"the shapes differ: {ours.shape} and {theirs.shape}")
    largest = float(np.max(np.abs(theirs.astype(np.float64))))
    error = float(np.max(np.abs(ours.astype(np.float64) - theirs)))
    if not error <= max(TOLERANCE * largest, steps):
        raise OutputsDifferError(f"the outputs differ by {error:.3g}, the largest is {largest:.3g}")


def interleave(
    ours: Batch, theirs: Batch, *, rounds: int, repeats: int, clock: Callable[[], float] = time.perf_counter
) -> tuple[list[float], list[float]]:
    """Let the two sides take turns, so that a drift of the machine affects both.

    The side that began comes second in the next round, because the second side can reuse memory that the first one has released. Each turn
    begins with calls that are not timed: they stop the work of the other side's threads, and warm the caches.

    Returns:
        The seconds per call of each round, of both sides.
    """
    times: tuple[list[float], list[float]] = ([], [])
    sides = [(ours, times[0]), (theirs, times[1])]
    for _ in range(rounds):
        for batch, seconds in sides:
            if repeats > 1:
                batch(1 + repeats // 10)
            gc.collect()
            start = clock()
            kept = batch(repeats)
            seconds.append((clock() - start) / repeats)
            del kept
        sides.reverse()
    return times


def compete(
    ours: Callable[..., Array], theirs: Callable[..., Array], effort: Effort, usual: int, *, steps: int = 0
) -> tuple[list[float], list[float]]:
    """Check that the two sides compute the same, then let them take turns.

    Args:
        ours: Computes a number of times, by default once; returns an output.
        theirs: Likewise.
        effort: How long to measure.
        usual: The number of calls per turn, without the effort.
        steps: As for `check_same`.
    """
    check_same(ours(), theirs(), steps=steps)
    return interleave(ours, theirs, rounds=effort.rounds, repeats=effort.repeats(usual))


def processor_time(work: Callable[[], object]) -> float:
    """Return the seconds that this thread takes for something, in which other work of the machine does not count."""
    gc.collect()
    start = time.thread_time()
    kept = work()
    seconds = time.thread_time() - start
    del kept
    return seconds


def summarize(
    name: str,
    title: str,
    times: tuple[Sequence[float], Sequence[float]],
    *,
    unit: Unit,
    bar: float | None,
    against: str = "onnxruntime",
    notes: str = "",
) -> Result:
    """Make the result of a benchmark whose bar is a ratio of times."""
    ours, theirs = times
    ratios = [mine / other for mine, other in zip(ours, theirs, strict=True)]
    middle = statistics.median(ours), statistics.median(theirs)
    factor = UNITS[unit]
    return Result(
        name=name,
        title=title,
        unit=unit,
        webnn=middle[0] * factor,
        other=middle[1] * factor,
        against=against,
        metric="ratio",
        value=middle[0] / middle[1],
        low=min(ratios),
        high=max(ratios),
        bar=bar,
        notes=notes,
    )


def summarize_difference(
    name: str, title: str, times: tuple[Sequence[float], Sequence[float]], *, unit: Unit, bar: float | None, against: str
) -> Result:
    """Make the result of a benchmark whose bar is a difference of times, in seconds."""
    ours, theirs = ([seconds * UNITS[unit] for seconds in side] for side in times)
    differences = [mine - other for mine, other in zip(ours, theirs, strict=True)]
    return Result(
        name=name,
        title=title,
        unit=unit,
        webnn=statistics.median(ours),
        other=statistics.median(theirs),
        against=against,
        metric="difference",
        value=statistics.median(differences),
        low=min(differences),
        high=max(differences),
        bar=bar,
    )
