"""Validation files: calls that must be accepted or refused become tests, which run here."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import webnn
from tests.webnn.javascript.engines import needs_quickjs
from tests.wpt_runner.written import run_file
from webnn.wpt_runner.levels import LEVELS
from webnn.wpt_runner.results import SubtestStatus
from webnn.wpt_runner.writing.cases import WritingError
from webnn.wpt_runner.writing.validation import ValidationCase, write_refusal, write_test, write_validation_test

DRAFT = LEVELS[-1].make_ml().createContextSync()
PATH = "validation_tests/one.https.any.js"


def graph() -> webnn.GraphDescription:
    made = webnn.MLGraphBuilder(DRAFT)
    x = made.input("x'\n", dataType="float32", shape=[1, 1, 3, 3])
    filter = made.constant({"dataType": "float32", "shape": [1, 1, 2, 2]}, np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2))
    halves = made.constant({"dataType": "float16", "shape": [2]}, np.array([0.5, -0.0], np.float16))
    longs = made.constant({"dataType": "int64", "shape": [1]}, np.array([-1], np.int64))
    parts: Any = made.split(made.conv2d(x, filter, padding=[1, 0, 1, 0], label="the label"), [1, 2], axis=3)
    return webnn.describe({"y'": made.concat([parts[0], parts[1]], 3), "z": made.cast(halves, "float32"), "w": made.neg(longs)})


def call(operation: str, value: str, **options: Any) -> webnn.OperatorDescription:
    return webnn.OperatorDescription(operation=operation, inputs={"input": value}, options=options, outputs=("last",))


def refused(name: str, error: str = "TypeError", **options: Any) -> ValidationCase:
    """A softplus of the first input would be right; a transpose with these options is refused."""
    whole = graph()
    operators = (*whole.operators, call("transpose", next(iter(whole.inputs)), **options))
    return ValidationCase.refused(name, replace(whole, operators=operators, outputs={"y": "last"}), error)


def test_the_whole_text() -> None:
    description = replace(graph().select(["z"]), name="")
    case = ValidationCase.accepted("[cast] it's right", description, build=True)
    assert write_validation_test([case], title="one", variants=["?cpu"]) == (
        """\
// META: title=one
// META: global=window
// META: variant=?cpu
// META: script=../resources/utils_validation.js

'use strict';

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const constant = builder.constant(
      {dataType: 'float16', shape: [2]}, new Uint16Array([14336, 32768]));
  const output = builder.cast(constant, 'float32');
  assert_equals(output.dataType, 'float32');
  assert_array_equals(output.shape, [2]);
  await builder.build({'z': output});
}, '[cast] it\\'s right');
"""
    )


@needs_quickjs
def test_they_run(tmp_path: Path) -> None:
    whole = graph()
    unknown = replace(whole, inputs={"x": webnn.OperandDescriptor("float32", (0, 2))}, operators=(), constants={}, outputs={})
    cases = [
        ValidationCase.accepted("accepted and built", whole, build=True),
        refused("refused", permutation=(0, 0, 1, 2)),
        refused("an option of another type", permutation=({"a": None}, True, "x", -0.0)),
        ValidationCase.refused("an input", unknown, "TypeError"),
        ValidationCase.refused("at build", replace(whole, outputs={"": next(iter(whole.outputs.values()))}), "TypeError", at="build"),
        ValidationCase(
            name="own statements", lines=["context.destroy();", "assert_equals((await context.lost).message.length > 0, true);"]
        ),
    ]
    subtests = run_file(tmp_path, PATH, write_validation_test(cases, title="one", variants=["?cpu"]))
    assert [(each.name, each.status, each.message) for each in subtests[1:]] == [(case.name, SubtestStatus.PASS, "") for case in cases]


@needs_quickjs
def test_wrong_claims_fail(tmp_path: Path) -> None:
    whole = graph()
    last = whole.operators[-1]
    wrong = replace(last, descriptors=(webnn.OperandDescriptor("float32", (7,)),))
    cases = [
        ValidationCase.accepted("another shape", replace(whole, operators=(*whole.operators[:-1], wrong))),
        ValidationCase.refused("it is accepted", whole, "TypeError"),
        ValidationCase.refused("it is built", whole, "OperationError", at="build"),
        refused("another error", "NotSupportedError", permutation=(0, 0, 1, 2)),
    ]
    subtests = run_file(tmp_path, PATH, write_validation_test(cases, title="one", variants=["?cpu"]))
    assert [each.status for each in subtests[1:]] == [SubtestStatus.FAIL] * len(cases)


def test_refusals() -> None:
    whole = graph()
    with pytest.raises(WritingError, match="must have a case"):
        write_validation_test([], title="one")
    with pytest.raises(WritingError, match="must have a name of its own, got 'a' 2 times"):
        write_validation_test([ValidationCase(name="a", lines=[])] * 2, title="one")
    with pytest.raises(WritingError, match="'a' must have a last operator with descriptors"):
        ValidationCase.accepted("a", replace(whole, operators=()))
    with pytest.raises(WritingError, match="'a' must have a call that is refused"):
        ValidationCase.refused("a", replace(whole, operators=(), inputs={}), "TypeError")
    with pytest.raises(WritingError, match="the graph has no value 'nobody'"):
        ValidationCase.refused("a", replace(whole, operators=(call("relu", "nobody"),)), "TypeError")


@pytest.mark.parametrize(
    ("error", "label", "assertion"),
    [
        ("TypeError", "", "assert_throws_js(\n    TypeError, () => f());"),
        ("TypeError", "a.b", "assert_throws_with_label(\n    () => f(),\n    new RegExp('\\\\[a\\\\.b\\\\]'));"),
        ("OperationError", "a.b", "assert_throws_dom(\n    'OperationError', () => f());"),
    ],
)
def test_the_statements_of_refusals(error: str, label: str, assertion: str) -> None:
    assert write_refusal(error, "f()", label) == assertion


def test_empty_lines_have_no_spaces() -> None:
    text = write_test(ValidationCase(name="x", lines=["const a = 1;\n\nconst b = 2;"]))
    assert text == "promise_test(async t => {\n  const a = 1;\n\n  const b = 2;\n}, 'x');\n"
