// META: title=test WebNN API checked-descriptors
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_validation.js

'use strict';

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'weight', {dataType: 'float16', shape: [1, 384, 1]});
  const input2 = builder.input(
      'recurrentWeight', {dataType: 'float16', shape: [1, 384, 128]});
  const input3 = builder.input(
      'input', {dataType: 'float16', shape: [65536, 512, 1]});
  assert_throws_js(
      TypeError, () => builder.gru(input3, input1, input2, 65536, 128));
}, 'gru is refused for the outputs of all steps');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'weight', {dataType: 'float16', shape: [1, 384, 1]});
  const input2 = builder.input(
      'recurrentWeight', {dataType: 'float16', shape: [1, 384, 128]});
  const input3 = builder.input(
      'input', {dataType: 'float16', shape: [65536, 512, 1]});
  assert_throws_js(
      TypeError, () => builder.gru(
        input3, input1, input2, 65536, 128, {returnSequence: false}));
}, 'gru is refused for the outputs of all steps that are not returned');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'weight', {dataType: 'float16', shape: [1, 512, 1]});
  const input2 = builder.input(
      'recurrentWeight', {dataType: 'float16', shape: [1, 512, 128]});
  const input3 = builder.input(
      'input', {dataType: 'float16', shape: [65536, 512, 1]});
  assert_throws_js(
      TypeError, () => builder.lstm(input3, input1, input2, 65536, 128));
}, 'lstm is refused for the outputs of all steps');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'weight', {dataType: 'float16', shape: [1, 512, 1]});
  const input2 = builder.input(
      'recurrentWeight', {dataType: 'float16', shape: [1, 512, 128]});
  const input3 = builder.input(
      'input', {dataType: 'float16', shape: [65536, 512, 1]});
  assert_throws_js(
      TypeError, () => builder.lstm(
        input3, input1, input2, 65536, 128, {returnSequence: false}));
}, 'lstm is refused for the outputs of all steps that are not returned');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('a', {dataType: 'int8', shape: [1073741824]});
  const input2 = builder.input('b', {dataType: 'int8', shape: [1073741824]});
  assert_throws_js(
      TypeError, () => builder.concat([input1, input2], 0));
}, 'concat is refused for its output');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('a', {dataType: 'int8', shape: [1073741824]});
  assert_throws_js(
      TypeError, () => builder.pad(input1, [1073741824], [0]));
}, 'pad is refused for its output');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'x', {dataType: 'float16', shape: [1048576, 1, 1, 1]});
  assert_throws_js(
      TypeError, () => builder.maxPool2d(
        input1, {windowDimensions: [1, 1], padding: [0, 1024, 0, 1024]}));
}, 'maxPool2d is refused for its output');
