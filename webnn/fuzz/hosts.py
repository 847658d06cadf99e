"""Where programs run: the emulator, in a realm of its JavaScript engine, and a browser."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

import webnn
from webnn.browser.chromium import PageCrashError, PageTimeoutError
from webnn.fuzz.programs import FuzzProgram, executor
from webnn.inspect.subject import Subject
from webnn.javascript.realm import Address, Realm

__all__ = ["Built", "Emulator", "Evaluates", "Host", "HostError", "Outcome", "Page"]

Array = np.ndarray[Any, np.dtype[Any]]
#: The outcome of a step: ``{"ok": ...}``, ``{"error": ..., "message": ..., "how": ...}`` or ``{"skipped": true}``.
Outcome = dict[str, Any]

#: How many programs one realm runs: it keeps what they made.
_PROGRAMS = 200
#: How long the programs of a realm may take, in seconds.
_LONGEST = 600.0


class HostError(RuntimeError):
    """A program ended its host, or did not come to an end."""


class Evaluates(Protocol):
    """The members of `webnn.browser.chromium.Chromium` that a `Page` uses."""

    def evaluate(self, function: str, argument: object = None, *, timeout: float | None = None) -> Any:
        """Call a function in the page."""


class Host(Protocol):
    """Runs programs."""

    def run(self, programs: Sequence[FuzzProgram]) -> list[list[Outcome]]:
        """Return the outcome of each step of each program."""


@dataclass(slots=True)
class Built:
    """A graph that a program built in the emulator, whatever becomes of it, with the arrays of its first computation, if there was one."""

    subject: Subject
    graph: webnn.MLGraph
    inputs: Mapping[str, Array] | None = None
    computations: int = 0

    @property
    def description(self) -> webnn.GraphDescription:
        """The graph as a value."""
        return self.subject.description


@dataclass(slots=True)
class _Watch:
    """Collects the graphs of each program."""

    current: int = 0
    graphs: dict[int, list[Built]] = field(default_factory=dict)

    def built(self, description: webnn.GraphDescription, graph: webnn.MLGraph) -> None:
        del description  # the subject's is the same
        self.graphs.setdefault(self.current, []).append(Built(Subject.of(graph, "fuzz"), graph))

    def computed(self, graph: webnn.MLGraph, inputs: Mapping[str, Array]) -> None:
        for each in self.graphs.get(self.current, ()):
            if each.graph is graph:
                each.computations += 1
                each.inputs = each.inputs or {name: array.copy() for name, array in inputs.items()}


class Emulator:
    """Runs programs in realms, with the emulator behind ``navigator.ml``.

    ``script`` runs in each realm before the programs; the tests plant faults with it.
    """

    def __init__(self, ml: webnn.ML, revision: str, dialect: str | None = None, script: str = "") -> None:
        self._ml = ml
        self._revision = revision
        self._dialect = dialect
        self._script = script
        #: The graphs of each program of the last run.
        self.graphs: list[list[Built]] = []

    def run(self, programs: Sequence[FuzzProgram]) -> list[list[Outcome]]:
        """Run programs, and keep the graphs that they build."""
        results: list[list[Outcome]] = []
        self.graphs = []
        for start in range(0, len(programs), _PROGRAMS):
            part = programs[start : start + _PROGRAMS]
            watch = _Watch()
            with webnn.emulate(on_build=watch.built, on_compute=watch.computed), warnings.catch_warnings():
                # Programs ask for everything, and the report is about differences only.
                warnings.simplefilter("ignore", webnn.DeviceFallbackWarning)
                warnings.simplefilter("ignore", webnn.WebNNWarning)
                results += self._run(part, watch)
            self.graphs += [watch.graphs.get(index, []) for index in range(len(part))]
        return results

    def _run(self, programs: Sequence[FuzzProgram], watch: _Watch) -> list[list[Outcome]]:
        answer: dict[str, Any] = {}

        def emit(kind: str, text: str) -> None:
            if kind == "begin":
                watch.current = int(text)
            else:
                answer[kind] = json.loads(text)

        realm = Realm(
            ml=self._ml,
            address=Address(pathname="/fuzz.html"),
            read=lambda _: None,
            log=lambda *_: None,
            emit=emit,
            revision=self._revision,
            memory=1 << 30,
            dialect=self._dialect,
        )
        realm.evaluate(self._script)
        # As text: in a literal of an object, `__proto__` would set the prototype.
        given = json.dumps(json.dumps([program.steps for program in programs]))
        realm.connect(
            f"(window, emit) => ({executor()})(JSON.parse({given}), {{}}, index => emit('begin', String(index)))"
            ".then(results => emit('done', JSON.stringify(results)), error => emit('failed', JSON.stringify(`${error}`)))"
        )
        realm.run(lambda: bool(answer), time.monotonic() + _LONGEST)
        if realm.faults:
            raise HostError(f"the emulator has a fault of its own: {realm.faults[0]}")
        if "done" not in answer:
            raise HostError(f"programs did not end: {answer.get('failed', 'nothing is left to do')}")
        found: list[list[Outcome]] = answer["done"]
        return found


class Page:
    """Runs programs in a page of a browser. A program that ends or stops the page gets that as its result."""

    def __init__(self, browser: Evaluates, timeout: float = 10.0) -> None:
        self._browser = browser
        self._timeout = timeout
        self._source = f"programs => ({executor()})(programs, globalThis.webnnFuzz ??= {{}})"

    def run(self, programs: Sequence[FuzzProgram]) -> list[list[Outcome]]:
        """Run programs; when the page ends, look for the one that did it."""
        if not programs:
            return []
        try:
            given = [list(program.steps) for program in programs]
            found: list[list[Outcome]] = self._browser.evaluate(self._source, given, timeout=self._timeout + 0.5 * len(programs))
        except (PageCrashError, PageTimeoutError) as error:
            if len(programs) > 1:
                half = len(programs) // 2
                return self.run(programs[:half]) + self.run(programs[half:])
            kind = "crash" if isinstance(error, PageCrashError) else "hang"
            rest: list[Outcome] = [{"skipped": True} for _ in programs[0].steps[1:]]
            return [[{"error": kind, "message": str(error), "how": "ends"}, *rest]]
        return found
