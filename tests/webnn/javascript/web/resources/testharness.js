// A minimal test harness with the names and the meaning of testharness.js of web-platform-tests, written for the tests beside it: they run
// where no checkout of web-platform-tests is, and with the real harness as well.
(function (global) {
'use strict';
const {Array, Error, Object, Promise, setTimeout} = global;
const PASS = 0, FAIL = 1, TIMEOUT = 2, NOTRUN = 3;
const OK = 0, ERROR = 1;

// ---- Tests

const tests = [], resultCallbacks = [], completionCallbacks = [];
let queue = Promise.resolve();
let completed = false;

class AssertionError extends Error {
  name = 'AssertionError';
}

function describe(error) {
  try {
    if (error instanceof AssertionError) return error.message;
    return error instanceof Object ? `${error.name}: ${error.message}` : `threw ${format(error)}`;
  } catch {
    return 'threw something that cannot be described';
  }
}

function stackOf(error) {
  try { return error instanceof Object ? error.stack ?? null : null; } catch { return null; }
}

function add(name) {
  const made = {name, status: NOTRUN, message: null, stack: null, ended: false, cleanups: []};
  tests.push(made);
  if (tests.some(other => other !== made && other.name === name)) {
    complete(ERROR, `two tests have the name ${format(name)}`);
  }
  return made;
}

function end(each, status, message = null, stack = null) {
  if (each.ended) return;
  Object.assign(each, {ended: true, status, message, stack});
  for (const cleanup of each.cleanups) {
    try { cleanup(); } catch (error) { complete(ERROR, `${each.name}: its cleanup failed: ${describe(error)}`); }
  }
  for (const callback of resultCallbacks) callback(each);
  // The rest of the scripts may have more tests: they are there when the next timer fires.
  setTimeout(completeIfDone, 0);
}

const fail = (each, error) => end(each, FAIL, describe(error), stackOf(error));

function complete(status, message = null, stack = null) {
  if (completed) return;
  completed = true;
  for (const each of tests) end(each, status === TIMEOUT && each.status === TIMEOUT ? TIMEOUT : NOTRUN);
  for (const callback of completionCallbacks) callback(tests, {status, message, stack});
}

// A worker says when there are no more tests, and a document when it is loaded.
let isReady = global.WorkerGlobalScope === undefined && global.document === undefined;
if (global.document !== undefined) global.addEventListener('load', done);
function done() {
  isReady = true;
  setTimeout(completeIfDone, 0);
}
function completeIfDone() {
  if (!isReady) return;
  if (tests.length === 0) complete(ERROR, 'the file has no tests');
  else if (tests.every(each => each.ended)) complete(OK);
}
setTimeout(completeIfDone, 0);

const contextOf = each => ({
  name: each.name,
  add_cleanup(callback) { each.cleanups.push(callback); },
  step_timeout: (callback, milliseconds, ...values) => setTimeout(() => {
    try { callback(...values); } catch (error) { fail(each, error); }
  }, milliseconds),
});

function test(body, name) {
  if (completed) return;
  const each = add(name);
  if (completed) return;
  try {
    body.call(undefined, contextOf(each));
    end(each, PASS);
  } catch (error) {
    fail(each, error);
  }
}

// These run one after the other, after the scripts.
function promise_test(body, name) {
  if (completed) return;
  const each = add(name);
  queue = queue.then(async () => {
    if (completed) return;
    each.status = TIMEOUT;  // what it is until it has ended
    try {
      const promise = body.call(undefined, contextOf(each));
      assert(typeof promise?.then === 'function', 'the body of a promise_test must return a promise');
      await promise;
      end(each, PASS);
    } catch (error) {
      fail(each, error);
    }
  });
}

function setup(...values) {
  // The properties of the real harness are about its own display and times.
  const body = values.find(each => typeof each === 'function');
  try { body?.(); } catch (error) { complete(ERROR, describe(error), stackOf(error)); }
}
// It ends before the first promise_test begins.
function promise_setup(body) {
  queue = queue.then(body).catch(error => complete(ERROR, describe(error), stackOf(error)));
}

global.addEventListener('error', ({message, error}) => complete(ERROR, message, stackOf(error)));
global.addEventListener('unhandledrejection', ({reason}) => complete(ERROR, `nobody handles a rejection: ${describe(reason)}`, stackOf(reason)));

// ---- Assertions

function format(value) {
  if (typeof value === 'string') return `"${value}"`;
  if (typeof value === 'bigint') return `${value}n`;
  if (Object.is(value, -0)) return '-0';
  if (typeof value === 'function') return `function "${value.name}"`;
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value) || ArrayBuffer.isView(value)) return `[${Array.from(value, format).join(', ')}]`;
  return Object.prototype.toString.call(value);
}

