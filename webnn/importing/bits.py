"""Operations on the bits of integers. WebNN has none: shifts are products and quotients with powers of 2; the others go bit by bit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

import numpy as np

if TYPE_CHECKING:
    from webnn.builder.operand import MLOperand
    from webnn.importing.steps import Steps
    from webnn.importing.values import Array
    from webnn.validation.descriptor import DataType

__all__ = ["Bits", "Combination", "Shift"]

Combination: TypeAlias = Literal["logicalAnd", "logicalOr", "logicalXor"]


@dataclass(frozen=True, slots=True)
class Shift:
    """The distances of a shift.

    Attributes:
        choose: Returns the number of a list for each distance; the last one for all distances of all bits and more.
        is_short: Whether all distances are known, and shorter.
    """

    choose: Callable[[list[int]], MLOperand]
    is_short: bool


class Bits:
    """Operations on integers of ``count`` bits. They are computed in ``data_type``: integers of less than 32 bits in int32."""

    def __init__(self, steps: Steps, count: int, *, signed: bool) -> None:
        self.data_type: DataType = "int32" if count < 32 else cast("DataType", f"{'' if signed else 'u'}int{count}")
        self._steps = steps
        self._builder = steps.builder
        self._count = count
        self._signed = signed
        self._least = -(1 << count - 1) if signed else 0

    def carry(self, x: MLOperand) -> MLOperand:
        """Return integers in the type in which they are computed."""
        return self._steps.cast(x, self.data_type)

    def _number(self, value: int) -> MLOperand:
        return self._steps.scalar(value, self.data_type)

    def find_signed(self, x: MLOperand) -> MLOperand:
        """Return the signed integers that have the bits of unsigned ones."""
        builder, x = self._builder, self.carry(x)
        if self._count >= 32:
            return builder.cast(x, cast("DataType", f"int{self._count}"))
        has_first = builder.greaterOrEqual(x, self._number(1 << self._count - 1))
        return builder.sub(x, builder.mul(self.carry(has_first), self._number(1 << self._count)))

    # Shifts.

    def shift(self, distances: MLOperand | Array) -> Shift:
        """Return the distances of a shift: integers of the type, or known ones. A negative one is as one of all bits."""
        count, builder, constant = self._count, self._builder, self._steps.constant
        if isinstance(distances, np.ndarray):
            places = np.where((distances < 0) | (distances >= count), count, distances).astype(np.int64)
            return Shift(lambda numbers: constant(self._list(numbers)[places]), bool((places < count).all()))
        place = builder.min(self.carry(distances), self._number(count))
        if self._signed:
            place = builder.where(builder.lesser(place, self._number(0)), self._number(count), place)
        indices = self._steps.cast(place, "int32")
        return Shift(lambda numbers: builder.gather(constant(self._list(numbers)), indices), is_short=False)

    def _list(self, numbers: list[int]) -> Array:
        """Return numbers modulo what the computed type holds."""
        bits = np.iinfo(self.data_type).bits
        array: Array = np.array([number % (1 << bits) for number in numbers], np.uint64).astype(self.data_type)
        return array

    def shift_left(self, x: MLOperand, shift: Shift) -> MLOperand:
        """Multiply by a power of 2."""
        return self._wrap(self._builder.mul(self.carry(x), shift.choose([*self._powers(), 0])))

    def shift_right(self, x: MLOperand, shift: Shift) -> MLOperand:
        """Divide by a power of 2, toward minus infinity: the sign stays."""
        builder, powers = self._builder, self._powers()
        x = self.carry(x)
        negative = self._is_negative(x)
        # Nothing but the sign is left of a signed number when its last power has divided it.
        shifted = builder.div(self._complement(x, negative), shift.choose([*powers, powers[-1]]))
        if not self._signed and not shift.is_short:
            shifted = builder.mul(shifted, shift.choose([*[1] * self._count, 0]))
        return self._complement(shifted, negative)

    def shift_right_logically(self, x: MLOperand, shift: Shift) -> MLOperand:
        """Divide by a power of 2 as if the integers had no sign."""
        x = self.carry(x)
        shifted, negative = self.shift_right(x, shift), self._is_negative(x)
        if negative is None:
            return shifted
        # The ones that came in behind the sign go away.
        count, builder = self._count, self._builder
        excess = shift.choose([0, *[1 << count - distance for distance in range(1, count)], 1])
        return builder.add(shifted, builder.mul(self.carry(negative), excess))

    def _powers(self) -> list[int]:
        return [1 << bit for bit in range(self._count)]

    # Bit by bit.

    def invert(self, x: MLOperand) -> MLOperand:
        """Subtract from the number of all bits: -1, or the greatest one."""
        return self._builder.sub(self._number(-1 if self._signed else (1 << self._count) - 1), self.carry(x))

    def combine(self, operation: Combination, one: MLOperand, other: MLOperand) -> MLOperand:
        """Divide by all powers of 2, combine the odd quotients, and add the powers up."""
        builder = self._builder
        combine = getattr(builder, operation)
        (a, a_negative), (b, b_negative) = self._split(one), self._split(other)
        bits = combine(a, b)
        negative = None if a_negative is None or b_negative is None else combine(a_negative, b_negative)
        if negative is not None:
            bits = builder.logicalXor(bits, negative)
        magnitude = self._join(self.carry(bits), self._magnitudes())
        return self._complement(magnitude, None if negative is None else self._drop(negative))

    def count(self, x: MLOperand) -> MLOperand:
        """Count the bits that are 1."""
        bits, negative = self._split(x)
        found = self._join(self.carry(bits), None)
        return found if negative is None else self._builder.add(found, self.carry(self._drop(negative)))

    def count_leading_zeros(self, x: MLOperand) -> MLOperand:
        """Count the powers of 2 that are greater."""
        builder = self._builder
        x = self.carry(x)
        smaller = self._join(self.carry(builder.lesser(self._spread(x), self._magnitudes())), None)
        return (
            smaller
            if not self._signed
            else builder.mul(builder.add(smaller, self._number(1)), self.carry(builder.greaterOrEqual(x, self._number(0))))
        )

    def _magnitudes(self) -> MLOperand:
        """Return the powers of 2 but that of the sign, [bits]."""
        return self._steps.constant(self._list(self._powers()[: self._count - self._signed]))

    def _spread(self, x: MLOperand) -> MLOperand:
        return self._steps.reshape(x, [*x.descriptor.dimensions, 1])

    def _drop(self, x: MLOperand) -> MLOperand:
        return self._steps.reshape(x, x.descriptor.dimensions[:-1])

    def _split(self, x: MLOperand) -> tuple[MLOperand, MLOperand | None]:
        """Return the bits, uint8 [..., bits], and whether the numbers are negative, uint8 [..., 1], if that is possible."""
        builder = self._builder
        x = self._spread(self.carry(x))
        negative = self._is_negative(x)
        # The complement has the other bits, and is not negative.
        quotient, two = builder.div(self._complement(x, negative), self._magnitudes()), self._number(2)
        odd = builder.notEqual(builder.mul(builder.div(quotient, two), two), quotient)
        return odd if negative is None else builder.logicalXor(odd, negative), negative

    def _join(self, bits: MLOperand, weights: MLOperand | None) -> MLOperand:
        """Return the sum over the last axis, of products with weights."""
        builder = self._builder
        axis = len(bits.descriptor.dimensions) - 1
        return builder.reduceSum(bits if weights is None else builder.mul(bits, weights), axes=[axis])

    def _is_negative(self, x: MLOperand) -> MLOperand | None:
        return self._builder.lesser(x, self._number(0)) if self._signed else None

    def _complement(self, x: MLOperand, where: MLOperand | None) -> MLOperand:
        """Return the numbers with all bits inverted where a condition holds."""
        return x if where is None else self._builder.where(where, self._builder.sub(self._number(-1), x), x)

    def _wrap(self, x: MLOperand) -> MLOperand:
        """Return integers modulo what the type holds; those of 32 bits and more wrap by themselves."""
        if self._count >= 32:
            return x
        builder, count = self._builder, 1 << self._count
        # A quotient goes toward zero: the dividend becomes positive.
        dividend = builder.add(x, self._number(count * count - self._least)) if self._signed else x
        size = self._number(count)
        rest = builder.sub(dividend, builder.mul(builder.div(dividend, size), size))
        return builder.add(rest, self._number(self._least)) if self._signed else rest
