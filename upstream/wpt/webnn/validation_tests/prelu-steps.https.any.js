// META: title=validation tests for WebNN API prelu, steps that no other file reaches
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_validation.js

'use strict';

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input1', {dataType: 'float32', shape: [2, 3]});
  const input2 = builder.input('input2', {dataType: 'float32', shape: [2]});
  assert_throws_with_label(
      () => builder.prelu(input1, input2, {label: 'prelu_xxx'}),
      new RegExp('\\[prelu_xxx\\]'));
}, '[prelu] Throw if the slope cannot be broadcast to the input.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input1', {dataType: 'float32', shape: [2, 3]});
  const input2 = builder.input(
      'input2', {dataType: 'float32', shape: [4, 2, 2]});
  assert_throws_with_label(
      () => builder.prelu(input1, input2, {label: 'prelu_xxx'}),
      new RegExp('\\[prelu_xxx\\]'));
}, '[prelu] Throw if the slope has more dimensions than can be broadcast.');
