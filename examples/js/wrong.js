// What a program gets wrong, and what it is told. A script, not a module: it waits for promises in functions.
//
//     webnn run examples/js/wrong.js
'use strict';

async function report(name, attempt) {
  try {
    await attempt();
    console.log(`${name}: nothing is wrong`);
  } catch (error) {
    console.log(`${name}: ${error.name}: ${error.message}`);
  }
}

async function main() {
  const context = await navigator.ml.createContext();
  const builder = new MLGraphBuilder(context);
  const a = builder.input('a', {dataType: 'float32', shape: [2, 3]});
  const b = builder.input('b', {dataType: 'float32', shape: [4]});
  await report('shapes that do not fit', () => builder.add(a, b));
  await report('no operand', () => builder.relu(7));
  await report('no power preference of the draft', () => navigator.ml.createContext({powerPreference: 'abacus'}));

  const graph = await builder.build({c: builder.relu(a)});
  const [input, output, small] = await Promise.all([[2, 3], [2, 3], [5]].map(
      shape => context.createTensor({dataType: 'float32', shape, readable: true})));
  await report('an output that is too small', () => context.dispatch(graph, {a: input}, {c: small}));
  await report('an output that fits', () => context.dispatch(graph, {a: input}, {c: output}));
  await report('a tensor that is not writable', () => context.writeTensor(input, new Float32Array(6)));
  output.destroy();
  await report('a tensor whose memory is gone', () => context.readTensor(output));
}

main();
