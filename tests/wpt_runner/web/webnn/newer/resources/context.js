// A context for all subtests of a file, and what many of them do.
'use strict';
let context;
promise_setup(async () => { context = await navigator.ml.createContext(); });

const FLOAT = shape => ({dataType: 'float32', shape});
// Build a graph of outputs, and compute it: names of inputs with their values in float32.
async function compute(build, inputs, read = name => Float32Array) {
  const builder = new MLGraphBuilder(context), operands = {}, tensors = {};
  for (const [name, {data, type}] of Object.entries(inputs)) {
    define(operands, name, builder.input(name, type));
    define(tensors, name, await context.createTensor({...type, writable: true}));
    context.writeTensor(tensors[name], data);
  }
  const outputs = build(builder, operands), graph = await builder.build(outputs), results = {};
  for (const [name, {dataType, shape}] of Object.entries(outputs)) {
    define(results, name, await context.createTensor({dataType, shape, readable: true}));
  }
  context.dispatch(graph, tensors, results);
  const values = {};
  for (const [name, tensor] of Object.entries(results)) define(values, name, new (read(name))(await context.readTensor(tensor)));
  return values;
}
// An own property, whatever its name.
function define(object, name, value) {
  Object.defineProperty(object, name, {value, writable: true, enumerable: true, configurable: true});
}
