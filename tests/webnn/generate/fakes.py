"""Sides whose scores a test gives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from webnn.generate.compiling import Work
from webnn.generate.model import Generation, LanguageModel

__all__ = ["FakeRun", "FakeSide", "generate_on"]


class FakeRun:
    """A run that raises after some steps."""

    first, used, allocated = (1,), 0, 0

    def __init__(self, scores: Iterator[Any]) -> None:
        self.scores, self.closed = scores, 0

    def feed(self, ids: Any) -> Any:
        scores = next(self.scores)
        if isinstance(scores, BaseException):
            raise scores
        return np.array(scores, np.float32)

    def close(self) -> None:
        self.closed += 1


class FakeSide:
    """A side with one run."""

    work = Work()

    def __init__(self, *scores: Any) -> None:
        self.run = FakeRun(iter(scores))

    def start(self, ids: Any, first: Any) -> Any:
        return self.run


def generate_on(model: LanguageModel, side: Any) -> Generation:
    return model.generate_on(side, [1, 2], maxNewTokens=9, topK=None, temperature=None, seed=None, eos=())
