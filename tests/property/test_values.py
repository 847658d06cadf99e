"""Valid calls of every operation: the inferred types and shapes are those the engine returns, and the values are the reference's.

Under both numerics policies, each with its tolerances.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest
from hypothesis import strategies as st

from tests.property.calls import Call, compute, connect
from tests.property.profiles import NIGHTLY_EXAMPLES, hold
from tests.property.strategies import CALLS, FAMILIES
from tests.property.tolerances import TOLERANCES, compare, compare_fast
from tests.support import NEWEST, Array
from webnn import ML, MLContext, MLGraphBuilder
from webnn.builder.numerics import Numerics
from webnn.reference.operations import REFERENCE

#: For each family, and at least for each operation, in continuous integration.
FAMILY_EXAMPLES, EXAMPLES = 30, 4


#: How results are compared under each numerics policy.
COMPARE: Mapping[Numerics, Callable[[Call, list[Array]], None]] = {"exact": compare, "fast": compare_fast}


@pytest.fixture(scope="module")
def contexts() -> Mapping[Numerics, MLContext]:
    return {numerics: ML(numerics=numerics).createContextSync() for numerics in COMPARE}


def check(contexts: Mapping[Numerics, MLContext], numerics: Numerics, call: Call) -> None:
    """Build the graph of a call, compute it, and compare."""
    context = contexts[numerics]
    builder = MLGraphBuilder(context)
    with np.errstate(all="ignore"):
        connected = connect(builder, call)
        results = compute(context, builder, connected.outputs, connected.feeds)
        for operand, bound, fresh in zip(connected.outputs, results.bound, results.fresh, strict=True):
            assert (operand.dataType(), operand.shape()) == (fresh.dtype.name, list(fresh.shape))
            assert bound.tobytes() == fresh.tobytes()
        COMPARE[numerics](call, results.bound)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("numerics", COMPARE)
def test_operation(contexts: Mapping[Numerics, MLContext], numerics: Numerics, name: str) -> None:
    family = next(family for family in FAMILIES.values() if name in family)
    hold("ci", max(EXAMPLES, FAMILY_EXAMPLES // len(family)), CALLS[name], lambda call: check(contexts, numerics, call))


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("numerics", COMPARE)
def test_family(contexts: Mapping[Numerics, MLContext], numerics: Numerics, family: str) -> None:
    calls = st.sampled_from(sorted(FAMILIES[family])).flatmap(FAMILIES[family].__getitem__)
    hold("nightly", NIGHTLY_EXAMPLES, calls, lambda call: check(contexts, numerics, call))


def test_every_operation_has_a_strategy() -> None:
    assert set(CALLS) == set(REFERENCE)
    assert len(FAMILIES) == 13
    assert set(TOLERANCES) <= set(NEWEST.operations)
