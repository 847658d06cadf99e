"""The fields of a draft's `Delta`, and the decisions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support import each_row
from tests.tools.draft.sources import IDL, read, text
from webnn.validation.drafts import draft_2024_06

plan = pytest.importorskip("tools.draft.plan", reason="widlparser is not installed")


def make(tmp_path: Path, after: str, before: str = IDL) -> Any:
    old, new = (read(tmp_path, text(idl)) for idl in (before, after))
    return plan.make_plan(old, new, plan.Chain(revision=draft_2024_06.DRAFT))


def test_no_difference(tmp_path: Path) -> None:
    assert make(tmp_path, IDL) == plan.Plan()


RELU = "  MLOperand relu(MLOperand input);\n"
FIELDS = [
    # what is replaced in the IDL, by what; a field of the plan, and its value
    (RELU, "", "removed", ["relu"]),
    (RELU, RELU + "  MLOperand sign(MLOperand input);\n", "added", ["sign"]),
    ("undefined compute();", "readonly attribute boolean lost;", "adds", {"MLContext": ["lost"]}),
    ("undefined compute();", "", "removes", {"MLContext": ["compute"]}),
    ('"int32" }', '"int32", "int8" }', "types", ["int8"]),
    ("record<DOMString", "record<USVString", "flags", {"convert_name": "webidl.usvString"}),
    ("dimensions = []", "shape = []", "flags", {"shape": '"shape"'}),
    ("sequence<unsigned long> shape();", "readonly attribute FrozenArray<unsigned long> shape;", "flags", {"attributes": "True"}),
    ("boolean fast", "boolean accelerated", "flags", {"context_options": "AcceleratedContextOptions"}),
    ("enum", "typedef double MLNumber; enum", "flags", {"big_numbers": "True"}),
    ("enum", "interface MLTensor {}; enum", "flags", {"tensors": "True"}),
    (RELU, RELU + "  MLOperand constant(AllowSharedBufferSource buffer);\n", "flags", {"any_buffer": "True"}),
]


@each_row(["old", "new", "name", "expected"], FIELDS)
def test_a_field(old: str, new: str, name: str, expected: object, tmp_path: Path) -> None:
    assert old in IDL
    assert getattr(make(tmp_path, IDL.replace(old, new)), name) == expected


DECISIONS = [
    # what is replaced in the IDL, by what, and the beginning of the decision
    (RELU, RELU + "  MLOperand fold(MLOperand input);\n", "fold: this operation is new, MLOperand fold(MLOperand input): it needs a row"),
    (
        "input(DOMString name",
        "input(USVString name",
        "MLGraphBuilder.input is MLOperand input(USVString name, MLOperandDescriptor descriptor),",
    ),
    ("enum", "interface MLTensor {}; enum", "the interface MLTensor is new: write its class"),
    ("interface MLContext { undefined compute(); };", "", "the interface MLContext is gone"),
    ("undefined compute", "boolean compute", "MLContext.compute is boolean compute(), before undefined compute()"),
    ("enum", 'enum MLMode { "a", "b" }; enum', "the enumeration MLMode is new: a, b"),
    ("boolean fast", "boolean slow", "the members of MLContextOptions differ: - fast, + slow"),
]


@each_row(["old", "new", "expected"], DECISIONS)
def test_a_decision(old: str, new: str, expected: str, tmp_path: Path) -> None:
    assert any(each.startswith(expected) for each in make(tmp_path, IDL.replace(old, new)).decisions)


def test_other_values_of_an_enumeration(tmp_path: Path) -> None:
    modes = [IDL + f"enum MLMode {{ {values} }};" for values in ('"a", "b"', '"b", "c"')]
    assert make(tmp_path, modes[1], modes[0]).decisions == ["the enumeration MLMode has other values: - a, + c"]


def test_a_flag_that_no_longer_holds(tmp_path: Path) -> None:
    found = make(tmp_path, IDL, IDL.replace("record<DOMString", "record<USVString"))
    assert found.flags == {}
    assert found.decisions == ["the flag 'convert_name' no longer follows from the interfaces: give its value"]


def test_operations_share_a_decision() -> None:
    found = plan.Plan()
    for name in ("sin", "cos"):
        found.decide("is it odd?", name)
    found.decide("is it night?")
    assert found.decisions == ["sin, cos: is it odd?", "is it night?"]
