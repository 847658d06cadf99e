"""The parts of an operation's page: IDL, limits, steps."""

from __future__ import annotations

import pytest

from tests.support import each_row
from tools.site import idl
from tools.site.limits import limits_table, rules_table
from tools.site.steps import errors_table
from tools.site.text import code, table
from webnn.context.profiles import PROFILES
from webnn.validation.drafts import DRAFTS, find_revision
from webnn.validation.steps import algorithms_of

OPERATIONS = sorted({name for draft in DRAFTS for name in find_revision(draft).operations})


@each_row(("cell", "written"), [("a", "a"), ("a | b", "a \\| b"), ("`a|b` | c", "`a|b` \\| c"), ("a\nb", "a<br>b")])
def test_a_cell(cell: str, written: str) -> None:
    assert table(["x"], [[cell]]) == ["| x |", "| --- |", f"| {written} |", ""]


@each_row(("text", "written"), [("a", "`a`"), ("a`b", "`` a`b ``"), (3, "`3`")])
def test_code(text: object, written: str) -> None:
    assert code(text) == written


def test_a_signature() -> None:
    [relu, activation] = idl.overloads("relu", "2024-06")
    assert idl.signature(relu) == "MLOperand relu(MLOperand input);"
    assert idl.signature(activation) == "MLActivation relu();"
    [gru] = idl.overloads("gru", "2026-06")
    assert idl.signature(gru).splitlines()[4] == "    [EnforceRange] unsigned long steps,"


def test_the_dictionaries() -> None:
    assert idl.dictionaries_of("clamp", "2024-06") == ["MLClampOptions"]
    assert idl.dictionaries_of("clamp", "2026-06") == ["MLClampOptions", "MLOperatorOptions"]
    assert [each["name"] for each in idl.members_of("clamp", "2026-06")] == ["minValue", "maxValue", "label"]
    assert idl.dictionary_text("MLGatherOptions", "2024-06") == (
        "dictionary MLGatherOptions {\n    [EnforceRange] unsigned long axis = 0;\n};"
    )
    # Another one's name begins with it.
    assert idl.dictionary_text("MLGruOptions", "2026-06").startswith("dictionary MLGruOptions : MLOperatorOptions {")


@each_row(
    ("type", "values"),
    [
        ("MLOperand", ""),
        ("double", "finite"),
        ("MLInputOperandLayout", '"nchw", "nhwc"'),
        ({"extendedAttributes": {"EnforceRange": True}, "type": "unsigned long"}, "0 to 4,294,967,295"),
        ({"sequence": "unsigned long"}, "each 0 to 4,294,967,295"),
        ({"union": ["MLOperand", {"sequence": "float"}]}, "each finite"),
        ({"nullable": "long"}, "-2,147,483,648 to 2,147,483,647"),
    ],
)
def test_the_values_of_a_type(type: object, values: str) -> None:
    assert idl.range_of(type, find_revision("2026-06").idl()) == values


def test_limits() -> None:
    head, _, *rows, end = limits_table("relu")
    assert head == "|  | `input` | `output` |"
    assert rows[:3] == [
        "| 2024-06 | float32, float16, int32, int8 | - |",
        "| 2026-06 | float32, float16, int32, int64, int8<br>any rank | that of `input`<br>any rank |",
        "| 2026-06, every device | float32, float16<br>rank 0 to 5 | float32, float16<br>rank 0 to 5 |",
    ]
    assert "| `coreml`, `coreml-macos14` | float32, float16<br>rank 0 to 5 | float32, float16<br>rank 0 to 5 |" in rows
    assert end == ""


def test_operands_with_the_same_limits_share_a_column() -> None:
    assert limits_table("lstm")[0] == (
        "|  | `input` | `weight`,<br>`recurrentWeight`,<br>`output0`,<br>`output1` "
        "| `bias`,<br>`recurrentBias`,<br>`peepholeWeight`<br>option | `initialHiddenState`,<br>`initialCellState`<br>option "
        "| `output2`<br>with `returnSequence` |"
    )
    assert limits_table("conv2d")[-2].startswith("| all profiles |")


@each_row("operation", OPERATIONS)
def test_every_profile_is_in_the_table(operation: str) -> None:
    text = "\n".join(limits_table(operation))
    assert "all profiles" in text or all(code(name) in text for name in PROFILES)


def test_rules_of_profiles() -> None:
    assert rules_table("relu") == []
    head, _, *rows, end = rules_table("scatterElements")
    assert head == "| what must hold in `build()` | otherwise | what helps | profiles |"
    assert rows[0].startswith("| indices must be a constant | `NotSupportedError` | ")
    assert rows[0].endswith(" | `tflite-chromium147`, `tflite-chromium153` |")
    assert end == ""


def test_steps() -> None:
    rows = errors_table("conv2d")
    address = "https://webmachinelearning.github.io/webnn/#api-mlgraphbuilder-conv2d"
    assert rows[0] == "| what must hold | otherwise | step, 2024-06 | step, 2026-06 |"
    # By the tag of the step itself, by that of the function that does it, by its kind, and with a link to a guide.
    for row in (
        f"| The filter takes the channels of one group. | `WebNNTypeError` | [15.6]({address}) | [16.6]({address}) |",
        f"| No stride is 0. | `WebNNTypeError` | [10]({address}) | [11]({address}) |",
        f"| `input`: a rank that the draft allows; see the table. | `WebNNTypeError` | [3]({address}) | [4]({address}) |",
    ):
        assert row in rows
    assert "[see spec-issues](../../spec-issues.md)" in "\n".join(rows)


@each_row("operation", OPERATIONS)
def test_every_step_that_throws_is_in_the_table(operation: str) -> None:
    text = "\n".join(errors_table(operation))
    for draft in DRAFTS:
        if operation in find_revision(draft).operations:
            for algorithm in algorithms_of(operation, draft):
                for number in [number for number, step in algorithm.steps.items() if step.throws != "again"]:
                    assert f"[{number}](" in text, (draft, number)


def test_an_unknown_operation_has_no_table() -> None:
    with pytest.raises(KeyError):
        limits_table("unknown")
