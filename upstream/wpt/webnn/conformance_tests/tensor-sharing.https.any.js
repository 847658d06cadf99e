// META: title=test WebNN API graphs that share tensors
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_tensors.js

'use strict';

// https://www.w3.org/TR/webnn/#api-mlcontext-dispatch

context_test(async (t, context) => {
  const double = await buildDouble(context);
  const sum = await buildSum(context);
  const [a, b] = await Promise.all(
      [createFilled(context, [1, 2, 3, 4]), createFilled(context, [0, 0, 0, 1])]);
  const [c, d] = await Promise.all(
      [context.createTensor(kReadWrite), context.createTensor(kReadWrite)]);
  context.dispatch(double, {x: a}, {y: c});
  context.dispatch(sum, {a: c, b}, {y: d});
  context.dispatch(double, {x: d}, {y: c});
  assert_array_equals(await readNumbers(context, c), [4, 8, 12, 18]);
  assert_array_equals(await readNumbers(context, d), [2, 4, 6, 9]);
}, 'The output of a graph is the input of the next one.');

context_test(async (t, context) => {
  const sum = await buildSum(context);
  const b = await createFilled(context, [1, 2, 3, 4]);
  let [from, to] = await Promise.all([
    createFilled(context, [0, 0, 0, 0]), context.createTensor(kReadWrite)
  ]);
  for (let i = 0; i < 100; ++i) {
    context.dispatch(sum, {a: from, b}, {y: to});
    [from, to] = [to, from];
  }
  assert_array_equals(await readNumbers(context, from), [100, 200, 300, 400]);
}, 'Two tensors take turns a hundred times.');

context_test(async (t, context) => {
  const double = await buildDouble(context);
  const x = await createFilled(context, [1, 2, 3, 4]);
  const outputs = await Promise.all(
      Array.from({length: 8}, () => context.createTensor(kReadWrite)));
  outputs.forEach(y => context.dispatch(double, {x}, {y}));
  for (const y of outputs) {
    assert_array_equals(await readNumbers(context, y), [2, 4, 6, 8]);
  }
  assert_array_equals(await readNumbers(context, x), [1, 2, 3, 4]);
}, 'One input gives many outputs, and stays as it is.');

context_test(async (t, context) => {
  const [double, again] =
      await Promise.all([buildDouble(context), buildDouble(context)]);
  const x = await createFilled(context, [1, 2, 3, 4]);
  const [y, z] = await Promise.all(
      [context.createTensor(kReadWrite), context.createTensor(kReadWrite)]);
  context.dispatch(double, {x}, {y});
  context.dispatch(again, {x: y}, {y: z});
  assert_array_equals(await readNumbers(context, z), [4, 8, 12, 16]);
}, 'Two graphs that were built at the same time compute one after the other.');

context_test(async (t, context) => {
  const otherContext = await createVariantContext();
  const [graph, otherGraph] =
      await Promise.all([buildDouble(context), buildSum(otherContext)]);
  const x = await createFilled(context, [1, 2, 3, 4]);
  const y = await context.createTensor(kReadWrite);
  const a = await createFilled(otherContext, [5, 6, 7, 8]);
  const b = await createFilled(otherContext, [1, 1, 1, 1]);
  const z = await otherContext.createTensor(kReadWrite);
  context.dispatch(graph, {x}, {y});
  otherContext.dispatch(otherGraph, {a, b}, {y: z});
  const results = await Promise.all(
      [readNumbers(context, y), readNumbers(otherContext, z)]);
  assert_array_equals(results[0], [2, 4, 6, 8]);
  assert_array_equals(results[1], [6, 7, 8, 9]);
}, 'Two contexts compute at the same time.');
