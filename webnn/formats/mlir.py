"""StableHLO programs as texts of MLIR, which JAX, XLA and IREE read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from webnn._version import __version__
from webnn.builder.description import FormatError
from webnn.formats import files
from webnn.formats.exchange import has_types
from webnn.hlo.export import RuleError, export
from webnn.hlo.mlir import write_mlir
from webnn.validation.descriptor import ML_DTYPES

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription

__all__ = ["read", "write"]


def read(path: Path) -> GraphDescription:
    """Import a StableHLO program that leaves nothing open; see `webnn.stablehlo.load`."""
    from webnn.stablehlo import load  # noqa: PLC0415 (a graph is written more often)

    return load(path).description


def write(description: GraphDescription, path: Path) -> None:
    """Write a graph as a StableHLO program; see `webnn.hlo.export.export`. The file holds the constants.

    Raises:
        FormatError: An operator has no counterpart in StableHLO, or a name is not Unicode.
        WebNNTypeError: The draft refuses something.
        DescriptionError: The description contradicts itself.
        OSError: The file cannot be written.
    """
    files.check_unicode(description, path)
    if has_types(description, ML_DTYPES):
        raise FormatError(f"a graph with values of {' or '.join(ML_DTYPES)} cannot be exported to StableHLO", path)
    try:
        module = export(replace(description, name=description.name or path.stem))
    except RuleError as error:
        raise FormatError(str(error), path) from error
    with files.replacing(path) as stream:
        for piece in write_mlir(module, f"WebNN {description.draft}, written by webnn {__version__}"):
            stream.write(piece.encode())
