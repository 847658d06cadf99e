// Finds a person in a picture with LiteRT.js, on WebNN or in WebAssembly. The model is MediaPipe's, from a package of npm.
import {Tensor, loadAndCompile, loadLiteRt, unloadLiteRt} from '@litertjs/core';

const packages = new URL('node_modules/', import.meta.url).href, SIZE = 256;

// A picture of a person: shoulders, a neck, hair and a face, as ellipses before a wall.
const ELLIPSES = [
  [128, 275, 110, 105, [0.12, 0.15, 0.3]], [128, 165, 26, 40, [0.7, 0.5, 0.42]], [128, 88, 58, 68, [0.2, 0.13, 0.08]], [128, 105, 46, 62, [0.85, 0.64, 0.54]],
];
function draw() {
  const pixels = new Float32Array(SIZE * SIZE * 3);
  for (let y = 0; y < SIZE; y++) {
    for (let x = 0; x < SIZE; x++) {
      const found = ELLIPSES.findLast(([cx, cy, rx, ry]) => ((x - cx) / rx) ** 2 + ((y - cy) / ry) ** 2 < 1);
      const light = found === undefined ? 1 : 1 - 0.25 * ((x - 128) / 60) ** 2, colour = found?.[4] ?? [0.55 + 0.2 * y / SIZE, 0.6, 0.65];
      pixels.set(colour.map(each => Math.max(0, each * light)), 3 * (y * SIZE + x));
    }
  }
  return pixels;
}

// Return for each pixel how sure the model is that it belongs to a person. `accelerator` is "webnn" or "wasm".
export async function segment(accelerator) {
  // WebNN needs the build with promises in WebAssembly (JSPI).
  await loadLiteRt(`${packages}@litertjs/core/wasm/`, {jspi: accelerator === 'webnn'});
  const model = await loadAndCompile(`${packages}@mediapipe/selfie_segmentation/selfie_segmentation.tflite`, {accelerator, webNNOptions: {deviceType: 'cpu'}});
  const [output] = await model.run([new Tensor(draw(), [1, SIZE, SIZE, 3])]);
  const result = (output.accelerator === 'wasm' ? output : await output.moveTo('wasm')).toTypedArray().slice();
  unloadLiteRt();
  return result;
}

// Return the largest difference of two results.
export const distance = (a, b) => a.reduce((largest, value, index) => Math.max(largest, Math.abs(value - b[index])), 0);
