"""ONNX models as WebNN graphs: `load`.

>>> import webnn.onnx
>>> imported = webnn.onnx.load("model.onnx", dims={"batch": 1})
>>> imported.description.save("model.mjs")
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from onnx import ModelProto, TensorProto

from webnn.builder.collection import without_collection
from webnn.builder.description import GraphDescription
from webnn.builder.graph_builder import GraphBuilder
from webnn.importing.driver import Imported, finish_import, make_builder, make_naming
from webnn.importing.report import NodeReport, Refusal, RefusedModelError, Report
from webnn.onnx.importer import Importer
from webnn.onnx.model import Model, Settings, read

__all__ = ["Imported", "NodeReport", "Refusal", "RefusedModelError", "Report", "load", "survey"]

#: Attributes that have an element type, or are one.
_TYPED = frozenset({"value", "to", "output_dtype"})
_SMALL = frozenset({TensorProto.INT4, TensorProto.UINT4})


@without_collection()
def load(
    source: str | os.PathLike[str] | bytes | ModelProto | Model,
    builder: GraphBuilder | None = None,
    *,
    shapes: Mapping[str, Sequence[int | str]] | None = None,
    constants: Mapping[str, Any] | None = None,
    dims: Mapping[str, int | str] | None = None,
    float64: bool = True,
    int32: bool = False,
    weights: bool = True,
) -> Imported:
    """Import an ONNX model of opset 7 or newer.

    Known values are computed at import. Functions are inlined, and so are operators that ONNX defines by others. An `If` with a known
    condition and a `Loop` or `Scan` with a known count are unrolled.

    Args:
        source: The file, its bytes, or the model, which is not changed: a `ModelProto`, or what `webnn.onnx.model.read` returned, for
            several imports that share its weights. External data is read from the file's folder.
        builder: The builder that gets the graph; without one it is only described.
        shapes: The shapes of inputs, by their names: sizes, and names as in ``dims``. Needed where the model leaves a dimension open.
        constants: Inputs that are known, by their names: numbers or arrays. Shapes, axes and counts must be known.
        dims: The sizes of named dimensions: integers from 1 on. With a builder of a draft that has dimensions with names, or without a
            builder, a text is the name that the dimension keeps, or a sum of products of names: ``"past + rows"``. The graph is that of all
            sizes; it refuses those for which it would be wrong, as it says when it computes shapes or is dispatched.
        float64: Compute float64 in float32, which is the widest type of WebNN. If false, float64 is refused.
        int32: Compute int64 in int32, and make int64 inputs and outputs int32: for devices without int64. The caller promises that all
            values fit. Without it, this is done where it is proven to change nothing, if the builder's device takes no int64 constants.
        weights: External data must be there. If false, zeros replace a missing file, which is enough to see the operators of a graph.

    Raises:
        RefusedModelError: Some nodes or inputs cannot be imported, or need the number of a size that has a name. It names all of them.
        FormatError: The file is not a valid model, or its external data is missing.
        OSError: A file cannot be read.
        TypeError: The source has another type.
        NotSupportedError: The builder's draft has no counterpart of an operator.
        WebNNTypeError: The builder refuses something, because of the limits of its device.
    """
    model = read(source, apart=True)
    settings = Settings(shapes=shapes or {}, dims=dims or {}, constants=constants or {}, float64=float64, weights=weights)
    description, report = survey(model, settings, builder)
    return finish_import(description, report, model.file, builder, int32=int32)


def survey(model: Model, settings: Settings, target: GraphBuilder | None = None) -> tuple[GraphDescription | None, Report]:
    """Import a model, for a builder if there is one. If some of it is refused, there is a report and no description."""
    naming = make_naming(settings.names(model.proto.graph), target)
    builder = naming.builder if naming is not None else make_builder(has_small_integers=_has_small_integers(model), target=target)
    return Importer(model, builder, settings, naming).survey(model.proto.graph.name)


def _has_small_integers(model: Model) -> bool:
    """Tell whether a graph has integers of 4 bits: initializers, inputs, constants, or results of `Cast` and `QuantizeLinear`."""
    graph = model.proto.graph
    types = {*(tensor.data_type for tensor in graph.initializer), *(info.type.tensor_type.elem_type for info in graph.input)}
    for node in model.nodes:
        if _TYPED.isdisjoint(node.names):
            continue
        for name, attribute in zip(node.names, node.attributes, strict=True):
            if name == "value":
                types.add(attribute.t.data_type)
            elif name in _TYPED:
                types.add(attribute.i)
    return not types.isdisjoint(_SMALL)
