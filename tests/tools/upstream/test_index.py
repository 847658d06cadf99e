"""The index: classes of failures, and a line for each file."""

from __future__ import annotations

import pytest

from tools.steps import reach
from tools.upstream import browser, index, reached
from tools.upstream.browser import Recorded
from tools.upstream.files import our_files

ROWS = [
    ("2024-06/webnn/a.js", "TypeError: x", "another draft"),
    ("webnn/a.tentative.https.any.js", "TypeError: x", "a proposal"),
    ("a.js", 'object "NotSupportedError: Constant tensors are not supported."', "constant tensors"),
    ("a.js", "object \"InvalidStateError: Failed to execute 'build' on 'MLGraphBuilder': Context is lost.\"", "a lost context"),
    ("a.js", "NotSupportedError: Failed to execute 'build': Pool2d in tflite doesn't support dilations.", "a limit of the device"),
    ("a.js", 'function "() => f()" did not throw', "a missing error"),
    ("a.js", "output[5] must be 32 ULP from NaN, got 0 expected true", "NaN"),
    ("a.js", "output[5] must be 32 ULP from 1, got NaN expected true", "NaN"),
    ("a.js", "output[5] must be 32 ULP from Infinity, got 88 expected true", "infinity"),
    ("a.js", "output[5] must be 0 ULP from -0, got 0 expected true", "the sign of zero"),
    ("a.js", "output[5] must be 0 ULP from 0, got 1 expected true", "a number"),
    ("a.js", "?", "something else"),
]


@pytest.mark.parametrize(("name", "message", "wanted"), ROWS)
def test_classes(name: str, message: str, wanted: str) -> None:
    assert index.classify(name, message).name == wanted


def test_every_failure_has_a_class() -> None:
    _, results = browser.load()
    found = {index.classify(name, message).name for name, each in results.items() for message in each.failed.values()}
    assert "something else" not in found


def test_a_line_for_each_file() -> None:
    page = index.PAGE.read_text(encoding="utf-8")
    assert [each.name for each in our_files() if f"| `{each.name}` | " not in page] == []
    assert page == index.render(reach.load(reached.FILE), *browser.load())


def test_a_result_in_words() -> None:
    failed = {"a": "did not throw", "b": "did not throw"}
    result = Recorded(digest="", status="TIMEOUT", passed=3, unsupported=1, failed=failed)
    assert index._result("a.js", result) == "3 pass; 1 unsupported; **2 fail**: a missing error; TIMEOUT"
    assert index._result("a.js", None) == "?"
