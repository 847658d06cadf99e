"""Single mutations of a valid call are refused, with an error that names the operation and the argument."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import strategies as st

from tests.property.calls import Call, Operands, connect
from tests.property.mutation_rows import ROWS
from tests.property.mutations import mutated
from tests.property.profiles import NIGHTLY_EXAMPLES, hold
from tests.property.strategies import CALLS, FAMILIES, OPERATIONS
from tests.support import shared_context
from webnn import MLGraphBuilder, WebNNTypeError
from webnn.calls.maker import options_of
from webnn.validation.drafts import DRAFTS, find_revision

#: For each operation, in continuous integration; every mutation is applied to each of them. More for mutations that apply to none of a few.
EXAMPLES, MORE_EXAMPLES = 2, 20


def refusal(builder: MLGraphBuilder, call: Call, operands: Operands) -> WebNNTypeError | None:
    """Make a call that ought to be refused."""
    try:
        connect(builder, call, operands)
    except WebNNTypeError as error:
        return error
    return None


def check(call: Call, applied: Counter[int], *, idle: bool = False) -> None:
    """Apply all mutations to a call, or those that have not applied yet; count for each one what it made."""
    context = shared_context(call.revision)
    builder, other, operands = MLGraphBuilder(context), MLGraphBuilder(context), Operands()
    for index, row in enumerate(ROWS[call.revision][call.name]):
        if idle and applied[index]:
            continue
        for mutant in mutated(call, row, other):
            applied[index] += 1
            error = refusal(builder, mutant, operands)
            assert error, f"{row.argument} was changed, and nothing was said: {mutant}"
            right = error.operation == call.name and error.argument.startswith(row.named or row.argument)
            assert right, f"{row.argument} was changed, the error is about {error.operation} {error.argument!r}: {error}\n{mutant}"
            assert str(error).startswith(f"{call.name}: {error.argument} ")


@pytest.mark.parametrize(("draft", "name"), OPERATIONS)
def test_operation(draft: str, name: str) -> None:
    applied: Counter[int] = Counter()

    def idle() -> list[str]:
        return [row.argument for index, row in enumerate(ROWS[draft][name]) if not applied[index]]

    hold("ci", EXAMPLES, CALLS[draft][name], lambda call: check(call, applied))
    if idle():
        hold("ci", MORE_EXAMPLES, CALLS[draft][name], lambda call: check(call, applied, idle=True))
    assert not idle(), f"mutations that never applied: {idle()}"


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("draft", "family"), [(draft, family) for draft in DRAFTS for family in FAMILIES[draft]])
def test_family(draft: str, family: str) -> None:
    calls = st.sampled_from(sorted(FAMILIES[draft][family])).flatmap(FAMILIES[draft][family].__getitem__)
    hold("nightly", NIGHTLY_EXAMPLES, calls, lambda call: check(call, Counter()))


def test_every_argument_of_every_draft_has_mutations() -> None:
    """Anything becomes a boolean, and a label is any text."""
    for draft, name in OPERATIONS:
        revision = find_revision(draft)
        operation = revision.operations[name]
        members = options_of(revision.idl(), name) if operation.options else {}
        options = {f"options.{member}" for member, kind in members.items() if kind != "boolean" and member != "label"}
        arguments = {*operation.operands, *(argument.name for argument in operation.arguments)}
        assert {row.argument for row in ROWS[draft][name]} == arguments | options, f"{name} in {draft}"
