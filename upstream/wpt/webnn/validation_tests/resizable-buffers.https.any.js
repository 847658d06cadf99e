// META: title=test WebNN API resizable buffers
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_tensors.js

'use strict';

// https://www.w3.org/TR/webnn/#api-mlcontext-writetensor

const makeResizable = () => new ArrayBuffer(16, {maxByteLength: 32});

context_test(async (t, context) => {
  const tensor = await context.createTensor(kReadWrite);
  assert_throws_js(
      TypeError, () => context.writeTensor(tensor, makeResizable()));
  assert_throws_js(
      TypeError,
      () => context.writeTensor(tensor, new Float32Array(makeResizable())));
}, '[writeTensor] Throw if the buffer is resizable.');

context_test(async (t, context) => {
  const tensor = await context.createTensor(kReadWrite);
  await promise_rejects_js(
      t, TypeError, context.readTensor(tensor, makeResizable()));
  await promise_rejects_js(
      t, TypeError,
      context.readTensor(tensor, new Float32Array(makeResizable())));
}, '[readTensor] Reject if the buffer is resizable.');

context_test(async (t, context) => {
  const builder = new MLGraphBuilder(context);
  assert_throws_js(
      TypeError, () => builder.constant(kDescriptor, makeResizable()));
  assert_throws_js(
      TypeError,
      () => builder.constant(kDescriptor, new Float32Array(makeResizable())));
}, '[constant] Throw if the buffer is resizable.');
