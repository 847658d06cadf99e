"""Loops of tokens over a decoder of six layers, beside sessions: with a cache that grows, stays, slides, or has integers."""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from benchmarks.decoder import USUAL, Cache, GraphSteps, SessionSteps
from benchmarks.measure import Effort, OutputsDifferError, Result, SkippedError, interleave, summarize, summarize_difference
from benchmarks.memory import resident_bytes, resident_bytes_of
from webnn import ML, MLContext
from webnn.builder.numerics import Numerics
from webnn.proposals.dynamic_shapes.graph import MOST_COMPILED

__all__ = ["DECODING_CASES", "GROWING", "race"]

TOKENS, LENGTHS, WINDOW = 100, 4096, 64
GROWING, STATIC = Cache(kind="growing"), Cache(kind="static", length=256)
_DECODER = f"Decoder of {USUAL.layers} layers, {USUAL.width} wide, {USUAL.words:,} words"


def _context(numerics: Numerics = "exact", *, isolate: bool = False) -> MLContext:
    return ML(revision="2026-06+dynamic-shapes", numerics=numerics, isolate=isolate).createContextSync(accelerated=False)


def _run(side: GraphSteps | SessionSteps, repeats: int) -> list[int]:
    """Say the same tokens a number of times; return them."""
    tokens: list[int] = []
    for _ in range(repeats):
        side.start()
        tokens = side(TOKENS)
    return tokens


def _decode(
    effort: Effort, name: str, title: str, cache: Cache, *, numerics: Numerics = "exact", bar: float = 1.3, rival: Cache | None = None
) -> Result:
    """Compare a loop with a session that has the same cache, and then with one that has another cache."""
    weights = USUAL.weights()
    theirs = [SessionSteps(USUAL, each, weights) for each in [cache, *([] if rival is None else [rival])]]
    return race(effort, name, title, GraphSteps(_context(numerics), USUAL, cache, weights), theirs, bar=bar)


def race(effort: Effort, name: str, title: str, ours: GraphSteps, theirs: Sequence[SessionSteps], *, bar: float) -> Result:
    """Compare a loop with sessions that say the same tokens; the first one counts.

    Raises:
        OutputsDifferError: A session says others.
    """
    said = _run(ours, 1)
    ratios: list[str] = []
    measured: list[tuple[list[float], list[float]]] = []
    for each in theirs:
        if said != (other := _run(each, 1)):
            raise OutputsDifferError(f"the tokens differ: {said[:10]} and {other[:10]}")
        times = interleave(partial(_run, ours), partial(_run, each), rounds=effort.rounds, repeats=1)
        measured.append(([seconds / TOKENS for seconds in times[0]], [seconds / TOKENS for seconds in times[1]]))
        ratios.append(f"{statistics.median(times[0]) / statistics.median(times[1]):.2f}")
    notes = f"{ratios[1]} of the time of a session with a growing cache" if len(ratios) > 1 else ""
    return summarize(name, f"{_DECODER}, {title}: one of {TOKENS} tokens", measured[0], unit="ms", bar=bar, notes=notes)


def _process(effort: Effort) -> Result:
    """Measure by how much longer a token takes in a process of its own."""
    weights = USUAL.weights()
    ours, theirs = (GraphSteps(_context(isolate=isolate), USUAL, GROWING, weights) for isolate in (True, False))
    if _run(ours, 1) != _run(theirs, 1):
        raise OutputsDifferError("the tokens differ")
    times = interleave(partial(_run, ours), partial(_run, theirs), rounds=effort.rounds, repeats=1)
    each = tuple([seconds / TOKENS for seconds in side] for side in times)
    title = f"The same decoder in a process of its own: one of {TOKENS} tokens"
    return summarize_difference("decoding-process", title, (each[0], each[1]), unit="µs", bar=500, against="in this process")


def _new_length(effort: Effort) -> Result:
    """Compare the time that `dispatch` takes with a length that is new and with one that is known; the tensors are new for both."""
    steps = GraphSteps(_context(), USUAL, GROWING)
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(3 * effort.rounds):
        # A graph remembers the lengths that were used last: these, and then others.
        for seconds, past in ((None, 2 * MOST_COMPILED), (times[0], 1), (times[1], 1)):
            steps.start(past)
            steps(MOST_COMPILED)
            if seconds is not None:
                seconds.append(statistics.median(steps.seconds))
    title = "The same decoder: one call of dispatch() with a length that is new"
    return summarize_difference("decoding-length", title, times, unit="µs", bar=100, against="a length that is known")


def _memory(effort: Effort, *, isolate: bool) -> Result:
    """Compare the memory of the process before and after many tokens, both with a cache of one place; that of the device's process, too."""
    context: Any = _context(isolate=isolate)
    steps = GraphSteps(context, USUAL, GROWING)
    steps(4 * MOST_COMPILED)
    pid = context._state.load_backend()._host.pid if isolate else 0
    if isolate and not resident_bytes_of(pid):
        raise SkippedError("this system does not tell the memory of another process")
    sizes = []
    for tokens in (0, effort.repeats(LENGTHS)):
        steps.start()
        steps(tokens)
        steps.start()
        # The process of a device learns with the second dispatch which memory the first one freed.
        steps(2)
        gc.collect()
        sizes.append((resident_bytes() + (resident_bytes_of(pid) if isolate else 0)) / 2**20)
    processes = "both processes" if isolate else "the process"
    return Result(
        name="decoding-process-memory" if isolate else "decoding-memory",
        title=f"The same decoder: {processes} after {effort.repeats(LENGTHS):,} tokens, without their cache",
        unit="MiB",
        webnn=sizes[1],
        other=sizes[0],
        against="before",
        metric="difference",
        value=sizes[1] - sizes[0],
        low=sizes[1] - sizes[0],
        high=sizes[1] - sizes[0],
        bar=16,
    )


def _grow(effort: Effort, name: str, numerics: Numerics) -> Result:
    title = "a growing cache with a named length" + ", fast numerics" * (numerics == "fast")
    return _decode(effort, name, title, GROWING, numerics=numerics, bar=1.2)


#: The benchmarks by their names on the command line.
DECODING_CASES: Mapping[str, Callable[[Effort], Result]] = MappingProxyType(
    {
        "decoding": partial(_grow, name="decoding", numerics="exact"),
        "decoding-fast": partial(_grow, name="decoding-fast", numerics="fast"),
        "decoding-static": lambda effort: _decode(
            effort, "decoding-static", f"a cache of {STATIC.length} places and a position", STATIC, rival=GROWING
        ),
        "decoding-sliding": lambda effort: _decode(
            effort, "decoding-sliding", f"a window of {WINDOW} places", Cache(kind="sliding", length=WINDOW)
        ),
        "decoding-int8": lambda effort: _decode(
            effort, "decoding-int8", f"a cache of {STATIC.length} places of int8", Cache(kind="static", length=STATIC.length, int8=True)
        ),
        "decoding-process": _process,
        "decoding-length": _new_length,
        "decoding-memory": partial(_memory, isolate=False),
        "decoding-process-memory": partial(_memory, isolate=True),
    }
)
