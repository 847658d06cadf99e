"""The recorder behind `webnn.inspect.record_waste`: it turns calls into steps."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import TracebackType

from webnn.context.context import MLContext
from webnn.context.graph import MLGraph
from webnn.context.tensor import MLTensor
from webnn.inspect.recording import Line, attach, detach, watch_contexts
from webnn.inspect.waste import NAMES, SMALL, Waste, WasteCounts, WasteLine, WasteStep
from webnn.validation import webidl
from webnn.validation.errors import NotSupportedError, WebNNTypeError

__all__ = ["WARMUP", "WasteRecorder", "record_waste"]

#: How many steps are for warm-up unless the program says otherwise.
WARMUP = 2
#: The most steps, lines, and combinations of the tensors of a graph that are kept.
_STEPS, _LINES, _COMBINATIONS = 10_000, 10_000, 64
#: The most spans of steps for which the number of a line's tensors is kept; an even number.
_SPANS = 64
#: Replaces the lines beyond the limit.
_ELSEWHERE: Line = ("elsewhere", 0)


#: The tensors of a dispatch: inputs (0) and outputs (1), their names, and what identifies them.
_Tensors = frozenset[tuple[int, str, object]]


def record_waste(context: MLContext | None = None, *, warmup: int = WARMUP) -> WasteRecorder:
    """Record the copies and allocations of each step of a loop; see docs/inspect.md.

    ``with webnn.inspect.record_waste(context) as waste: ...`` records the calls of a context, and ``print(waste.report())`` shows them.

    Args:
        context: The context, of a draft since 2026-06; by default every context that is made in the block.
        warmup: How many steps at the beginning are for warm-up: nothing is held against them.

    Returns:
        A context manager, which can be entered once.

    Raises:
        WebNNTypeError: ``context`` is not a context, or its draft has no tensors.
        TypeError: ``warmup`` is not an integer.
        ValueError: It is negative.
    """
    if context is not None:
        if not webidl.isInstance(context, MLContext):
            raise _error(f"must be an MLContext, got {webidl.describe(context)}")
        if not _has_tensors(context):
            raise _error(f"must follow a draft since 2026-06, which has tensors, got one of {context._revision.draft}")
    if not isinstance(warmup, int) or isinstance(warmup, bool):
        raise TypeError(f"record_waste: warmup must be an integer, got {webidl.describe(warmup)}")
    if warmup < 0:
        raise ValueError(f"record_waste: warmup must not be negative, got {warmup}")
    return WasteRecorder(context, warmup)


def _error(requirement: str) -> WebNNTypeError:
    return WebNNTypeError(f"record_waste: context {requirement}", operation="record_waste", argument="context")


def _has_tensors(context: MLContext) -> bool:
    return hasattr(context, "createTensor")


def _zeros() -> dict[str, int]:
    return dict.fromkeys(NAMES, 0)


class _History:
    """A number at the ends of steps: its lowest and its highest value in each span. Spans have equal numbers of steps, but for the last."""

    __slots__ = ("_length", "_spans", "_steps")

    def __init__(self) -> None:
        self._spans: list[tuple[int, int]] = []
        self._length = 1
        #: The steps in the last span.
        self._steps = 0

    def add(self, value: int) -> None:
        """Learn of the end of a step."""
        if self._steps % self._length:
            low, high = self._spans.pop()
            self._spans.append((min(low, value), max(high, value)))
        else:
            self._spans.append((value, value))
            self._steps = 0
        self._steps += 1
        if len(self._spans) == _SPANS and self._steps == self._length:
            self._spans = [(min(a[0], b[0]), max(a[1], b[1])) for a, b in zip(self._spans[::2], self._spans[1::2], strict=True)]
            self._length = self._steps = 2 * self._length

    def grows(self, last: int) -> bool:
        """Tell whether it never became less in the second half of the steps than it had been in the first half, and is more at last."""
        spans = [*self._spans, (last, last)]
        half = len(spans) // 2
        highest = max([high for _, high in spans[:half]], default=last)
        return last > highest and min([low for low, _ in spans[half:]]) >= highest


@dataclass(slots=True, eq=False)
class _Row:
    """The calls of one method in one line of the program: see `WasteLine`."""

    counts: dict[str, int] = field(default_factory=_zeros)
    steps: int = 0
    #: The step in which it did so last.
    last: int = -1
    combinations: int = 0
    alive: int = 0
    aliveBytes: int = 0
    kept: int = 0
    #: Of `kept`, since the line made its first tensor after the warm-up.
    history: _History | None = None


@dataclass(slots=True, eq=False)
class _Birth:
    """A tensor, and the line that made it."""

    row: _Row
    size: int
    late: bool
    #: Its callback tells when the program has dropped the tensor.
    reference: weakref.ref[MLTensor] | None = None


@dataclass(slots=True, eq=False)
class _Usage:
    """The dispatches of one graph.

    Attributes:
        transferred: The bytes that cross between devices in each run.
        allocated: The number and the bytes of the results that are not written in place.
    """

    transferred: int
    allocated: tuple[int, int]
    last: _Tensors = frozenset()
    combinations: set[_Tensors] = field(default_factory=set)
    step: int = -1


class WasteRecorder:
    """Records the copies and allocations of steps: what `record_waste` returns. Any thread may call its methods."""

    def __init__(self, context: MLContext | None, warmup: int) -> None:
        self._given = context
        self._warmup = warmup
        self._lock = threading.Lock()
        self._entered = self._open = self._marked = False
        self._emulation: AbstractContextManager[object] | None = None
        self._contexts: list[weakref.ref[MLContext]] = []
        self._others = self._computes = 0
        self._rows: dict[tuple[str, Line], _Row] = {}
        self._births: set[_Birth] = set()
        #: Tensors that are gone, and whether they were destroyed. The collector of garbage calls at any place, so that takes no lock.
        self._gone: deque[tuple[_Birth, bool]] = deque()
        self._alive = self._aliveBytes = self._peak = self._peakBytes = 0
        self._graphs: weakref.WeakKeyDictionary[MLGraph, _Usage] = weakref.WeakKeyDictionary()
        self._finished: list[WasteStep] = []
        self._total = _zeros()
        #: The current step: its number, whether anything happened, and whether it dispatched a graph and then read a tensor.
        self._number = 0
        self._current = _zeros()
        self._begun = self._dispatched = self._read = False

    def __enter__(self) -> WasteRecorder:
        if self._entered:
            raise RuntimeError("record_waste: a recording can be entered only once")
        self._entered = True
        if self._given is not None:
            self._watch(self._given)
        else:
            self._emulation = watch_contexts(self._watch)
            self._emulation.__enter__()
        self._open = True
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if self._emulation is not None:
            self._emulation.__exit__(kind, error, traceback)
        for reference in self._contexts:
            context = reference()
            if context is not None:
                detach(context, self)
        with self._lock:
            self._open = False
            if self._begun:
                self._finish()

    def __repr__(self) -> str:
        return f"<WasteRecorder: {self._number} steps>"

    def _watch(self, context: MLContext) -> None:
        with self._lock:
            if not _has_tensors(context):
                self._others += 1
                return
            self._contexts.append(weakref.ref(context))
        attach(context, self)

    def step(self) -> None:
        """Mark the beginning of a step. From the first mark on, steps are what lies between marks.

        Raises:
            RuntimeError: The block has not begun, or has ended.
        """
        with self._lock:
            if not self._open:
                raise RuntimeError("step: the block of the recording must be open")
            if self._marked or self._begun:
                self._finish()
            self._marked = True

    def report(self) -> Waste:
        """Return the recording up to now. A step that has begun counts."""
        with self._lock:
            self._settle()
            steps, total = list(self._finished), dict(self._total)
            late = self._begun and self._number >= self._warmup
            if self._begun and len(steps) < _STEPS:
                steps.append(self._step())
            if late:
                for name, value in self._current.items():
                    total[name] += value
            number = self._number + self._begun
            lines = [self._line(method, line, row) for (method, line), row in self._rows.items() if row.steps or row.alive]
            return Waste(
                count=max(number - self._warmup, 0),
                warmup=min(number, self._warmup),
                total=WasteCounts(**total),
                steps=tuple(steps),
                lines=tuple(sorted(lines, key=_weight, reverse=True)),
                alive=self._alive,
                aliveBytes=self._aliveBytes,
                peak=self._peak,
                peakBytes=self._peakBytes,
                others=self._others,
                computes=self._computes,
            )

    def _step(self) -> WasteStep:
        return WasteStep(**self._current, alive=self._alive, aliveBytes=self._aliveBytes)

    @staticmethod
    def _line(method: str, line: Line, row: _Row) -> WasteLine:
        return WasteLine(
            method=method,
            file=line[0],
            line=line[1],
            steps=row.steps,
            combinations=row.combinations,
            alive=row.alive,
            aliveBytes=row.aliveBytes,
            kept=row.kept,
            grows=row.history is not None and row.history.grows(row.kept),
            **row.counts,
        )

    # The steps. The lock is held.

    def _finish(self) -> None:
        """End the current step."""
        self._settle()
        if len(self._finished) < _STEPS:
            self._finished.append(self._step())
        if self._number >= self._warmup:
            for name, value in self._current.items():
                self._total[name] += value
            for row in self._rows.values():
                if row.history is not None:
                    row.history.add(row.kept)
        self._number += 1
        self._current = _zeros()
        self._begun = self._dispatched = self._read = False

    def _settle(self) -> None:
        """Count out the tensors that are gone."""
        while self._gone:
            birth, destroyed = self._gone.popleft()
            if birth not in self._births:
                continue
            self._births.remove(birth)
            birth.reference = None
            row = birth.row
            row.alive -= 1
            row.aliveBytes -= birth.size
            row.kept -= birth.late and destroyed
            self._alive -= 1
            self._aliveBytes -= birth.size

    def _note(self, method: str, line: Line, counts: Mapping[str, int], *, again: bool = False) -> _Row:
        """Add to the current step, or to a new one: after the reads that follow a dispatch, and if a graph is dispatched again."""
        if not self._marked and (again or (self._read and method != "readTensor")):
            self._finish()
        self._begun = True
        self._read = self._read or (method == "readTensor" and self._dispatched)
        self._dispatched = self._dispatched or method == "dispatch"
        key = (method, line)
        if key not in self._rows and len(self._rows) >= _LINES:
            key = (method, _ELSEWHERE)
        row = self._rows.setdefault(key, _Row())
        for name, value in counts.items():
            self._current[name] += value
        if self._number >= self._warmup:
            for name, value in counts.items():
                row.counts[name] += value
            row.steps += row.last != self._number
            row.last = self._number
        return row

    # The calls: `webnn.inspect.recording.Listener`.

    def begun(self, method: str) -> None:
        """Learn that a call begins: how long it takes does not matter."""

    def created(self, tensor: MLTensor, line: Line) -> Callable[[], None]:
        """Learn of a new tensor."""
        method, size = ("createConstantTensor", "createTensor")[not tensor._isConstant], tensor._descriptor.byte_length
        counts = {"allocations": 1, "allocatedBytes": size}
        if tensor._isConstant:
            counts |= _copy(size)
        gone = self._gone
        with self._lock:
            row = self._note(method, line, counts)
            birth = _Birth(row, size, self._number >= self._warmup)
            row.alive += 1
            row.aliveBytes += size
            row.kept += birth.late
            if birth.late and row.history is None:
                row.history = _History()
            self._alive += 1
            self._aliveBytes += size
            self._settle()
            self._peak, self._peakBytes = max(self._peak, self._alive), max(self._peakBytes, self._aliveBytes)
            self._births.add(birth)
            birth.reference = weakref.ref(tensor, lambda _: gone.append((birth, False)))
        return lambda: gone.append((birth, True))

    def copied(self, method: str, line: Line, size: int, made: int) -> None:
        """Learn of a copy."""
        counts = _copy(size)
        if made and "copies" in counts:
            counts |= {"allocations": 1, "allocatedBytes": made}
        with self._lock:
            self._note(method, line, counts)

    def dispatched(self, graph: MLGraph, inputs: Mapping[str, MLTensor], outputs: Mapping[str, MLTensor], line: Line) -> None:
        """Learn of a dispatch."""
        tensors = frozenset((side, name, tensor._token) for side, named in enumerate((inputs, outputs)) for name, tensor in named.items())
        with self._lock:
            usage = self._graphs.get(graph)
            if usage is None:
                usage = self._graphs[graph] = _usage(graph)
            rebound = bool(usage.last) and usage.last != tensors
            number, size = usage.allocated
            counts = {
                "dispatches": 1,
                "rebinds": int(rebound),
                "transferredBytes": usage.transferred,
                "allocations": number,
                "allocatedBytes": size,
            }
            row = self._note("dispatch", line, counts, again=usage.step == self._number)
            usage.step, usage.last = self._number, tensors
            if len(usage.combinations) < _COMBINATIONS:
                usage.combinations.add(tensors)
            row.combinations = max(row.combinations, len(usage.combinations))

    def built(self, line: Line) -> None:
        """Learn of a build."""
        with self._lock:
            self._note("build", line, {"builds": 1})

    def computed(self) -> None:
        """Learn of a computation over arrays."""
        with self._lock:
            self._computes += 1


def _usage(graph: MLGraph) -> _Usage:
    """Return the cost of each dispatch of a graph."""
    state, transferred = graph._state, 0
    # A placement takes milliseconds, for each set of sizes anew. On the CPU alone nothing crosses.
    if not state.selection.is_default or state.profile is not None:
        with contextlib.suppress(NotSupportedError):  # the engine does not tell
            transferred = graph.placement.transferredBytes
    implementation = graph._implementation
    descriptors = graph._outputDescriptors.values()
    inPlace = implementation is None or implementation.in_place
    return _Usage(transferred, (0, 0) if inPlace else (len(descriptors), sum(each.byte_length for each in descriptors)))


def _copy(size: int) -> dict[str, int]:
    return {"copies": 1, "copiedBytes": size} if size > SMALL else {"small": 1, "smallBytes": size}


def _weight(line: WasteLine) -> tuple[int, ...]:
    return line.isLeak, line.copiedBytes + line.allocatedBytes, line.copies + line.allocations, line.builds, line.rebinds, line.small
