"""Forms that several providers share, for kernels that they lack."""

from __future__ import annotations

import numpy as np

from webnn.builder.onnx.emitter import BOOL, Emitter, Op

__all__ = ["clamp_floats", "softsign", "where"]


def clamp_floats(e: Emitter, op: Op) -> str:
    """Emit ``clamp`` of floating-point numbers by nodes that keep a NaN where ``Clip`` does not."""
    dtype, value = op.type("input"), op["input"]
    with np.errstate(over="ignore"):  # a bound beyond float16 is an infinity
        for op_type, bound in (("Max", op.options.minValue), ("Min", op.options.maxValue)):
            if bound is not None:
                value = e.node(op_type, [value, e.scalar(bound, dtype)])
    return value if value != op["input"] else e.node("Identity", [value])


def softsign(e: Emitter, op: Op) -> str:
    """Emit ``softsign`` without ``Softsign``."""
    return e.node("Div", [op["input"], e.node("Add", [e.elementwise("Abs", [op["input"]]), e.scalar(1, "float32")])])


def where(e: Emitter, op: Op) -> str:
    """Emit ``where`` by a ``Where`` that keeps a negative zero."""
    # The names of the two values differ between the drafts.
    _, first, second = op.inputs
    return e.node("Where", [e.cast(op["condition"], BOOL), op[first], op[second]])
