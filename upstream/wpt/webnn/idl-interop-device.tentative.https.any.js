// META: title=test the IDL of WebNN API interop-device
// META: global=window
// META: variant=?cpu
// META: script=./resources/utils_validation.js

'use strict';

// What changes:
//
//     dictionary MLContextOptions {
//   +   GPUDevice interopDevice;
//     };
//     interface ML {
//   -   Promise<MLContext> createContext(GPUDevice gpuDevice);
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
  assertOperation('ML', 'createContext', 0);
}, 'ML: createContext');
