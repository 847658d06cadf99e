// META: title=test WebNN API window-limits
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_validation.js

'use strict';

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const constant1 = builder.constant(
      {dataType: 'float32', shape: [1, 1, 2, 2]},
      new Float32Array([1, 1, 1, 1]));
  const input1 = builder.input(
      'x', {dataType: 'float32', shape: [1, 1, 5, 5]});
  assert_throws_js(
      TypeError, () => builder.conv2d(input1, constant1, {strides: [1, 6]}));
}, 'conv2d strides, too large');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const constant1 = builder.constant(
      {dataType: 'float32', shape: [1, 1, 2, 2]},
      new Float32Array([1, 1, 1, 1]));
  const input1 = builder.input(
      'x', {dataType: 'float32', shape: [1, 1, 5, 5]});
  assert_throws_js(
      TypeError, () => builder.conv2d(
        input1, constant1, {strides: [7, 5], padding: [1, 0, 0, 0]}));
}, 'conv2d strides in padding, too large');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const constant1 = builder.constant(
      {dataType: 'float32', shape: [1, 1, 2, 2]},
      new Float32Array([1, 1, 1, 1]));
  const input1 = builder.input(
      'x', {dataType: 'float32', shape: [1, 1, 5, 5]});
  assert_throws_js(
      TypeError, () => builder.conv2d(input1, constant1, {dilations: [5, 1]}));
}, 'conv2d dilations, too large');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'x', {dataType: 'float32', shape: [1, 1, 5, 5]});
  assert_throws_js(
      TypeError, () => builder.maxPool2d(input1, {strides: [6, 1]}));
}, 'maxPool2d strides, too large');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'x', {dataType: 'float32', shape: [1, 1, 5, 5]});
  assert_throws_js(
      TypeError, () => builder.maxPool2d(
        input1, {windowDimensions: [1, 1], dilations: [6, 1]}));
}, 'maxPool2d dilations of a window of one element, too large');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'x', {dataType: 'float32', shape: [1, 1, 5, 5]});
  assert_throws_js(
      TypeError, () => builder.maxPool2d(
        input1, {windowDimensions: [2, 2], padding: [0, 0, 2, 0]}));
}, 'maxPool2d padding, too large');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'x', {dataType: 'float32', shape: [1, 1, 5, 5]});
  assert_throws_js(
      TypeError, () => builder.averagePool2d(
        input1,
        {
          windowDimensions: [6, 5],
          strides: [2, 2],
          outputShapeRounding: 'ceil'
        }));
}, 'averagePool2d window that is larger than the input, too large');
