// META: title=test the IDL of WebNN API low-precision
// META: global=window
// META: variant=?cpu
// META: script=./resources/utils_validation.js

'use strict';

// What changes:
//
//     enum MLOperandDataType {
//   +   "bfloat16",
//   +   "float8e4m3",
//     };

promise_test(async () => {
  assert_equals(typeof MLContext, 'function');
}, 'MLContext');
