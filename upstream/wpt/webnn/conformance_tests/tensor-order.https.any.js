// META: title=test WebNN API order of writes, dispatches and reads
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_tensors.js

'use strict';

// https://www.w3.org/TR/webnn/#api-mlcontext-dispatch

context_test(async (t, context) => {
  const tensor = await context.createTensor(kReadWrite);
  const reads = [];
  for (let i = 0; i < 20; ++i) {
    context.writeTensor(tensor, new Float32Array(4).fill(i));
    reads.push(readNumbers(context, tensor));
  }
  const results = await Promise.all(reads);
  results.forEach(
      (numbers, i) => assert_array_equals(numbers, [i, i, i, i], `read ${i}`));
}, 'Each read returns what was written last before it.');

context_test(async (t, context) => {
  const graph = await buildDouble(context);
  const x = await createFilled(context, [1, 2, 3, 4]);
  const y = await context.createTensor(kReadWrite);
  context.dispatch(graph, {x}, {y});
  context.writeTensor(x, new Float32Array([5, 6, 7, 8]));
  const first = readNumbers(context, y);
  context.dispatch(graph, {x}, {y});
  const second = readNumbers(context, y);
  assert_array_equals(await first, [2, 4, 6, 8]);
  assert_array_equals(await second, [10, 12, 14, 16]);
}, 'A write after a dispatch does not change its results.');

context_test(async (t, context) => {
  const graph = await buildDouble(context);
  const x = await createFilled(context, [1, 2, 3, 4]);
  const y = await context.createTensor(kReadWrite);
  context.dispatch(graph, {x}, {y});
  context.writeTensor(y, new Float32Array([9, 9, 9, 9]));
  assert_array_equals(await readNumbers(context, y), [9, 9, 9, 9]);
}, 'A write after a dispatch replaces its results.');

context_test(async (t, context) => {
  const graph = await buildDouble(context);
  const x = await createFilled(context, [1, 2, 3, 4]);
  const y = await createFilled(context, [9, 9, 9, 9]);
  const before = readNumbers(context, y);
  context.dispatch(graph, {x}, {y});
  const after = readNumbers(context, y);
  assert_array_equals(await after, [2, 4, 6, 8]);
  assert_array_equals(await before, [9, 9, 9, 9]);
}, 'A read before a dispatch does not see its results.');

context_test(async (t, context) => {
  const tensor = await createFilled(context, [1, 2, 3, 4]);
  const ended = [];
  await Promise.all([0, 1, 2, 3, 4].map(
      i => context.readTensor(tensor).then(() => ended.push(i))));
  assert_array_equals(ended, [0, 1, 2, 3, 4]);
}, 'Reads of a tensor end in their order.');
