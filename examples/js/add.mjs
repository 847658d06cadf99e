// Add two tensors, and show the result.
//
//     webnn run examples/js/add.mjs

const context = await navigator.ml.createContext();
const builder = new MLGraphBuilder(context);
const descriptor = {dataType: 'float32', dimensions: [2, 2]};
const a = builder.input('a', descriptor);
const b = builder.input('b', descriptor);
const graph = await builder.build({sum: builder.add(a, b)});

const inputs = {a: new Float32Array([1, 2, 3, 4]), b: new Float32Array([10, 20, 30, 40])};
const {outputs} = await context.compute(graph, inputs, {sum: new Float32Array(4)});
console.log(`sum: ${outputs.sum.join(' ')}`);
// The arrays that were given have handed their memory over to those of the result.
console.log(`elements of the array that was given: ${inputs.a.length}`);
