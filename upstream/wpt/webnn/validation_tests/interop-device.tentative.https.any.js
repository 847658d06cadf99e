// META: title=test WebNN API interop-device
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_validation.js

'use strict';

promise_test(async t => {
  const adapter = await navigator.gpu.requestAdapter();
  const device = await adapter.requestDevice();
  const descriptor =
      {dataType: 'float16', shape: [4], readable: true, writable: true};
  for (const powerPreference of ['default', 'high-performance', 'low-power']) {
    const mlContext = await navigator.ml.createContext(
        {powerPreference, interopDevice: device});
    const tensor = await mlContext.createExportableTensor(descriptor, device);
    const buffer = await mlContext.exportToGPU(tensor);
    assert_equals(buffer.size, 8);
    buffer.destroy();
    const other = await adapter.requestDevice();
    await promise_rejects_js(
        t, TypeError, mlContext.createExportableTensor(descriptor, other));
  }
}, 'createContext() takes an interopDevice with other options, and exports to it');

promise_test(async t => {
  for (const interopDevice of [1, 'gpu', {}, null, navigator.gpu]) {
    await promise_rejects_js(
        t, TypeError, navigator.ml.createContext({interopDevice}));
  }
}, 'createContext() refuses an interopDevice that is something else');

promise_test(async t => {
  const adapter = await navigator.gpu.requestAdapter();
  const device = await adapter.requestDevice();
  // A GPUDevice is a dictionary without members.
  assert_true(await navigator.ml.createContext(device) instanceof MLContext);
  await promise_rejects_js(
      t, TypeError,
      navigator.ml.createContext(
          {get interopDevice() { throw new TypeError('read'); }}));
}, 'createContext() takes nothing but options');
