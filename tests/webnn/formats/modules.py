"""Exported JavaScript modules in the emulator's Node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import webnn
from tests.webnn.javascript.node_support import require_node
from tools.evidence.browser.emulator import BuiltModules, build_modules

__all__ = ["build_in_node", "export"]


def export(descriptions: Sequence[webnn.GraphDescription], folder: Path) -> list[str]:
    """Save each as a module; return their names."""
    names = [f"graph{number}" for number in range(len(descriptions))]
    for name, description in zip(names, descriptions, strict=True):
        description.save(folder / f"{name}.mjs")
    return names


def build_in_node(names: Sequence[str], folder: Path, dialect: str | None = None) -> tuple[BuiltModules, list[webnn.GraphDescription]]:
    """Build modules in one process.

    Returns:
        Their results, and the descriptions of the graphs in order, which have no draft.
    """
    found = build_modules(names, folder, dialect=dialect, node=require_node())
    # The variable that a hostile label would set.
    assert [name for name in found.globals if name.startswith("pwned")] == []
    return found, [replace(description, draft="") for description in found.descriptions.values()]
