// META: title=validation tests for WebNN API split, steps that no other file reaches
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_validation.js

'use strict';

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input1', {dataType: 'float32', dimensions: [4]});
  assert_throws_js(
      TypeError, () => builder.split(input1, 5, {axis: 0}));
}, '[split] Throw if there are more parts than the input has elements.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input1', {dataType: 'float32', dimensions: [4]});
  assert_throws_js(
      TypeError, () => builder.split(input1, [1, 1], {axis: 0}));
}, '[split] Throw if the lengths of the parts do not add up to the size.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input1', {dataType: 'float32', dimensions: [4]});
  assert_throws_js(
      TypeError, () => builder.split(input1, 0));
}, '[split] Throw if there is no part.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input1', {dataType: 'float32', dimensions: [4]});
  assert_throws_js(
      TypeError, () => builder.split(input1, [0, 4]));
}, '[split] Throw if the lengths of the parts are 0.');
