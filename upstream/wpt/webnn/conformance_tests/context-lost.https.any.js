// META: title=test WebNN API MLContext.lost
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_tensors.js

'use strict';

// https://www.w3.org/TR/webnn/#api-mlcontext-lost

context_test(async (t, context) => {
  assert_true(context.lost instanceof Promise);
  assert_equals(context.lost, context.lost);
  const first = await Promise.race([context.lost, Promise.resolve('pending')]);
  assert_equals(first, 'pending');
}, 'lost is one promise, and pending while the context can be used.');

context_test(async (t, context) => {
  const {lost} = context;
  assert_equals(context.destroy(), undefined);
  const info = await lost;
  assert_equals(typeof info.message, 'string');
  assert_equals(context.lost, lost);
}, 'destroy() resolves lost with a message.');

context_test(async (t, context) => {
  context.destroy();
  context.destroy();
  const info = await context.lost;
  assert_equals(typeof info.message, 'string');
}, 'destroy() can be called again.');

context_test(async (t, context) => {
  const otherContext = await createVariantContext();
  const graph = await buildDouble(otherContext);
  const x = await createFilled(otherContext, [1, 2, 3, 4]);
  const y = await otherContext.createTensor(kReadWrite);
  context.destroy();
  await context.lost;
  otherContext.dispatch(graph, {x}, {y});
  assert_array_equals(await readNumbers(otherContext, y), [2, 4, 6, 8]);
  const first =
      await Promise.race([otherContext.lost, Promise.resolve('pending')]);
  assert_equals(first, 'pending');
}, 'Other contexts are not lost.');

context_test(async (t, context) => {
  const tensor = await createFilled(context, [1, 2, 3, 4]);
  const ended = [];
  const read = context.readTensor(tensor).catch(() => ended.push('read'));
  const lost = context.lost.then(() => ended.push('lost'));
  context.destroy();
  await Promise.all([read, lost]);
  assert_array_equals(ended.sort(), ['lost', 'read']);
}, 'A pending read ends, and lost is resolved.');

context_test(async (t, context) => {
  const graph = await buildDouble(context);
  const tensor = await createFilled(context, [1, 2, 3, 4]);
  context.destroy();
  await context.lost;
  assert_equals(graph.destroy(), undefined);
  assert_equals(tensor.destroy(), undefined);
}, 'Graphs and tensors of a lost context can be destroyed.');
