// What testharness.js finds out goes to the host, as soon as it is known.
(function (global, emit) {
'use strict';
const {JSON} = global;
const STATUSES = ['PASS', 'FAIL', 'TIMEOUT', 'NOTRUN', 'PRECONDITION_FAILED'], HARNESS = ['OK', 'ERROR', 'TIMEOUT', 'PRECONDITION_FAILED'];
// Names and messages may be anything; reports are UTF-8.
const text = value => `${value ?? ''}`.toWellFormed();
global.add_result_callback(({name, status, message, stack}) => {
  const result = {name: `${name}`.toWellFormed(), status: STATUSES[status], message: text(message), stack: text(stack)};
  emit('subtest', JSON.stringify(result));
});
global.add_completion_callback((_, {status, message, stack}) => {
  emit('complete', JSON.stringify({status: HARNESS[status], message: text(message), stack: text(stack)}));
});
})
