"""The calls upwards: the packages above that methods of lower classes use, with the functions that they call there.

Imports run one way. Yet a method such as `GraphDescription.save` belongs to its class, and files are written by a package above that class.
Such a method imports the package by name when it is called: ``above.formats().save(...)``.

`webnn.context.above` has the calls of contexts. docs/architecture.md draws the calls as dotted arrows. A `GraphDescription` has the type
`Any` here: its module imports this one.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast

if TYPE_CHECKING:
    import os
    from pathlib import Path

__all__ = ["Upward", "formats", "html", "lowering", "summary"]

Package = TypeVar("Package")


class Upward(Generic[Package]):
    """A package or module above, which a call imports."""

    def __init__(self, module: str) -> None:
        self.module = module

    def __call__(self) -> Package:
        """Import it, and return it."""
        return cast("Package", import_module(self.module))


class Formats(Protocol):
    """Graphs in files."""

    def save(self, description: Any, path: str | os.PathLike[str]) -> Path | None: ...
    def load(self, path: str | os.PathLike[str]) -> Any: ...


class Html(Protocol):
    """Graphs in notebooks."""

    def as_html(self, description: Any, placement: Any = None, title: str = "") -> str: ...


class Summary(Protocol):
    """Graphs as text."""

    def as_text(self, description: Any) -> str: ...


class Lowering(Protocol):
    """Graphs in earlier drafts."""

    def lower(self, description: Any, draft: str) -> Any: ...


# The table. A test compares each row with the module.
formats = Upward[Formats]("webnn.formats")
html = Upward[Html]("webnn.formats.html")
lowering = Upward[Lowering]("webnn.lowering")
summary = Upward[Summary]("webnn.formats.summary")
