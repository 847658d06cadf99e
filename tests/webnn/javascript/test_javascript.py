"""The project's own tests of the JavaScript binding: the files in ``web/webnn``, laid out as those of web-platform-tests."""

from __future__ import annotations

from pathlib import Path

import pytest

import webnn
from tests.support import CURRENT
from tests.webnn.javascript.engines import needs_quickjs
from tests.wpt_runner.checkouts import WEB, make_checkout
from tests.wpt_runner.clock import PATIENT
from webnn.context.engine.session import CompiledGraph
from webnn.wpt_runner.checkout import Checkout, Test
from webnn.wpt_runner.harness import run_test
from webnn.wpt_runner.settings import Settings

pytestmark = needs_quickjs

#: How many subtests each file has: one that silently runs nothing would pass otherwise.
COUNTS = {
    "webnn/dispatch/attributes.any.js": 5,
    "webnn/dispatch/buffers.any.js": 19,
    "webnn/dispatch/interfaces.any.js": 4,
    "webnn/dispatch/limits.any.js": 3,
    "webnn/dispatch/lost.any.js": 5,
    "webnn/dispatch/numbers.any.js": 39,
    "webnn/dispatch/overloads.any.js": 7,
    "webnn/dispatch/tensors.any.js": 10,
    "webnn/bits.any.js": 17,
    "webnn/compute.any.js": 19,
    "webnn/dictionaries.any.js": 14,
    "webnn/errors.any.js": 7,
    "webnn/graphs.any.js": 6,
    "webnn/interfaces.any.js": 42,
    "webnn/memory.any.js": 3,
    "webnn/numbers.any.js": 35,
    "webnn/overloads.any.js": 9,
    "webnn/search_params.any.js": 5,
    "webnn/sequences.any.js": 9,
    "webnn/views.any.js": 23,
}
CHECKOUT = Checkout(WEB)
TESTS = CHECKOUT.tests()


def test_every_file_is_counted() -> None:
    assert {test.file.path for test in TESTS} == set(COUNTS)
    assert all(test.file.title for test in TESTS)


@pytest.mark.parametrize("test", TESTS, ids=[test.name for test in TESTS])
def test_file(test: Test) -> None:
    settings = Settings(revision=CURRENT if test.file.path.startswith("webnn/dispatch/") else "2024-06", timeout_multiplier=PATIENT)
    result = run_test(CHECKOUT, test, settings)
    failures = [f"{subtest.name}: {subtest.status} {subtest.message}" for subtest in result.subtests if subtest.status != "PASS"]
    assert (result.status, result.message, failures, result.output) == ("OK", "", [], "")
    assert len(result.subtests) == COUNTS[test.file.path]


LOST = """promise_test(async t => {
  const context = await navigator.ml.createContext(), builder = new MLGraphBuilder(context), pair = {dataType: 'float32', shape: [2]};
  const graph = await builder.build({y: builder.relu(builder.input('x', pair))});
  const [x, y] = await Promise.all([1, 2].map(() => context.createTensor({...pair, readable: true})));
  const {lost} = context, before = context.readTensor(x), order = [];
  lost.then(() => order.push('lost'));
  assert_equals(context.dispatch(graph, {x}, {y}), undefined, 'it throws nothing');
  Promise.resolve().then(() => order.push('job'));
  await promise_rejects_dom(t, 'InvalidStateError', context.readTensor(y));
  assert_equals((await lost).message, 'dispatch: the engine failed');
  assert_array_equals(order, ['job', 'lost'], 'in a task of its own');
  assert_equals((await before).byteLength, 8, 'what was ready before is there');
  assert_throws_dom('InvalidStateError', () => context.dispatch(graph, {x}, {y}));
}, 'a');
"""


def test_a_dispatch_that_fails_loses_the_context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise webnn.OperationError("dispatch: the engine failed", operation="dispatch")

    monkeypatch.setattr(CompiledGraph, "dispatch", fail)
    checkout = Checkout(make_checkout(tmp_path, {"x.any.js": LOST}))
    result = run_test(checkout, checkout.tests()[0], Settings(revision=CURRENT, timeout_multiplier=PATIENT))
    assert [(each.status, each.message) for each in result.subtests] == [("PASS", "")]


# ---- The harness itself: an assertion that never fails would make all of the above pass

