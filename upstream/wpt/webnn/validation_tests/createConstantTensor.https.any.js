// META: title=validation tests for WebNN API MLContext.createConstantTensor()
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_tensors.js

'use strict';

// https://www.w3.org/TR/webnn/#api-mlcontext-createconstanttensor

const kData = new Float32Array(4);

context_test(async (t, context) => {
  context.destroy();
  await promise_rejects_dom(
      t, 'InvalidStateError',
      context.createConstantTensor(kDescriptor, kData));
}, '[createConstantTensor] Reject if the context is lost.');

context_test(async (t, context) => {
  const promise = context.createConstantTensor(kDescriptor, kData);
  context.destroy();
  await promise_rejects_dom(t, 'InvalidStateError', promise);
}, '[createConstantTensor] Reject if the context is lost meanwhile.');

for (const shape of [[0], [2, 0], [2 ** 32 - 1], [2 ** 31 - 1, 2 ** 31 - 1]]) {
  context_test(async (t, context) => {
    await promise_rejects_js(
        t, TypeError,
        context.createConstantTensor({dataType: 'float32', shape}, kData));
  }, `[createConstantTensor] Reject if the shape is [${shape}].`);
}

for (const length of [0, 3, 5]) {
  context_test(async (t, context) => {
    await promise_rejects_js(
        t, TypeError,
        context.createConstantTensor(kDescriptor, new Float32Array(length)));
  }, `[createConstantTensor] Reject if there are ${length} elements, not 4.`);
}

context_test(async (t, context) => {
  await promise_rejects_js(
      t, TypeError,
      context.createConstantTensor(kDescriptor, new Int32Array(4)));
}, '[createConstantTensor] Reject if the elements have another type.');

context_test(async (t, context) => {
  const array = new Float32Array(4);
  array.buffer.transfer();
  await promise_rejects_js(
      t, TypeError, context.createConstantTensor(kDescriptor, array));
}, '[createConstantTensor] Reject if the buffer is detached.');

context_test(async (t, context) => {
  const tensor = await context.createConstantTensor(kDescriptor, kData);
  assert_throws_js(TypeError, () => context.writeTensor(tensor, kData));
  await promise_rejects_js(t, TypeError, context.readTensor(tensor));
}, '[createConstantTensor] The tensor can be neither read nor written.');
