"""Element-wise operations of one operand."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from webnn.hlo.export.emitter import Emitter, Tensor
from webnn.hlo.export.erf import erf
from webnn.hlo.export.rule import Op, Rule, wide

__all__ = ["RULES"]

_FUNCTIONS: Mapping[str, str] = {"cos": "cosine", "exp": "exponential", "log": "log", "sin": "sine", "sqrt": "sqrt", "tan": "tan"}
#: These round nothing, in float16 either.
_EXACT: Mapping[str, str] = {"ceil": "ceil", "floor": "floor", "neg": "negate", "roundEven": "round_nearest_even"}


def _same(name: str) -> Callable[[Emitter, Op], Tensor]:
    return lambda e, op: e.unary(name, op["input"])


def _abs(e: Emitter, op: Op) -> Tensor:
    x = op["input"]
    # StableHLO has none for unsigned integers.
    return x if x.element.startswith("ui") else e.unary("abs", x)


def _erf(e: Emitter, op: Op) -> Tensor:
    # JAX writes this composite, too. A reader of the program may have a better function.
    return e.composite("chlo.erf", op["input"], erf)


def _sign(e: Emitter, op: Op) -> Tensor:
    x = op["input"]
    # StableHLO's own keeps NaN and the sign of zero.
    above, below = [e.convert(e.compare(direction, x, 0), "i8") for direction in ("GT", "LT")]
    return e.convert(above - below, x.element)


RULES = {
    **{name: wide(_same(same)) for name, same in _FUNCTIONS.items()},
    **{name: Rule(emit=_same(same)) for name, same in _EXACT.items()},
    "abs": Rule(emit=_abs),
    "erf": wide(_erf),
    "identity": Rule(emit=lambda _, op: op["input"]),
    "reciprocal": wide(lambda _, op: 1 / op["input"]),
    "sign": Rule(emit=_sign),
}
