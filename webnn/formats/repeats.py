"""Find blocks of operators that repeat one after another, such as the layers of a transformer: a picture shows them once.

The operators of a description are in the order of the program's calls, and a program makes the layers of a network in a loop. A repeated
block is therefore a *period* in the sequence of operators:

1. Each operator gets a number for what it is: operation, options, and the types and shapes of results and constants. Equal operators have
   equal numbers; labels and the values of constants do not count.
2. For each distance up to `_LONGEST_BLOCK`, the positions are compared whose numbers are equal at that distance. A run of them as long as
   the distance is a candidate: the block occurs there twice or more often.
3. The block may begin at any position of its first copy. The best one is that where the fewest values cross from copy to copy; for a
   transformer this is the boundary of a layer or of its half.
4. The operands must agree. An operand of a copy comes from the same place in that copy, from the same place in the copy before it, or from
   one place before all copies, such as a mask. In the first copy, the copy before it is everything before the block. At least one operand
   must come from the copy before, and a copy hands its values to the next one only (or to the outputs of the graph): parallel
   branches, as query, key and value, are not folded.
5. The candidates that save the most operators win.

It costs time in proportion to the operators times the longest block, in NumPy.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription

__all__ = ["Repeat", "find_repeats"]

#: The most operators of a block, and the fewest that folding must save.
_LONGEST_BLOCK, _LEAST_SAVING = 1000, 6
#: How many candidates are examined, and how many beginnings of each.
_CANDIDATES, _BEGINNINGS = 200, 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """A block of operators that occurs several times in a row.

    Attributes:
        count: How many copies there are, at least 2.
    """

    start: int
    period: int
    count: int

    @property
    def stop(self) -> int:
        """The position behind the last copy."""
        return self.start + self.period * self.count


def find_repeats(description: GraphDescription, marks: Sequence[Hashable] = ()) -> list[Repeat]:
    """Return repeated blocks, in the order of operators; they do not overlap. All copies have equal ``marks``, such as devices."""
    kinds, sources = _read(description, marks)
    last = {maker: position for position, makers in enumerate(sources) for maker in makers}
    crossing = _crossing(last, len(kinds))
    found: list[Repeat] = []
    taken = np.zeros(len(kinds), np.bool_)
    for start, length, period in _candidates(kinds):
        stop = start + length + period
        if taken[start:stop].any():
            continue
        repeat = _fit(sources, last, crossing, start, stop, period)
        if repeat is not None:
            taken[repeat.start : repeat.stop] = True
            found.append(repeat)
    return sorted(found, key=lambda each: each.start)


def _read(description: GraphDescription, marks: Sequence[Hashable]) -> tuple[np.ndarray[Any, np.dtype[np.int64]], list[list[int]]]:
    """Return a number for what each operator is, and the makers of its operands: positions of operators, below 0 for graph inputs."""
    makers = {name: -1 - position for position, name in enumerate(description.inputs)}
    results: dict[str, int] = {}
    constants = {name: str(constant.descriptor) for name, constant in description.constants.items()}
    numbers: dict[Hashable, int] = {}
    kinds: list[int] = []
    sources: list[list[int]] = []
    for position, operator in enumerate(description.operators):
        operands = operator.named_values()
        what = (
            operator.operation,
            repr(operator.arguments),
            repr(operator.options),
            tuple([(argument, constants.get(name, results.get(name, 0))) for argument, _, name in operands]),
            operator.descriptors,
            marks[position] if marks else None,
        )
        kinds.append(numbers.setdefault(what, len(numbers)))
        sources.append([makers[name] for _, _, name in operands if name not in constants])
        for number, name in enumerate(operator.outputs):
            makers[name] = position
            results[name] = number
    return np.array(kinds, np.int64), sources


def _crossing(last: Mapping[int, int], count: int) -> list[int]:
    """Return for each position how many operators before it make what is used at it or behind it; from the last user of each one."""
    steps = [0] * (count + 2)
    for maker, user in last.items():
        if maker >= 0:
            steps[maker + 1] += 1
            steps[user + 1] -= 1
    total = 0
    crossing = []
    for step in steps:
        total += step
        crossing.append(total)
    return crossing


def _candidates(kinds: np.ndarray[Any, np.dtype[np.int64]]) -> list[tuple[int, int, int]]:
    """Return start, length and distance of runs of equal operators at a distance, those that save the most first."""
    found: list[tuple[int, int, int, int]] = []
    for period in range(1, min(len(kinds) // 2, _LONGEST_BLOCK) + 1):
        equal = kinds[:-period] == kinds[period:]
        least = max(period, _LEAST_SAVING)
        if int(np.count_nonzero(equal)) < least:
            continue
        edges = np.flatnonzero(np.diff(equal, prepend=False, append=False))
        starts, stops = edges[::2], edges[1::2]
        long = stops - starts >= least
        found += [
            (-((stop - start) // period) * period, period, start, stop - start)
            for start, stop in zip(starts[long].tolist(), stops[long].tolist(), strict=True)
        ]
    return [(start, length, period) for _, period, start, length in sorted(found)[:_CANDIDATES]]


def _fit(
    sources: Sequence[Sequence[int]], last: Mapping[int, int], crossing: Sequence[int], start: int, stop: int, period: int
) -> Repeat | None:
    """Return the copies of a block between two positions whose operands agree; ``None`` if there are none worth folding."""
    beginnings = range(start, min(start + period, stop - 2 * period + 1))
    best = sorted(beginnings, key=lambda each: (crossing[each + period], -((stop - each) // period), each))
    for beginning in best[:_BEGINNINGS]:
        count = _successive(last, beginning, period, (stop - beginning) // period)
        count = _agreeing(sources, beginning, period, count) if count > 1 else 1
        if (count - 1) * period >= _LEAST_SAVING:
            return Repeat(start=beginning, period=period, count=count)
    return None


def _successive(last: Mapping[int, int], start: int, period: int, count: int) -> int:
    """Return how many copies from the first one on hand their values to the next copy only, the last of them to anything."""
    for copy in range(count - 1):
        begin = start + copy * period
        if any(last.get(position, 0) >= begin + 2 * period for position in range(begin, begin + period)):
            return copy + 1
    return count


def _agreeing(sources: Sequence[Sequence[int]], start: int, period: int, count: int) -> int:
    """Return how many copies from the first one on have operands that agree; 1 if the second one does not, or is not a successor."""
    second = start + period
    carried = False
    for position in range(second, second + period):
        first = sources[position - period]
        if len(first) != len(sources[position]):
            return 1
        for before, own in zip(first, sources[position], strict=True):
            follows = start <= own < second
            carried |= follows
            same = own >= second and own - before == period
            if not (same or (follows and before < start) or (own < start and own == before)):
                return 1
    if not carried:
        return 1
    for copy in range(2, count):
        shift = (copy - 1) * period
        for position in range(second, second + period):
            other = sources[position + shift]
            for own, later in zip(sources[position], other, strict=True):
                if later != (own + shift if own >= start else own):
                    return copy
    return count
