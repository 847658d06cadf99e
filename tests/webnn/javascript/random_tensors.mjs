// Random writes and dispatches, valid and not, with tensors that were not used before. Prints the outcome of each.
let state = 12345;
const random = count => { state = (Math.imul(state, 1103515245) + 12345) >>> 0; return (state >>> 16) % count; };
const pick = values => values[random(values.length)];
const contexts = [await navigator.ml.createContext(), await navigator.ml.createContext()];
const graphs = [], tensors = [];
for (const context of contexts) {
  for (const [dataType, shape] of [['float32', [2]], ['float32', [2]], ['int32', [3]]]) {
    const builder = new MLGraphBuilder(context), [x, z] = ['x', 'z'].map(name => builder.input(name, {dataType, shape}));
    graphs.push(await builder.build(random(2) ? {y: builder.add(x, z)} : {y: builder.add(x, z), w: builder.sub(x, x)}));
  }
}
async function make() {
  const [dataType, shape] = pick([['float32', [2]], ['float32', [2]], ['float32', [2]], ['float32', [1, 2]], ['int32', [3]], ['int32', [2]], ['float32', []], ['uint8', [8]]]);
  const usage = {readable: random(8) > 0, writable: random(8) > 0};
  const context = random(8) ? contexts[0] : contexts[1];
  const tensor = await context.createTensor({dataType, shape, ...usage});
  console.log(tensor.dataType, tensor.shape.join(), tensor.readable, tensor.writable, tensor.constant, tensor.shape === tensor.shape);
  return tensor;
}
function view() {
  const make = pick([Float32Array, Float32Array, Float32Array, Int32Array, Uint8Array, Float64Array, Uint16Array, Uint8ClampedArray]);
  const bytes = new ArrayBuffer(32), length = pick([2, 2, 2, 2, 2, 2, 3, 1, 0, 8]);
  const found = length * make.BYTES_PER_ELEMENT > 32 ? new make(length) : new make(bytes, pick([0, 0, 8]) % (33 - length * make.BYTES_PER_ELEMENT), length);
  found.fill(random(9));
  switch (random(12)) {
    case 0: return new DataView(new ArrayBuffer(8));
    case 1: return new ArrayBuffer(8);
    case 2: structuredClone(found, {transfer: [found.buffer]}); return found;
    case 3: return new SharedArrayBuffer(8);
    default: return found;
  }
}
const attempt = (what, action) => { try { action(); console.log(what, 'done'); } catch (error) { console.log(what, `${error.name}: ${error.message}`); } };
const named = names => Object.fromEntries(names.map(name => [name, pick(tensors)]));
for (let index = 0; index < 16; index++) tensors.push(await make());
const constant = await contexts[0].createConstantTensor({dataType: 'float32', shape: [2]}, new Float32Array([1, 2]));
tensors.push(constant);
for (let round = 0; round < 3000; round++) {
  const context = random(20) ? contexts[0] : contexts[1];
  switch (random(5)) {
    case 0: {
      if (random(8)) { tensors[random(16)] = await make(); break; }
      const gone = pick(tensors);
      if (gone !== constant) gone.destroy();
      break;
    }
    case 1: case 2: { const data = view(), tensor = pick(tensors); attempt('write', () => context.writeTensor(tensor, data)); break; }
    case 3: {
      // Tensors that fit, for most.
      const graph = pick(graphs), usual = tensors.filter(each => each.dataType === 'float32' && each.shape.join() === '2');
      const [x, z, y, w] = [0, 1, 2, 3].map(() => pick(random(12) ? usual : tensors) ?? pick(tensors));
      const inputs = pick([{x, z}, {x, z}, {x, z}, {x, z}, {x, z}, {x, z}, {z, x}, {x}, {x, z, q: y}, {x, q: z}]), outputs = pick([{y}, {y}, {y, w}, {y, w}, {w, y}, {}, {y: x}, {q: y}]);
      attempt('dispatch', () => context.dispatch(graph, inputs, outputs));
      break;
    }
    default: {
      const tensor = pick(tensors);
      await contexts[0].readTensor(tensor).then(bytes => console.log(new Uint8Array(bytes).join()), error => console.log(error.name, error.message));
    }
  }
}
graphs[0].destroy();
attempt('a graph that is destroyed', () => contexts[0].dispatch(graphs[0], named(['x', 'z']), named(['y'])));
contexts[0].destroy();
attempt('a context that is destroyed', () => contexts[0].writeTensor(tensors[0], new Float32Array(2)));
