"""TFLite models as WebNN graphs: `load`.

>>> import webnn.tflite
>>> imported = webnn.tflite.load("model.tflite")
>>> imported.description.save("model.mjs")
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from webnn.builder.collection import without_collection
from webnn.builder.description import GraphDescription
from webnn.builder.graph_builder import GraphBuilder
from webnn.importing.driver import Imported, finish_import, make_builder
from webnn.importing.report import NodeReport, Refusal, RefusedModelError, Report
from webnn.tflite.importer import Importer, Settings
from webnn.tflite.model import Model, read
from webnn.tflite.schema import TFLiteMissingError

__all__ = ["Imported", "NodeReport", "Refusal", "RefusedModelError", "Report", "TFLiteMissingError", "load", "survey"]


@without_collection()
def load(
    source: str | os.PathLike[str] | bytes,
    builder: GraphBuilder | None = None,
    *,
    signature: str | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    constants: Mapping[str, Any] | None = None,
    float64: bool = True,
    int32: bool = False,
) -> Imported:
    """Import a TFLite model.

    Known values are computed at import. Subgraphs are inlined, and a `WHILE` with known conditions is unrolled. Inputs and outputs have the
    names of the signature, or those of their tensors. A variable is an input, and its next value an output.

    Args:
        source: The file, or its bytes.
        builder: The builder that gets the graph; without one it is only described.
        signature: The name of the signature to import; by default the first one.
        shapes: The shapes of inputs, by their names, where the model leaves a dimension open. By default they are those in the file.
        constants: Inputs that are known, by their names: numbers or arrays. Shapes, axes and counts must be known.
        float64: Compute float64 in float32, which is the widest type of WebNN. If false, float64 is refused.
        int32: Compute int64 in int32, and make int64 inputs and outputs int32: for devices without int64. The caller promises that all
            values fit. Without it, this is done where it is proven to change nothing, if the builder's device takes no int64 constants.

    Raises:
        RefusedModelError: Some operators or inputs cannot be imported. It names all of them.
        FormatError: The file is not a valid model.
        ValueError: There is no such signature.
        TFLiteMissingError: The package tflite is not installed.
        OSError: The file cannot be read.
        TypeError: The source has another type.
        NotSupportedError: The builder's draft has no counterpart of an operator.
        WebNNTypeError: The builder refuses something, because of the limits of its device.
    """
    model = read(source)
    settings = Settings(shapes=shapes or {}, constants=constants or {}, signature=signature, float64=float64)
    description, report = survey(model, settings)
    return finish_import(description, report, model.file, builder, int32=int32)


def survey(model: Model, settings: Settings) -> tuple[GraphDescription | None, Report]:
    """Import a model. If some of it is refused, there is a report and no description. Raises `ValueError` without such a signature."""
    signature = model.find(settings.signature)
    small = any(tensor.type == "INT4" for graph in model.subgraphs for tensor in graph.tensors)
    builder = make_builder(has_small_integers=small)
    return Importer(model, builder, settings, signature).survey(signature.name or model.subgraphs[signature.subgraph].name)
