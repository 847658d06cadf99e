"""The calls upwards of contexts and graphs: more rows of the table in `webnn.builder.above`.

An object that gives itself to a function above has the type `Any` here: its module imports this one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from webnn.builder.above import Upward, html

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    import numpy as np
    from rich.console import RenderableType

    from webnn.builder.description import GraphDescription
    from webnn.builder.semantics import Semantics
    from webnn.context.inspections import Accuracy, FirstNaN, GraphProfile, Inspection, Trace

    Array = np.ndarray[Any, np.dtype[Any]]

__all__ = ["html", "inspect", "reference", "travel", "walls"]

#: A function and its arguments, as ``__reduce__`` returns them.
Reduced = tuple[Callable[..., Any], tuple[Any, ...]]


class Inspect(Protocol):
    """Inside graphs."""

    def profile(self, graph: Any, inputs: Mapping[str, Any], runs: int) -> GraphProfile: ...
    def trace(self, graph: Any, inputs: Mapping[str, Any], labels: str | Iterable[str]) -> Trace: ...
    def firstNaN(self, graph: Any, inputs: Mapping[str, Any]) -> FirstNaN | None: ...
    def accuracy(self, graph: Any, inputs: Mapping[str, Any], whole: bool) -> Accuracy: ...
    def as_text(self, result: Inspection) -> str: ...
    def as_html(self, result: Inspection) -> str: ...
    def as_renderable(self, result: Inspection) -> RenderableType: ...
    def record_waste(self) -> AbstractContextManager[object]: ...


class ReferenceProgram(Protocol):
    """A graph that the reference can compute."""

    def run(self, inputs: Mapping[str, Array], outputs: Collection[str]) -> dict[str, Array]: ...


class Reference(Protocol):
    """Graphs in float64."""

    def Program(self, description: GraphDescription, semantics: Semantics) -> ReferenceProgram: ...


class Travel(Protocol):
    """Contexts and graphs in pickles."""

    def reduce_context(self, context: Any) -> Reduced: ...
    def reduce_graph(self, graph: Any) -> Reduced: ...
    def reduce_ml(self, ml: Any) -> Reduced: ...


class Walls(Protocol):
    """Walls of the system around this process."""

    def confine(self, files: Sequence[str], write: Sequence[str], *, device: bool) -> dict[str, str]: ...
    def missing(self, reason: str) -> dict[str, str]: ...
    def end_with(self, parent: int) -> None: ...


# A test compares each row with the module.
inspect = Upward[Inspect]("webnn.inspect")
reference = Upward[Reference]("webnn.reference")
travel = Upward[Travel]("webnn.context.travel")
walls = Upward[Walls]("webnn.processes.walls.python")
