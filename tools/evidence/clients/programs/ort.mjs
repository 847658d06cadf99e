// ONNX Runtime Web itself.
import * as ort from 'onnxruntime-web/all';
import {measure, noise} from './measure.mjs';

export default async function run(order) {
  const {device, base, model, wasm, inputs} = order;
  ort.env.wasm.numThreads = 1;
  if (wasm) ort.env.wasm.wasmPaths = wasm;
  const feeds = Object.fromEntries(Object.entries(inputs).map(([name, shape]) => [name, new ort.Tensor('float32', noise(shape.reduce((a, b) => a * b, 1)), shape)]));
  const bytes = new Uint8Array(await (await fetch(`${base}models/${model}.onnx`)).arrayBuffer());
  const freeDimensionOverrides = order.dims ?? {};
  const create = () => ort.InferenceSession.create(bytes, {executionProviders: [device === 'webnn' ? {name: 'webnn', deviceType: 'cpu'} : 'wasm'], freeDimensionOverrides});
  return measure(order, create, async session => Object.fromEntries(Object.entries(await session.run(feeds)).map(([name, {data}]) => [name, data])));
}
