"""Differences of implementations from the draft's checks, as switches."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DRAFT_CHECKS", "Checks"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Checks:
    """Switches of what is checked, and in which order. The draft has none of them; Chromium 153 has all of them (measured).

    Attributes:
        bigints: A number for an operand is a BigInt only for int64 and uint64, and never one for int4 and uint4: else a TypeError.
        builder_first: ``constant(tensor)`` checks the builder before the tensor.
        data_last: ``readTensor`` asks whether the tensor is destroyed before it looks at the buffer.
        lost_first: ``dispatch`` asks first whether the context is lost, and last whether a tensor is destroyed, with an InvalidStateError.
        names_in_build: Two inputs of a builder may share a name. A graph with both is a TypeError of ``build``.
        outputs_later: A graph with an empty name of an output, or with one operand under two names, is refused after the builder has built,
            with an InvalidStateError.
        shared_inputs: One tensor may be several inputs of a ``dispatch``.
        sizes_alone: ``resample2d`` does not look at the scales if sizes are given.
    """

    bigints: bool = False
    builder_first: bool = False
    data_last: bool = False
    lost_first: bool = False
    names_in_build: bool = False
    outputs_later: bool = False
    shared_inputs: bool = False
    sizes_alone: bool = False


#: The checks of the draft.
DRAFT_CHECKS = Checks()
