"""Valid calls of every operation: the inferred types and shapes are those the engine returns, and the values are the reference's.

Under both numerics policies, each with its tolerances.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping

import numpy as np
import pytest
from hypothesis import strategies as st

from tests.property.calls import Call, compute, connect
from tests.property.makers import call_of, find_limits
from tests.property.profiles import NIGHTLY_EXAMPLES, hold
from tests.property.strategies import CALLS, FAMILIES, OPERATIONS, family_of
from tests.property.tolerances import TOLERANCES, compare, compare_fast
from tests.support import Array
from webnn import ML, MLContext, MLGraphBuilder
from webnn.builder.numerics import Numerics
from webnn.calls.dice import Dice
from webnn.validation.descriptor import MAX_RANK
from webnn.validation.drafts import DRAFTS, find_revision

#: For each family, and at least for each operation, in continuous integration.
FAMILY_EXAMPLES, EXAMPLES = 15, 2
#: How many calls have all data types and ranks of an operation's operands.
DRAWS = 300


#: How results are compared under each numerics policy.
COMPARE: Mapping[Numerics, Callable[[Call, list[Array]], None]] = {"exact": compare, "fast": compare_fast}


Contexts = Mapping[tuple[Numerics, str], MLContext]


@pytest.fixture(scope="module")
def contexts() -> Contexts:
    return {(numerics, draft): ML(numerics=numerics, revision=draft).createContextSync() for numerics in COMPARE for draft in DRAFTS}


def check(contexts: Contexts, numerics: Numerics, call: Call) -> None:
    """Build the graph of a call, compute it, and compare."""
    context = contexts[numerics, call.revision]
    builder = MLGraphBuilder(context)
    with np.errstate(all="ignore"):
        connected = connect(builder, call)
        results = compute(context, builder, connected.outputs, connected.feeds)
        for operand, bound, fresh in zip(connected.outputs, results.bound, results.fresh, strict=True):
            assert (operand.descriptor.dataType, operand.descriptor.dimensions) == (fresh.dtype.name, fresh.shape)
            assert bound.tobytes() == fresh.tobytes()
        COMPARE[numerics](call, results.bound)


@pytest.mark.parametrize(("draft", "name"), OPERATIONS)
@pytest.mark.parametrize("numerics", COMPARE)
def test_operation(contexts: Contexts, numerics: Numerics, draft: str, name: str) -> None:
    examples = max(EXAMPLES, FAMILY_EXAMPLES // len(family_of(draft, name)))
    hold("ci", examples, CALLS[draft][name], lambda call: check(contexts, numerics, call))


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("draft", "family"), [(draft, family) for draft in DRAFTS for family in FAMILIES[draft]])
@pytest.mark.parametrize("numerics", COMPARE)
def test_family(contexts: Contexts, numerics: Numerics, draft: str, family: str) -> None:
    calls = st.sampled_from(sorted(FAMILIES[draft][family])).flatmap(FAMILIES[draft][family].__getitem__)
    hold("nightly", NIGHTLY_EXAMPLES, calls, lambda call: check(contexts, numerics, call))


class HighDice(Dice):
    """Choices of shapes of all ranks."""

    max_rank = MAX_RANK


@pytest.mark.slow
@pytest.mark.parametrize(("draft", "name"), OPERATIONS)
def test_all_types_and_ranks_are_drawn(draft: str, name: str) -> None:
    types, ranks = defaultdict[str, set[str]](set), defaultdict[str, set[int]](set)
    for number in range(DRAWS):
        call = call_of(HighDice(f"{name}/{number}"), draft, name)
        for operand, value in {**call.arguments, **call.options}.items():
            for array in value if isinstance(value, list) else [value]:
                if isinstance(array, np.ndarray):
                    types[operand].add(array.dtype.name)
                    ranks[operand].add(array.ndim)
    limits = {operand: row for operand, row in find_limits(draft)[name].items() if not operand.startswith("output")}
    assert types == {operand: set(row["dataTypes"]) for operand, row in limits.items()}
    assert ranks == {operand: set(range(row["rankRange"]["min"], row["rankRange"]["max"] + 1)) for operand, row in limits.items()}


def test_every_operation_of_every_draft_has_a_strategy() -> None:
    operations = {draft: set(find_revision(draft).operations) for draft in DRAFTS}
    assert {draft: set(calls) for draft, calls in CALLS.items()} == operations
    assert set(OPERATIONS) == {(draft, name) for draft, names in operations.items() for name in names}
    assert set(TOLERANCES) <= set().union(*operations.values())
