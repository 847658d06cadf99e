// META: title=test WebNN API zero-size
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_validation.js

'use strict';

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('x', {dataType: 'float32', shape: [0, 3]});
  assert_throws_js(
      TypeError, () => builder.argMax(input1, 0));
}, 'argMax chooses between elements');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'x', {dataType: 'float32', shape: [1, 1, 0, 3]});
  assert_throws_js(
      TypeError, () => builder.maxPool2d(input1));
}, 'maxPool2d needs pixels');
