// META: title=test the IDL of WebNN API exportable-tensors
// META: global=window
// META: variant=?cpu
// META: script=./resources/utils_validation.js

'use strict';

// What changes:
//
//     interface MLContext {
//   +   Promise<MLTensor> createExportableTensor(MLTensorDescriptor descriptor, GPUDevice gpuDevice);
//   +   GPUBuffer exportToGPU(MLTensor tensor);
//     };

const assertOperation = (interfaceName, name, length) => {
  const {prototype} = self[interfaceName];
  assert_own_property(prototype, name);
  const {value, writable, enumerable, configurable} =
      Object.getOwnPropertyDescriptor(prototype, name);
  assert_equals(typeof value, 'function');
  assert_equals(value.name, name);
  assert_equals(value.length, length, 'number of required arguments');
  assert_true(writable && enumerable && configurable);
};

promise_test(async () => {
  assertOperation('MLContext', 'createExportableTensor', 2);
}, 'MLContext: createExportableTensor');

promise_test(async () => {
  assertOperation('MLContext', 'exportToGPU', 1);
}, 'MLContext: exportToGPU');