#: Bodies that hold, and bodies that do not: the message says why.
HOLDS = """
    assert_true(true); assert_false(false); assert_less_than(1, 2);
    assert_equals(NaN, NaN); assert_equals('a', 'a'); assert_not_equals(0, -0);
    assert_array_equals([1, NaN], [1, NaN]); assert_array_equals(new Uint8Array(2), [0, 0]); assert_array_equals([], []);
    assert_own_property({a: 1}, 'a'); assert_not_own_property({}, 'toString');
    assert_throws_js(TypeError, () => null.x); assert_throws_dom('DataError', () => { throw new DOMException('m', 'DataError'); });
    assert_throws_dom('NotSupportedError', () => { throw new DOMException('m', 'NotSupportedError'); });
    await promise_rejects_js(t, RangeError, Promise.reject(new RangeError()));
    await promise_rejects_dom(t, 'DataError', Promise.reject(new DOMException('m', 'DataError')));
"""
FAILS = [
    ("assert_true(1)", "expected true, got 1"),
    ("assert_false(0, 'zero')", "zero: expected false, got 0"),
    ("assert_equals(0, -0)", "expected -0, got 0"),
    ("assert_equals('1', 1, 'kinds')", 'kinds: expected 1, got "1"'),
    ("assert_equals(1n, 1)", "expected 1, got 1n"),
    ("assert_not_equals(NaN, NaN)", "got NaN"),
    ("assert_less_than(2, 2)", "expected less than 2, got 2"),
    ("assert_less_than(NaN, 2)", "expected less than 2, got NaN"),
    ("assert_array_equals([1, 2], [1])", "expected [1], got [1, 2]"),
    ("assert_array_equals([0], [-0])", "expected [-0], got [0]"),
    ("assert_array_equals([1], new Float32Array([2]))", "expected [2], got [1]"),
    ("assert_array_equals([,], [undefined, undefined])", "expected [undefined, undefined], got [undefined]"),
    ("assert_array_equals(null, [])", "expected an array, got null"),
    ("assert_array_equals({}, [])", "expected an array, got [object Object]"),
    ("assert_own_property([], 'map')", "expected the own property map"),
    ("assert_not_own_property([], 'length')", "has the own property length"),
    ("assert_unreached('here')", "here: reached what must not be reached"),
    ("assert_throws_js(TypeError, () => {})", "it did not throw"),
    ("assert_throws_js(TypeError, () => { throw new RangeError('r'); })", "expected a TypeError, got RangeError: r"),
    ("assert_throws_js(Error, () => { throw new TypeError('r'); })", "expected a Error, got TypeError: r"),
    ("assert_throws_js(TypeError, () => { throw {name: 'TypeError'}; })", "expected a TypeError, got TypeError: undefined"),
    ("assert_throws_js(TypeError, () => { throw null; })", "expected a TypeError, got threw null"),
    ("assert_throws_dom('DataError', () => { throw new TypeError('t'); })", 'expected a DOMException "DataError", got TypeError: t'),
    (
        "assert_throws_dom('DataError', () => { throw new DOMException('m', 'SyntaxError'); })",
        'DOMException "DataError", got SyntaxError: m',
    ),
    ("await promise_rejects_js(t, TypeError, Promise.resolve(1))", "it was not rejected"),
    ("await promise_rejects_js(t, TypeError, Promise.reject(1), 'why')", "why: expected a TypeError, got threw 1"),
    ("await promise_rejects_dom(t, 'DataError', Promise.resolve(1))", "it was not rejected"),
    ("await promise_rejects_dom(t, 'DataError', Promise.reject(new DOMException('m', 'AbortError')))", "got AbortError: m"),
    ("throw 5", "threw 5"),
    ("throw Object.create(null)", "threw [object Object]"),
    ("t.step_timeout(() => assert_unreached('late')); await new Promise(() => {})", "late: reached what must not be reached"),
]


def test_the_assertions(tmp_path: Path) -> None:
    body = f"promise_test(async t => {{ {HOLDS} }}, 'holds');" + "\n".join(
        f"promise_test(async t => {{ {text}; }}, '{index}');" for index, (text, _) in enumerate(FAILS)
    )
    checkout = Checkout(make_checkout(tmp_path, {"x.any.js": body}))
    result = run_test(checkout, checkout.tests()[0], Settings(timeout_multiplier=PATIENT))
    assert result.status == "OK"
    outcomes = {subtest.name: (subtest.status.value, subtest.message) for subtest in result.subtests}
    assert outcomes.pop("holds") == ("PASS", "")
    assert len(outcomes) == len(FAILS)
    for index, (text, message) in enumerate(FAILS):
        status, said = outcomes[str(index)]
        assert (status, message in said) == ("FAIL", True), f"{text}: {said}"


def test_order_and_cleanups(tmp_path: Path) -> None:
    text = """
        const events = [];
        promise_test(async t => {
          t.add_cleanup(() => events.push('clean'));
          events.push('first');
          await null;
          events.push('later');
        }, 'first');
        promise_test(async () => { events.push('second'); assert_equals(events.join(), 'sync,first,later,clean,second'); }, 'second');
        test(() => { events.push('sync'); }, 'sync');
    """
    checkout = Checkout(make_checkout(tmp_path, {"x.any.js": text}))
    result = run_test(checkout, checkout.tests()[0], Settings(timeout_multiplier=PATIENT))
    assert [(subtest.name, subtest.status, subtest.message) for subtest in result.subtests] == [
        ("sync", "PASS", ""),
        ("first", "PASS", ""),
        ("second", "PASS", ""),
    ]
