// Which subtests of a file run, and how: `test` and `promise_test` of testharness.js are replaced by functions that look at the name first.
//
// `wanted` are parts of names in lower case; a subtest whose name has none of them does not run, if there are any. With `names`, no subtest
// runs, and the names are told in their place. With `pause`, a debugger stops before each subtest. An `async_test` runs in any case: the file
// needs the object that it returns.
(function (global, emit, options) {
'use strict';
const {JSON, Reflect} = global, {wanted, names, pause, placeholder} = options;
const matches = name => wanted.length === 0 || wanted.some(part => `${name}`.toLowerCase().includes(part));

// A file without any test is an error for the harness.
let isEmpty = true;
function skip() {
  if (isEmpty) original.test(() => {}, placeholder);
  isEmpty = false;
}

// The harness describes what a promise was rejected with, but not where that was made.
function noteRejection(error) {
  try { if (error?.stack) emit('rejected', JSON.stringify(`${error.stack}`.toWellFormed())); } catch { /* it has no such stack */ }
}
function prepare(body, isPromise) {
  return function (...values) {
    if (pause) debugger; // the next step leads into the subtest
    const result = Reflect.apply(body, this, values);
    if (isPromise && typeof result?.then === 'function') result.then(undefined, noteRejection);
    return result;
  };
}

const original = {};
for (const kind of ['test', 'promise_test']) {
  original[kind] = global[kind];
  global[kind] = function (body, name, ...rest) {
    if (!matches(name)) return skip();
    if (names) {
      emit('name', JSON.stringify(`${name}`.toWellFormed()));
      return skip();
    }
    // The harness makes the name of a subtest that has none from the text of its function.
    const prepared = typeof body === 'function' && name !== undefined ? prepare(body, kind === 'promise_test') : body;
    return Reflect.apply(original[kind], this, [prepared, name, ...rest]);
  };
}
})
