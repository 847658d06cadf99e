// META: title=test WebNN API buffers of MLContext.compute()
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_compute.js

'use strict';

// https://www.w3.org/TR/webnn/#api-mlcontext-compute

context_test(async (t, context) => {
  const graph = await buildDouble(context);
  const [x, y] = [new Float32Array([1, 2, 3, 4]), new Float32Array(4)];
  const result = await context.compute(graph, {x}, {y});
  assert_equals(x.length, 0);
  assert_equals(y.length, 0);
  assert_array_equals(result.inputs.x, [1, 2, 3, 4]);
  assert_array_equals(result.outputs.y, [2, 4, 6, 8]);
}, 'compute() transfers the buffers, and returns them.');

context_test(async (t, context) => {
  const graph = await buildDouble(context);
  const [x, y] = [new Float32Array([1, 2, 3, 4]), new Float32Array(4)];
  const promise = context.compute(graph, {x}, {y});
  assert_equals(x.length, 0);
  assert_equals(y.length, 0);
  await promise;
}, 'The buffers are detached when compute() returns its promise.');

context_test(async (t, context) => {
  const graph = await buildDouble(context);
  let inputs = {x: new Float32Array([1, 2, 3, 4])};
  let outputs = {y: new Float32Array(4)};
  for (let i = 0; i < 10; ++i) {
    const result = await context.compute(graph, inputs, outputs);
    inputs = {x: result.outputs.y};
    outputs = {y: result.inputs.x};
  }
  assert_array_equals(inputs.x, [1024, 2048, 3072, 4096]);
}, 'The returned buffers can be passed on.');

context_test(async (t, context) => {
  const graph = await buildDouble(context);
  const buffer = new ArrayBuffer(32);
  const x = new Float32Array(buffer, 8, 4);
  x.set([1, 2, 3, 4]);
  const result =
      await context.compute(graph, {x}, {y: new Float32Array(4)});
  assert_equals(buffer.byteLength, 0);
  assert_equals(result.inputs.x.byteOffset, 8);
  assert_equals(result.inputs.x.length, 4);
  assert_equals(result.inputs.x.buffer.byteLength, 32);
  assert_array_equals(result.outputs.y, [2, 4, 6, 8]);
}, 'A view keeps its offset and length.');

context_test(async (t, context) => {
  const graph = await buildDouble(context);
  const results = await Promise.all([1, 2, 3].map(
      factor => context.compute(
          graph, {x: new Float32Array(4).fill(factor)},
          {y: new Float32Array(4)})));
  results.forEach(
      ({outputs}, i) =>
          assert_array_equals(outputs.y, new Float32Array(4).fill(2 * i + 2)));
}, 'Three computations of a graph at the same time.');
