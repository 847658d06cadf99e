"""How a test of web-platform-tests runs, wherever it runs: its settings, its time, and the scripts beside its own."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import webnn
from webnn.javascript.realm import load_script
from webnn.validation.drafts import NEWEST
from webnn.wpt_runner.checkout import Test

__all__ = ["HARNESS", "PLACEHOLDER", "TRACE", "Settings", "subtest_script", "time_limit"]

#: The time-outs of web-platform-tests, in seconds.
_NORMAL, _LONG = 10.0, 60.0
#: The path of testharness.js on the server.
HARNESS = "/resources/testharness.js"
#: The name of the subtest that represents all subtests that are not wanted.
PLACEHOLDER = "(subtests that are not wanted)"
#: Template of the script that reports API calls; %s is trace.js.
TRACE = "(global, emit) => (%s)(global, line => emit('trace', JSON.stringify(line.toWellFormed())))"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How tests run.

    Attributes:
        timeout_multiplier: Multiplies the time-outs of web-platform-tests, 10 s for a test and 60 s for a long one.
        memory: The most bytes that a test's JavaScript may allocate.
        dialect: Additions to the draft's IDL: the IDL of the tests has more.
        subtests: Parts of names: only subtests with one of them run, whatever their case; all if there is none.
        names_only: Tell the names of the subtests, as ``NOTRUN``, and run none.
        trace: Tell every call of the API.
        reference: `webnn.reference` computes, not the engine.
    """

    revision: str = NEWEST
    timeout_multiplier: float = 1.0
    memory: int = 1 << 30
    dialect: str | None = None
    subtests: tuple[str, ...] = ()
    names_only: bool = False
    trace: bool = False
    reference: bool = False

    def emulate(self) -> AbstractContextManager[object]:
        """Choose what computes the graphs of a test."""
        return webnn.emulate(reference=True) if self.reference else nullcontext()

    def wants_subtest(self, name: str) -> bool:
        """Tell whether a subtest is reported."""
        return name != PLACEHOLDER and (not self.subtests or any(part.lower() in name.lower() for part in self.subtests))


def time_limit(test: Test, settings: Settings) -> float:
    """Return how long a test may run, in seconds in which its process works or sleeps."""
    return (_LONG if test.file.long else _NORMAL) * settings.timeout_multiplier


def subtest_script(settings: Settings, *, pause: bool = False) -> str:
    """Return the script that chooses subtests, for `Realm.connect`; with `pause`, a debugger stops before each of them."""
    options = {"wanted": [each.lower() for each in settings.subtests], "names": settings.names_only, "pause": pause}
    return f"(global, emit) => ({load_script('subtests.js')})(global, emit, {json.dumps({**options, 'placeholder': PLACEHOLDER})})"
