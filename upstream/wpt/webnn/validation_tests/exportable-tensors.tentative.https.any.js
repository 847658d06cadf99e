// META: title=test WebNN API exportable-tensors
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
  const tensor = await mlContext.createExportableTensor(descriptor, device);
  const data = new Uint16Array([0x3c00, 0x4000, 0x4200, 0x4400]);
  mlContext.writeTensor(tensor, data);

  const buffer = mlContext.exportToGPU(tensor);
  assert_equals(buffer.size, 8);
  assert_equals(
      buffer.usage,
      GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST);
  const copy = device.createBuffer(
      {size: 8, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ});
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(buffer, 0, copy, 0, 8);
  device.queue.submit([encoder.finish()]);
  await copy.mapAsync(GPUMapMode.READ);
  assert_array_equals(new Uint16Array(copy.getMappedRange()), data);
  device.queue.writeBuffer(buffer, 4, new Uint16Array([0, 0x3800]));
  buffer.destroy();
  assert_array_equals(
      new Uint16Array(await mlContext.readTensor(tensor)),
      [0x3c00, 0x4000, 0, 0x3800]);
}, 'exportToGPU() waits for the work before it, and its buffer returns the bytes');

promise_test(async t => {
  const adapter = await navigator.gpu.requestAdapter();
  const device = await adapter.requestDevice();
  const mlContext = await navigator.ml.createContext(device);
  const descriptor =
      {dataType: 'float16', shape: [4], readable: true, writable: true};
  const tensor = await mlContext.createExportableTensor(descriptor, device);
  const data = new Uint16Array([0x3c00, 0x4000, 0x4200, 0x4400]);
  mlContext.writeTensor(tensor, data);

  const other = await mlContext.createTensor(descriptor);
  const builder = new MLGraphBuilder(mlContext);
  const graph = await builder.build(
      {y: builder.relu(builder.input('x', descriptor))});
  const buffer = mlContext.exportToGPU(tensor);
  assert_throws_js(TypeError, () => mlContext.writeTensor(tensor, data));
  assert_throws_js(
      TypeError, () => mlContext.dispatch(graph, {x: tensor}, {y: other}));
  assert_throws_js(
      TypeError, () => mlContext.dispatch(graph, {x: other}, {y: tensor}));
  await promise_rejects_js(t, TypeError, mlContext.readTensor(tensor));
  assert_equals(mlContext.exportToGPU(tensor), buffer);
  buffer.destroy();
  mlContext.dispatch(graph, {x: tensor}, {y: other});
  assert_array_equals(new Uint16Array(await mlContext.readTensor(other)), data);
}, 'WebNN cannot use a tensor that is exported');

promise_test(async t => {
  const adapter = await navigator.gpu.requestAdapter();
  const device = await adapter.requestDevice();
  const mlContext = await navigator.ml.createContext(device);
  const descriptor =
      {dataType: 'float16', shape: [4], readable: true, writable: true};
  const tensor = await mlContext.createExportableTensor(descriptor, device);
  const data = new Uint16Array([0x3c00, 0x4000, 0x4200, 0x4400]);
  mlContext.writeTensor(tensor, data);

  const other = await navigator.ml.createContext(device);
  assert_throws_js(TypeError, () => other.exportToGPU(tensor));
  const plain = await mlContext.createTensor(descriptor);
  assert_throws_js(TypeError, () => mlContext.exportToGPU(plain));
}, 'exportToGPU() refuses tensors that are not exportable or of another context');

promise_test(async t => {
  const adapter = await navigator.gpu.requestAdapter();
  const device = await adapter.requestDevice();
  const mlContext = await navigator.ml.createContext(device);
  const descriptor =
      {dataType: 'float16', shape: [4], readable: true, writable: true};
  const tensor = await mlContext.createExportableTensor(descriptor, device);
  const data = new Uint16Array([0x3c00, 0x4000, 0x4200, 0x4400]);
  mlContext.writeTensor(tensor, data);

  const gone = await mlContext.createExportableTensor(descriptor, device);
  gone.destroy();
  assert_throws_dom('InvalidStateError', () => mlContext.exportToGPU(gone));
  device.destroy();
  assert_throws_dom('InvalidStateError', () => mlContext.exportToGPU(tensor));
  await promise_rejects_dom(
      t, 'InvalidStateError',
      mlContext.createExportableTensor(descriptor, device));
  assert_array_equals(
      new Uint16Array(await mlContext.readTensor(tensor)), data);
}, 'exportToGPU() refuses a tensor that is destroyed, and a device that is');
