"""The best token, and random ones with the frequencies that their scores say."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.support import each_row
from webnn.generate.sampling import Sampler

SCORES = np.array([1.0, 3.0, 2.0, 3.0, -np.inf], np.float32)


@each_row("options", [{}, {"topK": 1}, {"topK": 1, "seed": 3}, {"temperature": 0}, {"temperature": 0, "topK": 3}, {"temperature": 1e-300}])
def test_the_best_token(options: dict[str, Any]) -> None:
    """The first one of several, where nothing is drawn."""
    chosen = Sampler(**options).choose(SCORES)
    assert chosen == 1 or (options == {"temperature": 1e-300} and chosen == 3)


@each_row(
    ("options", "weights"),
    [
        ({"seed": 1}, [math.e, math.e**3, math.e**2, math.e**3, 0]),
        ({"topK": 3}, [0, math.e**3, math.e**2, math.e**3, 0]),
        ({"topK": 99, "temperature": 2}, [math.e**0.5, math.e**1.5, math.e, math.e**1.5, 0]),
    ],
)
def test_frequencies(options: dict[str, Any], weights: list[float]) -> None:
    sampler, count = Sampler(**options), 4000
    found = np.bincount([sampler.choose(SCORES) for _ in range(count)], minlength=len(SCORES)) / count
    # Six standard deviations of the largest.
    np.testing.assert_allclose(found, np.array(weights) / sum(weights), atol=6 * 0.5 / math.sqrt(count))


def test_a_seed_repeats() -> None:
    def draw(seed: int) -> list[int]:
        sampler = Sampler(seed=seed)
        return [sampler.choose(SCORES) for _ in range(20)]

    assert draw(7) == draw(7)
    assert len({tuple(draw(seed)) for seed in range(5)}) > 1


@each_row("dtype", [np.float16, np.float32])
def test_the_largest_scores(dtype: type[np.floating[Any]]) -> None:
    scores = np.array([0, np.inf, np.finfo(dtype).max, -np.inf], dtype)
    assert [Sampler(seed=1).choose(scores), Sampler().choose(scores)] == [1, 1]
    assert Sampler(seed=1, temperature=1e-5).choose(scores[[0, 2, 3]]) == 1


@each_row("scores", [[0, math.nan, 1], [-math.inf, -math.inf]])
def test_scores_that_say_nothing(scores: list[float]) -> None:
    for sampler in (Sampler(), Sampler(seed=1)):
        with pytest.raises(ValueError, match="the scores of the next token must be numbers"):
            sampler.choose(np.array(scores, np.float32))


@each_row(
    ("options", "error", "message"),
    [
        ({"topK": 0}, ValueError, "topK must be at least 1, got 0"),
        ({"topK": 1.5}, TypeError, "topK must be an int"),
        ({"topK": True}, TypeError, "topK must be an int"),
        ({"seed": -1}, ValueError, "seed must be at least 0, got -1"),
        ({"temperature": -1}, ValueError, "temperature must be a finite number from 0, got -1"),
        ({"temperature": math.nan}, ValueError, "temperature must be a finite number from 0, got nan"),
        ({"temperature": math.inf}, ValueError, "temperature must be a finite number from 0, got inf"),
        ({"temperature": "hot"}, TypeError, "temperature must be a number"),
    ],
)
def test_wrong_options(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Sampler(**options)
