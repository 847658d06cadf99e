"""Sizes that are not known: the bounds that follow from the answers to questions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from webnn.proposals.dynamic_shapes.sizes import Path

LOW, HIGH = 1, 6
ASKED: Mapping[str, Callable[[Any], bool]] = {"negative": lambda number: number < 0, "zero": lambda number: number == 0}


@pytest.mark.parametrize("answer", [0, 1], ids=["yes", "no"])
@pytest.mark.parametrize("question", ASKED)
def test_bounds_are_those_of_the_values_that_are_left(question: str, answer: int) -> None:
    asked = 0
    for factor, rest in itertools.product([-3, -2, -1, 1, 2, 3], range(-19, 20)):
        path = Path([answer])
        size = path.named("n", LOW, HIGH)
        holds = ASKED[question](size * factor + rest)
        values = [each for each in range(LOW, HIGH + 1) if ASKED[question](each * factor + rest) == holds]
        assert values, (factor, rest)
        if 0 < len(values) < HIGH - LOW + 1:
            asked += 1
            assert holds == (answer == 0)
        if values == list(range(values[0], values[-1] + 1)):
            assert size.bounds() == (values[0], values[-1]), (factor, rest)
    assert asked > 20


def test_the_bounds_of_a_quotient() -> None:
    for (low, high), (least, most) in itertools.product([(0, 7), (3, 8), (5, 5)], [(1, 4), (2, 2), (3, 5)]):
        path = Path([])
        quotient = path.named("n", low, high) // path.named("m", least, most)
        values = [n // m for n in range(low, high + 1) for m in range(least, most + 1)]
        assert quotient.bounds() == (min(values), max(values))
