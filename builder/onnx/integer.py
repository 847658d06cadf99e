"""Integer division, powers and extremes, which the engine's kernels get wrong: `docs/numerics.md` says what is right.

Its `Div` throws for a zero divisor and ends the process for MIN / -1 (SIGFPE). Its `Pow` lacks half of the types and computes in
floating point, which rounds above 2^53 and does not wrap. Its `Max`, `Min`, `Clip`, `ReduceMax` and `ReduceMin` of int64 compare the low
halves of two numbers as signed ones where the high halves are equal: min(6, 3000000000) gives 3000000000. `Less` and `Greater` are right.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from webnn.builder.onnx.emitter import Emitter, Op
from webnn.validation.descriptor import BITS, DataType

__all__ = ["clip", "combine", "divide", "power"]

#: For a node that chooses one of two values, the comparison that holds where the first one is chosen.
_CHOICES: Mapping[str, str] = MappingProxyType({"Max": "Greater", "Min": "Less"})


def _is_signed(dtype: DataType) -> bool:
    return dtype.startswith("int")


def combine(e: Emitter, op_type: str, a: str, b: str, dtype: DataType) -> str:
    """Emit an elementwise node of two values of a type, ``"Max"`` and ``"Min"`` of int64 by a comparison."""
    if dtype != "int64" or op_type not in _CHOICES:
        return e.node(op_type, [a, b])
    return e.node("Where", [e.node(_CHOICES[op_type], [a, b]), a, b])


def clip(e: Emitter, value: str, low: int, high: int, dtype: DataType) -> str:
    """Emit the limits of integers."""
    if dtype != "int64":
        return e.node("Clip", [value, e.scalar(low, dtype), e.scalar(high, dtype)])
    return combine(e, "Min", combine(e, "Max", value, e.scalar(low, dtype), dtype), e.scalar(high, dtype), dtype)


def divide(e: Emitter, op: Op) -> str:
    """Emit ``div`` of integers: truncates towards zero; by zero all bits are set; MIN / -1 is MIN."""
    a, b, dtype = op["a"], op["b"], op.type("a")
    signed = _is_signed(dtype)
    divisors = op.constants.get("b")
    if divisors is not None and not np.any(divisors == 0) and not (signed and np.any(divisors == -1)):
        return e.node("Div", [a, b])
    one = e.scalar(1, dtype)
    zero = e.node("Equal", [b, e.scalar(0, dtype)])
    if not signed:
        # `Where` has no kernel for uint64, `Max` has. By zero: a / 1, and the largest value wins over it.
        allBits = e.node("Sub", [e.scalar(0, dtype), e.cast(zero, dtype)])
        return e.node("Max", [e.node("Div", [a, e.node("Max", [b, one])]), allBits])
    minusOne = e.scalar(-1, dtype)
    negates = e.node("Equal", [b, minusOne])
    quotient = e.node("Div", [a, e.node("Where", [e.node("Or", [zero, negates]), one, b])])
    # `Neg` wraps, as a division by -1 should.
    return e.node("Where", [zero, minusOne, e.node("Where", [negates, e.node("Neg", [a]), quotient])])


def power(e: Emitter, op: Op) -> str:
    """Emit ``pow`` of integers, modulo 2^bits, by squaring and multiplying; `Mul` wraps in every type."""
    exponents = op.constants.get("b")
    if exponents is not None and np.all(exponents == exponents.flat[0]):
        return _fixed_power(e, op, int(exponents.flat[0]))
    return _general_power(e, op, exponents)


def _fixed_power(e: Emitter, op: Op, exponent: int) -> str:
    """Emit the powers of one known exponent: only the multiplications that it needs."""
    dtype, shape = op.type("a"), op.outputs[0].dimensions
    result, square = "", op["a"]
    # For a negative exponent the power is used for 1 and -1 only; it depends on the exponent's parity.
    rest = exponent if exponent >= 0 else exponent & 1
    while rest:
        if rest & 1:
            result = e.node("Mul", [result, square]) if result else square
        rest >>= 1
        if rest:
            square = e.node("Mul", [square, square])
    result = result or e.scalar(1, dtype)
    if exponent < 0:
        result = _reciprocal(e, op["a"], result, dtype)
    # The power has the base's shape, or none if the exponent is 0.
    return result if exponent != 0 and op.shape("a") == shape else e.node("Expand", [result, e.ints(shape)])


def _general_power(e: Emitter, op: Op, exponents: np.ndarray[Any, np.dtype[Any]] | None) -> str:
    """Emit the powers of exponents that differ: one step for each bit of them."""
    a, b, dtype = op["a"], op["b"], op.type("a")
    bits, signed = BITS[dtype], _is_signed(dtype)
    wide = dtype == "uint64"
    if wide:
        # `Where` has no kernel for uint64; modulo 2^64 both types multiply alike, and the casts keep the bits.
        a, b, dtype = e.cast(a, "int64"), e.cast(b, "int64"), "int64"
    # The bits that can be set; a sign bit is not part of the power.
    mask = 2 ** (bits - 1) - 1 if signed else 2**bits - 1
    if exponents is not None:
        mask &= int(np.bitwise_or.reduce(exponents, axis=None))
    result, square = e.scalar(1, dtype), a
    for position in range(mask.bit_length()):
        if position > 0:
            square = e.node("Mul", [square, square])
        if mask >> position & 1:
            bit = e.literal(np.array(1 << position, f"uint{bits}").astype(dtype))
            isUnset = e.node("Equal", [e.node("BitwiseAnd", [b, bit]), e.scalar(0, dtype)])
            result = e.node("Where", [isUnset, result, e.node("Mul", [result, square])])
    if signed and (exponents is None or np.any(exponents < 0)):
        # The low bits give 1 and -1 their parity below zero too.
        isNegative = e.node("Less", [b, e.scalar(0, dtype)])
        result = e.node("Where", [isNegative, _reciprocal(e, a, result, dtype), result])
    return e.cast(result, "uint64") if wide else result


def _reciprocal(e: Emitter, base: str, power: str, dtype: DataType) -> str:
    """Emit the powers of negative exponents: for 1 and -1 the power itself, -1 for 0 as by ``div(1, 0)``, 0 for other bases."""
    isUnit = e.node("Equal", [e.node("Abs", [base]), e.scalar(1, dtype)])
    isZero = e.node("Equal", [base, e.scalar(0, dtype)])
    return e.node("Where", [isUnit, power, e.node("Neg", [e.cast(isZero, dtype)])])
