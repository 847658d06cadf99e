// META: title=validation tests for WebNN API MLContext that is lost
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_tensors.js

'use strict';

// https://www.w3.org/TR/webnn/#api-mlcontext-destroy

context_test(async (t, context) => {
  const builder = new MLGraphBuilder(context);
  const x = builder.input('x', kDescriptor);
  const promise = builder.build({y: builder.identity(x)});
  context.destroy();
  await promise_rejects_dom(t, 'InvalidStateError', promise);
}, '[destroy] A build that is pending is rejected.');

context_test(async (t, context) => {
  const promise = context.createTensor(kReadWrite);
  context.destroy();
  await promise_rejects_dom(t, 'InvalidStateError', promise);
}, '[destroy] A tensor that is pending is rejected.');

context_test(async (t, context) => {
  const builder = new MLGraphBuilder(context);
  const x = builder.input('x', kDescriptor);
  const y = builder.identity(x);
  context.destroy();
  await promise_rejects_dom(t, 'InvalidStateError', builder.build({y}));
}, '[destroy] A builder builds nothing afterwards.');

context_test(async (t, context) => {
  context.destroy();
  assert_throws_dom('InvalidStateError', () => new MLGraphBuilder(context));
}, '[destroy] There are no builders afterwards.');

context_test(async (t, context) => {
  context.destroy();
  await promise_rejects_dom(
      t, 'InvalidStateError', context.createTensor(kReadWrite));
}, '[destroy] There are no tensors afterwards.');

context_test(async (t, context) => {
  const graph = await buildDouble(context);
  const x = await createFilled(context, [1, 2, 3, 4]);
  const y = await context.createTensor(kReadWrite);
  context.destroy();
  assert_throws_dom(
      'InvalidStateError', () => context.dispatch(graph, {x}, {y}));
}, '[destroy] Graphs compute nothing afterwards.');

context_test(async (t, context) => {
  const tensor = await createFilled(context, [1, 2, 3, 4]);
  context.destroy();
  assert_throws_dom(
      'InvalidStateError',
      () => context.writeTensor(tensor, new Float32Array(4)));
  await promise_rejects_dom(
      t, 'InvalidStateError', context.readTensor(tensor));
}, '[destroy] Tensors are destroyed, too.');
