// META: title=validation tests for WebNN API scatterND, steps that no other file reaches
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_validation.js

'use strict';

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('input1', {dataType: 'float32', shape: [4]});
  const input2 = builder.input(
      'input2', {dataType: 'float32', shape: [2, 1]});
  const input3 = builder.input('input3', {dataType: 'float32', shape: [2]});
  assert_throws_with_label(
      () => builder.scatterND(
        input1, input2, input3, {label: 'scatterND_xxx'}),
      new RegExp('\\[scatterND_xxx\\]'));
}, '[scatterND] Throw if the indices are not of an integer type.');
