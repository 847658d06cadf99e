// META: title=validation tests for WebNN API MLContext.writeTensor()
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_tensors.js

'use strict';

// https://www.w3.org/TR/webnn/#api-mlcontext-writetensor

context_test(async (t, context) => {
  const tensor = await context.createTensor({...kDescriptor, readable: true});
  assert_throws_js(
      TypeError, () => context.writeTensor(tensor, new Float32Array(4)));
}, '[writeTensor] Throw if the tensor is not writable.');

context_test(async (t, context) => {
  const otherContext = await createVariantContext();
  const tensor = await otherContext.createTensor(kReadWrite);
  assert_throws_js(
      TypeError, () => context.writeTensor(tensor, new Float32Array(4)));
}, '[writeTensor] Throw if the tensor is from another context.');

context_test(async (t, context) => {
  const tensor = await context.createTensor(kReadWrite);
  tensor.destroy();
  assert_throws_dom(
      'InvalidStateError',
      () => context.writeTensor(tensor, new Float32Array(4)));
}, '[writeTensor] Throw if the tensor is destroyed.');

for (const length of [0, 3, 5]) {
  context_test(async (t, context) => {
    const tensor = await context.createTensor(kReadWrite);
    assert_throws_js(
        TypeError, () => context.writeTensor(tensor, new Float32Array(length)));
    assert_throws_js(
        TypeError,
        () => context.writeTensor(tensor, new ArrayBuffer(4 * length)));
  }, `[writeTensor] Throw if there are ${length} elements in place of 4.`);
}

context_test(async (t, context) => {
  const tensor = await createFilled(context, [1, 2, 3, 4]);
  const array = new Float32Array(4);
  array.buffer.transfer();
  assert_throws_js(TypeError, () => context.writeTensor(tensor, array));
  assert_throws_js(TypeError, () => context.writeTensor(tensor, array.buffer));
  assert_array_equals(await readNumbers(context, tensor), [1, 2, 3, 4]);
}, '[writeTensor] Throw if the buffer is detached, and write nothing.');
