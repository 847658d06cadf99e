// A page that measures itself: `page.mjs PART ROUNDS REPEATS MEGABYTES` prints the seconds per call of each round, and the last result,
// as JSON. Each part makes a function that does the work a number of times, and returns how to read the result.
const [part, rounds, repeats, megabytes] = [process.argv[2], ...process.argv.slice(3).map(Number)];
const INPUTS = {x: [-3, -2, -1, 0, 1, 2], y: [1, 1, 1, 1, 1, 1]}, SHAPE = [2, 3], WARM_UP = 1000, CALLS = 1000;

const context = await navigator.ml.createContext();
// Both drafts: each ignores the member that the other one reads.
const float32 = shape => 'MLTensor' in globalThis ? {dataType: 'float32', shape} : {dataType: 'float32', dimensions: shape};

async function buildTiny() {
  const builder = new MLGraphBuilder(context);
  const [x, y] = Object.keys(INPUTS).map(name => builder.input(name, float32(SHAPE)));
  return builder.build({z: builder.relu(builder.add(x, y))});
}

async function compute() {
  const graph = await buildTiny();
  let inputs = Object.fromEntries(Object.entries(INPUTS).map(([name, values]) => [name, new Float32Array(values)]));
  let outputs = {z: new Float32Array(6)};
  return async count => {
    for (let call = 0; call < count; call++) ({inputs, outputs} = await context.compute(graph, inputs, outputs));
    return () => [...outputs.z];
  };
}

async function cycle() {
  const graph = await buildTiny();
  const inputs = {}, written = [];
  for (const [name, values] of Object.entries(INPUTS)) {
    inputs[name] = await context.createTensor({...float32(SHAPE), writable: true});
    written.push([inputs[name], new Float32Array(values)]);
  }
  const outputs = {z: await context.createTensor({...float32(SHAPE), readable: true})};
  return async count => {
    let result;
    for (let call = 0; call < count; call++) {
      for (const [tensor, data] of written) context.writeTensor(tensor, data);
      context.dispatch(graph, inputs, outputs);
      result = await context.readTensor(outputs.z);
    }
    return () => [...new Float32Array(result)];
  };
}

// Graphs of `CALLS` additions, without their build.
async function builder() {
  return async count => {
    let value;
    for (let done = 0; done < count; done += CALLS) {
      const made = new MLGraphBuilder(context);
      const x = value = made.input('x', float32(SHAPE));
      for (let call = 0; call < CALLS; call++) value = made.add(value, x);
      // The answer to this comes after all calls.
      made.input('y', float32(SHAPE));
    }
    return () => value.shape;
  };
}

async function transfer() {
  const size = megabytes << 18;
  const tensor = await context.createTensor({...float32([size]), writable: true, readable: true});
  const data = new Float32Array(size).fill(1);
  return async count => {
    let result;
    for (let call = 0; call < count; call++) {
      data[size - 1]++;
      context.writeTensor(tensor, data);
      result = new Float32Array(await context.readTensor(tensor));
    }
    return () => [Number(result.length === size && result.every((value, index) => value === data[index]))];
  };
}

// A network for images: means of the neighbourhood in many channels, so an image of ones stays one.
async function image() {
  const made = new MLGraphBuilder(context), sizes = [[3, 64, 2], [64, 64, 2], [64, 64, 1], [64, 64, 1], [64, 64, 1]];
  let value = made.input('x', float32([1, 3, 224, 224]));
  for (const [channels, filters, stride] of sizes) {
    const shape = [filters, channels, 3, 3], weights = new Float32Array(filters * channels * 9).fill(1 / (channels * 9));
    value = made.relu(made.conv2d(value, made.constant(float32(shape), weights), {strides: [stride, stride]}));
  }
  const graph = await made.build({y: made.reshape(made.averagePool2d(value), [64])});
  const x = await context.createTensor({...float32([1, 3, 224, 224]), writable: true});
  const y = await context.createTensor({...float32([64]), readable: true}), data = new Float32Array(3 * 224 * 224).fill(1);
  return async count => {
    let result;
    for (let call = 0; call < count; call++) {
      context.writeTensor(x, data);
      context.dispatch(graph, {x}, {y});
      result = await context.readTensor(y);
    }
    return () => [...new Float32Array(result)].map(each => Math.round(each * 1000) / 1000);
  };
}

const work = await {compute, cycle, builder, transfer, image}[part]();
if (repeats > 1) await work(part === 'image' ? repeats : WARM_UP);
const seconds = [];
let read;
for (let round = 0; round < rounds; round++) {
  const start = performance.now();
  read = await work(repeats);
  seconds.push((performance.now() - start) / 1000 / repeats);
}
console.log(JSON.stringify({seconds, result: read()}));
