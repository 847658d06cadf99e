"""The page of a fault."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tools.evidence.faults.entries import Fault
from tools.evidence.faults.hosts import Answer, run_here
from tools.evidence.faults.page import page_of, script_of

FAULT = Fault(
    name="a",
    title="1 < 2",
    operations=["add"],
    kind="numbers",
    severity="low",
    engine="",
    section="#s",
    expected="0.333333, NaN",
    program="return [1 / 3, NaN];\n",
)
TEXT = replace(FAULT, expected="TypeError", program="const builder = new MLGraphBuilder();\n")
ADD = """
const {y} = await compute((builder, {x}) => ({y: builder.add(x, x)}), {x: ['int32', [2], [1, 2]]});
return y;
"""


@pytest.mark.parametrize(
    ("fault", "got", "passes"),
    [
        (FAULT, "0.333333, NaN", True),
        (replace(FAULT, digits=2), "0.33, NaN", False),
        (replace(FAULT, program="return [];\n"), "", False),
        (TEXT, "TypeError", True),
        (replace(TEXT, program="return 'accepted';\n"), "accepted", False),
        (replace(FAULT, program=ADD, expected="2, 4"), "2, 4", True),
    ],
)
def test_scripts(fault: Fault, got: str, passes: bool) -> None:
    answer = Answer.of(run_here(script_of(fault)))
    assert (answer.got, answer.passes) == (got, passes)
    assert answer.lines[0] == f"expected {fault.expected}"


def test_only_pages_that_compute_have_the_helper() -> None:
    assert "const compute" in script_of(replace(FAULT, program=ADD))
    assert "const compute" not in script_of(FAULT)


def test_a_title_is_escaped() -> None:
    page = page_of(FAULT)
    assert "<title>1 &lt; 2</title>" in page
    assert page.count("<script") == 1
