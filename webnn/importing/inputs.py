"""`Inputs`: the steps of rules of nodes with inputs, some of which may be missing, and some of which must be known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.importing.steps import Operands, Steps
from webnn.importing.values import Array, Refused, Value
from webnn.validation import webidl

__all__ = ["Inputs"]

#: The most numbers of an input that a rule reads one by one.
_MOST_INTEGERS = 1 << 16


class Inputs(Steps):
    """The steps of a node with inputs; an optional one that is missing is None."""

    def __init__(self, operands: Operands, inputs: Sequence[Value | None]) -> None:
        super().__init__(operands)
        self.inputs = tuple(inputs)

    def given(self, index: int) -> bool:
        """Tell whether an optional input is there."""
        return index < len(self.inputs) and self.inputs[index] is not None

    def value(self, index: int) -> Value:
        """Return an input that must be there."""
        value = self.inputs[index] if index < len(self.inputs) else None
        if value is None:
            raise Refused(f"the input {index} must be given")
        return value

    def operand(self, index: int) -> MLOperand:
        """Return the operand of an input that must be there."""
        return self._operands.find(self.value(index))

    def known(self, index: int, what: str) -> Array:
        """Return the elements of an input that must be known at import; ``what`` is its name in messages."""
        value = self.value(index)
        if value.array is None:
            data = sorted(value.roots & self._operands.data)
            if data:
                raise Refused(
                    f"{what} must be known at import, but depends on the data of the input {' and '.join(map(repr, data))}",
                    "export the parts before and behind it as two models",
                    "what must be known at import depends on data",
                )
            constants = ", ".join(f"{name!r}: ..." for name in sorted(value.roots))
            what_it_is = "it" if value.roots == {value.name} else "what it comes from"
            advice = f"give {what_it_is} as a constant: constants={{{constants}}}" if constants else ""
            raise Refused(f"{what} must be known at import, got the value {webidl.describe(value.name)}", advice)
        if self._operands.is_missing(value):
            raise Refused(f"{what} must be known at import, but its external data is missing")
        return value.array

    def known_integers(self, index: int, what: str) -> list[int]:
        """Return the elements of an integer input that must be known at import, as a flat list."""
        array = self.known(index, what)
        if array.dtype.kind not in "iu":
            raise Refused(f"{what} must be integers, got {array.dtype.name}")
        if array.size > _MOST_INTEGERS:
            raise Refused(f"{what} must be at most {_MOST_INTEGERS} numbers, got {array.size}")
        return [int(each) for each in array.reshape(-1)]

    def known_indices(self, index: int, *sizes: int) -> Array | None:
        """Return indices into dimensions of some sizes if they are known: as int32, which every device takes, and from the front.

        There is one size for all indices, or one for each part of the coordinates in the last dimension.
        """
        array = self.value(index).array
        if array is None:
            return None
        if array.dtype.kind not in "iu":
            raise Refused(f"the indices must be integers, got {array.dtype.name}")
        limits = np.array(sizes if len(sizes) > 1 else sizes[0], np.int64)
        indices = array.astype(np.int64)
        if ((indices < -limits) | (indices >= limits)).any():
            wanted = " and ".join(f"from {-size} to {size - 1}" for size in sizes)
            raise Refused(f"the indices must be {wanted}, got some from {indices.min()} to {indices.max()}")
        if array.dtype == np.int32 and (array >= 0).all():
            return array
        return np.asarray(np.where(indices < 0, indices + limits, indices), np.int32)

    def indices(self, index: int, *sizes: int) -> MLOperand:
        """Return the operand of indices into dimensions of some sizes; for those that are known see `known_indices`."""
        known = self.known_indices(index, *sizes)
        return self._operands.find(self.value(index)) if known is None else self.constant(known)
