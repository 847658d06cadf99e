"""The tables of limits agree with the IDL of the same draft, and with themselves."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from tests.support import FIRST, each_row, limits_of
from webnn.validation.descriptor import FLOAT_TYPES
from webnn.validation.drafts import find_revision
from webnn.validation.drafts.idl import IdlOperation
from webnn.validation.drafts.limits import OperandLimits, tables

REVISION = "2026-06"
IDL = find_revision(REVISION).idl()
LIMITS = limits_of(REVISION)
DATA_TYPES = LIMITS.data_types
OPERATIONS: dict[str, IdlOperation] = {each["name"]: each for each in IDL["interfaces"]["MLGraphBuilder"]["operations"]}
#: The types of ``MLOpSupportLimits``' members.
MEMBERS = {member["name"]: str(member["type"]) for member in IDL["dictionaries"]["MLOpSupportLimits"]["members"]}
#: Limits that do not belong to an operation.
CONTEXT = {"preferredInputLayout", "maxTensorByteLength", "input", "constant", "output"}
ROWS = [(operation, name, each) for operation, operands in LIMITS.operations.items() for name, each in operands.items()]


def members(dictionary: str) -> dict[str, Any]:
    """Return a dictionary's members and their types, in the IDL's order, without those that it inherits."""
    return {member["name"]: member["type"] for member in IDL["dictionaries"][dictionary]["members"]}


def test_the_amount() -> None:
    assert LIMITS.operations.keys() == find_revision(REVISION).operations.keys()
    assert len(ROWS) >= 263
    assert len({id(operands) for operands in LIMITS.operations.values()}) >= 62


def test_the_source() -> None:
    assert LIMITS.source == IDL["source"]
    assert LIMITS.data_types == tuple(IDL["enumerations"]["MLOperandDataType"])


def test_it_is_read_once() -> None:
    assert limits_of(REVISION) is LIMITS


def test_a_revision_without_tables() -> None:
    assert FIRST.limits is None
    with pytest.raises(ValueError, match="no revision '1999-01' "):
        find_revision("1999-01")


def test_every_operation_has_a_table() -> None:
    assert set(LIMITS.operations) == set(OPERATIONS) - {"input", "constant", "build"} == set(MEMBERS) - CONTEXT


@each_row("operation", LIMITS.operations)
def test_the_operands_are_those_of_the_idl(operation: str) -> None:
    operands = LIMITS.operations[operation]
    assert list(operands) == list(members(MEMBERS[operation]))
    method = OPERATIONS[operation]
    arguments = {argument["name"]: argument["type"] for argument in method["arguments"]}
    given = {name: each for name, each in operands.items() if not each.option and not each.output}
    assert list(given) == [name for name, type in arguments.items() if type in ("MLOperand", {"sequence": "MLOperand"})]
    assert [name for name, each in given.items() if each.sequence] == [
        name for name, type in arguments.items() if type == {"sequence": "MLOperand"}
    ]
    options = members(str(arguments["options"]))
    assert {name for name, each in operands.items() if each.option} == {name for name, type in options.items() if type == "MLOperand"}
    outputs = [name for name, each in operands.items() if each.output]
    if method["returns"] == "MLOperand":
        assert outputs == ["output"]
    else:
        assert outputs in (["outputs"], [f"output{index}" for index in range(len(outputs))])
    for each in operands.values():
        assert not each.condition or options[each.condition] == "boolean"


@each_row(("operation", "name", "row"), ROWS)
def test_a_row(operation: str, name: str, row: OperandLimits) -> None:
    operands = LIMITS.operations[operation]
    assert row.data_types
    for types in (row.data_types, row.required_data_types):
        assert list(types) == [each for each in DATA_TYPES if each in types]
    assert set(row.required_data_types) <= set(row.data_types)
    low, high = row.ranks
    least, most = row.required_ranks
    assert 0 <= low <= least <= most
    assert high is None or most <= high
    if row.same_type_as:
        assert row.data_types == operands[row.same_type_as].data_types
        assert row.same_type_as != name
    if row.same_rank_as:
        assert row.ranks == operands[row.same_rank_as].ranks
        assert row.same_rank_as != name


SIGNED = ("float32", "float16", "int32", "int64", "int8")
ROW = OperandLimits(data_types=DATA_TYPES, ranks=(0, None), required_data_types=FLOAT_TYPES, required_ranks=(0, 5))
FLOAT = dataclasses.replace(ROW, data_types=FLOAT_TYPES)


@pytest.mark.parametrize(
    ("operation", "operand", "expected"),
    [
        ("pad", "input", ROW),
        ("tanh", "output", dataclasses.replace(FLOAT, same_type_as="input", same_rank_as="input", output=True)),
        ("gemm", "c", dataclasses.replace(FLOAT, ranks=(0, 2), required_ranks=(0, 2), same_type_as="a", option=True)),
        # The row that a missing end tag joins to the one before it.
        ("prelu", "slope", dataclasses.replace(ROW, data_types=SIGNED, same_type_as="input")),
        (
            "concat",
            "inputs",
            dataclasses.replace(
                ROW, required_data_types=("float32", "float16", "int32"), ranks=(1, None), required_ranks=(1, 5), sequence=True
            ),
        ),
        (
            "lstm",
            "output2",
            dataclasses.replace(FLOAT, ranks=(4, 4), required_ranks=(4, 4), same_type_as="input", output=True, condition="returnSequence"),
        ),
    ],
)
def test_what_rows_say(operation: str, operand: str, expected: OperandLimits) -> None:
    assert LIMITS.operations[operation][operand] == expected


# The tables for validators

DATA, RANKS = tables(LIMITS)


def test_the_tables_have_every_operand() -> None:
    assert list(DATA) == list(RANKS) == list(LIMITS.operations)
    for operation, operands in LIMITS.operations.items():
        expected = [f"options.{name}" if each.option else name for name, each in operands.items() if not each.output]
        assert list(RANKS[operation]) == expected
        assert [name for name in DATA[operation] if name != "output"] == expected


def test_outputs_of_a_type_that_the_program_chooses() -> None:
    chosen = {operation: types["output"] for operation, types in DATA.items() if "output" in types}
    assert chosen == {"argMin": ("int32", "int64"), "argMax": ("int32", "int64"), "cast": DATA_TYPES}


@pytest.mark.parametrize(
    ("operation", "types", "ranks"),
    [
        ("abs", {"input": SIGNED}, {"input": (0, 8)}),
        ("equal", {"a": DATA_TYPES, "b": DATA_TYPES}, {"a": (0, 8), "b": (0, 8)}),
        ("gemm", dict.fromkeys(("a", "b", "options.c"), FLOAT_TYPES), {"a": (2, 2), "b": (2, 2), "options.c": (0, 2)}),
        ("triangular", {"input": DATA_TYPES}, {"input": (2, 8)}),
        ("gatherElements", {"input": DATA_TYPES, "indices": ("int32", "uint32", "int64")}, {"input": (1, 8), "indices": (1, 8)}),
        (
            "gruCell",
            dict.fromkeys(("input", "weight", "recurrentWeight", "hiddenState", "options.bias", "options.recurrentBias"), FLOAT_TYPES),
            {
                **dict.fromkeys(("input", "weight", "recurrentWeight", "hiddenState"), (2, 2)),
                "options.bias": (1, 1),
                "options.recurrentBias": (1, 1),
            },
        ),
    ],
)
def test_the_tables_of_an_operation(operation: str, types: object, ranks: object) -> None:
    assert DATA[operation] == types
    assert RANKS[operation] == ranks


def test_the_largest_rank_bounds_what_the_draft_leaves_open() -> None:
    _, ranks = tables(LIMITS, 5)
    assert ranks["matmul"] == {"a": (2, 5), "b": (2, 5)}
    assert ranks["conv2d"] == {"input": (4, 4), "filter": (4, 4), "options.bias": (1, 1)}


def test_the_tables_cannot_be_changed() -> None:
    changed: Any = DATA
    with pytest.raises(TypeError):
        changed["abs"] = {}
    with pytest.raises(TypeError):
        changed["abs"]["input"] = ()
