"""The formula and the example of each operation, from docs/operations, and what an example becomes as ONNX."""

from __future__ import annotations

import contextlib
import io
import re
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import onnx

from tools.site.text import ROOT
from webnn import MLGraph

__all__ = ["FOLDER", "Example", "Run", "examples", "onnx_text", "prelude", "run"]

FOLDER = ROOT / "docs" / "operations"
_NODE_NAME = re.compile(r'^(\s+)\[(?:"[^"]*"|\w+)\] ', re.MULTILINE)
_KEYS = {"formula", "example", "prints"}


@dataclass(frozen=True, kw_only=True)
class Example:
    """The formula and the example of an operation, written by hand.

    Attributes:
        family: The name of the file.
        formula: Its formula, as text.
        code: The example. The lines of prelude.py come before it.
        prints: The output of the example.
    """

    family: str
    formula: str
    code: str
    prints: str


@cache
def examples() -> Mapping[str, Example]:
    """Return the examples by operation.

    Raises:
        ValueError: An entry lacks a key or has one that is not known, or two entries are of one operation.
    """
    found: dict[str, Example] = {}
    for file in sorted(FOLDER.glob("*.toml")):
        for operation, entry in tomllib.loads(file.read_text(encoding="utf-8")).items():
            if entry.keys() != _KEYS or operation in found:
                raise ValueError(f"{file.name}: {operation} must be there once, and have {sorted(_KEYS)}, got {sorted(entry)}")
            found[operation] = Example(
                family=file.stem, formula=entry["formula"].strip(), code=entry["example"].lstrip("\n"), prints=entry["prints"].lstrip("\n")
            )
    return MappingProxyType(found)


@cache
def prelude() -> str:
    """Return the lines before each example."""
    return (FOLDER / "prelude.py").read_text(encoding="utf-8")


class Run(NamedTuple):
    """The output of an operation's example, its graph, and the values of the graph's inputs."""

    printed: str
    graph: MLGraph
    values: Mapping[str, np.ndarray[Any, Any]]


@cache
def run(operation: str) -> Run:
    """Run the example of an operation."""
    namespace: dict[str, Any] = {"__name__": "example"}
    graphs: list[MLGraph] = []
    exec(compile(prelude(), str(FOLDER / "prelude.py"), "exec"), namespace)
    show = namespace["show"]
    namespace["show"] = lambda *outputs: graphs.append(show(*outputs))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(examples()[operation].code, f"the example of {operation}", "exec"), namespace)
    [graph] = graphs
    return Run(printed.getvalue(), graph, namespace["values"])


def onnx_text(operation: str) -> str:
    """Return the ONNX graph of an operation's example in the textual form of ONNX, without the names of nodes."""
    graph = run(operation).graph
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, f"{operation}.onnx")
        graph.description.save(file)
        model = onnx.load(file)
    opsets = ", ".join(f"{each.domain or 'ai.onnx'} {each.version}" for each in model.opset_import)
    text = _NODE_NAME.sub(r"\1", onnx.printer.to_text(model.graph))
    # One initializer in a line.
    text = "\n".join(line.replace("}, ", "},\n    ") if line.startswith("   <") else line.rstrip() for line in text.splitlines())
    return f"# opset {opsets}\n{text}\n"
