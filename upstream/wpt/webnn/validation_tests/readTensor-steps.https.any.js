// META: title=validation tests for WebNN API MLContext.readTensor()
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_tensors.js

'use strict';

// https://www.w3.org/TR/webnn/#api-mlcontext-readtensor

for (const [name, read] of Object.entries({
       'readTensor(tensor)': (context, tensor) => context.readTensor(tensor),
       'readTensor(tensor, outputData)': (context, tensor) =>
           context.readTensor(tensor, new Float32Array(4)),
     })) {
  context_test(async (t, context) => {
    const tensor = await context.createTensor({...kDescriptor, writable: true});
    await promise_rejects_js(t, TypeError, read(context, tensor));
  }, `[${name}] Reject if the tensor is not readable.`);

  context_test(async (t, context) => {
    const otherContext = await createVariantContext();
    const tensor = await otherContext.createTensor(kReadWrite);
    await promise_rejects_js(t, TypeError, read(context, tensor));
  }, `[${name}] Reject if the tensor is from another context.`);

  context_test(async (t, context) => {
    const tensor = await context.createTensor(kReadWrite);
    tensor.destroy();
    await promise_rejects_dom(t, 'InvalidStateError', read(context, tensor));
  }, `[${name}] Reject if the tensor is destroyed.`);

  context_test(async (t, context) => {
    const tensor = await context.createTensor(kReadWrite);
    const promise = read(context, tensor);
    context.destroy();
    await promise_rejects_dom(t, 'InvalidStateError', promise);
  }, `[${name}] Reject if the context is lost while the read is pending.`);
}

for (const length of [0, 3]) {
  context_test(async (t, context) => {
    const tensor = await context.createTensor(kReadWrite);
    await promise_rejects_js(
        t, TypeError, context.readTensor(tensor, new Float32Array(length)));
  }, `[readTensor] Reject if outputData has ${length} elements in place of 4.`);
}

context_test(async (t, context) => {
  const tensor = await createFilled(context, [1, 2, 3, 4]);
  const array = new Float32Array(4);
  const promise = context.readTensor(tensor, array);
  array.buffer.transfer();
  await promise_rejects_js(t, TypeError, promise);
}, '[readTensor] Reject if outputData is detached while the read is pending.');

context_test(async (t, context) => {
  const tensor = await createFilled(context, [1, 2, 3, 4]);
  const array = new Float32Array(4);
  array.buffer.transfer();
  await promise_rejects_js(t, TypeError, context.readTensor(tensor, array));
}, '[readTensor] Reject if outputData is detached.');
