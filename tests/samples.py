"""Samples of families of cases: a run of the whole suite runs some of them, chosen by a seed (tests/conftest.py)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

__all__ = ["Sample"]

T = TypeVar("T")


@dataclass(frozen=True)
class Sample:
    """Chooses cases of a family; the fixture ``sample`` is one.

    Attributes:
        family: The name of the family: another one has another sample.
        seed: The option ``--seed``.
        everything: Whether this run takes all cases.
    """

    family: str
    seed: int
    everything: bool

    def __call__(self, cases: Sequence[T], count: int) -> list[T]:
        """Return some cases, in their order; all of them if there are no more."""
        if self.everything or count >= len(cases):
            return list(cases)
        return [cases[index] for index in sorted(random.Random(f"{self.seed} {self.family}").sample(range(len(cases)), count))]
