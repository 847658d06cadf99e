// A page beside the browser's own WebNN: `sessions.mjs PART ROUNDS`. Each round is a document of its own, so that nothing is known of the calls.
// It reports the seconds of each round, and the last result, as JSON. A part makes a function that does the work, and returns how to read the
// result. The work of most parts is to make a session: constants, a builder's calls and builds.
const float32 = shape => ({dataType: 'float32', shape});
const NOISE = new Float32Array(1 << 18).map((_, index) => ((index * 37) % 101 - 50) / 3200), weights = size => NOISE.subarray(0, size);
const now = () => performance.now();

async function makeContext() {
  const context = await navigator.ml.createContext();
  // The first call of a page, and its connections, are not what is measured.
  const builder = new MLGraphBuilder(context);
  await builder.build({y: builder.relu(builder.input('x', float32([3])))});
  return context;
}
async function compute(context, graph, inputs, size) {
  const given = {}, y = await context.createTensor({...float32(size), readable: true});
  for (const [name, shape] of Object.entries(inputs)) {
    given[name] = await context.createTensor({...float32(shape), writable: true});
    context.writeTensor(given[name], weights(shape.reduce((a, b) => a * b, 1)));
  }
  const once = async () => { context.dispatch(graph, given, {y}); return new Float32Array(await context.readTensor(y)); };
  return {once, given, y};
}

// Constants of a size, each with its own shape: 16 sums of a value and a constant.
async function constants(bytes) {
  const context = await makeContext(), columns = bytes >> 8, data = weights(bytes >> 2);
  const started = now(), builder = new MLGraphBuilder(context);
  let value = builder.input('x', float32([1, 1]));
  for (let index = 0; index < 16; index++) {
    const shape = [[64, columns], [columns, 64], [columns >> 1, 128], [128, columns >> 1]][index % 4];
    const each = builder.constant(float32(shape), data);
    value = builder.add(value, builder.reduceMean(each, {keepDimensions: true}));
  }
  const graph = await builder.build({y: value});
  return [now() - started, async () => (await compute(context, graph, {x: [1, 1]}, [1, 1])).once()];
}
// 60 casts, each of a constant with a shape of its own.
async function casts() {
  const context = await makeContext(), started = now(), builder = new MLGraphBuilder(context);
  let value = builder.input('x', float32([1]));
  for (let size = 2; size < 62; size++) {
    const constant = builder.constant({dataType: 'int32', shape: [size]}, new Int32Array(size).fill(size));
    value = builder.add(value, builder.reduceMean(builder.cast(constant, 'float32'), {keepDimensions: true}));
  }
  const graph = await builder.build({y: value});
  return [now() - started, async () => (await compute(context, graph, {x: [1]}, [1])).once()];
}
// 50 graphs of a layer each, as a model becomes if some of its operators are not supported. Each second layer has a width of its own.
async function graphs() {
  const context = await makeContext(), width = 64, layers = [], started = now();
  for (let index = 0; index < 50; index++) {
    const inner = 64 + 2 * (index >> 1), builder = new MLGraphBuilder(context), x = builder.input('x', float32([16, width]));
    const first = builder.constant(float32([width, inner]), weights(width * inner)), bias = builder.constant(float32([inner]), weights(inner));
    const second = builder.constant(float32([inner, width]), weights(width * inner));
    const hidden = builder.gelu(builder.add(builder.matmul(x, first), bias));
    layers.push(await builder.build({y: builder.softmax(builder.add(builder.matmul(hidden, second), x), 1)}));
  }
  return [now() - started, async () => (await compute(context, layers.at(-1), {x: [16, width]}, [16, width])).once()];
}

