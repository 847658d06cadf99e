"""Gated perceptrons: down(silu(gate(x)) * up(x)), whose silu is x * sigmoid(x).

The products stay what they are: one product with joined weights was measured, and is not faster (docs/proposals/subgraphs.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from webnn.proposals.fusion.body import Body, Kernel, OtherBodyError, orders, require, same, shape_of

if TYPE_CHECKING:
    from webnn.builder.onnx.emitter import Emitter

__all__ = ["match_gating"]


def match_gating(body: Body) -> list[Kernel]:
    """Return the kernel of x * sigmoid(x)."""
    sigmoid = body.single("sigmoid")
    x = sigmoid.inputs[0]
    product = body.user(sigmoid, "mul")
    if product is None or not any(one._operator is sigmoid and same(other, x) for one, other in orders(product)):
        raise OtherBodyError("the result of sigmoid must be multiplied with its input, and used nowhere else")
    require(0 not in shape_of(x), "all operands must have elements")

    def make(e: Emitter, inputs: Sequence[str]) -> list[str]:
        return [e.node("QuickGelu", [inputs[0]], alpha=1.0)]

    return [Kernel(kernel="QuickGelu", results=(product,), inner=(sigmoid,), operands=(x,), make=make)]
