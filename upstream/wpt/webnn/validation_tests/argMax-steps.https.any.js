// META: title=validation tests for WebNN API argMax, steps that no other file reaches
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
  assert_throws_with_label(
      () => builder.argMax(
        input1, 1, {outputDataType: 'uint8', label: 'argMax_xxx'}),
      new RegExp('\\[argMax_xxx\\]'));
}, '[argMax] Throw if outputDataType is not int32 or int64.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input1', {dataType: 'float32', shape: [2, 3]});
  assert_throws_with_label(
      () => builder.argMax(input1, 2, {label: 'argMax_xxx'}),
      new RegExp('\\[argMax_xxx\\]'));
}, '[argMax] Throw if there is no such axis.');
