// META: title=validation tests for WebNN API concat, steps that no other file reaches
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_validation.js

'use strict';

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input1', {dataType: 'uint8', shape: [2147483647]});
  const input2 = builder.input('input2', {dataType: 'uint8', shape: [1]});
  assert_throws_with_label(
      () => builder.concat(
        [input1, input2], 0, {label: 'concat_xxx'}),
      new RegExp('\\[concat_xxx\\]'));
}, '[concat] Throw if the sizes along the axis add up to more than a dimension can be.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  assert_throws_with_label(
      () => builder.concat([], 0, {label: 'concat_xxx'}),
      new RegExp('\\[concat_xxx\\]'));
}, '[concat] Throw if there is no operand.');
