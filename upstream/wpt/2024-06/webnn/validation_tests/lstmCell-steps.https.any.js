// META: title=validation tests for WebNN API lstmCell, steps that no other file reaches
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_validation.js

'use strict';

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input1', {dataType: 'float32', dimensions: [2, 4]});
  const input2 = builder.input(
      'input2', {dataType: 'float32', dimensions: [20, 4]});
  const input3 = builder.input(
      'input3', {dataType: 'float32', dimensions: [20, 5]});
  const input4 = builder.input(
      'input4', {dataType: 'float32', dimensions: [2, 5]});
  const input5 = builder.input(
      'input5', {dataType: 'float32', dimensions: [2, 5]});
  const input6 = builder.input(
      'input6', {dataType: 'float16', dimensions: [20]});
  assert_throws_js(
      TypeError, () => builder.lstmCell(
        input1, input2, input3, input4, input5, 5, {bias: input6}));
}, '[lstmCell] Throw if the data type of options.bias is not that of the input.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input1', {dataType: 'float32', dimensions: [2, 4]});
  const input2 = builder.input(
      'input2', {dataType: 'float32', dimensions: [20, 4]});
  const input3 = builder.input(
      'input3', {dataType: 'float32', dimensions: [20, 5]});
  const input4 = builder.input(
      'input4', {dataType: 'float32', dimensions: [2, 5]});
  const input5 = builder.input(
      'input5', {dataType: 'float32', dimensions: [2, 5]});
  const input6 = builder.input(
      'input6', {dataType: 'float32', dimensions: [19]});
  assert_throws_js(
      TypeError, () => builder.lstmCell(
        input1, input2, input3, input4, input5, 5, {bias: input6}));
}, '[lstmCell] Throw if the shape of options.bias does not fit.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input1', {dataType: 'float32', dimensions: [2, 4]});
  const input2 = builder.input(
      'input2', {dataType: 'float32', dimensions: [20, 4]});
  const input3 = builder.input(
      'input3', {dataType: 'float32', dimensions: [20, 5]});
  const input4 = builder.input(
      'input4', {dataType: 'float32', dimensions: [2, 5]});
  const input5 = builder.input(
      'input5', {dataType: 'float32', dimensions: [2, 5]});
  const input6 = builder.input(
      'input6', {dataType: 'float16', dimensions: [20]});
  assert_throws_js(
      TypeError, () => builder.lstmCell(
        input1, input2, input3, input4, input5, 5, {recurrentBias: input6}));
}, '[lstmCell] Throw if the data type of options.recurrentBias is not that of the input.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input1', {dataType: 'float32', dimensions: [2, 4]});
  const input2 = builder.input(
      'input2', {dataType: 'float32', dimensions: [20, 4]});
  const input3 = builder.input(
      'input3', {dataType: 'float32', dimensions: [20, 5]});
  const input4 = builder.input(
      'input4', {dataType: 'float32', dimensions: [2, 5]});
  const input5 = builder.input(
      'input5', {dataType: 'float32', dimensions: [2, 5]});
  const input6 = builder.input(
      'input6', {dataType: 'float32', dimensions: [19]});
  assert_throws_js(
      TypeError, () => builder.lstmCell(
        input1, input2, input3, input4, input5, 5, {recurrentBias: input6}));
}, '[lstmCell] Throw if the shape of options.recurrentBias does not fit.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input1', {dataType: 'float32', dimensions: [2, 4]});
  const input2 = builder.input(
      'input2', {dataType: 'float32', dimensions: [20, 4]});
  const input3 = builder.input(
      'input3', {dataType: 'float32', dimensions: [20, 5]});
  const input4 = builder.input(
      'input4', {dataType: 'float32', dimensions: [2, 5]});
  const input5 = builder.input(
      'input5', {dataType: 'float32', dimensions: [2, 5]});
  const input6 = builder.input(
      'input6', {dataType: 'float16', dimensions: [15]});
  assert_throws_js(
      TypeError, () => builder.lstmCell(
        input1, input2, input3, input4, input5, 5, {peepholeWeight: input6}));
}, '[lstmCell] Throw if the data type of options.peepholeWeight is not that of the input.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input1', {dataType: 'float32', dimensions: [2, 4]});
  const input2 = builder.input(
      'input2', {dataType: 'float32', dimensions: [20, 4]});
  const input3 = builder.input(
      'input3', {dataType: 'float32', dimensions: [20, 5]});
  const input4 = builder.input(
      'input4', {dataType: 'float32', dimensions: [2, 5]});
  const input5 = builder.input(
      'input5', {dataType: 'float32', dimensions: [2, 5]});
  const input6 = builder.input(
      'input6', {dataType: 'float32', dimensions: [14]});
  assert_throws_js(
      TypeError, () => builder.lstmCell(
        input1, input2, input3, input4, input5, 5, {peepholeWeight: input6}));
}, '[lstmCell] Throw if the shape of options.peepholeWeight does not fit.');
