// LiteRT.js: its accelerator "webnn" needs the build with JSPI.
import {Tensor, loadAndCompile, loadLiteRt} from '@litertjs/core';
import {measure, noise} from './measure.mjs';

export default async function run(order) {
  const {device, base, model} = order;
  await loadLiteRt(`${base}node_modules/@litertjs/core/wasm/`, {jspi: device === 'webnn'});
  const create = () => loadAndCompile(`${base}models/${model}.tflite`, {accelerator: device, webNNOptions: {deviceType: 'cpu'}});
  return measure(order, create, async compiled => {
    const inputs = compiled.getInputDetails().map(({shape}) => new Tensor(noise(shape.reduce((a, b) => a * b, 1)), [...shape]));
    const outputs = await compiled.run(inputs), found = {};
    for (const [index, output] of outputs.entries()) {
      const host = output.accelerator === 'wasm' ? output : await output.moveTo('wasm');
      found[`output ${index}`] = host.toTypedArray().slice();
    }
    for (const each of [...inputs, ...outputs]) each.delete?.();
    return found;
  });
}
