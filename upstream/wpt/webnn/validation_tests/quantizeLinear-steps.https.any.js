// META: title=validation tests for WebNN API quantizeLinear, steps that no other file reaches
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_validation.js

'use strict';

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input1', {dataType: 'float32', shape: [2, 4]});
  const input2 = builder.input(
      'input2', {dataType: 'float32', shape: [2, 1]});
  const input3 = builder.input('input3', {dataType: 'uint8', shape: [1, 4]});
  assert_throws_with_label(
      () => builder.quantizeLinear(
        input1, input2, input3, {label: 'quantizeLinear_xxx'}),
      new RegExp('\\[quantizeLinear_xxx\\]'));
}, '[quantizeLinear] Throw if scale and zeroPoint have different shapes.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('input1', {dataType: 'float32', shape: [4]});
  const input2 = builder.input('input2', {dataType: 'float32', shape: [3]});
  const input3 = builder.input('input3', {dataType: 'uint8', shape: [3]});
  assert_throws_with_label(
      () => builder.quantizeLinear(
        input1, input2, input3, {label: 'quantizeLinear_xxx'}),
      new RegExp('\\[quantizeLinear_xxx\\]'));
}, '[quantizeLinear] Throw if the size of the input is not a multiple of the scale\'s.');
