"""Element-wise operations of two operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from webnn.hlo.export.emitter import Emitter, Tensor, broadcast_shapes, is_float
from webnn.hlo.export.rule import Op, Rule, wide
from webnn.hlo.types import DTYPES

__all__ = ["RULES"]


def _same(name: str) -> Callable[[Emitter, Op], Tensor]:
    return lambda e, op: e.binary(name, op["a"], op["b"])


def _div(e: Emitter, op: Op) -> Tensor:
    a, b = op["a"], op["b"]
    if is_float(a.element):
        return a / b
    known = op.constants.get("b")
    if known is not None and not ((known == 0) | (known == -1)).any():
        return a / b
    # StableHLO does not define a division by 0, and the least number divided by -1.
    is_zero = e.compare("EQ", b, 0)
    if a.element.startswith("ui"):
        all_bits = e.unary("not", e.full(0, a.element))
        return e.select(is_zero, all_bits, a / e.select(is_zero, 1, b))
    is_minus = e.compare("EQ", b, -1)
    quotient = e.select(is_minus, -a, a / e.select(is_zero | is_minus, 1, b))
    return e.select(is_zero, -1, quotient)


def _pow(e: Emitter, op: Op) -> Tensor:
    a, b = op["a"], op["b"]
    if is_float(a.element):
        return e.binary("power", a, b)
    if a.element.startswith("ui"):
        return _integer_power(e, op, a, b)
    # StableHLO does not define powers of integers with a negative exponent.
    power = _integer_power(e, op, a, e.maximum(b, 0))
    is_odd = e.compare("NE", e.binary("and", b, 1), 0)
    of_minus_one = e.select(is_odd, e.full(-1, a.element), 1)
    truncated = e.select(e.compare("EQ", a, -1), of_minus_one, e.select(e.compare("EQ", a, 0), e.full(-1, a.element), 0))
    reciprocal = e.select(e.compare("EQ", a, 1), 1, truncated)
    return e.select(e.compare("LT", b, 0), reciprocal, power)


def _integer_power(e: Emitter, op: Op, a: Tensor, b: Tensor) -> Tensor:
    """Compute a power modulo 2^bits, by squares: StableHLO's own is wrong in XLA where exponents are large."""
    known = op.constants.get("b")
    bits = 8 * np.dtype(DTYPES[b.element]).itemsize if known is None else max(0, int(known.max())).bit_length()
    shape = broadcast_shapes(a.shape, b.shape)

    def step(e: Emitter, _: Tensor, __: Sequence[Tensor], states: Sequence[Tensor]) -> list[Tensor]:
        power, square, exponent = states
        is_odd = e.compare("NE", e.binary("and", exponent, 1), 0)
        return [e.select(is_odd, power * square, power), square * square, e.binary("shift_right_logical", exponent, 1)]

    return e.loop(bits, [], [e.full(1, a.element, shape), e.broadcast(a, shape), e.broadcast(b, shape)], step)[0]


RULES = {
    # In float16 these round the exact result once, as they would by way of float32.
    **{name: Rule(emit=_same(same)) for name, same in (("add", "add"), ("sub", "subtract"), ("mul", "multiply"))},
    **{name: Rule(emit=_same(same)) for name, same in (("max", "maximum"), ("min", "minimum"))},
    "div": wide(_div),
    "pow": wide(_pow),
}
