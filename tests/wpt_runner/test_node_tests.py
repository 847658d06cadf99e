"""Tests that run in Node, because they name features that quickjs-ng lacks. Good and bad files have the same results in both."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from tests.webnn.javascript.engines import needs_quickjs
from tests.webnn.javascript.node_support import require_node
from tests.wpt_runner.checkouts import WEB, make_checkout
from tests.wpt_runner.test_harness import FILES, HELPER, NEVER, SCRIPTS, STACKS, TRACED, outcomes
from webnn.javascript.node import NodeMissingError
from webnn.wpt_runner import node_tests
from webnn.wpt_runner.checkout import Checkout, Test
from webnn.wpt_runner.flavours import Flavour
from webnn.wpt_runner.harness import run_test
from webnn.wpt_runner.node_tests import run_test_in_node
from webnn.wpt_runner.results import FileResult, Subtest
from webnn.wpt_runner.runner import OneByOne
from webnn.wpt_runner.settings import Settings

pytestmark = [needs_quickjs, pytest.mark.processes]
BOTH = [Flavour.WINDOW, Flavour.WORKER]


@pytest.fixture(scope="module", autouse=True)
def node() -> None:
    require_node()


def run(
    root: Path,
    files: str | Mapping[str, str],
    settings: Settings | None = None,
    flavour: Flavour = Flavour.WINDOW,
    harness: str | None = None,
    **rest: Any,
) -> FileResult:
    """Run a file of a small checkout in Node, in its first variant."""
    checkout = Checkout(make_checkout(root, {"x.any.js": files} if isinstance(files, str) else files, harness))
    test = checkout.tests(["x.any.js"], flavours=[flavour])[0]
    return run_test_in_node(checkout, test, settings or Settings(revision="2024-06"), "nothing", **rest)


def ends_otherwise(text: str) -> bool:
    """Tell whether a file ends in another way in Node: what uses up the memory, or never lets go, is ended from outside."""
    return "keep.push" in text or "again()" in text


ROWS = [row for row in FILES if not ends_otherwise(getattr(row, "values", row)[0])]


@pytest.mark.parametrize("flavour", BOTH)
@pytest.mark.parametrize(("text", "status", "message", "subtests"), ROWS, ids=range(len(ROWS)))
def test_files(tmp_path: Path, text: str, status: str, message: str, subtests: dict[str, str], flavour: Flavour) -> None:
    result = run(tmp_path, text, Settings(revision="2024-06", timeout_multiplier=0.2 if status == "TIMEOUT" else 1), flavour=flavour)
    assert (result.status, outcomes(result)) == (status, subtests)
    if (status, flavour) == ("TIMEOUT", Flavour.WORKER):
        message = "it was not done after 2 s"  # a worker always waits for messages
    assert message.removeprefix("/webnn/x.any.js: ") in result.message if message else result.message == ""
    for subtest in result.subtests:
        assert bool(subtest.message) == (subtest.status == "FAIL")
        assert "\ud800" not in subtest.name + subtest.message


@pytest.mark.parametrize("flavour", BOTH)
@pytest.mark.parametrize(("files", "status", "message"), SCRIPTS, ids=range(len(SCRIPTS)))
def test_scripts(tmp_path: Path, files: dict[str, str], status: str, message: str, flavour: Flavour) -> None:
    # The path is that of a window.
    files = {name: text.replace("x.any.html", "x.any.worker.js") if flavour is Flavour.WORKER else text for name, text in files.items()}
    result = run(tmp_path, files, flavour=flavour)
    assert result.status == status, result
    assert result.message.startswith(message.removeprefix("/webnn/one.js: "))


#: Features that quickjs-ng lacks: a word, and a test that uses it. `WASM` is a module with a function that adds two numbers.
WASM = [*b"\0asm\1\0\0\0\1\7\1\x60\2\x7f\x7f\1\x7f\3\2\1\0\7\7\1\3add\0\0\x0a\x09\1\7\0\x20\0\x20\1\x6a\x0b"]
LACKS = [
    ("WebAssembly", f"""promise_test(async () => {{
        const {{instance}} = await WebAssembly.instantiate(new Uint8Array({WASM}));
        assert_equals(instance.exports.add(2, 3), 5);
        const memory = new WebAssembly.Memory({{initial: 1}}), data = new Float32Array(memory.buffer, 8, 3);
        data.set([-1, 2, -3]);
        const context = await navigator.ml.createContext(), builder = new MLGraphBuilder(context);
        const descriptor = {{dataType: 'float32', shape: [3]}}, constant = builder.constant(descriptor, data);
        const graph = await builder.build({{y: builder.relu(constant)}});
        const tensor = await context.createTensor({{...descriptor, readable: true}});
        context.dispatch(graph, {{}}, {{y: tensor}});
        await context.readTensor(tensor, data);
        assert_array_equals([...data], [0, 2, 0]);
      }}, 'a');"""),
    ("MessageChannel", """promise_test(async () => {
        const {port1, port2} = new MessageChannel();
        const received = new Promise(resolve => { port2.onmessage = resolve; });
        port1.postMessage([1, 2]);
        assert_array_equals((await received).data, [1, 2]);
        port1.close();
      }, 'a');"""),
    ("maxByteLength", """test(() => {
        const buffer = new SharedArrayBuffer(4, {maxByteLength: 8});
        buffer.grow(8);
        assert_equals(buffer.byteLength, 8);
      }, 'a');"""),
    ("new Worker", """promise_test(async () => {
        const source = 'onmessage = async () => postMessage((await navigator.ml.createContext()).constructor.name);';
        const worker = new Worker(URL.createObjectURL(new Blob([source], {type: 'text/javascript'})));
        const answered = new Promise((resolve, reject) => { Object.assign(worker, {onmessage: resolve, onerror: reject}); });
        worker.postMessage(0);
        const {data} = await answered;
        worker.terminate();
        assert_equals(data, 'MLContext');
      }, 'a');"""),
]  # fmt: skip


@pytest.mark.parametrize("flavour", BOTH)
@pytest.mark.parametrize(("word", "text"), LACKS)
def test_what_quickjs_lacks_runs_in_node(tmp_path: Path, word: str, text: str, flavour: Flavour) -> None:
    assert word in text
    files = {"x.any.js": "// META: script=one.js\n", "one.js": text, "y.any.js": "test(() => {}, 'a');"}
    checkout, settings = Checkout(make_checkout(tmp_path, files)), Settings(revision="2026-06")
    first, second = checkout.tests(flavours=[flavour])
    assert outcomes(run_test(checkout, first, settings)) == {"a": "FAIL"}
    runner = OneByOne(checkout, settings)
    try:
        for test in (first, second):
            result = runner.run(test)
            assert (result.status, outcomes(result)) == ("OK", {"a": "PASS"}), result
    finally:
        runner.close()


#: Files that end in Node in a way of their own, and what becomes of them: the status, a part of the message, and the subtests.
ENDS = [
    ("test(() => {}, 'a'); (function again() { Promise.resolve().then(again); })()", "TIMEOUT", "it was not done after 2 s", {"a": "PASS"}),
    ("test(() => {}, 'a'); for (;;);", "TIMEOUT", "it was not done after 2 s", {"a": "PASS"}),
    ("test(() => {}, 'a'); process.exit(3);", "CRASH", "Node ended with the exit code 3", {"a": "PASS"}),
    ("test(() => {}, 'a'); console.group(); console.log('inside'); " + NEVER, "TIMEOUT", "it waits for something",
     {"a": "PASS", "never": "TIMEOUT"}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "status", "message", "subtests"), ENDS, ids=range(len(ENDS)))
def test_ends(tmp_path: Path, text: str, status: str, message: str, subtests: dict[str, str]) -> None:
    # One that ends by itself needs no short limit.
    limit = 0.2 if "not done after 2 s" in message else 1
    result = run(tmp_path, text, Settings(revision="2024-06", timeout_multiplier=limit))
    assert (result.status, outcomes(result)) == (status, subtests)
    assert result.message.startswith(message)


@pytest.mark.parametrize("flavour", BOTH)
@pytest.mark.parametrize(("text", "frames"), STACKS, ids=range(len(STACKS)))
def test_stacks(tmp_path: Path, text: str, frames: list[str], flavour: Flavour) -> None:
    result = run(tmp_path, {"x.any.js": f"// META: script=helper.js\n{text}", "helper.js": HELPER}, flavour=flavour)
    [subtest] = result.subtests
    # V8 names no functions that have no name, and columns are its own.
    places = [re.sub(r".*?(?=webnn/)", "", frame) for frame in frames]
    found = subtest.stack.splitlines()
    assert subtest.status == "FAIL"
    assert len(found) == len(places), found
    assert all(place in each for each, place in zip(found, places, strict=True)), found


#: As testharness.js in a shell: the tests that are there when promises go on are all.
SHELL = """
const tests = [], completions = [];
let told;
globalThis.test = globalThis.promise_test = (body, name) => { tests.push({name, status: 0}); };
globalThis.add_result_callback = each => { told = each; };
globalThis.add_completion_callback = each => completions.push(each);
globalThis.timeout = () => {};
Promise.resolve().then(() => {
  const all = [...tests];
  all.forEach(told);
  completions.forEach(each => each(all, {status: 0}));
});
"""


def test_all_scripts_run_before_promises_go_on(tmp_path: Path) -> None:
    files = {"x.any.js": "// META: script=one.js\ntest(() => {}, 'b');", "one.js": "test(() => {}, 'a');"}
    assert outcomes(run(tmp_path, files, harness=SHELL)) == {"a": "PASS", "b": "PASS"}


def test_the_output_and_the_subtests_are_told(tmp_path: Path) -> None:
    told: list[Subtest] = []
    text = "console.log('one %d', 1); console.error('two'); console.group('g'); test(() => console.log('three'), 'a'); test(() => {}, 'b');"
    result = run(tmp_path, text, Settings(revision="2024-06", subtests=("A",)), on_subtest=told.append)
    assert result.output.splitlines() == ["log: one 1", "error: two", "log: g", "log:   three"]
    assert outcomes(result) == {"a": "PASS"}
    assert told == list(result.subtests)
    result = run(tmp_path / "names", text, Settings(revision="2024-06", names_only=True))
    assert outcomes(result) == {"a": "NOTRUN", "b": "NOTRUN"}


@pytest.mark.parametrize("flavour", BOTH)
def test_traces(tmp_path: Path, flavour: Flavour) -> None:
    settings = Settings(revision="2024-06", trace=True)
    here = run_test(*only(tmp_path / "here", TRACED, flavour), settings)
    there = run(tmp_path / "there", TRACED, settings, flavour=flavour)
    assert outcomes(there) == outcomes(here)
    # The engines word the error of an invalid BigInt differently.
    traces = [[re.sub("(7n.* throws TypeError: ).*", r"\1", each.trace) for each in result.subtests] for result in (here, there)]
    assert traces[0] == traces[1]


def only(root: Path, text: str, flavour: Flavour) -> tuple[Checkout, Test]:
    checkout = Checkout(make_checkout(root, {"x.any.js": text}))
    return checkout, checkout.tests(flavours=[flavour])[0]


@pytest.mark.parametrize("flavour", BOTH)
def test_a_fault_of_the_emulator_is_a_crash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flavour: Flavour) -> None:
    monkeypatch.setattr("webnn.MLGraphBuilder.relu", Mock(side_effect=LookupError("a fault")))
    text = "promise_test(async () => { new MLGraphBuilder(await navigator.ml.createContext()).relu(); }, 'a'); test(() => {}, 'b');"
    result = run(tmp_path, text, flavour=flavour)
    assert (result.status, outcomes(result)) == ("CRASH", {"a": "FAIL", "b": "PASS"}), result
    assert "LookupError: a fault" in result.message


#: The harness, and one that does not count an uncaught error as an error of the test.
HARNESSES = [("addEventListener('error'", "ERROR"), ("addEventListener('never'", "OK")]


@pytest.mark.parametrize("flavour", BOTH)
@pytest.mark.parametrize(("listen", "status"), HARNESSES)
def test_an_error_that_nobody_catches_is_the_harness_s_own(tmp_path: Path, listen: str, status: str, flavour: Flavour) -> None:
    text = "promise_test(async () => { await new Promise(end => setTimeout(end, 300)); assert_equals(count, 2); }, 'a'); throw Error('x');"
    twice = "// META: script=one.js\n// META: script=one.js\n"
    files = {"x.any.js": twice + text, "one.js": "var count = (globalThis.count ?? 0) + 1;"}
    harness = (WEB / "resources" / "testharness.js").read_text(encoding="utf-8").replace("addEventListener('error'", listen)
    result = run(tmp_path, files, flavour=flavour, harness=harness)
    assert result.status == status, result
    assert outcomes(result) == {"a": "PASS" if status == "OK" else "NOTRUN"}


@pytest.mark.parametrize("flavour", BOTH)
@pytest.mark.parametrize(
    ("harness", "message"), [("}{", "SyntaxError: Unexpected token '}'"), ("", "TypeError: testharness.js must define timeout()")]
)
def test_a_harness_that_is_none(tmp_path: Path, harness: str, message: str, flavour: Flavour) -> None:
    result = run(tmp_path, "test(() => {}, 'a');", flavour=flavour, harness=harness)
    assert result.status == "CRASH"
    assert message in result.message


def test_there_is_no_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_tests, "find_node", Mock(side_effect=NodeMissingError("Node 22.15 or newer is needed")))
    result = run_test_in_node(*only(tmp_path, "test(() => {}, 'a');", Flavour.WINDOW), Settings(revision="2024-06"), "WebAssembly")
    assert result.status == "ERROR"
    assert result.message == "it uses WebAssembly, which quickjs-ng lacks: Node 22.15 or newer is needed"


def test_other_flavours_stay_in_quickjs(tmp_path: Path) -> None:
    text = "// META: global=sharedworker,serviceworker\ntest(() => assert_equals(typeof WebAssembly, 'undefined'), 'a');"
    checkout = Checkout(make_checkout(tmp_path, {"x.any.js": text}))
    runner = OneByOne(checkout, Settings(revision="2024-06"))
    try:
        assert [outcomes(runner.run(test)) for test in checkout.tests()] == [{"a": "PASS"}] * 2
    finally:
        runner.close()
