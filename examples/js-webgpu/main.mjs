// A shader and a graph compute on the same tensor, in Node: WebGPU is Dawn (npm's webgpu), WebNN is the emulator.
//
//   npm install && npm start
//
// Dawn needs a driver of Vulkan, Metal or Direct3D 12. One in software will do: Mesa's lavapipe.
import {create, globals} from 'webgpu';
import {install} from 'webnn-emulator';

Object.assign(globalThis, globals);
install({revision: '2026-09'});

// Dawn needs the object `gpu` as long as its devices live.
const gpu = create([]), adapter = await gpu.requestAdapter();
if (adapter === null) throw new Error('Dawn finds no driver of a GPU');
const device = await adapter.requestDevice(), context = await navigator.ml.createContext(device);

const descriptor = {dataType: 'float32', shape: [4]}, builder = new MLGraphBuilder(context);
const graph = await builder.build({y: builder.softmax(builder.input('x', descriptor), 0)});
const tensor = await context.createExportableTensor(descriptor, device);
const output = await context.createTensor({...descriptor, readable: true});

// The shader writes what the graph reads.
const code = `@group(0) @binding(0) var<storage, read_write> data: array<f32>;
@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) place: vec3u) { data[place.x] = log(f32(place.x + 1)); }`;
const pipeline = device.createComputePipeline({layout: 'auto', compute: {module: device.createShaderModule({code})}});
const buffer = context.exportToGPU(tensor);
const bindGroup = device.createBindGroup({layout: pipeline.getBindGroupLayout(0), entries: [{binding: 0, resource: {buffer}}]});
const encoder = device.createCommandEncoder(), pass = encoder.beginComputePass();
pass.setPipeline(pipeline);
pass.setBindGroup(0, bindGroup);
pass.dispatchWorkgroups(1);
pass.end();
device.queue.submit([encoder.finish()]);

// The tensor gets its numbers back. The graph waits for them, and the program does not.
buffer.destroy();
context.dispatch(graph, {x: tensor}, {y: output});
console.log(Array.from(new Float32Array(await context.readTensor(output)), each => each.toFixed(3)).join(' '));
device.destroy();
