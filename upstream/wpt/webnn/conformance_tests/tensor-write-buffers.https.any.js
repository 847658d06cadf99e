// META: title=test WebNN API buffers that are written to tensors
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_tensors.js

'use strict';

// https://www.w3.org/TR/webnn/#api-mlcontext-writetensor

const kNumbers = new Float32Array([1, -2, 0.5, 4]);

const buffers = {
  'an ArrayBuffer': () => kNumbers.slice().buffer,
  'a Float32Array': () => kNumbers.slice(),
  'a Uint8Array with the bytes': () => new Uint8Array(kNumbers.slice().buffer),
  'a part of a larger buffer': () => {
    const array = new Float32Array(9);
    array.set(kNumbers, 3);
    return array.subarray(3, 7);
  },
  'a Uint8Array at an odd offset': () => {
    const bytes = new Uint8Array(19);
    bytes.set(new Uint8Array(kNumbers.slice().buffer), 3);
    return bytes.subarray(3);
  },
};

for (const [name, make] of Object.entries(buffers)) {
  context_test(async (t, context) => {
    const tensor = await context.createTensor(kReadWrite);
    context.writeTensor(tensor, make());
    assert_array_equals(await readNumbers(context, tensor), [1, -2, 0.5, 4]);
  }, `writeTensor() writes the bytes of ${name}.`);

  context_test(async (t, context) => {
    const tensor = await context.createTensor(kReadWrite);
    const buffer = make();
    context.writeTensor(tensor, buffer);
    const {byteOffset = 0, byteLength} = buffer;
    new Uint8Array(buffer.buffer ?? buffer, byteOffset, byteLength).fill(0);
    assert_array_equals(await readNumbers(context, tensor), [1, -2, 0.5, 4]);
  }, `writeTensor() copies ${name} before it returns.`);

  context_test(async (t, context) => {
    const tensor = await context.createTensor(kReadWrite);
    const buffer = make();
    context.writeTensor(tensor, buffer);
    (buffer.buffer ?? buffer).transfer();
    assert_array_equals(await readNumbers(context, tensor), [1, -2, 0.5, 4]);
  }, `writeTensor() needs ${name} no longer than it runs.`);
}

context_test(async (t, context) => {
  const tensor = await context.createTensor(kReadWrite);
  const array = kNumbers.slice();
  context.writeTensor(tensor, array);
  assert_equals(array.byteLength, 16);
  assert_array_equals(array, [1, -2, 0.5, 4]);
}, 'writeTensor() neither detaches nor changes its buffer.');