// The decoder of a T5: 4 layers with attention to itself and to the encoder's output.
const LENGTH = 16, MODEL = 256, HEADS = 4, INNER = 1024;
async function buildDecoder(context) {
  const builder = new MLGraphBuilder(context), states = builder.input('states', float32([1, LENGTH, MODEL]));
  const constant = shape => builder.constant(float32(shape), weights(shape.reduce((a, b) => a * b, 1)));
  const scalar = value => builder.constant(float32([]), new Float32Array([value]));
  const linear = (value, from, to) => builder.matmul(value, constant([from, to]));
  const norm = value => {
    const mean = builder.reduceMean(builder.pow(value, scalar(2)), {axes: [2], keepDimensions: true});
    return builder.mul(builder.div(value, builder.sqrt(builder.add(mean, scalar(1e-6)))), constant([MODEL]));
  };
  const split = value => builder.transpose(builder.reshape(value, [1, LENGTH, HEADS, MODEL / HEADS]), {permutation: [0, 2, 1, 3]});
  const attention = (value, other, bias) => {
    const [query, key, content] = [value, other, other].map(each => split(linear(each, MODEL, MODEL)));
    const scores = builder.add(builder.matmul(query, builder.transpose(key, {permutation: [0, 1, 3, 2]})), bias);
    const mixed = builder.transpose(builder.matmul(builder.softmax(scores, 3), content), {permutation: [0, 2, 1, 3]});
    return linear(builder.reshape(mixed, [1, LENGTH, MODEL]), MODEL, MODEL);
  };
  const bias = constant([1, HEADS, LENGTH, LENGTH]);
  let value = builder.input('x', float32([1, LENGTH, MODEL]));
  for (let layer = 0; layer < 4; layer++) {
    const own = norm(value);
    value = builder.add(value, attention(own, own, bias));
    value = builder.add(value, attention(norm(value), states, bias));
    value = builder.add(value, linear(builder.relu(linear(norm(value), MODEL, INNER)), INNER, MODEL));
  }
  return builder.build({y: norm(value)});
}
const DECODER = {x: [1, LENGTH, MODEL], states: [1, LENGTH, MODEL]};
async function decoder() {
  const context = await makeContext(), started = now(), graph = await buildDecoder(context);
  return [now() - started, async () => (await compute(context, graph, DECODER, DECODER.x)).once()];
}

// The time of one of many computations, each with new inputs.
async function repeat(context, graph, inputs, size, count) {
  const {once, given, y} = await compute(context, graph, inputs, size);
  const written = Object.entries(inputs).map(([name, shape]) => [given[name], weights(shape.reduce((a, b) => a * b, 1)).slice()]);
  let started;
  for (let index = -count >> 1; index < count; index++) {
    if (index === 0) started = now();
    for (const [tensor, data] of written) {
      data[0] = index;
      context.writeTensor(tensor, data);
    }
    context.dispatch(graph, given, {y});
    await context.readTensor(y);
  }
  return [(now() - started) / count, once];
}
async function small() {
  const context = await makeContext(), builder = new MLGraphBuilder(context);
  const [x, z] = ['x', 'z'].map(name => builder.input(name, float32([2, 3])));
  const graph = await builder.build({y: builder.relu(builder.add(x, z))});
  return repeat(context, graph, {x: [2, 3], z: [2, 3]}, [2, 3], 400);
}
// The time of one of 16 dispatches, each of which takes the result of the one before, with a read at the end.
async function chain() {
  const context = await makeContext(), builder = new MLGraphBuilder(context);
  const graph = await builder.build({y: builder.relu(builder.input('x', float32([2, 3])))}), count = 16, rounds = 40;
  const tensors = [];
  for (let index = 0; index <= count; index++) tensors.push(await context.createTensor({...float32([2, 3]), writable: true, readable: true}));
  context.writeTensor(tensors[0], weights(6));
  const once = async () => {
    for (let index = 0; index < count; index++) context.dispatch(graph, {x: tensors[index]}, {y: tensors[index + 1]});
    return new Float32Array(await context.readTensor(tensors[count]));
  };
  for (let round = 0; round < rounds >> 1; round++) await once();
  const started = now();
  for (let round = 0; round < rounds; round++) await once();
  return [(now() - started) / rounds / count, once];
}
async function decode() {
  const context = await makeContext();
  return repeat(context, await buildDecoder(context), DECODER, DECODER.x, 30);
}

const PARTS = {constants: () => constants(1 << 16), megabytes: () => constants(1 << 20), casts, graphs, decoder, small, chain, decode};
export async function measure(part) {
  const [milliseconds, read] = await PARTS[part]();
  // The server takes short reports.
  return {seconds: milliseconds / 1000, result: Array.from((await read()).subarray(0, 256))};
}
