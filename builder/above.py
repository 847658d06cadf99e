"""The packages above this one that methods of graphs, operands and descriptions load when they are called.

They are for files, pictures, inspection, earlier drafts, pickles, and whole data sets. Imports run one way: a method such as
`GraphDescription.save` still belongs to its class, so it finds its work by name.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Literal

__all__ = ["load"]


def load(
    package: Literal["context.travel", "formats", "formats.html", "formats.summary", "inspect", "lowering", "reference"],
) -> Any:
    """Import a package or module of `webnn` that stands above `webnn.builder`."""
    return import_module(f"webnn.{package}")
