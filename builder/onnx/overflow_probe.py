"""A model that shows whether this machine's products of uint8 and int8 overflow.

x86-64 processors without VNNI have an instruction that adds pairs of such products in 16 bits, and the engine uses it.
"""

from __future__ import annotations

import numpy as np

from webnn.builder.onnx.emitter import Emitter
from webnn.builder.onnx.values import Array
from webnn.validation.descriptor import OperandDescriptor

__all__ = ["SHAPES", "make_probe"]

#: The shapes of the inputs. The engine has another kernel for one row than for several ones, and another one for convolutions.
SHAPES = {"row": (1, 64), "rows": (5, 64), "image": (1, 16, 5, 5)}


def make_probe() -> tuple[bytes, dict[str, Array]]:
    """Return the model, and its outputs by their names if all elements of the inputs are 255 and nothing overflows."""
    e = Emitter()
    for name, shape in SHAPES.items():
        e.declare_input(name, OperandDescriptor("uint8", shape))
    one, none = e.scalar(1, "float32"), e.scalar(0, "uint8")
    # The largest products with either sign.
    signs = np.where(np.arange(32) % 2, -128, 127).astype(np.int8)
    columns, zeros = e.literal(np.tile(signs, (64, 1))), e.scalar(0, "int8")
    outputs: dict[str, Array] = {}
    results = {}
    for name in ("row", "rows"):
        results[name] = e.node("MatMulIntegerToFloat", [name, columns, one, one, none, zeros])
        outputs[name] = np.tile(signs.astype(np.float32) * (255 * 64), (SHAPES[name][0], 1))
    filters = e.literal(np.broadcast_to(signs[:, None, None, None], (32, 16, 3, 3)).copy())
    # The positive sums become 200, the negative ones 0.
    ratio = e.scalar(200 / (255 * 127 * 16 * 9), "float32")
    results["image"] = e.node("QLinearConv", ["image", one, none, filters, ratio, zeros, one, none])
    outputs["image"] = np.broadcast_to(np.where(signs > 0, 200, 0).astype(np.uint8)[None, :, None, None], (1, 32, 3, 3))
    for name, value in results.items():
        e.declare_output(value, OperandDescriptor("uint8" if name == "image" else "float32", outputs[name].shape))
    return e.finish().SerializeToString(), {results[name]: output for name, output in outputs.items()}
