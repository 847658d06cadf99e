"""Valid calls of every operation: the inferred types and shapes are those the engine returns, and the values are the reference's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st

from tests.property.calls import Call, compute, connect
from tests.property.profiles import NIGHTLY_EXAMPLES, hold
from tests.property.strategies import CALLS, FAMILIES
from tests.property.tolerances import TOLERANCES, compare
from tests.support import NEWEST, make_context
from webnn import MLContext, MLGraphBuilder
from webnn.reference.operations import REFERENCE

#: For each family, and at least for each operation, in continuous integration.
FAMILY_EXAMPLES, EXAMPLES = 30, 4


@pytest.fixture(scope="module")
def context() -> MLContext:
    return make_context()


def check(context: MLContext, call: Call) -> None:
    """Build the graph of a call, compute it, and compare."""
    builder = MLGraphBuilder(context)
    with np.errstate(all="ignore"):
        connected = connect(builder, call)
        results = compute(context, builder, connected.outputs, connected.feeds)
        for operand, bound, fresh in zip(connected.outputs, results.bound, results.fresh, strict=True):
            assert (operand.dataType(), operand.shape()) == (fresh.dtype.name, list(fresh.shape))
            assert bound.tobytes() == fresh.tobytes()
        compare(call, results.bound)


@pytest.mark.parametrize("name", CALLS)
def test_operation(context: MLContext, name: str) -> None:
    family = next(family for family in FAMILIES.values() if name in family)
    hold("ci", max(EXAMPLES, FAMILY_EXAMPLES // len(family)), CALLS[name], lambda call: check(context, call))


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("family", FAMILIES)
def test_family(context: MLContext, family: str) -> None:
    calls = st.sampled_from(sorted(FAMILIES[family])).flatmap(FAMILIES[family].__getitem__)
    hold("nightly", NIGHTLY_EXAMPLES, calls, lambda call: check(context, call))


def test_every_operation_has_a_strategy() -> None:
    assert set(CALLS) == set(REFERENCE)
    assert len(FAMILIES) == 13
    assert set(TOLERANCES) <= set(NEWEST.operations)
