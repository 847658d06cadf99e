"""A clock that goes on when it is read: what depends on it does not depend on how fast the machine is."""

from __future__ import annotations

import pytest

from tests.support import PATIENCE
from webnn.javascript import realm
from webnn.wpt_runner import harness
from webnn.wpt_runner.pages import browsing, run

__all__ = ["PATIENT", "Clock"]

#: Multiplies the 10 s that a test of web-platform-tests may take, for tests that run in earnest.
PATIENT = PATIENCE / 10

#: How much later each reading is than the one before, in seconds.
_STEP = 1e-5


class Clock:
    """Replaces the module `time` in realms and in the harness.

    Attributes:
        now: The time that it shows, in seconds.
        slept: How long the program slept, in all.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        self.slept = 0.0
        for module in (harness, realm, browsing, run):
            monkeypatch.setattr(module, "time", self)

    def monotonic(self) -> float:
        self.now += _STEP
        return self.now

    def thread_time(self) -> float:
        return self.monotonic() - self.slept

    def sleep(self, seconds: float) -> None:
        self.slept += seconds
        self.now += seconds
