"""Convolutions."""

from __future__ import annotations

from webnn.builder.onnx.emitter import Emitter, Op, Translation

__all__ = ["TRANSLATIONS"]


def _conv2d(e: Emitter, op: Op) -> str:
    options = op.options
    beginningHeight, endingHeight, beginningWidth, endingWidth = options.padding or (0, 0, 0, 0)
    # The engine knows one filter layout; a transposed constant is folded when the session is made.
    filter = e.transpose(op["filter"], [options.filterLayout.index(axis) for axis in "oihw"])
    result = e.node(
        "Conv",
        [e.from_layout(op["input"], options.inputLayout), filter, op.get("bias")],
        pads=[beginningHeight, beginningWidth, endingHeight, endingWidth],
        strides=options.strides or (1, 1),
        dilations=options.dilations or (1, 1),
        group=options.groups,
    )
    return e.to_layout(result, options.inputLayout)


TRANSLATIONS = {"conv2d": Translation(emit=_conv2d, carry={"float16": "float32"})}
