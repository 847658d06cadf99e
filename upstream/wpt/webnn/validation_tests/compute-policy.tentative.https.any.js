// META: title=test WebNN API compute-policy
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_validation.js

'use strict';

promise_test(async t => {
  for (const computePolicy of ['default', 'high-performance', 'low-power', 'fallback']) {
    assert_true(await navigator.ml.createContext({computePolicy}) instanceof MLContext);
  }
}, 'createContext() takes each computePolicy');

promise_test(async t => {
  await promise_rejects_js(
      t, TypeError, navigator.ml.createContext({computePolicy: 'fast'}));
}, 'createContext() refuses another computePolicy');
