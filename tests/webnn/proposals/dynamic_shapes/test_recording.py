"""Sizes that are known, and yet stay names: which facts a run notes, and for which other sizes they hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from webnn.proposals.dynamic_shapes.recording import Facts, Recording, compile_facts

#: Functions of two sizes, and those sizes of which the result is that of 6 and 4.
RUNS: list[tuple[Callable[[Any, Any], object], list[tuple[int, int]], list[tuple[int, int]]]] = [
    (lambda n, m: n + m == m + n, [(1, 9), (7, 7)], []),
    (lambda n, m: n > m, [(9, 2)], [(4, 4), (2, 9)]),
    (lambda n, m: n == m + 2, [(9, 7)], [(9, 8)]),
    (lambda n, m: n % m == 0, [(7, 5)], [(8, 4)]),
    (lambda n, m: n * m // 8 >= 3, [(24, 1), (7, 4)], [(2, 4)]),
    (lambda n, _: [0] * n, [(6, 9)], [(7, 4)]),
    (lambda n, _: np.array([n], np.int64), [(6, 9)], [(7, 4)]),
    (lambda n, _: np.float32(n), [(6, 9)], [(5, 4)]),
    (lambda n, _: {n: 1}, [(6, 9)], [(5, 4)]),
    (lambda n, _: f"{n} rows", [(6, 9)], [(5, 4)]),
    (lambda n, m: n / m, [(6, 4)], [(6, 3), (3, 2)]),
    (lambda n, m: (n * m + m) // m == n + 1, [(9, 2), (1, 1)], []),
    (lambda n, m: (n * n - m * m) // (n + m) == n - m, [(9, 2), (1, 1)], []),
    (lambda n, m: max(n, m, 1), [(8, 3)], [(3, 8)]),
    (lambda n, m: bool(n - m - 2), [(5, 3)], [(5, 5)]),
    (lambda n, _: n == np.int64(6), [(6, 1)], [(5, 1)]),
]


def _holds(facts: Facts, n: int, m: int) -> bool:
    return compile_facts(facts, [], ["n", "m"])((n, m)) is not None


def _run(function: Callable[[Any, Any], object], n: int, m: int) -> tuple[object, Recording]:
    recording = Recording({"n": n, "m": m})
    return function(recording.named("n", 1, 1000), recording.named("m", 1, 1000)), recording


@pytest.mark.parametrize("number", range(len(RUNS)))
def test_the_facts_of_a_run(number: int) -> None:
    function, same, others = RUNS[number]
    _, recording = _run(function, 6, 4)
    facts = recording.facts()
    assert _holds(facts, 6, 4)
    for n, m in same:
        assert _holds(facts, n, m), (n, m)
    for n, m in others:
        assert not _holds(facts, n, m), (n, m)


@pytest.mark.parametrize("number", range(len(RUNS)))
def test_the_result_is_that_of_numbers(number: int) -> None:
    function, *_ = RUNS[number]
    for n, m in [(6, 4), (5, 5), (1, 8), (12, 3)]:
        expected, (found, recording) = function(n, m), _run(function, n, m)
        if hasattr(found, "terms"):
            applied = compile_facts(recording.facts(), [found.terms], ["n", "m"])((n, m))
            assert applied is not None
            found = applied[0]
        np.testing.assert_array_equal(found, expected)  # type: ignore[arg-type]
        assert _holds(recording.facts(), n, m)


def test_numbers_that_are_not_whole_are_refused() -> None:
    size: Any = Recording({"n": 6}).named("n", 1, 9)
    functions: list[Callable[[Any], object]] = [lambda n: n + 0.5, lambda n: n * 0.5, lambda n: 0.5 - n, lambda n: n // 1.5]
    for function in functions:
        with pytest.raises(TypeError):
            function(size)


def test_facts_may_divide_by_zero() -> None:
    _, recording = _run(lambda n, m: n // (m - 3) == 6, 6, 4)
    with pytest.raises(ZeroDivisionError):
        _holds(recording.facts(), 6, 3)
