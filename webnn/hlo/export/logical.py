"""Element-wise logical operations. Their results are i1 here; the exporter converts them to uint8."""

from __future__ import annotations

import math
from collections.abc import Callable

from webnn.hlo.attributes import COMPARISONS
from webnn.hlo.export.emitter import Emitter, Tensor
from webnn.hlo.export.rule import Op, Rule

__all__ = ["RULES"]


def _compare(direction: str) -> Callable[[Emitter, Op], Tensor]:
    return lambda e, op: e.compare(direction, op["a"], op["b"])


def _combine(name: str) -> Callable[[Emitter, Op], Tensor]:
    return lambda e, op: e.binary(name, e.compare("NE", op["a"], 0), e.compare("NE", op["b"], 0))


RULES = {
    **{name: Rule(emit=_compare(direction)) for direction, name in COMPARISONS.items()},
    **{name: Rule(emit=_combine(same)) for name, same in (("logicalAnd", "and"), ("logicalOr", "or"), ("logicalXor", "xor"))},
    "isInfinite": Rule(emit=lambda e, op: e.compare("EQ", e.unary("abs", op["a"]), math.inf)),
    "isNaN": Rule(emit=lambda e, op: e.compare("NE", op["a"], op["a"])),
    "logicalNot": Rule(emit=lambda e, op: e.compare("EQ", op["a"], 0)),
}
