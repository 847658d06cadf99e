"""A graph as a file: text, JSON, ONNX, programs and pictures. `save` and `load` choose the format by the suffix."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription

__all__ = ["GRAPHS", "READERS", "WRITERS", "find_suffix", "load", "save"]

#: The module of each format that can be written, by suffix: it has ``write(description, path)``, which returns the
#: file of weights beside it, if there is one. The longest suffix that fits counts.
WRITERS: Mapping[str, str] = MappingProxyType(
    {
        ".webnn": "webnn.formats.text",
        ".webnn.json": "webnn.formats.graph_json",
        ".onnx": "webnn.formats.onnx_file",
        ".mlir": "webnn.formats.mlir",
        ".tflite": "webnn.formats.tflite_file",
        ".mjs": "webnn.formats.javascript",
        ".py": "webnn.formats.python",
        ".dot": "webnn.formats.dot",
        ".mmd": "webnn.formats.mermaid",
        ".svg": "webnn.formats.svg",
    }
)
#: The package's own formats, the longest suffix first: shapes may have names, and weights are in a file beside the graph.
GRAPHS = (".webnn.json", ".webnn")
#: The formats in which shapes are sizes.
_SIZES_NEEDED = frozenset({".mlir", ".onnx", ".tflite"})
#: The module of each format that can be read, by suffix: it has ``read(path)``.
READERS: Mapping[str, str] = MappingProxyType(
    {
        **{suffix: WRITERS[suffix] for suffix in (".webnn", ".webnn.json", ".onnx", ".mlir", ".tflite")},
        # Bytecode and portable artifacts.
        **dict.fromkeys((".mlirbc", ".stablehlo"), "webnn.formats.mlir"),
        ".pt2": "webnn.formats.pt2",
    }
)


def save(description: GraphDescription, path: str | os.PathLike[str]) -> Path | None:
    """Write a graph to a file. An existing file is replaced, once the new one is complete.

    Args:
        description: The graph.
        path: The file. Its suffix chooses the format: one of `WRITERS`. Weights are written to a file beside it.

    Returns:
        The file of weights, if the graph needs one.

    Raises:
        FormatError: The format cannot express a part of the graph, which the message names.
        DescriptionError: The description contradicts itself.
        ValueError: The suffix is unknown.
        OSError: A file cannot be written.
    """
    file = Path(path)
    suffix = find_suffix(file, WRITERS, "save")
    names = [size for each in description.inputs.values() for size in each.dimensions if isinstance(size, str)]
    if names and suffix in _SIZES_NEEDED:
        # Imported lazily because it loads NumPy.
        from webnn.builder.description import FormatError  # noqa: PLC0415

        raise FormatError(
            f"a graph with the name {names[0]!r} in a shape cannot be written as {suffix}: give it a size, as with --dim {names[0]}=1", file
        )
    weights: Path | None = import_module(WRITERS[suffix]).write(description, file)
    return weights


def load(path: str | os.PathLike[str]) -> GraphDescription:
    """Read a graph from a file; see `webnn.load`."""
    file = Path(path)
    description: GraphDescription = import_module(READERS[find_suffix(file, READERS, "load")]).read(file)
    return description


def find_suffix(path: Path, formats: Mapping[str, str], operation: str) -> str:
    """Return the longest suffix of a table that a file's name ends with. Raises `ValueError` if it ends with none."""
    name = path.name.lower()
    fitting = [suffix for suffix in formats if name.endswith(suffix)]
    if not fitting:
        # Imported lazily because it loads NumPy.
        from webnn.validation import webidl  # noqa: PLC0415

        raise ValueError(f"{operation}: path must end with one of {', '.join(formats)}, got {webidl.describe(str(path))}")
    return max(fitting, key=len)
