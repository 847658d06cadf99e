// META: title=many operands
// META: global=window,dedicatedworker,sharedworker,serviceworker
// META: script=resources/context.js
// META: timeout=long
'use strict';
promise_test(async () => {
  const values = await compute((builder, {x}) => ({y: builder.concat(Array(8192).fill(x), 0)}), {x: {data: Float32Array.of(3), type: FLOAT([1])}});
  assert_equals(values.y.length, 8192);
  assert_true(values.y.every(each => each === 3));
}, 'concat of 8,192');
promise_test(async () => {
  const builder = new MLGraphBuilder(context), x = builder.input('x', FLOAT([1]));
  assert_throws_js(TypeError, () => builder.concat(Array(8193).fill(x), 0));
  assert_throws_js(TypeError, () => builder.concat([], 0));
}, 'concat of 8,193, and of none');
promise_test(async () => {
  const builder = new MLGraphBuilder(context), x = builder.input('x', FLOAT([8193]));
  assert_equals(builder.split(builder.slice(x, [0], [8192]), 8192).length, 8192);
  assert_throws_js(TypeError, () => builder.split(x, 8193));
  assert_throws_js(TypeError, () => builder.split(x, Array(8193).fill(1)));
}, 'split into 8,192 and 8,193');
