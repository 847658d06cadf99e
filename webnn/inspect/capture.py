"""The graphs that a program builds, with the inputs of their first computations."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from webnn.context.emulation import Emulation, Settings, emulate
from webnn.context.runs import Array
from webnn.inspect.subject import Subject

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription
    from webnn.context.graph import MLGraph

__all__ = ["Capture", "Captured"]

#: The most graphs that are kept: each keeps its session and its constants.
_GRAPHS = 50
#: The most bytes of inputs that are copied.
_BYTES = 1 << 30
#: The most warnings of a program that are kept.
_WARNINGS = 100


@dataclass(slots=True, kw_only=True)
class Captured:
    """A graph, and the inputs of its first computation.

    Attributes:
        graph: The graph, which the program may have destroyed meanwhile.
        inputs: The inputs; ``None`` if it was not computed, or if they are too large.
    """

    graph: MLGraph
    subject: Subject
    inputs: dict[str, Array] | None = None
    note: str = "the program did not compute it"
    computations: int = 0


class Capture:
    """Collects the graphs of the contexts that are made in its block.

    Attributes:
        graphs: The graphs, in the order in which they were built.
        more: How many others there were.
        warnings: The messages of the Python warnings of the emulator.
    """

    def __init__(self) -> None:
        self.graphs: list[Captured] = []
        self.more = 0
        self.warnings: list[str] = []
        self._lock = threading.Lock()
        #: By the identity of the graphs, which are kept alive here.
        self._found: dict[int, Captured] = {}
        self._bytes = 0

    @contextmanager
    def collect(self) -> Iterator[None]:
        """Collect while the block lasts, and wait for the computations that are queued at its end."""
        show = warnings.showwarning

        def note(message: Warning | str, category: type[Warning], *rest: object, **named: object) -> None:
            if category.__module__.partition(".")[0] == "webnn" and len(self.warnings) < _WARNINGS:
                self.warnings.append(str(message))
            show(message, category, *rest, **named)  # type: ignore[arg-type]  # whatever the arguments are

        warnings.showwarning = note
        try:
            with Emulation(Settings(lines=True)), emulate(on_build=self._built, on_compute=self._computed):
                yield
        finally:
            if warnings.showwarning is note:
                warnings.showwarning = show
            for each in self.graphs:
                each.subject.state.timeline.finish()

    def _built(self, description: GraphDescription, graph: MLGraph) -> None:
        del description  # the subject has it
        with self._lock:
            if len(self.graphs) >= _GRAPHS:
                self.more += 1
                return
            captured = Captured(graph=graph, subject=Subject.of(graph, "build"))
            self.graphs.append(captured)
            self._found[id(graph)] = captured

    def _computed(self, graph: MLGraph, inputs: Mapping[str, Array]) -> None:
        captured = self._found.get(id(graph))
        if captured is None:
            return
        captured.computations += 1
        if captured.inputs is not None or captured.computations > 1:
            return
        size = sum(array.nbytes for array in inputs.values())
        with self._lock:
            if self._bytes + size > _BYTES:
                captured.note = f"its inputs have {size:,} bytes, which are too many to keep"
                return
            self._bytes += size
        captured.inputs = {name: array.copy() for name, array in inputs.items()}
