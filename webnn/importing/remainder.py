"""The remainder of a division of floating-point numbers, without an error.

The dividend loses multiples of the divisor: first those of the divisor times a large power of 2, whose factor is a small integer. A product
is exact where both factors have few digits, so the divisor is the sum of a head of 12 digits and a tail of 12 digits. The rest has at
most half the magnitude of the multiplied divisor, so that each step takes 12 digits of the quotient. All is computed in float32.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from webnn.importing.functions import Calculator

if TYPE_CHECKING:
    from webnn.builder.operand import MLOperand

__all__ = ["remainder"]

#: How many digits of the quotient a step takes; of numbers that float16 holds, which need no head and tail, it is one more.
_STEP = 12
#: How many steps of powers of 2 a divisor is multiplied by, and the least power of 2 as a divisor for which they suffice.
_STEPS, _LEAST = 11, -13
#: The power of 2 that a divisor below that is multiplied by first: the sum of these, because float32 does not hold it.
_RAISE = (120, 7)
#: Numbers above 2**100 lose this power of 2, so that nothing overflows.
_LARGE, _SCALE = 100, 24


def remainder(c: Calculator, x: MLOperand, y: MLOperand, *, known: float | None = None, is_short: bool = False) -> MLOperand:
    """Return the remainder that has the sign of the dividend, both float32.

    A dividend of a smaller magnitude is its own remainder, by an infinite divisor, too. By zero it is NaN, and that of an infinity is NaN.
    ``known`` is the divisor, if it is one number that is known. ``is_short`` tells that float16 holds both.
    """
    b, zero = c.builder, c.number(0)
    dividend, divisor = b.abs(x), b.abs(y)
    if is_short:
        rest = dividend
        for digits in (2 * (_STEP + 1), _STEP + 1, 0):
            multiple = b.mul(divisor, c.number(2.0**digits))
            rest = b.sub(rest, b.mul(b.roundEven(b.div(rest, multiple)), multiple))
    elif known is not None and 2.0**_LEAST <= abs(known) < np.inf:
        rest = _reduce_by_known(c, dividend, np.float32(abs(known)))
    else:
        rest = _reduce(c, dividend, divisor)
    rest = b.where(b.lesser(rest, zero), b.add(rest, divisor), rest)
    return b.where(b.lesser(dividend, divisor), x, b.where(b.lesser(x, zero), b.neg(rest), rest))


def _reduce_by_known(c: Calculator, dividend: MLOperand, divisor: np.float32) -> MLOperand:
    """Return the dividend less the nearest multiple of a divisor that is known; any number for a smaller dividend."""
    b, scale = c.builder, np.float32(2.0**-_SCALE)
    scaled = divisor * scale
    # The last digits of the mantissa are the tail.
    head = (scaled.view(np.uint32) & np.uint32(0xFFFFF000)).view(np.float32)
    tail = scaled - head
    rest = b.mul(dividend, c.number(float(scale)))
    # The quotient is less than 2**128 by the divisor.
    _, exponent = np.frexp(divisor)
    for step in reversed(range(max(0, -(-(129 - int(exponent) - _STEP + 1) // _STEP)) + 1)):
        multiples = [float(np.ldexp(part, _STEP * step)) for part in (scaled, head, tail)]
        quotient = b.roundEven(b.div(rest, c.number(multiples[0])))
        for part in multiples[1:]:
            if part:
                rest = b.sub(rest, b.mul(quotient, c.number(part)))
    return b.mul(rest, c.number(2.0**_SCALE))


def _reduce(c: Calculator, dividend: MLOperand, divisor: MLOperand) -> MLOperand:
    """Return the dividend less the nearest multiple of the divisor; any number for a smaller dividend."""
    b = c.builder
    # First by a multiple of a small divisor, so that a power of 2 suffices that float32 holds.
    is_small = b.lesser(divisor, c.number(2.0**_LEAST))
    scale = b.where(b.greater(dividend, c.number(2.0**_LARGE)), c.number(2.0**-_SCALE), c.number(1))
    raised = divisor
    for power in _RAISE:
        raised = b.mul(raised, c.number(2.0**power))
    raised = b.mul(b.where(is_small, raised, divisor), scale)
    head = _split(c, raised)
    rest = _subtract(c, b.mul(dividend, scale), raised, head)
    rest, head = b.div(rest, scale), b.div(head, scale)
    for power in _RAISE:
        head = b.mul(head, c.number(2.0**-power))
    return b.where(is_small, _subtract(c, rest, divisor, head), rest)


def _subtract(c: Calculator, rest: MLOperand, divisor: MLOperand, head: MLOperand) -> MLOperand:
    """Return a number less the nearest multiple of a divisor, which is at most 2**143 times the divisor."""
    b = c.builder
    tail = b.sub(divisor, head)
    for step in reversed(range(_STEPS + 1)):
        # One power of 2 is too large for float32.
        powers = [c.number(2.0**digits) for digits in ((66, 66) if step == _STEPS else (_STEP * step,)) if digits]

        def raise_(operand: MLOperand, powers: list[MLOperand] = powers) -> MLOperand:
            for power in powers:
                operand = b.mul(operand, power)
            return operand

        quotient = b.roundEven(b.div(rest, raise_(divisor)))
        rest = b.sub(rest, raise_(b.mul(quotient, head)))
        rest = b.sub(rest, raise_(b.mul(quotient, tail)))
    return rest


def _split(c: Calculator, x: MLOperand) -> MLOperand:
    """Return the first 12 digits of a number: what a product with 2**12 + 1 rounds to, or the next smaller one."""
    b = c.builder

    def round_(operand: MLOperand) -> MLOperand:
        product = b.mul(operand, c.number(2.0**_STEP + 1))
        return b.sub(product, b.sub(product, operand))

    head = round_(x)
    return b.where(b.greater(head, x), round_(b.mul(x, c.number(1 - 2.0**-_STEP))), head)
