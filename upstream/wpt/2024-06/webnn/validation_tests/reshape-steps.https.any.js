// META: title=validation tests for WebNN API reshape, steps that no other file reaches
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_validation.js

'use strict';

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input1', {dataType: 'float32', dimensions: [1]});
  assert_throws_js(
      TypeError, () => builder.reshape(input1, [1, 1, 1, 1, 1, 1, 1, 1, 1]));
}, '[reshape] Throw if the new shape has too many dimensions.');
