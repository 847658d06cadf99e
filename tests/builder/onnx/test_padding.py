"""Padding with a constant, in the forms of the CPU provider and of QNN's, against NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.property.quantized import run
from tests.support import BROWSERS, Array, each_row, shared_context
from webnn import MLGraphBuilder
from webnn.builder.graph import collect
from webnn.builder.onnx.translate import translate

SHAPE = (2, 3, 1)
PADDINGS = (((0, 0, 0), (0, 0, 2)), ((1, 2, 3), (3, 2, 1)), ((0, 4, 0), (0, 0, 0)))
VALUES: dict[str, tuple[float, ...]] = {
    "float32": (0, -0.0, 1e38, -math.inf, math.nan),
    "float16": (0.1, -math.inf, 1e9),
    "int32": (-7, 2**31 - 1),
    "uint32": (2**32 - 1,),
    "int64": (-(2**62),),
}


@each_row(("dtype", "value"), [(dtype, value) for dtype, values in VALUES.items() for value in values])
def test_values(dtype: Any, value: float) -> None:
    x: Array = np.arange(6).reshape(SHAPE).astype(dtype)
    with np.errstate(over="ignore"):
        number = np.float64(value).astype(dtype) if dtype.startswith("float") else np.array(value, dtype)
    for provider in ("CPUExecutionProvider", "QNNExecutionProvider"):
        builder = MLGraphBuilder(shared_context(BROWSERS))
        given = builder.input("x", dataType=dtype, shape=SHAPE)
        outputs = {str(index): builder.pad(given, *padding, value=value) for index, padding in enumerate(PADDINGS)}
        found = run(translate(collect(outputs), "fast", provider=provider), {"x": x})
        for index, (before, after) in enumerate(PADDINGS):
            expected = np.pad(x, list(zip(before, after, strict=True)), constant_values=number)
            np.testing.assert_array_equal(found[str(index)], expected, err_msg=provider)
