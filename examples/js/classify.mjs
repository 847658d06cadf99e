// SqueezeNet 1.0 with real weights: what is on a photo? No document is needed: the pixels come as an array.
//
//     webnn run --root DIR examples/js/classify.mjs
//
// DIR holds squeezenet1.0_nhwc/ with weights.npz, labels.txt, photo_rgb_224.npy and expected_probabilities.npy, a browser's answer. The
// program's own folder need not be in DIR: a program may always read its own modules.
//
// examples/squeezenet.py is the same in Python.

import {readNpy, readNpz} from './numpy.mjs';

const FOLDER = 'squeezenet1.0_nhwc', TOLERANCE = 1e-5;

async function read(name) {
  const response = await fetch(`${FOLDER}/${name}`);
  if (!response.ok) throw new Error(`${FOLDER}/${name} must be in the folder that --root names: ${response.status} ${response.statusText}`);
  return new Uint8Array(await response.arrayBuffer());
}

/** Builds the network from its weights: <layer>_kernel, [output channels, height, width, input channels], and <layer>_Conv2D_bias. */
class SqueezeNet {
  constructor(context, weights) {
    this.builder = new MLGraphBuilder(context);
    this.weights = weights;
  }

  constant(name) {
    const {dataType, shape, data} = this.weights.get(name);
    return this.builder.constant({dataType, shape}, data);
  }

  /** A convolution with a bias, and a ReLU. */
  conv(input, name, options = {}) {
    const bias = this.constant(`${name}_Conv2D_bias`);
    return this.builder.relu(this.builder.conv2d(
        input, this.constant(`${name}_kernel`), {bias, inputLayout: 'nhwc', filterLayout: 'ohwi', ...options}));
  }

  /** A fire block: squeeze the channels, expand them with 1x1 and 3x3 filters, put both side by side. */
  fire(input, name) {
    const squeezed = this.conv(input, `${name}_squeeze`);
    const expanded = [this.conv(squeezed, `${name}_e1x1`), this.conv(squeezed, `${name}_e3x3`, {padding: [1, 1, 1, 1]})];
    return this.builder.concat(expanded, 3);
  }

  maxPool(input) {
    return this.builder.maxPool2d(input, {windowDimensions: [3, 3], strides: [2, 2], layout: 'nhwc'});
  }

  /** `input` is float32 [1, 224, 224, 3] from -1 to 1, `output` float32 [1, 1001]. */
  build() {
    const {builder} = this;
    let x = builder.input('input', {dataType: 'float32', shape: [1, 224, 224, 3]});
    // Padding "same" for a stride of 2: the odd row and column stand at the end.
    x = this.maxPool(this.conv(x, 'conv1', {padding: [2, 3, 2, 3], strides: [2, 2]}));
    for (const name of ['fire2', 'fire3', 'fire4']) x = this.fire(x, name);
    x = this.maxPool(x);
    for (const name of ['fire5', 'fire6', 'fire7', 'fire8']) x = this.fire(x, name);
    x = this.conv(this.fire(this.maxPool(x), 'fire9'), 'conv10');
    x = builder.averagePool2d(x, {windowDimensions: [13, 13], layout: 'nhwc'});
    return builder.build({output: builder.softmax(builder.reshape(x, [1, 1001]), 1)});
  }
}

const [weights, photo, labels, expected] = await Promise.all([
  read('weights.npz').then(readNpz), read('photo_rgb_224.npy').then(readNpy),
  read('labels.txt').then(bytes => new TextDecoder().decode(bytes).trimEnd().split('\n')),
  read('expected_probabilities.npy').then(readNpy),
]);
const context = await navigator.ml.createContext();
const graph = await new SqueezeNet(context, weights).build();

const input = Float32Array.from(photo.data, pixel => (pixel - 127.5) / 127.5);
const given = await context.createTensor({dataType: 'float32', shape: [1, 224, 224, 3], writable: true});
const found = await context.createTensor({dataType: 'float32', shape: [1, 1001], readable: true});
context.writeTensor(given, input);
context.dispatch(graph, {input: given}, {output: found});
const output = new Float32Array(await context.readTensor(found));

const best = [...output.keys()].sort((a, b) => output[b] - output[a]).slice(0, 3);
for (const index of best) console.log(`${output[index].toFixed(3)}  ${labels[index].trim()}`);
const difference = Math.max(...output.map((value, index) => Math.abs(value - expected.data[index])));
console.log(`largest difference from a browser's answer: ${difference.toExponential(1)} (at most ${TOLERANCE})`);
if (!(difference <= TOLERANCE)) {
  console.error('the answer differs too much');
  process.exitCode = 1;
}
