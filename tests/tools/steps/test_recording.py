"""The record of errors and of lines, test by test; in another process, because it takes the place of a function of the package."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.shared import ROOT

pytestmark = pytest.mark.processes

PROGRAM = """
import json
from tools.steps import reach
from tools.steps.recording import Recorder
from webnn import ML, MLGraphBuilder
from webnn.validation import errors

where = errors.where
builder = MLGraphBuilder(ML(revision="2026-06").createContextSync())
recorder = Recorder(reach.failing_files())
recorder.start()

def fail(test, shape):
    recorder.switch(test)
    try:
        builder.input("x", dataType="float32", shape=shape)
    except TypeError:
        pass
    recorder.switch("")

fail("first", [2] * 40)
fail("", [0])
fail("second", [0])
record = json.loads(json.dumps(recorder.stop()))
assert errors.where is where
found = {key: sorted(tests) for key, tests in reach.gather([record]).items() if key[0] == "2026-06"}
print(json.dumps([[*key, tests] for key, tests in found.items()]))
"""


def test_errors_and_lines_have_the_test_that_runs() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, check=True, capture_output=True, text=True, timeout=300)
    found = {(algorithm, step): tests for _, algorithm, step, tests in json.loads(done.stdout)}
    assert found["MLGraphBuilder.input(name, descriptor)", "4"] == ["first", "second"]
    assert {tests for (algorithm, _), names in found.items() if algorithm == "check dimensions" for tests in names} <= {"first", "second"}
    # Both are refused by a function that returns false.
    assert "second" in [name for (algorithm, _), names in found.items() if algorithm == "check dimensions" for name in names]
