"""Figures of a sequence, and of two sequences that were made in turns."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from webnn.generate.model import Finish, Generation, Token
from webnn.processes.resident import peak_bytes

__all__ = ["Comparison", "Difference", "Summary", "compare", "summarize", "take_turns"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The figures of a sequence.

    Attributes:
        promptTokens: The tokens of the prompt.
        newTokens: The new tokens, the end token included.
        firstSeconds: The time to the first token, with the compilation before it; ``None`` without a token.
        tokensPerSecond: The tokens after the first one, per second, without the time of compilations; ``None`` without such a token.
        sessions: How many sessions the side has compiled so far.
        sessionSeconds: How long that took.
        cacheBytes: The most bytes of the cache that belonged to tokens; 0 without a cache.
        cacheAllocatedBytes: The most bytes of the tensors of the cache.
        peakBytes: The most memory that the process had resident so far; ``None`` where the system does not tell.
        finish: ``"end"``, ``"tokens"``, ``"length"`` or ``"closed"``: see `webnn.generate.model.Finish`.
    """

    promptTokens: int
    newTokens: int
    firstSeconds: float | None
    tokensPerSecond: float | None
    sessions: int
    sessionSeconds: float
    cacheBytes: int
    cacheAllocatedBytes: int
    peakBytes: int | None
    finish: Finish


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The first token that two sides chose differently.

    Attributes:
        position: Its number among the new tokens, from 0.
        tokens: The choices of both; ``None`` where a side had ended.
        scores: The scores of both choices, as each side has them; empty if a side had ended.
        gaps: By how much the own choice is above that of the other one, on each side: 0 is a tie.
    """

    position: int
    tokens: tuple[int | None, int | None]
    scores: tuple[tuple[float, ...], tuple[float, ...]]
    gaps: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two sequences that were made in turns.

    Attributes:
        same: They have the same tokens.
        difference: The first difference; ``None`` if there is none.
        other: The figures of the other side.
        ratio: How many times as long as the other side's the median token takes, of those after the first one, without compilations;
            ``None`` without such a token. A busy machine moves it less than the sums.
    """

    same: bool
    difference: Difference | None
    other: Summary
    ratio: float | None


def summarize(generation: Generation) -> Summary:
    """Return the figures of a sequence."""
    work, seconds = generation.side.work, generation.seconds
    return Summary(
        promptTokens=len(generation.prompt),
        newTokens=len(generation.ids),
        firstSeconds=seconds[0][0] if seconds else None,
        tokensPerSecond=_rate(seconds),
        sessions=work.sessions,
        sessionSeconds=work.seconds,
        cacheBytes=generation.used,
        cacheAllocatedBytes=generation.allocated,
        peakBytes=peak_bytes(),
        finish=generation.finish or "closed",
    )


def take_turns(one: Generation, other: Generation, found: list[Difference]) -> Iterator[Token]:
    """Make two sequences token by token, so that other work of the machine delays both; yield the tokens of the first one.

    Args:
        one: A sequence.
        other: The other one. It begins every second turn.
        found: Gets the first difference.
    """
    turn = 0
    while one.finish is None or other.finish is None:
        order = (one, other) if turn % 2 == 0 else (other, one)
        made = {id(each): next(each, None) for each in order}
        mine, theirs = made[id(one)], made[id(other)]
        if not found and (mine is None or theirs is None or mine.id != theirs.id):
            found.append(_differ(turn, one, other, mine, theirs))
        if mine is not None:
            yield mine
        turn += 1


def compare(one: Generation, other: Generation, found: Sequence[Difference]) -> Comparison:
    """Return the comparison of two sequences that `take_turns` has made."""
    mine, theirs = (_times(each.seconds) for each in (one, other))
    ratio = statistics.median(mine) / statistics.median(theirs) if mine and theirs else None
    return Comparison(same=not found, difference=found[0] if found else None, other=summarize(other), ratio=ratio)


def _differ(position: int, one: Generation, other: Generation, mine: Token | None, theirs: Token | None) -> Difference:
    if mine is None or theirs is None or one.scores is None or other.scores is None:
        ids = None if mine is None else mine.id, None if theirs is None else theirs.id
        return Difference(position=position, tokens=ids, scores=((), ()), gaps=())
    both = [mine.id, theirs.id]
    scores = tuple(map(float, one.scores[both])), tuple(map(float, other.scores[both]))
    gaps = scores[0][0] - scores[0][1], scores[1][1] - scores[1][0]
    return Difference(position=position, tokens=(mine.id, theirs.id), scores=scores, gaps=gaps)


def _times(seconds: Sequence[tuple[float, float]]) -> list[float]:
    """Return the times of the tokens after the first one, without compilations."""
    return [whole - compiling for whole, compiling in seconds[1:]]


def _rate(seconds: Sequence[tuple[float, float]]) -> float | None:
    times = _times(seconds)
    return len(times) / sum(times) if sum(times) > 0 else None
