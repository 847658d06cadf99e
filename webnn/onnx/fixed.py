"""A model with the settings of the caller: fixed shapes, and inputs that are constants."""

from __future__ import annotations

import numpy as np
from onnx import ModelProto, TensorProto, numpy_helper

from webnn.importing.values import Refused
from webnn.onnx.model import Model, Settings, element_type, input_shape

__all__ = ["fix"]

#: External data of more bytes is left where it is: no shape depends on it.
_INLINE_BYTES = 1 << 16


def fix(model: Model, settings: Settings) -> ModelProto:
    """Return a copy of a model with the settings, whose shapes are known and fit. Small external data is loaded."""
    fixed = ModelProto()
    fixed.CopyFrom(model.proto)
    graph = fixed.graph
    known = {tensor.name for tensor in graph.initializer}
    for info in list(graph.input):
        constant = settings.constants.get(info.name)
        if constant is not None:
            dtype = element_type(info.type.tensor_type.elem_type)
            graph.initializer.append(numpy_helper.from_array(np.asarray(constant, dtype), info.name))
            graph.input.remove(info)
        elif info.name not in known:
            shape = input_shape(settings, info)
            info.type.tensor_type.shape.ClearField("dim")
            for size in shape:
                info.type.tensor_type.shape.dim.add(dim_value=size)
    for tensor in graph.initializer:
        if tensor.data_location == TensorProto.EXTERNAL:
            _load(model, tensor, settings)
    return fixed


def _load(model: Model, tensor: TensorProto, settings: Settings) -> None:
    try:
        array = model.tensor(tensor, weights=settings.weights)
    except Refused:
        # The import says what is wrong.
        return
    if array.nbytes <= _INLINE_BYTES and any(array.strides):
        tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
