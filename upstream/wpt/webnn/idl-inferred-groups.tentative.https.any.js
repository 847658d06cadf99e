// META: title=test the IDL of WebNN API inferred-groups
// META: global=window
// META: variant=?cpu
// META: script=./resources/utils_validation.js

'use strict';

// What changes:
//
//     dictionary MLConv2dOptions : MLOperatorOptions {
//   -   [EnforceRange] unsigned long groups = 1;
//   +   [EnforceRange] unsigned long groups;
//     };
//     dictionary MLConvTranspose2dOptions : MLOperatorOptions {
//   -   [EnforceRange] unsigned long groups = 1;
//   +   [EnforceRange] unsigned long groups;
//     };

promise_test(async () => {
  assert_equals(typeof MLContext, 'function');
}, 'MLContext');
