"""Test files of findings: they hold in the emulator, and fail where the finding is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import webnn
from tests.support import CURRENT
from tests.webnn.fuzz.hosts import generator
from tests.webnn.javascript.engines import needs_quickjs
from tests.wpt_runner.checkouts import make_checkout
from webnn.calls.dice import Dice
from webnn.fuzz.hosts import Emulator
from webnn.fuzz.judges import Finding
from webnn.fuzz.known import SHIPPED, KnownError, load_known
from webnn.fuzz.programs import SHARED, FuzzProgram
from webnn.fuzz.writing import file_stem, write_test
from webnn.wpt_runner.checkout import Checkout
from webnn.wpt_runner.harness import run_test
from webnn.wpt_runner.settings import Settings

FINDING = Finding(
    "browser", "build", "refuses", "TypeError: # is 'no'", "it's refused, for a reason that takes more than one line of text in a file"
)


def write(program: FuzzProgram, step: int = 0) -> str:
    [expected] = Emulator(webnn.ML(revision=CURRENT, reference=True), CURRENT).run([program])
    finding = Finding(FINDING.judge, FINDING.operation, FINDING.kind, FINDING.detail, FINDING.text, step)
    return write_test(program, finding, expected, "webnn fuzz --seed 1")


def outcome(root: Path, text: str) -> tuple[str, str]:
    checkout = Checkout(make_checkout(root, {"found.https.any.js": text}))
    [subtest] = run_test(checkout, checkout.tests(["found.https.any.js"])[0], Settings(revision=CURRENT)).subtests
    return subtest.status.value, subtest.message or ""


@needs_quickjs
def test_files_hold_in_the_emulator(tmp_path: Path) -> None:
    programs = [*generator().calls(60), *generator().graphs(6)]
    for number, program in enumerate(programs):
        text = write(program)
        assert outcome(tmp_path / str(number), text) == ("PASS", ""), text


@needs_quickjs
def test_a_file_fails_where_the_numbers_differ(tmp_path: Path) -> None:
    program = generator().call(Dice("gelu"), "gelu", "gelu")
    text = write(program)
    assert outcome(tmp_path / "right", text)[0] == "PASS"
    status, message = outcome(tmp_path / "wrong", text.replace(".gelu(", ".cos("))
    assert status == "FAIL"
    assert "approx" in message


@needs_quickjs
def test_foreign_texts_stay_texts(tmp_path: Path) -> None:
    steps: list[dict[str, Any]] = [
        {"call": "MLGraphBuilder", "args": [SHARED]},
        {"call": "input", "on": {"$step": 0}, "args": ["x", {"dataType": "float32", "shape": [2]}]},
        {"call": "relu", "on": {"$step": 0}, "args": [{"$step": 1}]},
        {"call": "build", "on": {"$step": 0}, "args": [{"__proto__": {"$step": 2}}]},
    ]
    [expected] = Emulator(webnn.ML(revision=CURRENT, reference=True), CURRENT).run([FuzzProgram("x", steps)])
    finding = Finding("browser", "build\nthrow 1;", "refuses", "", "no\u2028throw 2;")
    text = write_test(FuzzProgram("x", steps), finding, expected, "webnn fuzz (a\nthrow 3;)")
    assert "builder.build({['__proto__']: relu2})" in text
    assert not [line for line in text.splitlines() if line.strip().startswith("throw")]
    assert outcome(tmp_path, text) == ("PASS", "")


@needs_quickjs
def test_what_a_file_looks_like() -> None:
    steps: list[dict[str, Any]] = [
        {"call": "MLGraphBuilder", "args": [SHARED]},
        {"call": "input", "on": {"$step": 0}, "args": ["it's\n", {"dataType": "float32", "shape": [2]}]},
        {"call": "relu", "on": {"$step": 0}, "args": [{"$step": 1}, {"label": "odd-name", "x-y": {"$number": "NaN"}}]},
        {"call": "relu", "on": {"$step": 0}, "args": [{"$undefined": True}]},
        {"call": "createTensor", "on": SHARED, "args": [{"$like": {"$step": 2}, "readable": True}]},
        {"call": "createTensor", "on": SHARED, "args": [{"dataType": "int64"}]},
        {"call": "constant", "on": {"$step": 0}, "args": ["int64", {"$bigint": "-5"}]},
        {"call": "writeTensor", "on": SHARED, "args": [{"$step": 4}, {"$view": "int64", "values": ["-1"]}]},
        {"call": "readTensor", "on": SHARED, "args": [{"$step": 4}]},
    ]
    lines = write(FuzzProgram("x", steps), step=2).splitlines()
    for line in (
        "// META: global=window",
        "  const builder = new MLGraphBuilder(context);",
        "  const input1 = builder.input('it\\'s\\n', {dataType: 'float32', shape: [2]});",
        "  const relu2 = builder.relu(input1, {label: 'odd-name', 'x-y': NaN});",
        "  assert_array_equals(relu2.shape, [2]);",
        "  assert_throws_js(TypeError, () => builder.relu(undefined));",
        "  const tensor4 = await context.createTensor({dataType: relu2.dataType, shape: relu2.shape, readable: true});",
        "  await promise_rejects_js(t, TypeError, context.createTensor({dataType: 'int64'}));",
        "  const constant6 = builder.constant('int64', -5n);",
        "  assert_throws_js(TypeError, () => context.writeTensor(tensor4, new BigInt64Array([-1n])));",
        "  assert_array_approx_equals(new Float32Array(result8), [0.0, 0.0], 0);",
        "}, 'build refuses');",
    ):
        assert line in lines, line
    assert all(len(line) <= 84 for line in lines if line.startswith("//"))
    assert file_stem(FINDING) == "browser_build_refuses_typeerror_is_no"


def test_the_shipped_file_of_known_differences() -> None:
    assert all(len(entry.reason) > 20 for path in SHIPPED.values() for entry in load_known(path))


def test_known_differences_fit_by_all_their_members(tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    path.write_text(
        '[[known]]\njudge = "browser"\noperation = ["reduce*", "build"]\nkind = "refuses"\nmessage = "for a reason"\nreason = "It is so."\n'
    )
    [entry] = load_known(path)
    assert entry.fits(FINDING)
    for change in ({"judge": "reference"}, {"operation": "relu"}, {"kind": "accepts"}, {"text": "another"}):
        other = {"judge": "browser", "operation": "build", "kind": "refuses", "text": "for a reason"} | change
        assert not entry.fits(Finding(other["judge"], other["operation"], other["kind"], "", other["text"]))
    assert str(entry) == "browser refuses reduce*, build: for a reason"
    # The parts of a message are texts, brackets too.
    parts = replace(entry, message="of int*] is 0, and")
    for text, fits in (("of int32: y[0] is 0, and 4", True), ("y[0] is 0, and 4 of int32", False), ("of int32: y[0] is 9, and 4", False)):
        assert parts.fits(Finding("browser", "build", "refuses", "", text)) == fits


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[known", "Expected"),
        ('[[known]]\njudge = "browser"\nkind = "refuses"\noperation = "a"', "must have a judge, a kind and a reason"),
        ("[[known]]\nbogus = 1", "and nothing else"),
        ('[[known]]\njudge = "b"\nkind = "k"\nreason = "r"\noperation = [5]', "must have texts"),
        ('[[known]]\njudge = "b"\nkind = "k"\nreason = "r"', "must have texts"),
    ],
)
def test_files_that_are_none(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "known.toml").write_text(text)
    with pytest.raises(KnownError, match=message):
        load_known(tmp_path / "known.toml")
