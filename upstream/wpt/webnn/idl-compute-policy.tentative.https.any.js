// META: title=test the IDL of WebNN API compute-policy
// META: global=window
// META: variant=?cpu
// META: script=./resources/utils_validation.js

'use strict';

// What changes:
//
//   - enum MLPowerPreference {
//   -   "default",
//   -   "high-performance",
//   -   "low-power",
//   - };
//     dictionary MLContextOptions {
//   -   MLPowerPreference powerPreference = "default";
//   -   boolean accelerated = true;
//   +   MLComputePolicy computePolicy = "default";
//     };
//     interface MLContext {
//   -   readonly attribute boolean accelerated;
//     };
//   + enum MLComputePolicy {
//   +   "default",
//   +   "high-performance",
//   +   "low-power",
//   +   "fallback",
//   + };

promise_test(async () => {
  assert_false('accelerated' in MLContext.prototype);
}, 'MLContext has no accelerated');
