"""The element types of ONNX."""

from __future__ import annotations

import functools
from typing import Any, cast

import numpy as np
from onnx import TensorProto, helper

from webnn.importing.values import Refused

__all__ = ["element_type"]


@functools.cache
def element_type(number: int) -> np.dtype[Any]:
    """Return the element type with a number of ``TensorProto.DataType``.

    Raises:
        Refused: It has no NumPy type, or is not in ONNX.
    """
    try:
        dtype = helper.tensor_dtype_to_np_dtype(number)
    except (KeyError, ValueError, TypeError):
        dtype = np.dtype(object)
    if dtype.kind not in "OSU":
        return dtype
    known = TensorProto.DataType.values()
    name = TensorProto.DataType.Name(cast(Any, number)).lower() if number in known else str(number)
    raise Refused(f"the element type must be one of WebNN, got {name}")
