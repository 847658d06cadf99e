// META: title=validation tests for WebNN API logicalAnd, steps that no other file reaches
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_validation.js

'use strict';

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('input1', {dataType: 'float32', shape: [2]});
  const input2 = builder.input('input2', {dataType: 'float32', shape: [2]});
  assert_throws_with_label(
      () => builder.logicalAnd(
        input1, input2, {label: 'logicalAnd_xxx'}),
      new RegExp('\\[logicalAnd_xxx\\]'));
}, '[logicalAnd] Throw if a is not of data type uint8.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('input1', {dataType: 'uint8', shape: [2]});
  const input2 = builder.input('input2', {dataType: 'float32', shape: [2]});
  assert_throws_with_label(
      () => builder.logicalAnd(
        input1, input2, {label: 'logicalAnd_xxx'}),
      new RegExp('\\[logicalAnd_xxx\\]'));
}, '[logicalAnd] Throw if b is not of data type uint8.');
