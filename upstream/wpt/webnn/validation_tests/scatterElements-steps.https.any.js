// META: title=validation tests for WebNN API scatterElements, steps that no other file reaches
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_validation.js

'use strict';

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('input1', {dataType: 'float32', shape: [4]});
  const input2 = builder.input('input2', {dataType: 'float32', shape: [2]});
  const input3 = builder.input('input3', {dataType: 'float32', shape: [2]});
  assert_throws_with_label(
      () => builder.scatterElements(
        input1, input2, input3, {axis: 0, label: 'scatterElements_xxx'}),
      new RegExp('\\[scatterElements_xxx\\]'));
}, '[scatterElements] Throw if the indices are not of an integer type.');