function assert(holds, what, description) {
  if (!holds) throw new AssertionError(description === undefined ? what : `${description}: ${what}`);
}

const assertions = {
  assert_true: (actual, description) => assert(actual === true, `expected true, got ${format(actual)}`, description),
  assert_false: (actual, description) => assert(actual === false, `expected false, got ${format(actual)}`, description),
  assert_equals: (actual, expected, description) =>
    assert(Object.is(actual, expected), `expected ${format(expected)}, got ${format(actual)}`, description),
  assert_not_equals: (actual, expected, description) => assert(!Object.is(actual, expected), `got ${format(actual)}`, description),
  assert_less_than: (actual, bound, description) => assert(actual < bound, `expected less than ${bound}, got ${format(actual)}`, description),
  assert_array_equals(actual, expected, description) {
    assert(typeof actual === 'object' && actual !== null && 'length' in actual, `expected an array, got ${format(actual)}`, description);
    const same = actual.length === expected.length && Array.from(expected).every((each, index) => Object.is(actual[index], each));
    assert(same, `expected ${format(expected)}, got ${format(actual)}`, description);
  },
  assert_array_approx_equals(actual, expected, epsilon, description) {
    assert(actual.length === expected.length, `expected ${format(expected)}, got ${format(actual)}`, description);
    const near = (one, other) => Object.is(one, other) || Math.abs(one - other) <= epsilon;
    const same = Array.from(expected).every((each, index) => near(actual[index], each));
    assert(same, `expected approximately ${format(expected)}, got ${format(actual)}`, description);
  },
  assert_own_property: (object, name, description) =>
    assert(Object.hasOwn(object, name), `expected the own property ${String(name)}`, description),
  assert_not_own_property: (object, name, description) =>
    assert(!Object.hasOwn(object, name), `has the own property ${String(name)}`, description),
  assert_unreached: description => assert(false, 'reached what must not be reached', description),
  assert_throws_js: (constructor, body, description) => expectJs(constructor, caught(body, description), description),
  // The constructor of another window's DOMException may stand before the function.
  assert_throws_dom(name, ...rest) {
    const [body, description] = rest[0].prototype instanceof Error ? rest.slice(1) : rest;
    expectDom(name, caught(body, description), description);
  },
  promise_rejects_js: (_, constructor, promise, description) =>
    rejection(promise, description).then(error => expectJs(constructor, error, description)),
  promise_rejects_dom: (_, name, promise, description) => rejection(promise, description).then(error => expectDom(name, error, description)),
};

function caught(body, description) {
  try {
    body();
  } catch (error) {
    return error;
  }
  return assert(false, 'it did not throw', description);
}

const rejection = (promise, description) => promise.then(() => assert(false, 'it was not rejected', description), error => error);

function expectJs(constructor, error, description) {
  const fits = error?.constructor === constructor && error.name === constructor.name;
  assert(fits, `expected a ${constructor.name}, got ${describe(error)}`, description);
}

const CODES = {DataCloneError: 25, NotSupportedError: 9, InvalidStateError: 11, SecurityError: 18};

function expectDom(name, error, description) {
  const fits = error?.constructor === global.DOMException && error.name === name;
  assert(fits, `expected a DOMException "${name}", got ${describe(error)}`, description);
  assertions.assert_equals(error.code, CODES[name] ?? 0, `${description ?? name}: code`);
}

Object.assign(global, assertions, {
  test, promise_test, promise_setup, setup, done,
  add_result_callback: callback => { resultCallbacks.push(callback); },
  add_completion_callback: callback => { completionCallbacks.push(callback); },
  timeout: () => complete(TIMEOUT),
});
})(self);
