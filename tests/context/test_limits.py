"""The value of `opSupportLimits()`: the IDL's dictionaries, filled from the draft's tables."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from tests.shared import SHARED
from tests.support import BROWSERS, FIRST, Shape, each_row, infer, limits_of
from webnn.context import limits
from webnn.context.limits import EXCEPTIONS, LOWER_RANKS, op_support_limits
from webnn.validation.descriptor import MAX_BYTE_LENGTH, MAX_RANK, SMALL_TYPES
from webnn.validation.drafts import find_revision
from webnn.validation.drafts.browsers import EXTENSIONS

REVISION = find_revision("2026-06")
LIMITS = limits_of(REVISION.name)
DATA_TYPES = LIMITS.data_types
DICTIONARIES = find_revision(REVISION.name).idl()["dictionaries"]
VALUE = op_support_limits(REVISION)


def conforms(type: Any, value: Any, where: str = "") -> int:
    """Check a value against an IDL type: each member is there, in order, and nothing else; return how many members there are."""
    match type:
        case "MLInputOperandLayout":
            assert value == "nchw", where
        case "unsigned long" | {"type": "unsigned long long"}:
            assert isinstance(value, int), where
            assert value >= 0, where
        case "MLDataTypeList":
            assert isinstance(value, list), where
            assert value == [each for each in DATA_TYPES if each in value], where
        case str():
            members = DICTIONARIES[type]["members"]
            assert list(value) == [member["name"] for member in members], where
            return len(members) + sum(
                conforms(member["type"], value[member["name"]], f"{where}.{member['name']}".lstrip(".")) for member in members
            )
        case _:
            pytest.fail(f"{where}: the type {type} is not known")
    return 0


def test_it_is_what_the_idl_says() -> None:
    # The members; the operands of operations; and, for them and the context's three, two members and the two bounds.
    operands = rows(VALUE)
    assert conforms("MLOpSupportLimits", VALUE) == len(VALUE) + (len(operands) - 3) + len(operands) * 4 >= 100 + 263 + 266 * 4


def test_what_the_context_supports() -> None:
    assert VALUE["maxTensorByteLength"] == MAX_BYTE_LENGTH
    every = {"dataTypes": list(DATA_TYPES), "rankRange": {"min": 0, "max": MAX_RANK}}
    assert VALUE["input"] == VALUE["constant"] == VALUE["output"] == every


@each_row("operation", LIMITS.operations)
def test_an_operation_supports_what_the_draft_allows(operation: str) -> None:
    assert set(VALUE[operation]) == set(LIMITS.operations[operation])
    for name, row in LIMITS.operations[operation].items():
        given = VALUE[operation][name]
        excepted = EXCEPTIONS.get(operation, {}).get(name, frozenset())
        assert set(given["dataTypes"]) == set(row.data_types) - excepted
        low, high = row.ranks
        low = LOWER_RANKS.get(operation, {}).get(name, low)
        assert given["rankRange"] == {"min": low, "max": MAX_RANK if high is None else high}
        # The required members are there.
        assert set(row.required_data_types) <= set(given["dataTypes"])
        assert given["rankRange"]["min"] <= row.required_ranks[0] <= row.required_ranks[1] <= given["rankRange"]["max"]
        # And validators accept it, those that the operation's own steps restrict further aside.
        argument = f"options.{name}" if row.option else name
        if not row.output:
            assert set(given["dataTypes"]) <= set(REVISION.data_types[operation][argument])
            assert tuple(given["rankRange"].values()) == REVISION.ranks[operation][argument]


def test_the_result_of_gather_may_be_a_scalar() -> None:
    assert VALUE["gather"]["output"]["rankRange"]["min"] == 0
    assert infer("gather", Shape("float32", [3]), Shape("int32", []), revision=REVISION.name) == [("float32", [])]


def test_lower_ranks_are_below_those_of_the_draft() -> None:
    for operation, operands in LOWER_RANKS.items():
        for name, rank in operands.items():
            assert 0 <= rank < LIMITS.operations[operation][name].ranks[0]


def test_exceptions_name_what_the_draft_allows() -> None:
    for operation, operands in EXCEPTIONS.items():
        for name, types in operands.items():
            assert types
            assert types <= set(LIMITS.operations[operation][name].data_types)


def test_an_exception_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "EXCEPTIONS", {**EXCEPTIONS, "where": {"trueValue": frozenset({"float16", "uint8"})}})
    monkeypatch.setattr(limits, "operation_limits", limits.operation_limits.__wrapped__)
    changed = op_support_limits(REVISION)
    expected = ["float32", "int32", "uint32", "int64", "uint64", "int8"]
    assert changed.pop("where") == {**VALUE["where"], "trueValue": {**VALUE["where"]["trueValue"], "dataTypes": expected}}
    assert changed == {name: value for name, value in VALUE.items() if name != "where"}


def test_it_is_new_each_time() -> None:
    mine = op_support_limits(REVISION)
    mine["relu"]["input"]["dataTypes"].clear()
    mine["relu"]["input"]["rankRange"]["max"] = 0
    mine["input"]["dataTypes"].append("float64")
    del mine["add"]
    assert op_support_limits(REVISION) == VALUE


def test_no_two_parts_are_one() -> None:
    """To change the limits of one operand leaves those of the others, where operations share a table too."""
    parts = [id(part) for row in rows(VALUE).values() for part in (row, row["dataTypes"], row["rankRange"])]
    assert len(parts) == len(set(parts)) == len(rows(VALUE)) * 3 >= 266 * 3


def test_the_revision_has_the_last_word() -> None:
    small = op_support_limits(dataclasses.replace(REVISION, max_rank=5, max_byte_length=1000))
    assert small["maxTensorByteLength"] == 1000
    assert small["output"]["rankRange"] == {"min": 0, "max": 5}
    assert small["matmul"]["b"]["rankRange"] == {"min": 2, "max": 5}
    assert small["conv2d"]["input"]["rankRange"] == {"min": 4, "max": 4}


def test_a_revision_without_limits() -> None:
    with pytest.raises(ValueError, match="no limits of a revision '2024-06'"):
        op_support_limits(FIRST)


PROFILES = SHARED / "device_limits"


def rows(value: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the limits by operation and operand; the operand of the context's own is empty."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for name, given in value.items():
        if isinstance(given, dict):
            found.update({(name, ""): given} if "dataTypes" in given else {(name, operand): row for operand, row in given.items()})
    return found


def test_what_browsers_ship_is_added() -> None:
    """Small integers, where some browser takes them; everything else is the draft's."""
    ours, theirs = rows(VALUE), rows(op_support_limits(find_revision(BROWSERS)))
    assert set(ours) == set(theirs)
    added = {where: tuple(row["dataTypes"][len(ours[where]["dataTypes"]) :]) for where, row in theirs.items()}
    expected = {(operation, name): types for operation, operands in EXTENSIONS.items() for name, types in operands.items()}
    expected |= {(name, ""): SMALL_TYPES for name in ("input", "constant", "output")}
    assert {where: types for where, types in added.items() if types} == expected
    for where, row in theirs.items():
        assert row["dataTypes"][: len(ours[where]["dataTypes"])] == ours[where]["dataTypes"]
        assert row["rankRange"] == ours[where]["rankRange"]


