// META: title=test the IDL of WebNN API checked-descriptors
// META: global=window
// META: variant=?cpu
// META: script=./resources/utils_validation.js

'use strict';

// Nothing of the IDL changes.

promise_test(async () => {
  assert_equals(typeof MLContext, 'function');
}, 'MLContext');
