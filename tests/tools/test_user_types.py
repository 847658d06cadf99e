"""The comparison of what type checkers report with what programs expect. CI runs the checkers themselves: .ci/run."""

from __future__ import annotations

import json

from tests.meta.specification import ROOT
from tools.user_types import PROGRAMS, compare, parse_expectations, parse_mypy, parse_pyright

PROGRAM = """\
import webnn
webnn.ML(revision="2027")  # arg-type; reportArgumentType
webnn.ML()  # a comment
"""
MYPY = """\
/elsewhere/runtime.py:40: error: Skipping analyzing "onnxruntime"  [import-untyped]
wrong.py:2: error: Argument "revision" to "ML" has an incompatible type  [arg-type]
wrong.py:2: note: a note
wrong.py:3: error: Something else  [call-overload]
"""
PYRIGHT = {
    "generalDiagnostics": [
        {"file": str(ROOT / "wrong.py"), "range": {"start": {"line": 1}}, "rule": "reportArgumentType"},
        {"file": str(ROOT / "wrong.py"), "range": {"start": {"line": 1}}, "rule": "reportUnknownMemberType"},
        {"file": str(ROOT / "wrong.py"), "range": {"start": {"line": 2}}},
    ]
}


def test_what_is_expected() -> None:
    expected = ({("wrong.py", 2): "arg-type"}, {("wrong.py", 2): "reportArgumentType"})
    assert parse_expectations("wrong.py", PROGRAM) == expected


def test_what_is_reported() -> None:
    found = {("/elsewhere/runtime.py", 40): {"import-untyped"}, ("wrong.py", 2): {"arg-type"}, ("wrong.py", 3): {"call-overload"}}
    assert parse_mypy(MYPY) == found
    found = {("wrong.py", 2): {"reportArgumentType", "reportUnknownMemberType"}, ("wrong.py", 3): {"syntax"}}
    assert parse_pyright(json.dumps(PYRIGHT)) == found


def test_what_differs() -> None:
    expected = {("wrong.py", 2): "arg-type", ("wrong.py", 5): "call-arg", ("wrong.py", 6): "call-arg"}
    found = {("wrong.py", 2): {"arg-type", "call-arg"}, ("wrong.py", 5): {"call-arg"}, ("wrong.py", 6): {"call-arg"}}
    assert compare(expected, found) == []
    assert compare(expected, {("wrong.py", 2): {"arg-type"}, ("wrong.py", 5): {"misc"}, ("wrong.py", 7): {"name-defined"}}) == [
        "wrong.py:5: expected call-arg, found misc",
        "wrong.py:6: expected call-arg, found nothing",
        "wrong.py:7: not expected: name-defined",
    ]


def test_the_programs_expect_something() -> None:
    """The programs compile, the wrong one expects errors at most of its lines, and the others none."""
    counts = {}
    for path in PROGRAMS.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        compile(text, path, "exec")
        counts[path.name] = len(parse_expectations(path.name, text)[0])
    assert counts.pop("wrong.py") > 30
    assert set(counts.values()) == {0}
    assert set(counts) == {"right.py", "everything.py"}
