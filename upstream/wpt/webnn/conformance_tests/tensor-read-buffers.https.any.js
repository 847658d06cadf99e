// META: title=test WebNN API buffers that tensors are read into
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_tensors.js

'use strict';

// https://www.w3.org/TR/webnn/#api-mlcontext-readtensor-byob

context_test(async (t, context) => {
  const tensor = await createFilled(context, [1, 2, 3, 4]);
  const buffer = await context.readTensor(tensor);
  assert_true(buffer instanceof ArrayBuffer);
  assert_equals(buffer.byteLength, 16);
  new Float32Array(buffer).fill(0);
  assert_array_equals(await readNumbers(context, tensor), [1, 2, 3, 4]);
}, 'readTensor() returns a buffer that the tensor does not use.');

context_test(async (t, context) => {
  const tensor = await createFilled(context, [1, 2, 3, 4]);
  const [one, other] = await Promise.all(
      [context.readTensor(tensor), context.readTensor(tensor)]);
  assert_not_equals(one, other);
}, 'readTensor() returns another buffer each time.');

context_test(async (t, context) => {
  const tensor = await createFilled(context, [1, 2, 3, 4]);
  const array = new Float32Array(8).fill(9);
  const result = await context.readTensor(tensor, array.subarray(2, 6));
  assert_equals(result, undefined);
  assert_array_equals(array, [9, 9, 1, 2, 3, 4, 9, 9]);
}, 'readTensor() writes only to the part of a buffer that it is given.');

context_test(async (t, context) => {
  const tensor = await createFilled(context, [1, 2, 3, 4]);
  const buffer = new ArrayBuffer(16);
  await context.readTensor(tensor, buffer);
  assert_array_equals(new Float32Array(buffer), [1, 2, 3, 4]);
}, 'readTensor() writes to an ArrayBuffer.');

context_test(async (t, context) => {
  const tensor = await createFilled(context, [1, 2, 3, 4]);
  const array = new Float32Array(4);
  const promise = context.readTensor(tensor, array);
  context.writeTensor(tensor, new Float32Array([5, 6, 7, 8]));
  await promise;
  assert_array_equals(array, [1, 2, 3, 4]);
}, 'A write after a read does not reach the buffer of the read.');

context_test(async (t, context) => {
  const one = await createFilled(context, [1, 2, 3, 4]);
  const other = await createFilled(context, [5, 6, 7, 8]);
  const array = new Float32Array(8);
  await Promise.all([
    context.readTensor(one, array.subarray(0, 4)),
    context.readTensor(other, array.subarray(4))
  ]);
  assert_array_equals(array, [1, 2, 3, 4, 5, 6, 7, 8]);
}, 'Two tensors are read into one buffer.');

context_test(async (t, context) => {
  const tensor = await createFilled(context, [1, 2, 3, 4]);
  const array = new Float32Array(4);
  await Promise.all([
    context.readTensor(tensor, array), context.readTensor(tensor, array)
  ]);
  assert_array_equals(array, [1, 2, 3, 4]);
}, 'One buffer takes two reads at the same time.');
