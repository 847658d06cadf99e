// Add two tensors, and show the result.
//
//     webnn run examples/js/add.mjs

const context = await navigator.ml.createContext();
const builder = new MLGraphBuilder(context);
const descriptor = {dataType: 'float32', shape: [2, 2]};
const sum = builder.add(builder.input('a', descriptor), builder.input('b', descriptor));
const graph = await builder.build({sum});

const [a, b] = await Promise.all([1, 2].map(() => context.createTensor({...descriptor, writable: true})));
const result = await context.createTensor({...descriptor, readable: true});
context.writeTensor(a, new Float32Array([1, 2, 3, 4]));
context.writeTensor(b, new Float32Array([10, 20, 30, 40]));
context.dispatch(graph, {a, b}, {sum: result});
// The read waits until the graph is computed.
console.log(`sum: ${new Float32Array(await context.readTensor(result)).join(' ')}`);
