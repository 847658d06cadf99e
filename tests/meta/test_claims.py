"""The claims of `MLContext.opSupportLimits` hold: a call for each claim is built and computed, and other calls are refused.

A claim is an operand (or output) of an operation with a data type, at the lowest or the highest rank that it may have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import pytest

import webnn
from tests.meta.claims import CHOSEN, Case, Claim, Limits, call, case, claims
from tests.support import BROWSERS, CURRENT, each_row, limits_of, make_context, refused
from webnn import MLContext, MLGraphBuilder, MLTensorDescriptor
from webnn.context.limits import op_support_limits
from webnn.validation.descriptor import DATA_TYPES, MAX_RANK, SMALL_TYPES, DataType
from webnn.validation.drafts import find_revision
from webnn.validation.drafts.limits import OperandLimits

CONTEXTS = {revision: make_context(revision) for revision in (CURRENT, BROWSERS)}
LIMITS = {revision: context.opSupportLimits() for revision, context in CONTEXTS.items()}
#: The addition of browsers has the draft's data types and two more: only these two are tested with it.
TYPES: dict[str, tuple[DataType, ...]] = {CURRENT: DATA_TYPES, BROWSERS: SMALL_TYPES}
OPERATIONS = list(limits_of(CURRENT).operations)

each_revision = pytest.mark.parametrize("revision", CONTEXTS)
each_operation = each_row("operation", OPERATIONS)


def claims_of(revision: str, operation: str) -> list[Claim]:
    return [claim for claim in claims(operation, LIMITS[revision][operation]) if claim.dataType in TYPES[revision]]


@each_revision
def test_the_limits_of_a_context(revision: str) -> None:
    assert CONTEXTS[revision].opSupportLimits() == op_support_limits(find_revision(revision))
    operations = {name for name, row in LIMITS[revision].items() if isinstance(row, dict) and "dataTypes" not in row}
    assert operations == set(OPERATIONS)


def test_the_amount() -> None:
    assert all(claims_of(CURRENT, operation) for operation in OPERATIONS)
    assert sum(len(claims_of(CURRENT, operation)) for operation in OPERATIONS) >= 2034
    assert sum(len(claims_of(BROWSERS, operation)) for operation in OPERATIONS) >= 48


# Claims


Outputs = dict[str, tuple[str, int]]


def compute(context: MLContext, cases: Sequence[Case]) -> list[Outputs]:
    """Build and compute calls, all in one graph, with zeros; return the type and the rank of each output of each call."""
    builder = MLGraphBuilder(context)
    outputs = [call(builder, case, f"{index}.") for index, case in enumerate(cases)]
    results = {f"{index}.{name}": operand for index, operands in enumerate(outputs) for name, operand in operands.items()}
    graph = builder.buildSync(results)
    given = {
        f"{index}.{name}": context.createTensorSync({"dataType": type, "shape": shape})
        for index, case in enumerate(cases)
        for name, type, shape in case.operands
    }
    tensors = {
        name: context.createTensorSync({"dataType": output.dataType, "shape": output.shape, "readable": True})
        for name, output in results.items()
    }
    context.dispatch(graph, given, tensors)
    for tensor in tensors.values():
        context.readTensorSync(tensor)
    return [{name: (str(output.dataType), len(output.shape)) for name, output in operands.items()} for operands in outputs]


def compute_each(context: MLContext, cases: Sequence[Case]) -> list[Outputs | Exception]:
    """Compute calls; return what is wrong in place of the outputs of those that fail."""
    try:
        return [*compute(context, cases)]
    except Exception as error:  # whatever it is, it is reported with the claim
        return [error] if len(cases) == 1 else [outcome for case in cases for outcome in compute_each(context, [case])]


def failures(context: MLContext, limits: Limits, claimed: Iterable[Claim]) -> Iterator[str]:
    """Say which claims do not hold, and why; claims that one call shows are tested by one."""
    by_case: dict[Case, list[Claim]] = {}
    for claim in claimed:
        by_case.setdefault(case(claim, limits), []).append(claim)
    for shown, outputs in zip(by_case.values(), compute_each(context, list(by_case)), strict=True):
        if isinstance(outputs, Exception):
            yield f"{', '.join(map(str, shown))}: {outputs!r}"
            continue
        for claim in shown:
            for name, (type, rank) in outputs.items():
                output = name.partition("[")[0]
                low, high = limits[output]["rankRange"].values()
                if type not in limits[output]["dataTypes"] or not low <= rank <= high:
                    yield f"{claim}: the {name} is {type}, {rank}-D, which is not claimed"
                if output == claim.operand and (type, rank) != (claim.dataType, claim.rank):
                    yield f"{claim}: the {name} is {type}, {rank}-D"


@each_revision
@each_operation
def test_what_is_claimed_is_computed(revision: str, operation: str) -> None:
    limits = LIMITS[revision][operation]
    claimed = claims_of(revision, operation)
    assert list(failures(CONTEXTS[revision], limits, claimed) if claimed else []) == []


def test_a_false_claim_is_noticed() -> None:
    limits = {
        "input": {"dataTypes": ["float32", "int32"], "rankRange": {"min": 0, "max": 9}},
        "output": {"dataTypes": ["float32"], "rankRange": {"min": 1, "max": 8}},
    }
    found = list(failures(CONTEXTS[CURRENT], limits, claims("tanh", limits)))
    assert len(found) == 4
    assert "the output is float32, 0-D, which is not claimed" in found[0]
    assert "9-D" in found[1]
    assert "tanh: input must have a data type of" in found[2]


@pytest.mark.parametrize("rank", [0, MAX_RANK])
@each_revision
def test_what_the_context_claims(revision: str, rank: int) -> None:
    context, limits = CONTEXTS[revision], LIMITS[revision]
    for name in ("input", "constant", "output"):
        assert limits[name]["rankRange"] == {"min": 0, "max": MAX_RANK}
    for dataType in TYPES[revision]:
        assert all(dataType in limits[name]["dataTypes"] for name in ("input", "constant", "output"))
        shape = (2,) * rank
        tensor = context.createTensorSync(dataType=dataType, shape=shape)
        bytes = context.readTensorSync(context.createTensorSync(dataType=dataType, shape=shape, readable=True))
        builder = MLGraphBuilder(context)
        operands = {
            "input": builder.input("input", dataType=dataType, shape=shape),
            "constant": builder.constant({"dataType": dataType, "shape": shape}, bytes),
        }
        graph = builder.buildSync({name: builder.identity(operand) for name, operand in operands.items()})
        results = {name: context.createTensorSync(dataType=dataType, shape=shape) for name in operands}
        context.dispatch(graph, {"input": tensor}, results)
        assert context.lostSync(0) is None


# Calls that are not claimed


def argument(name: str, row: OperandLimits) -> str:
    """Return what an error calls an operand; for one of a sequence, the first."""
    return f"options.{name}" if row.option else f"{name}[0]" if row.sequence else name


def unclaimed(revision: str, operation: str) -> Iterator[tuple[str, Case]]:
    """Make valid calls with one operand of another type or of one dimension too many or too few, or with another type of the output.

    With each comes what an error calls the operand.
    """
    limits = LIMITS[revision][operation]
    for name, row in limits_of(revision).operations[operation].items():
        if row.output and operation not in CHOSEN:
            continue
        low, high = limits[name]["rankRange"].values()
        valid = case(Claim(operation, name, limits[name]["dataTypes"][0], low), limits)
        for dataType in TYPES[revision]:
            if dataType not in limits[name]["dataTypes"]:
                changed = valid.with_output(dataType) if row.output else valid.with_operand(name, dataType=dataType)
                yield CHOSEN[operation] if row.output else argument(name, row), changed
        for rank in () if row.output else (low - 1, high + 1):
            if 0 <= rank <= MAX_RANK:
                yield argument(name, row), valid.with_operand(name, shape=(2,) * rank)


@each_revision
@each_operation
def test_what_is_not_claimed_is_refused(revision: str, operation: str) -> None:
    for name, wrong in unclaimed(revision, operation):
        with pytest.raises(webnn.WebNNTypeError) as caught:
            call(MLGraphBuilder(CONTEXTS[revision]), wrong)
        assert (caught.value.operation, caught.value.argument) == (operation, name), f"{wrong}: {caught.value}"


def test_the_amount_of_what_is_not_claimed() -> None:
    assert sum(len(list(unclaimed(CURRENT, operation))) for operation in OPERATIONS) >= 750
    assert sum(len(list(unclaimed(BROWSERS, operation))) for operation in OPERATIONS) >= 433


@each_revision
def test_no_operand_has_a_larger_rank(revision: str) -> None:
    descriptor: MLTensorDescriptor = {"dataType": "float32", "shape": (1,) * (MAX_RANK + 1)}
    context = CONTEXTS[revision]
    builder = MLGraphBuilder(context)
    uses: list[Callable[[], object]] = [
        lambda: builder.input("x", descriptor),
        lambda: builder.constant(descriptor, bytes(4)),
        lambda: context.createTensorSync(descriptor),
    ]
    for use in uses:
        with refused(rule="limit", argument="descriptor"):
            use()
