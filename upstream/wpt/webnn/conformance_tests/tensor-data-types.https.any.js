// META: title=test WebNN API tensors of every data type
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_tensors.js

'use strict';

// https://www.w3.org/TR/webnn/#api-mlcontext-createtensor

const kBits = [0, 1, 0x7f, 0x80, 0xff, 0x3c, 0xc0, 0x7c];
const kSizes = {
  float32: 4,
  float16: 2,
  int32: 4,
  uint32: 4,
  int64: 8,
  uint64: 8,
  int8: 1,
  uint8: 1
};

for (const [dataType, size] of Object.entries(kSizes)) {
  context_test(async (t, context) => {
    assert_implements_optional(
        context.opSupportLimits().input.dataTypes.includes(dataType),
        `${dataType} is not supported`);
    const shape = [2, 1, 4];
    const tensor = await context.createTensor(
        {dataType, shape, readable: true, writable: true});
    assert_equals(tensor.dataType, dataType);
    assert_array_equals(tensor.shape, shape);
    const bytes = Uint8Array.from(
        {length: 8 * size}, (_, i) => kBits[(i * 3 + (i >> 3)) % 8]);
    context.writeTensor(tensor, bytes);
    assert_array_equals(
        new Uint8Array(await context.readTensor(tensor)), bytes);
  }, `A tensor keeps each bit of ${dataType}.`);

  context_test(async (t, context) => {
    assert_implements_optional(
        context.opSupportLimits().input.dataTypes.includes(dataType),
        `${dataType} is not supported`);
    const tensor = await context.createTensor(
        {dataType, shape: [3], readable: true, writable: true});
    assert_array_equals(
        new Uint8Array(await context.readTensor(tensor)),
        new Uint8Array(3 * size));
  }, `A new tensor of ${dataType} is all zeros.`);

  context_test(async (t, context) => {
    assert_implements_optional(
        context.opSupportLimits().input.dataTypes.includes(dataType),
        `${dataType} is not supported`);
    const tensor = await context.createTensor(
        {dataType, shape: [], readable: true, writable: true});
    assert_array_equals(tensor.shape, []);
    const bytes = Uint8Array.from({length: size}, (_, i) => kBits[i]);
    context.writeTensor(tensor, bytes);
    assert_array_equals(
        new Uint8Array(await context.readTensor(tensor)), bytes);
  }, `A scalar tensor of ${dataType} keeps its bits.`);
}
