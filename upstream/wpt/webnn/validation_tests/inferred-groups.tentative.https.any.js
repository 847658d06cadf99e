// META: title=test WebNN API inferred-groups
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_validation.js

'use strict';

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'x', {dataType: 'float32', shape: [1, 4, 2, 2]});
  const constant1 = builder.constant(
      {dataType: 'float32', shape: [3, 3, 1, 1]},
      new Float32Array([1, 2, 3, 4, 5, 6, 7, 8, 9]));
  assert_throws_js(
      TypeError, () => builder.conv2d(input1, constant1));
}, 'conv2d without groups: the filter divides the channels');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'x', {dataType: 'float32', shape: [1, 4, 2, 2]});
  const constant1 = builder.constant(
      {dataType: 'float32', shape: [3, 1, 1, 1]}, new Float32Array([1, 2, 3]));
  assert_throws_js(
      TypeError, () => builder.conv2d(input1, constant1));
}, 'conv2d without groups: the groups divide the output');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'x', {dataType: 'float32', shape: [1, 4, 2, 2]});
  const constant1 = builder.constant(
      {dataType: 'float32', shape: [4, 1, 1, 1]},
      new Float32Array([1, 2, 3, 4]));
  assert_throws_js(
      TypeError, () => builder.conv2d(input1, constant1, {groups: 2}));
}, 'conv2d with groups that do not fit');
