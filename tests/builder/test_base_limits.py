"""The quick check of an operation's limits says what the check with its messages says."""

from __future__ import annotations

import itertools

import pytest

from tests.support import CURRENT, shared_context
from webnn import MLGraphBuilder, MLOperand, WebNNTypeError
from webnn.builder.base import _fit
from webnn.validation.descriptor import DATA_TYPES, OperandDescriptor

BUILDER = MLGraphBuilder(shared_context(CURRENT))


@pytest.mark.parametrize("name", sorted(BUILDER._revision.operations))
def test_both_refuse_the_same(name: str) -> None:
    """All data types and ranks of one operand, beside others that fit; for a variadic operation, of the last one of three."""
    operation, call, limits, _ = BUILDER._prepare(name)
    fitting = [OperandDescriptor(types[0], (2,) * low) for types, low, _ in limits] * (3 if operation.variadic else 1)
    refused = 0
    for place, dataType, rank in itertools.product(range(len(fitting)), DATA_TYPES, range(10)):
        descriptors = list(fitting)
        descriptors[place] = OperandDescriptor(dataType, (2,) * rank)
        operands = tuple(MLOperand._create(BUILDER, descriptor) for descriptor in descriptors)
        try:
            BUILDER._checkLimits(call, operation, operands, ())
        except WebNNTypeError:
            refused += 1
            assert not _fit(limits, descriptors)
        else:
            assert _fit(limits, descriptors)
    # Nine dimensions are too many for all operands.
    assert refused >= len(DATA_TYPES) * len(fitting)
