"""Graphs as values and files: describe, save and load a graph without weights, beside `json` on the same data."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import webnn
from benchmarks.sides import CURRENT

__all__ = ["describe_side", "load_side", "make_outputs", "save_side"]


def make_outputs(count: int) -> dict[str, webnn.MLOperand]:
    """Build a graph of four operations in turn: with two operands and a label, with an argument, with numbers, and with a list."""
    builder = webnn.MLGraphBuilder(webnn.ML(revision=CURRENT).createContextSync())
    value, y = (builder.input(name, {"dataType": "float32", "shape": [16, 16]}) for name in ("x", "y"))
    for block in range(count // 4):
        value = builder.softmax(builder.add(value, y, label=f"block{block}/add"), 1)
        value = builder.transpose(builder.clamp(value, minValue=0.0, maxValue=6.0), permutation=[1, 0])
    return {"z": value}


def describe_side(outputs: dict[str, webnn.MLOperand]) -> webnn.GraphDescription:
    """Describe the graph."""
    return webnn.describe(outputs)


def save_side(description: webnn.GraphDescription, path: Path) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Return both sides of a save: this package's, and that of `json` with the same content."""
    description.save(path)
    content = _content(description, path)
    return lambda: description.save(path), lambda: json.dumps(content)


def load_side(description: webnn.GraphDescription, path: Path) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Return both sides of a load."""
    description.save(path)
    text = json.dumps(_content(description, path))
    return lambda: webnn.load(path), lambda: json.loads(text)


def _content(description: webnn.GraphDescription, path: Path) -> Any:
    plain = path.with_name("content.webnn.json")
    description.save(plain)
    return json.loads(plain.read_text(encoding="utf-8"))
