// What testharness.js finds out goes to the host, as soon as it is known.
(function (global, emit) {
'use strict';
const {JSON, WeakSet} = global;
const STATUSES = ['PASS', 'FAIL', 'TIMEOUT', 'NOTRUN', 'PRECONDITION_FAILED'], HARNESS = ['OK', 'ERROR', 'TIMEOUT', 'PRECONDITION_FAILED'];
// Names and messages may be anything; reports are UTF-8.
const text = value => `${value ?? ''}`.toWellFormed();
const told = new WeakSet(), TIMEOUT = 2;
function tell(test) {
  const {name, status, message, stack} = test;
  told.add(test);
  emit('subtest', JSON.stringify({name: `${name}`.toWellFormed(), status: STATUSES[status], message: text(message), stack: text(stack)}));
}
global.add_result_callback(tell);
global.add_completion_callback((tests, {status, message, stack}) => {
  // Those that have not ended when the time is over have no results of their own.
  if (status === TIMEOUT) for (const test of tests) if (!told.has(test)) tell(test);
  emit('complete', JSON.stringify({status: HARNESS[status], message: text(message), stack: text(stack)}));
});
})
