"""Operations that move elements or change their type: concat, split, reshape and their kin."""

from __future__ import annotations

from webnn.validation import webidl
from webnn.validation.descriptor import OperandDescriptor
from webnn.validation.dictionary import Dictionary, UnsignedLong
from webnn.validation.operation import Argument, Call, Operation

__all__ = ["OPERATIONS", "SplitOptions", "split"]


class SplitOptions(Dictionary):
    """``MLSplitOptions``, `#dictdef-mlsplitoptions`."""

    axis: UnsignedLong = 0


_convertSplitSizes = webidl.sequence(webidl.enforceRangeUnsignedLong)


def _convertSplits(value: object) -> int | tuple[int, ...]:
    """Convert to ``([EnforceRange] unsigned long or sequence<[EnforceRange] unsigned long>)``."""
    if hasattr(type(value), "__iter__") and not isinstance(value, str) and getattr(value, "ndim", 1) != 0:
        return _convertSplitSizes(value)
    return webidl.enforceRangeUnsignedLong(value)


def split(call: Call, input: OperandDescriptor, splits: int | tuple[int, ...], options: SplitOptions) -> tuple[OperandDescriptor, ...]:
    """Validate ``split``, `#api-mlgraphbuilder-split`.

    Args:
        call: The call.
        input: The input, at least 1-D.
        splits: The number of equal parts, or the size of each part along ``options.axis``.
        options: The converted options.

    Returns:
        One descriptor for each part.

    Raises:
        WebNNTypeError: A step fails.
    """
    axis, shape = options.axis, input.dimensions
    # 3. The axis is one of the input's.
    if axis >= len(shape):
        raise call.error("options.axis", f"must be less than the rank of input, {len(shape)}", axis)
    if isinstance(splits, int):
        # 4.1. There are parts, and they are of equal size. (The draft divides by 0 here: see docs/spec-issues.md.)
        if splits == 0 or shape[axis] % splits != 0:
            raise call.error("splits", f"must divide the size of axis {axis}, {shape[axis]}, evenly", splits)
        sizes = (shape[axis] // splits,) * splits
    else:
        # 5.1. No part is empty.
        call.check_no_zero("splits", splits)
        # 5.2. The parts make up the whole axis.
        if sum(splits) != shape[axis]:
            raise call.error("splits", f"must add up to the size of axis {axis}, {shape[axis]}", list(splits))
        sizes = splits
    return tuple(call.output(input.dataType, (*shape[:axis], size, *shape[axis + 1 :])) for size in sizes)


OPERATIONS = (
    Operation(
        name="split",
        anchor="#api-mlgraphbuilder-split",
        operands=("input",),
        arguments=(Argument("splits", _convertSplits),),
        infer=split,
        options=SplitOptions,
    ),
)