def profile(file: Path) -> dict[str, Any]:
    """Read what a browser returns, without what is told about it."""
    return {name: value for name, value in json.loads(file.read_text(encoding="utf-8")).items() if not name.startswith("_")}


@pytest.mark.shared
def test_browsers_have_the_same_members() -> None:
    files = sorted(PROFILES.glob("*.json"))
    assert len(files) >= 12
    for file in files:
        browser = profile(file)
        # A browser need not have the operations that came after it.
        assert set(browser) <= set(VALUE), file.name
        assert set(rows(browser)) == {where for where in rows(VALUE) if where[0] in browser}, file.name
        assert all(set(row) == {"dataTypes", "rankRange"} for row in rows(browser).values()), file.name
        assert all(set(row["rankRange"]) == {"min", "max"} for row in rows(browser).values()), file.name


@pytest.mark.shared
def test_a_browser_supports_nothing_more() -> None:
    """Chromium 147 was measured. The type int4, which it has for some operands, is not the draft's."""
    ours = rows(VALUE)
    for where, row in rows(profile(PROFILES / "tflite-chromium147.json")).items():
        assert set(row["dataTypes"]) - {"int4"} <= set(ours[where]["dataTypes"]), where
        assert ours[where]["rankRange"]["min"] <= row["rankRange"]["min"] <= row["rankRange"]["max"] <= ours[where]["rankRange"]["max"], (
            where
        )
