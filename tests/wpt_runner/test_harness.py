"""Tests of web-platform-tests in this process: what becomes of good files and of bad ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast
from unittest.mock import Mock

import pytest

from tests.webnn.javascript.engines import needs_quickjs, needs_rejections
from tests.wpt_runner.checkouts import make_checkout
from tests.wpt_runner.clock import Clock
from webnn.javascript.realm import Realm, ScriptError
from webnn.wpt_runner.checkout import Checkout
from webnn.wpt_runner.flavours import Flavour
from webnn.wpt_runner.harness import _evaluate, run_test
from webnn.wpt_runner.results import FileResult, Subtest
from webnn.wpt_runner.settings import Settings

pytestmark = needs_quickjs

#: Tests end after 0.3 s of the clock, which goes on when it is read.
FAST = Settings(revision="2024-06", timeout_multiplier=0.03)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def run(
    root: Path, files: str | dict[str, str], settings: Settings = FAST, name: str = "x.any.js", harness: str | None = None, **rest: Any
) -> FileResult:
    """Run a file of a small checkout, in its first variant."""
    checkout = Checkout(make_checkout(root, {name: files} if isinstance(files, str) else files, harness))
    return run_test(checkout, checkout.tests([name])[0], settings, **rest)


def outcomes(result: FileResult) -> dict[str, str]:
    return {subtest.name: subtest.status.value for subtest in result.subtests}


#: Files, and what becomes of them: the status, a part of the message, and the subtests.
NEVER = "promise_test(() => new Promise(() => {}), 'never');"
FILES: list[Any] = [
    ("test(() => {}, 'a'); test(() => { throw new Error('bad'); }, 'b')", "OK", "", {"a": "PASS", "b": "FAIL"}),
    ("promise_test(async () => {}, 'a'); promise_test(async () => assert_true(false), 'b')", "OK", "", {"a": "PASS", "b": "FAIL"}),
    ("promise_test(() => 5, 'a')", "OK", "", {"a": "FAIL"}),
    ("test(() => {}, 'a'); }{", "ERROR", "/webnn/x.any.js: SyntaxError", {}),
    ("test(() => {}, 'a'); throw new TypeError('mine');", "ERROR", "/webnn/x.any.js: TypeError: mine", {"a": "PASS"}),
    ("test(() => {}, 'a'); throw null;", "ERROR", "/webnn/x.any.js: null", {"a": "PASS"}),
    ("setup(() => { throw new Error('in the setup'); }); test(() => {}, 'a')", "ERROR", "Error: in the setup", {}),
    ("test(() => {}, 'a'); test(() => {}, 'a')", "ERROR", 'two tests have the name "a"', {"a": "NOTRUN"}),
    ("setTimeout(() => { throw new Error('later'); }); " + NEVER, "ERROR", "Error: later", {"never": "NOTRUN"}),
    pytest.param("promise_test(async () => { (async () => { throw new Error('dropped'); })(); }, 'a'); " + NEVER, "ERROR", "dropped",
                 {"a": "PASS", "never": "NOTRUN"}, marks=needs_rejections),
    ("promise_test(async () => { const p = Promise.reject(1); await p.catch(() => {}); }, 'a')", "OK", "", {"a": "PASS"}),
    ("", "ERROR", "the file has no tests", {}),
    ("// only a comment", "ERROR", "the file has no tests", {}),
    ("test(() => {}, 'a'); " + NEVER + "promise_test(async () => {}, 'after')", "TIMEOUT", "it waits for something that will not happen",
     {"a": "PASS", "never": "TIMEOUT", "after": "NOTRUN"}),
    ("test(() => {}, 'a'); (function again() { setTimeout(again); })(); " + NEVER, "TIMEOUT", "it was not done after 0.3 s",
     {"a": "PASS", "never": "TIMEOUT"}),
    ("test(() => {}, 'a'); (function again() { Promise.resolve().then(again); })(); " + NEVER, "TIMEOUT", "it was not done after 0.3 s",
     {"a": "PASS", "never": "TIMEOUT"}),
    ("test(() => {}, 'a'); setInterval(() => {}, 1)", "OK", "", {"a": "PASS"}),
    ("test(() => { (function f() { f(); })(); }, 'a'); test(() => {}, 'b')", "OK", "", {"a": "FAIL", "b": "PASS"}),
    ("test(() => {}, '\\0\\ud800'); test(() => { throw new Error('\\0\\ud800'); }, 'b')", "OK", "", {"\0\ufffd": "PASS", "b": "FAIL"}),
    ("test(() => {}, 5); test(() => { throw undefined; }, null)", "OK", "", {"5": "PASS", "null": "FAIL"}),
    ("const keep = []; test(() => { for (;;) keep.push({}); }, 'a')", "ERROR", "it used up its memory, 32 MiB", {}),
    ("const keep = []; promise_test(async () => { for (;;) keep.push({}); }, 'a')", "ERROR", "it used up its memory, 32 MiB", {}),
    ("const keep = []; setTimeout(() => { for (;;) keep.push({}); }); test(() => {}, 'a'); " + NEVER, "ERROR",
     "it used up its memory, 32 MiB", {"a": "PASS"}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "status", "message", "subtests"), FILES, ids=range(len(FILES)))
def test_files(tmp_path: Path, text: str, status: str, message: str, subtests: dict[str, str]) -> None:
    result = run(tmp_path, text, Settings(revision="2024-06", timeout_multiplier=0.03, memory=1 << 25))
    assert (result.status, outcomes(result)) == (status, subtests)
    assert message in result.message if message else result.message == ""
    for subtest in result.subtests:
        assert bool(subtest.message) == (subtest.status == "FAIL")
        assert "\ud800" not in subtest.name + subtest.message  # reports are written as UTF-8


def test_other_files_are_not_affected(tmp_path: Path) -> None:
    checkout = Checkout(make_checkout(tmp_path, {
        "a.any.js": "globalThis.left = 1; Array.prototype.push = 5; throw new Error('a');",
        "b.any.js": "test(() => assert_equals(typeof left, 'undefined'), 'b'); test(() => [].push(1), 'push');",
    }))  # fmt: skip
    first, second = (run_test(checkout, test, FAST) for test in checkout.tests(flavours=[Flavour.WINDOW]))
    assert (first.status, second.status) == ("ERROR", "OK")
    assert outcomes(second) == {"b": "PASS", "push": "PASS"}


def test_a_test_that_waits_for_nothing_ends_at_once(tmp_path: Path, clock: Clock) -> None:
    result = run(tmp_path, NEVER + "clearTimeout(setTimeout(() => {}, 8000))", Settings(revision="2024-06"))
    assert result.status == "TIMEOUT"
    assert clock.slept == 0


def test_subtests_are_told_as_they_end(tmp_path: Path) -> None:
    told: list[Subtest] = []
    result = run(tmp_path, "test(() => {}, 'a'); test(() => assert_unreached('no'), 'b'); " + NEVER, on_subtest=told.append)
    assert told == list(result.subtests)
    assert [(each.name, each.message) for each in told] == [("a", ""), ("b", "no: reached what must not be reached"), ("never", "")]


#: Files with scripts, and what becomes of ``x.any.js``: the status and the message.
SCRIPTS: list[tuple[dict[str, str], str, str]] = [
    ({"x.any.js": "// META: script=one.js\n// META: script=../webnn/deep/two.js\ntest(() => assert_equals(one + two, 3), 'a');",
      "one.js": "const one = 1;", "deep/two.js": "const two = one + 1;"}, "OK", ""),
    ({"x.any.js": "// META: script=missing.js\ntest(() => {}, 'a');"}, "ERROR", "there is no file /webnn/missing.js in the checkout"),
    ({"x.any.js": "// META: script=../../outside.js\ntest(() => {}, 'a');"}, "ERROR", "there is no file /outside.js in the checkout"),
    ({"x.any.js": "// META: script=a\0b.js\n"}, "ERROR", "there is no file /webnn/a\0b.js in the checkout"),
    ({"x.any.js": f"// META: script={'a' * 5000}.js\n"}, "ERROR", "there is no file /webnn/aaa"),
    ({"x.any.js": "// META: script=one.js\ntest(() => {}, 'a');", "one.js": "}{"}, "ERROR", "/webnn/one.js: SyntaxError"),
    ({"x.any.js": "// META: title=A \"title\" \\ '\u2028\ntest(() => assert_equals(META_TITLE, 'A \"title\" \\\\ \\''), 'a');"}, "OK", ""),
    ({"x.any.js": "// META: variant=?npu\ntest(() => assert_equals(location.search, '?npu'), 'a');"}, "OK", ""),
    ({"x.any.js": "test(() => assert_equals(location.pathname, '/webnn/x.any.html'), 'a');"}, "OK", ""),
    ({"x.any.js": "promise_test(async () => assert_equals((await (await fetch('d.json')).json()).a, 1), 'a');",
      "d.json": '{"a": 1}'}, "OK", ""),
    ({"x.any.js": "promise_test(async () => assert_equals((await fetch('../../../etc/passwd')).status, 404), 'a');"}, "OK", ""),
    ({"x.any.js": "\u2028'use strict'; test(() => assert_equals('\u00e9\U0001f600'.length, 3), 'a');"}, "OK", ""),
]  # fmt: skip


@pytest.mark.parametrize(("files", "status", "message"), SCRIPTS, ids=range(len(SCRIPTS)))
def test_scripts(tmp_path: Path, files: dict[str, str], status: str, message: str) -> None:
    result = run(tmp_path, files)
    assert result.status == status
    assert result.message.startswith(message)
    if status == "OK":
        assert [(subtest.status, subtest.message) for subtest in result.subtests] == [("PASS", "")]


#: The content in place of testharness.js, and the message.
HARNESSES = [
    (content, f"/resources/testharness.js: {error}") for content, error in (("}{", "SyntaxError"), ("", "TypeError"), ("throw 5", "5"))
]


@pytest.mark.parametrize(("harness", "message"), HARNESSES)
def test_a_harness_that_is_none(tmp_path: Path, harness: str, message: str) -> None:
    result = run(tmp_path, "test(() => {}, 'a');", harness=harness)
    assert (result.status, list(result.subtests)) == ("ERROR", [])
    assert result.message.startswith(message)


def test_the_output_is_kept(tmp_path: Path) -> None:
    result = run(tmp_path, "// META: title=T\nconsole.log('one', {a: 1}); console.warn('two\\n\u2603'); test(() => {}, 'a');")
    assert result.output == 'log: one {"a":1}\nwarn: two\n\u2603'
    assert (result.title, result.file, result.variant, result.test) == ("T", "webnn/x.any.js", "", "/webnn/x.any.html")
    assert 0 < result.seconds < 10
    result = run(tmp_path / "long", "for (let i = 0; i < 100; i++) console.log('x'.repeat(10000)); test(() => {}, 'a');")
    assert 64 * 1024 <= len(result.output) <= 2 * 64 * 1024


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("new MLGraphBuilder(context)", ""),
        ("context.compute({}, {}, {})", "compute: graph must be an MLGraph, got an object (of another type)"),
    ],
)
def test_errors_of_the_binding_reach_the_report(tmp_path: Path, call: str, message: str) -> None:
    result = run(
        tmp_path,
        f"promise_test(async () => {{ const context = await navigator.ml.createContext(); await {call}; }}, 'a')",
        Settings(revision="2024-06"),
    )
    assert result.status == "OK"
    assert message in result.subtests[0].message


def test_a_fault_of_the_emulator_is_a_crash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webnn.MLGraphBuilder.relu", Mock(side_effect=LookupError("a fault")))
    text = "promise_test(async () => { new MLGraphBuilder(await navigator.ml.createContext()).relu(); }, 'a'); test(() => {}, 'b');"
    result = run(tmp_path, text, Settings(revision="2024-06"))
    assert result.status == "CRASH"
    assert "LookupError: a fault" in result.message
    assert outcomes(result) == {"a": "FAIL", "b": "PASS"}
    assert "the emulator failed: LookupError: a fault" in next(each.message for each in result.subtests if each.name == "a")


#: As testharness.js, it tells what has not ended only at the end of all.
LATE = """
const completions = [], tests = [{name: 'never', status: 2, message: 'Test timed out'}, {name: 'after', status: 3}];
Object.assign(globalThis, {test() {}, promise_test() {}, add_result_callback() {}});
globalThis.add_completion_callback = each => completions.push(each);
globalThis.timeout = () => { for (const each of completions) each(tests, {status: 2}); };
"""


def test_what_has_not_ended_in_time_is_told(tmp_path: Path) -> None:
    result = run(tmp_path, "", harness=LATE)
    assert (result.status, outcomes(result)) == ("TIMEOUT", {"never": "TIMEOUT", "after": "NOTRUN"})


def test_a_test_that_breaks_the_harness_is_reported() -> None:
    reported = []

    class Broken:
        def evaluate(self, source: str) -> None:
            raise ScriptError(f"{source} is not a function")

        def report(self, message: str) -> None:
            reported.append(message)

    _evaluate(cast(Realm, Broken()), "timeout()")
    assert reported == ["timeout() is not a function"]


#: Files, and the stack of their first subtest that fails.
HELPER = "function check(value) {\n  assert_equals(value, 1);\n}\n"
STACKS = [
    ("\ntest(() => {\n  check(2);\n}, 'a');", ["check (webnn/helper.js:2:", "<anonymous> (webnn/x.any.js:4:", "<eval> (webnn/x.any.js:3:"]),
    ("test(() => [3].forEach(check), 'a');", ["check (webnn/helper.js:2:", "<anonymous> (webnn/x.any.js:2:", "<eval> (webnn/x.any.js:2:"]),
    ("promise_test(async () => {\n  await null;\n  throw new TypeError('no');\n}, 'a');", ["<anonymous> (webnn/x.any.js:4:"]),
    ("promise_test(async () => {\n\n  await navigator.ml.createContext({powerPreference: 'x'});\n}, 'a');",
     ["<anonymous> (webnn/x.any.js:4:"]),
    ("promise_test(async () => {\n  const context = await navigator.ml.createContext();\n  new MLGraphBuilder(context).relu(5);\n}, 'a');",
     ["<anonymous> (webnn/x.any.js:4:"]),
    ("test(() => { throw 5; }, 'a');", []),
    ("test(() => { throw Object.assign(new Error('x'), {stack: 'mine'}); }, 'a');", []),
]  # fmt: skip


@pytest.mark.parametrize(("text", "frames"), STACKS, ids=range(len(STACKS)))
def test_stacks(tmp_path: Path, text: str, frames: list[str]) -> None:
    result = run(tmp_path, {"x.any.js": f"// META: script=helper.js\n{text}", "helper.js": HELPER}, Settings(revision="2024-06"))
    [subtest] = result.subtests
    found = [line.strip().removeprefix("at ") for line in subtest.stack.splitlines()]
    assert subtest.status == "FAIL"
    assert len(found) == len(frames), found
    assert all(each.startswith(frame) for each, frame in zip(found, frames, strict=True)), found


def test_the_stack_of_a_test_that_breaks_off(tmp_path: Path) -> None:
    result = run(tmp_path, "test(() => {}, 'a');\nsetTimeout(() => { throw new Error('later'); });\n" + NEVER)
    assert (result.status, result.stack.strip().rpartition(":")[0]) == ("ERROR", "at <anonymous> (webnn/x.any.js:2")
    result = run(tmp_path / "other", "test(() => {}, 'a');\n\nthrow new TypeError('mine');")
    assert (result.message, result.stack.rpartition(":")[0]) == ("/webnn/x.any.js: TypeError: mine", "at <eval> (webnn/x.any.js:3")


def test_stacks_on_the_console(tmp_path: Path) -> None:
    result = run(tmp_path, "\nfunction f() { console.trace('here'); }\nf();\ntest(() => console.error(new Error('x')), 'a');")
    first, second, third, fourth, fifth = result.output.splitlines()[:5]
    assert (first, fourth) == ("log: Trace: here", "error: Error: x")
    for line, place in ((second, "f (webnn/x.any.js:2:"), (third, "<eval> (webnn/x.any.js:3:"), (fifth, "<anonymous> (webnn/x.any.js:4:")):
        assert line.startswith(f"    at {place}")


def test_only_some_subtests(tmp_path: Path) -> None:
    text = """
        const ran = [];
        test(() => ran.push('a'), 'Relu of one');
        test(() => ran.push('b'), 'other');
        promise_test(async () => { ran.push('c'); }, 'relu of two');
        promise_test(async () => assert_equals(ran.join(), 'a,c'), 'last relu');
    """
    result = run(tmp_path, text, Settings(revision="2024-06", subtests=("relu",)))
    assert outcomes(result) == {"Relu of one": "PASS", "relu of two": "PASS", "last relu": "PASS"}
    result = run(tmp_path / "two", text, Settings(revision="2024-06", subtests=("OTHER", "of one")))
    assert outcomes(result) == {"Relu of one": "PASS", "other": "PASS"}
    result = run(tmp_path / "none", text, Settings(revision="2024-06", subtests=("none",)))
    assert (result.status, outcomes(result)) == ("OK", {})
    result = run(tmp_path / "names", text, Settings(revision="2024-06", names_only=True))
    assert (result.status, list(outcomes(result))) == ("OK", ["Relu of one", "other", "relu of two", "last relu"])
    assert set(outcomes(result).values()) == {"NOTRUN"}


TRACED = """
promise_test(async () => {
  const context = await navigator.ml.createContext({deviceType: 'cpu'}), builder = new MLGraphBuilder(context);
  const x = builder.input('x', {dataType: 'float32', dimensions: [2, 3]});
  const c = builder.constant({dataType: 'int8', dimensions: [9]}, new Int8Array(9));
  builder.split(x, 2, {axis: 0});
  try { builder.concat([x], 7n); } catch {}
  try { builder.reshape(c, [2]); } catch {}
  await context.compute({}, {}, {}).catch(() => {});
}, 'first');
test(() => {}, 'second');
promise_test(async () => { assert_equals(MLGraphBuilder.prototype.constructor, MLGraphBuilder); navigator.ml.createContext(); }, 'third');
"""


def test_traces(tmp_path: Path) -> None:
    result = run(tmp_path, TRACED, Settings(revision="2024-06", trace=True))
    assert set(outcomes(result).values()) == {"PASS"}, [each.message for each in result.subtests]
    traces = {each.name: each.trace.splitlines() for each in result.subtests}
    assert traces["first"][:5] == [
        'ml.createContext({deviceType: "cpu"}) -> context1',
        "new MLGraphBuilder(context1) -> builder1",
        'builder1.input("x", {dataType: "float32", dimensions: [2, 3]}) -> operand1: float32 [2, 3]',
        'builder1.constant({dataType: "int8", dimensions: [9]}, Int8Array(9) [0, 0, 0, 0, 0, 0, 0, 0, ... 1 more]) -> operand2: int8 [9]',
        "builder1.split(operand1, 2, {axis: 0}) -> [operand3: float32 [1, 3], operand4: float32 [1, 3]]",
    ]
    concat, reshape, compute = traces["first"][5:]
    assert concat.startswith("builder1.concat([operand1], 7n) throws TypeError: ")
    assert reshape.startswith("builder1.reshape(operand2, [2]) throws TypeError: ")
    assert compute.startswith("context1.compute({}, {}, {}) rejects with TypeError: ")
    assert traces["second"] == []
    assert not any(each.trace for each in run(tmp_path / "untold", TRACED, Settings(revision="2024-06")).subtests)


def test_refused_calls_are_told_before_the_program_knows(tmp_path: Path) -> None:
    told: list[Exception] = []
    text = """promise_test(async () => {
      const builder = new MLGraphBuilder(await navigator.ml.createContext());
      builder.reshape(builder.input('x', {dataType: 'float32', dimensions: [3]}), [2]);
    }, 'a');"""
    run(tmp_path, text, Settings(revision="2024-06"), on_refused=told.append)
    [error] = told
    assert error.__traceback__ is not None
    assert str(error).startswith("reshape: ")
