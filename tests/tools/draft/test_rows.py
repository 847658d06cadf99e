"""The rows of operations that a draft changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support import each_row
from tests.tools.draft.sources import IDL, read, text
from webnn.validation.drafts import draft_2024_06, draft_2026_06, find_revision

plan = pytest.importorskip("tools.draft.plan", reason="widlparser is not installed")

ARGUMENTS = "argMin(MLOperand input, [EnforceRange] unsigned long axis, "
ROWS = [
    # what is replaced in the IDL, by what; the operation, its changes; the ends of the decisions
    ("float alpha", "double alpha", "elu", {"options": "retyped(activation.EluOptions, alpha=Double)"}, []),
    ("float alpha = 1", "double alpha", "elu", {"options": "retyped(activation.EluOptions, alpha=Double | None)"}, ["is None, before 1"]),
    ("alpha = 1", "alpha = 2", "elu", {}, ["the default of options.alpha is 2, before 1"]),
    ("float alpha", "MLOther alpha", "elu", {}, ["elu: its options have the types MLOther alpha: write a model"]),
    (
        "roundingType",
        "rounding",
        "maxPool2d",
        {"options": 'renamed(pooling.Pool2dOptions, roundingType="rounding")'},
        ["maxPool2d: options.rounding is taken for options.roundingType with another name: is it?"],
    ),
    (
        "sequence<[EnforceRange] unsigned long> axes; boolean keepDimensions = false; boolean selectLastIndex = false;",
        'boolean keepDimensions = false; MLOperandDataType outputDataType = "int32";',
        "argMin",
        {"options": "reduction.ArgMinMaxOfAxisOptions"},
        [],
    ),
    (
        "boolean selectLastIndex = false;",
        "boolean one = false; boolean two = true;",
        "argMin",
        {},
        ["argMin: its options differ (- selectLastIndex, + one, + two), and no model of its module has these members: write one"],
    ),
    (
        "argMin(MLOperand input, ",
        ARGUMENTS,
        "argMin",
        {"arguments": '(Argument("axis", webidl.enforceRangeUnsignedLong),)'},
        ["argMin: its arguments are [EnforceRange] unsigned long axis, before none: does `infer` take them?"],
    ),
    (
        "argMin(MLOperand input, ",
        "argMin(MLOperand input, MLOther other, ",
        "argMin",
        {},
        ["argMin: the argument MLOther other needs a conversion; its arguments before: none"],
    ),
    (
        "MLOperand input, MLOperand other",
        "MLOperand trueValue, MLOperand falseValue",
        "where",
        {"operands": '("condition", "trueValue", "falseValue")'},
        ["where: its operands are condition, trueValue, falseValue, before condition, input, other: rename them in the method"],
    ),
    ("MLOperand relu(", "MLOperand relu(); MLOperand relu(", "relu", {}, ["it has 2 overloads, before 1: see Operation.activation"]),
]


def make(tmp_path: Path, before: str, after: str, chain: Any) -> Any:
    old, new = (read(tmp_path, text(idl)) for idl in (before, after))
    return plan.make_plan(old, new, chain)


@each_row(["old", "new", "operation", "expected", "decisions"], ROWS)
def test_a_row(old: str, new: str, operation: str, expected: dict[str, str], decisions: list[str], tmp_path: Path) -> None:
    assert old in IDL
    found = make(tmp_path, IDL, IDL.replace(old, new), plan.Chain(revision=draft_2024_06.DRAFT))
    assert found.changed.get(operation, {}) == expected
    assert len(found.decisions) == len(decisions)
    assert all(each.endswith(end) for each, end in zip(found.decisions, decisions, strict=True))


def test_the_model_of_the_draft_before(tmp_path: Path) -> None:
    deltas = [(("webnn.validation.drafts", "draft_2026_06"), draft_2026_06.DRAFT)]
    chain = plan.Chain(revision=find_revision("2026-06"), deltas=deltas)
    found = make(tmp_path, IDL, IDL.replace("float alpha", "MLNumber alpha"), chain)
    assert found.changed["elu"] == {"options": 'retyped(draft_2026_06.DRAFT.changed["elu"]["options"], alpha=Number)'}
    assert ("webnn.validation.drafts", "draft_2026_06") in found.imports


def test_an_operation_that_the_chain_lacks(tmp_path: Path) -> None:
    before = IDL.replace("MLOperand relu(", "MLOperand fold(")
    after = before.replace("fold(MLOperand input", "fold(MLOperand other")
    found = make(tmp_path, before, after, plan.Chain(revision=draft_2024_06.DRAFT))
    assert found.decisions == ["fold: the draft before has no row of this operation"]
