"""Choosing the next token from its scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from webnn.validation import webidl

__all__ = ["Sampler"]

Array = np.ndarray[Any, np.dtype[Any]]


class Sampler:
    """Chooses tokens: the best one, or random ones, the same for the same seed.

    Args:
        topK: Choose among this number of best tokens, at least 1; by default among all.
        temperature: Divides the scores, from 0; 0 chooses the best token. By default 1 if `topK` or `seed` is given, else 0.
        seed: The seed of the random numbers, from 0; by default 0.

    Raises:
        TypeError: An argument has the wrong type.
        ValueError: An argument is out of its range.
    """

    def __init__(self, *, topK: int | None = None, temperature: float | None = None, seed: int | None = None) -> None:
        for name, value, lowest in (("topK", topK, 1), ("seed", seed, 0)):
            if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
                raise TypeError(f"generate: {name} must be an int, got {webidl.describe(value)}")
            if value is not None and value < lowest:
                raise ValueError(f"generate: {name} must be at least {lowest}, got {value}")
        if temperature is not None and (not isinstance(temperature, int | float) or isinstance(temperature, bool)):
            raise TypeError(f"generate: temperature must be a number, got {webidl.describe(temperature)}")
        if temperature is not None and not 0 <= temperature < float("inf"):
            raise ValueError(f"generate: temperature must be a finite number from 0, got {temperature}")
        if temperature is None:
            temperature = 0 if topK is None and seed is None else 1
        self._topK, self._temperature = topK, float(temperature)
        self._random = np.random.default_rng(seed or 0)

    def choose(self, scores: Array) -> int:
        """Choose a token.

        Args:
            scores: The scores of all tokens, [vocabulary], floating-point numbers. One that is -∞ is not chosen.

        Raises:
            ValueError: A score is NaN, or none is above -∞.
        """
        best = int(scores.argmax())
        if np.isnan(scores[best]) or scores[best] == -np.inf:
            raise ValueError(f"the scores of the next token must be numbers, got {scores[best]} for the token {best}")
        if self._temperature == 0 or self._topK == 1:
            return best
        wide = scores.astype(np.float64)
        order = np.argsort(-wide, kind="stable")[: self._topK]
        with np.errstate(over="ignore", under="ignore"):
            # A score of +∞ is the only one that counts, and so is the best one where a tiny temperature makes the rest vanish.
            differences = wide[order] - wide[best] if np.isfinite(wide[best]) else np.where(wide[order] == wide[best], 0, -np.inf)
            weights = np.exp(differences / self._temperature)
        bounds = np.cumsum(weights)
        return int(order[np.searchsorted(bounds, self._random.random() * bounds[-1], side="right")])
