"""Operations that programs in JavaScript call by wrong names."""

from __future__ import annotations

import pytest

from tests.support import CURRENT
from webnn.javascript.misspelt import explain_misspelling
from webnn.validation.drafts import find_revision

OPERATIONS = find_revision(CURRENT).operations.keys()

REPORTS = {
    "builder.relu6": "MLGraphBuilder has no relu6; did you mean clamp(x, {minValue: 0, maxValue: 6})?",
    "this.builder_.softMax": "MLGraphBuilder has no softMax; did you mean softmax?",
    "b.swish": "MLGraphBuilder has no swish; did you mean mul(x, sigmoid(x))?",
    "graphBuilder.wwww": "",
    "list.softMax": "",
    # It is there; something else is wrong.
    "builder.softmax": "",
}


@pytest.mark.parametrize(("call", "advice"), REPORTS.items(), ids=REPORTS)
def test_a_report(call: str, advice: str) -> None:
    report = f"TypeError: {call} is not a function\n    at https://app.test/program.mjs:1:9\n"
    assert explain_misspelling(report, OPERATIONS) == advice


def test_another_report() -> None:
    assert explain_misspelling("ReferenceError: builder is not defined", OPERATIONS) == ""
