// META: title=validation tests for WebNN API equal, steps that no other file reaches
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_validation.js

'use strict';

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input1', {dataType: 'float32', dimensions: [2]});
  const input2 = builder.input(
      'input2', {dataType: 'float16', dimensions: [2]});
  assert_throws_js(
      TypeError, () => builder.equal(input1, input2));
}, '[equal] Throw if the operands have different data types.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input1', {dataType: 'float32', dimensions: [2]});
  const input2 = builder.input(
      'input2', {dataType: 'float32', dimensions: [3]});
  assert_throws_js(
      TypeError, () => builder.equal(input1, input2));
}, '[equal] Throw if the operands cannot be broadcast.');
