"""The calls upwards: the packages above that methods of lower classes use, with the functions that they call there.

Imports run one way. Yet a method such as `GraphDescription.save` belongs to its class, and files are written by a package above that class.
Such a method imports the package by name when it is called: ``above.formats().save(...)``.

This is the only module whose annotations name packages above its own. docs/architecture.md draws the calls as dotted arrows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast

if TYPE_CHECKING:
    import os
    from contextlib import AbstractContextManager
    from pathlib import Path

    import numpy as np
    from rich.console import RenderableType

    from webnn.builder.description import GraphDescription
    from webnn.builder.semantics import Semantics
    from webnn.context.context import MLContext
    from webnn.context.graph import MLGraph
    from webnn.context.inspections import Accuracy, FirstNaN, GraphProfile, Inspection, Trace
    from webnn.context.ml import ML
    from webnn.context.placement import Placement

    Array = np.ndarray[Any, np.dtype[Any]]

__all__ = ["Upward", "formats", "html", "inspect", "lowering", "reference", "summary", "travel"]

#: A function and its arguments, as ``__reduce__`` returns them.
Reduced = tuple[Callable[..., Any], tuple[Any, ...]]
Package = TypeVar("Package")


class Upward(Generic[Package]):
    """A package or module above, which a call imports.

    Attributes:
        module: Its full name.
    """

    def __init__(self, module: str) -> None:
        self.module = module

    def __call__(self) -> Package:
        """Import it, and return it."""
        return cast("Package", import_module(self.module))


class Formats(Protocol):
    """Graphs in files."""

    def save(self, description: GraphDescription, path: str | os.PathLike[str]) -> Path | None: ...
    def load(self, path: str | os.PathLike[str]) -> GraphDescription: ...


class Html(Protocol):
    """Graphs in notebooks."""

    def as_html(self, description: GraphDescription, placement: Placement | None = None, title: str = "") -> str: ...


class Summary(Protocol):
    """Graphs as text."""

    def as_text(self, description: GraphDescription) -> str: ...


class Inspect(Protocol):
    """Inside graphs."""

    def profile(self, graph: MLGraph, inputs: Mapping[str, Any], runs: int) -> GraphProfile: ...
    def trace(self, graph: MLGraph, inputs: Mapping[str, Any], labels: str | Iterable[str]) -> Trace: ...
    def firstNaN(self, graph: MLGraph, inputs: Mapping[str, Any]) -> FirstNaN | None: ...
    def accuracy(self, graph: MLGraph, inputs: Mapping[str, Any], whole: bool) -> Accuracy: ...
    def as_text(self, result: Inspection) -> str: ...
    def as_html(self, result: Inspection) -> str: ...
    def as_renderable(self, result: Inspection) -> RenderableType: ...
    def record_waste(self) -> AbstractContextManager[object]: ...


class Lowering(Protocol):
    """Graphs in earlier drafts."""

    def lower(self, description: GraphDescription, draft: str) -> GraphDescription: ...


class ReferenceProgram(Protocol):
    """A graph that the reference can compute."""

    def run(self, inputs: Mapping[str, Array], outputs: Collection[str]) -> dict[str, Array]: ...


class Reference(Protocol):
    """Graphs in float64."""

    def Program(self, description: GraphDescription, semantics: Semantics) -> ReferenceProgram: ...


class Travel(Protocol):
    """Contexts and graphs in pickles."""

    def reduce_context(self, context: MLContext) -> Reduced: ...
    def reduce_graph(self, graph: MLGraph) -> Reduced: ...
    def reduce_ml(self, ml: ML) -> Reduced: ...


# The table. A test compares each row with the module.
formats = Upward[Formats]("webnn.formats")
html = Upward[Html]("webnn.formats.html")
inspect = Upward[Inspect]("webnn.inspect")
lowering = Upward[Lowering]("webnn.lowering")
reference = Upward[Reference]("webnn.reference")
summary = Upward[Summary]("webnn.formats.summary")
travel = Upward[Travel]("webnn.context.travel")
