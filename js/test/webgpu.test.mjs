// Tensors on a GPUDevice of the program's own: Dawn's (npm's webgpu) where that and a driver are there, and a double of one everywhere.
import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import path from 'node:path';
import {test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {install} from 'webnn-emulator';

// As asynchronous as a device.
class Buffer {
  constructor({size}) { Object.assign(this, {size, bytes: new Uint8Array(size)}); }
  getMappedRange() { return this.bytes.buffer; }
  unmap() {}
  destroy() { this.bytes = undefined; }
  async mapAsync() {
    await new Promise(resolve => setTimeout(resolve));
    if (this.device.isLost) throw new Error('the device is lost');
  }
}
class GPUDevice {
  lost = new Promise(resolve => { this.lose = resolve; });
  queue = {submit: all => all.flat().forEach(run => run())};
  createBuffer(descriptor) {
    if (this.isFull) throw new RangeError('no memory');
    return Object.assign(new Buffer(descriptor), {device: this});
  }
  createCommandEncoder() {
    const commands = [];
    return {
      copyBufferToBuffer: (from, start, to, place, size) => commands.push(() => to.bytes.set(from.bytes.subarray(start, start + size), place)),
      finish: () => commands,
    };
  }
  destroy() {
    this.isLost = true;
    this.lose({reason: 'destroyed', message: 'destroy() was called'});
  }
}
const doubled = (device, buffer) => {
  const numbers = new Float32Array(buffer.bytes.buffer);
  numbers.set(numbers.map(each => 2 * each));
};

const SHADER = `@group(0) @binding(0) var<storage, read_write> data: array<f32>;
@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) place: vec3u) { data[place.x] = 2 * data[place.x]; }`;
function computed(device, buffer) {
  const pipeline = device.createComputePipeline({layout: 'auto', compute: {module: device.createShaderModule({code: SHADER})}});
  const group = device.createBindGroup({layout: pipeline.getBindGroupLayout(0), entries: [{binding: 0, resource: {buffer}}]});
  const encoder = device.createCommandEncoder(), pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, group);
  pass.dispatchWorkgroups(buffer.size / 4);
  pass.end();
  device.queue.submit([encoder.finish()]);
}

let dawn, reason;
async function requestDawn() {
  const adapter = await dawn.requestAdapter();
  return adapter.requestDevice();
}
try {
  const {create} = await import('webgpu');
  dawn = create([]);
  if (await dawn.requestAdapter() === null) reason = 'Dawn finds no driver of Vulkan, Metal or Direct3D 12';
} catch (error) { reason = `npm's webgpu is missing: ${error.code ?? error.message}`; }
const DEVICES = [
  ['a double', async () => new GPUDevice(), doubled, false],
  ['Dawn', requestDawn, computed, reason ?? false],
];

install({revision: '2026-09'});
const descriptor = {dataType: 'float32', shape: [2]}, usage = {...descriptor, readable: true, writable: true};
async function setUp(request) {
  const device = await request(), context = await navigator.ml.createContext(), builder = new MLGraphBuilder(context);
  const x = builder.input('x', descriptor), graph = await builder.build({y: builder.add(x, x)});
  const [tensor, other] = [await context.createExportableTensor(usage, device), await context.createExportableTensor(usage, device)];
  const write = (...numbers) => context.writeTensor(tensor, new Float32Array(numbers));
  const read = async of => [...new Float32Array(await context.readTensor(of))];
  const dispatch = () => context.dispatch(graph, {x: tensor}, {y: other});
  write(1, 3);
  return {device, context, tensor, other, write, read, dispatch};
}

for (const [name, request, double, skip] of DEVICES) {
  test(`${name}: the bytes go to the device and come back`, {skip}, async () => {
    const {device, context, tensor, other, read, dispatch} = await setUp(request), buffer = context.exportToGPU(tensor);
    assert.equal(buffer.size, 8);
    assert.equal(context.exportToGPU(tensor), buffer);
    assert.throws(dispatch, TypeError);
    double(device, buffer);
    buffer.destroy();
    buffer.destroy();
    dispatch();
    assert.deepEqual(await read(other), [4, 12]);
    assert.deepEqual(await read(tensor), [2, 6]);
    device.destroy();
  });

  test(`${name}: what is queued in the same turn`, {skip}, async () => {
    const {device, context, tensor, other, write, read, dispatch} = await setUp(request);
    for (let count = 0; count < 3; count++) {
      const buffer = context.exportToGPU(tensor);
      double(device, buffer);
      buffer.destroy();
    }
    dispatch();
    const results = [read(other)];
    write(7, 8);
    dispatch();
    results.push(read(other), read(tensor));
    assert.throws(() => context.writeTensor(tensor, new Float32Array(3)), TypeError);
    assert.throws(() => context.exportToGPU(other), {name: 'OperationError', message: /await something first/});
    assert.deepEqual(await Promise.all(results), [[16, 48], [14, 16], [7, 8]]);
    assert.equal(context.exportToGPU(other).size, 8);
    device.destroy();
  });

  test(`${name}: the device is lost`, {skip}, async () => {
    const {device, context, tensor, other} = await setUp(request);
    context.exportToGPU(other);
    context.exportToGPU(tensor).destroy();
    const pending = context.readTensor(tensor);
    device.destroy();
    await assert.rejects(pending, {name: 'InvalidStateError'});
    await device.lost;
    await new Promise(resolve => setTimeout(resolve));
    assert.throws(() => context.exportToGPU(other), {name: 'InvalidStateError'});
    await assert.rejects(context.createExportableTensor(usage, device), {name: 'InvalidStateError'});
  });

  test(`${name}: the context and the tensor end before the bytes come`, {skip}, async () => {
    for (const last of ['tensor', 'context']) {
      const made = await setUp(request), {device, context, tensor} = made;
      context.exportToGPU(tensor).destroy();
      const pending = context.readTensor(tensor);
      made[last].destroy();
      await assert.rejects(pending, {name: 'InvalidStateError'});
      await new Promise(resolve => setTimeout(resolve, 20));
      device.destroy();
    }
  });
}

test('a device without memory', async () => {
  const {device, context, tensor, read} = await setUp(async () => new GPUDevice());
  device.isFull = true;
  assert.throws(() => context.exportToGPU(tensor), {name: 'UnknownError', message: /no memory/});
  assert.deepEqual(await read(tensor), [1, 3]);
});

test('what is not a device', async () => {
  const {context} = await setUp(async () => new GPUDevice());
  for (const value of [{}, {createBuffer() {}}, null, 3]) await assert.rejects(context.createExportableTensor(usage, value), TypeError);
});

test('a program that never yields gets an error', async () => {
  const {context, tensor, write} = await setUp(async () => new GPUDevice());
  context.exportToGPU(tensor).destroy();
  assert.throws(() => { for (let count = 0; count < 2 ** 17; count++) write(1, 2); }, {name: 'OperationError', message: /await something first/});
});

test('a process ends while bytes are to come', async () => {
  const program = path.join(path.dirname(fileURLToPath(import.meta.url)), 'programs', 'exported.mjs');
  const [code] = await once(spawn(process.execPath, [program], {stdio: 'inherit'}), 'close');
  assert.equal(code, 3);
});
