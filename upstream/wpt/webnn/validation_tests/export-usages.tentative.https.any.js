// META: title=test WebNN API export-usages
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_validation.js

'use strict';

promise_test(async t => {
  const adapter = await navigator.gpu.requestAdapter();
  const device = await adapter.requestDevice();
  const mlContext = await navigator.ml.createContext(device);
  const descriptor =
      {dataType: 'float16', shape: [4], readable: true, writable: true};
  const data = new Uint16Array([0x3c00, 0x4000, 0x4200, 0x4400]);
  const create = usage =>
      mlContext.createExportableTensor(descriptor, device, usage);

  const usual =
      GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
  const usages =
      [undefined, usual, GPUBufferUsage.STORAGE | GPUBufferUsage.INDIRECT,
       GPUBufferUsage.VERTEX, GPUBufferUsage.MAP_READ];
  for (const usage of usages) {
    const buffer = await mlContext.exportToGPU(await create(usage));
    assert_equals(buffer.usage, usage ?? usual);
    buffer.destroy();
  }
}, 'createExportableTensor() gives the buffer the usage, or the default');

promise_test(async t => {
  const adapter = await navigator.gpu.requestAdapter();
  const device = await adapter.requestDevice();
  const mlContext = await navigator.ml.createContext(device);
  const descriptor =
      {dataType: 'float16', shape: [4], readable: true, writable: true};
  const data = new Uint16Array([0x3c00, 0x4000, 0x4200, 0x4400]);
  const create = usage =>
      mlContext.createExportableTensor(descriptor, device, usage);

  const tensor =
      await create(GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST);
  mlContext.writeTensor(tensor, data);
  const buffer = await mlContext.exportToGPU(tensor);
  await buffer.mapAsync(GPUMapMode.READ);
  assert_array_equals(new Uint16Array(buffer.getMappedRange()), data);
  buffer.destroy();
  assert_array_equals(
      new Uint16Array(await mlContext.readTensor(tensor)), data);
}, 'a buffer with MAP_READ can be read without a copy');

promise_test(async t => {
  const adapter = await navigator.gpu.requestAdapter();
  const device = await adapter.requestDevice();
  const mlContext = await navigator.ml.createContext(device);
  const descriptor =
      {dataType: 'float16', shape: [4], readable: true, writable: true};
  const data = new Uint16Array([0x3c00, 0x4000, 0x4200, 0x4400]);
  const create = usage =>
      mlContext.createExportableTensor(descriptor, device, usage);

  const usages =
      [0, 0x400, -1, GPUBufferUsage.MAP_READ | GPUBufferUsage.STORAGE,
       GPUBufferUsage.MAP_WRITE | GPUBufferUsage.COPY_DST];
  for (const usage of usages) {
    await promise_rejects_js(t, TypeError, create(usage));
  }
}, 'createExportableTensor() refuses a usage that no buffer can have');
