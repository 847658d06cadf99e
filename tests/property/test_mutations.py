"""Single mutations of a valid call are refused, with an error that names the operation and the argument."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import strategies as st

from tests.property.calls import Call, Operands, connect
from tests.property.mutations import ROWS, mutated
from tests.property.profiles import NIGHTLY_EXAMPLES, hold
from tests.property.strategies import CALLS, FAMILIES
from tests.support import make_context
from webnn import MLContext, MLGraphBuilder, WebNNTypeError

#: For each operation, in continuous integration; every mutation is applied to each of them. More, if a mutation applies to none of a few.
EXAMPLES, MORE_EXAMPLES = 4, 20


@pytest.fixture(scope="module")
def context() -> MLContext:
    return make_context()


def refusal(builder: MLGraphBuilder, call: Call, operands: Operands) -> WebNNTypeError | None:
    """Make a call that ought to be refused."""
    try:
        connect(builder, call, operands)
    except WebNNTypeError as error:
        return error
    return None


def check(context: MLContext, call: Call, applied: Counter[int]) -> None:
    """Apply all mutations to a call; count for each one what it made."""
    builder, other, operands = MLGraphBuilder(context), MLGraphBuilder(context), Operands()
    for index, row in enumerate(ROWS[call.name]):
        for mutant in mutated(call, row, other):
            applied[index] += 1
            error = refusal(builder, mutant, operands)
            assert error, f"{row.argument} was changed, and nothing was said: {mutant}"
            right = error.operation == call.name and error.argument.startswith(row.named or row.argument)
            assert right, f"{row.argument} was changed, the error is about {error.operation} {error.argument!r}: {error}\n{mutant}"
            assert str(error).startswith(f"{call.name}: {error.argument} ")


@pytest.mark.parametrize("name", CALLS)
def test_operation(context: MLContext, name: str) -> None:
    applied: Counter[int] = Counter()
    for examples in (EXAMPLES, MORE_EXAMPLES):
        hold("ci", examples, CALLS[name], lambda call: check(context, call, applied))
        idle = [row.argument for index, row in enumerate(ROWS[name]) if not applied[index]]
        if not idle:
            break
    assert not idle, f"mutations that never applied: {idle}"


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("family", FAMILIES)
def test_family(context: MLContext, family: str) -> None:
    calls = st.sampled_from(sorted(FAMILIES[family])).flatmap(FAMILIES[family].__getitem__)
    hold("nightly", NIGHTLY_EXAMPLES, calls, lambda call: check(context, call, Counter()))
