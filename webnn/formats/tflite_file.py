"""TFLite models, which LiteRT computes on phones and in browsers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from webnn._version import __version__
from webnn.builder.description import FormatError
from webnn.formats import files
from webnn.formats.exchange import has_types
from webnn.tflite import load
from webnn.tflite.schema import load_schema
from webnn.validation.descriptor import ML_DTYPES

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription

__all__ = ["read", "write"]


def read(path: Path) -> GraphDescription:
    """Import a TFLite model; see `webnn.tflite.load`."""
    return load(path).description


def write(description: GraphDescription, path: Path) -> None:
    """Write a graph as a TFLite model; see `webnn.tflite.export.export`. The file holds the constants.

    The description in the file has the draft, and in how far the model computes other numbers than the graph.

    Raises:
        FormatError: An operator or a data type has no counterpart in LiteRT, or a name is not Unicode.
        WebNNTypeError: The draft refuses something.
        DescriptionError: The description contradicts itself.
        TFLiteMissingError: The package tflite is not installed.
        OSError: The file cannot be written.
    """
    load_schema()
    # Imported lazily: it needs FlatBuffers, which come with the package.
    from webnn.tflite.export import RuleError, export  # noqa: PLC0415

    files.check_unicode(description, path)
    if has_types(description, ML_DTYPES):
        raise FormatError(f"a graph with values of {' or '.join(ML_DTYPES)} cannot be exported to LiteRT", path)
    try:
        program = export(replace(description, name=description.name or path.stem))
    except RuleError as error:
        raise FormatError(str(error), path) from error
    program.description = f"WebNN {description.draft}, written by webnn {__version__}"
    with files.replacing(path) as stream:
        program.write(stream)
