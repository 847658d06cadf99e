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
  const a = builder.input('a', {dataType: 'float32', dimensions: [2, 3]});
  const b = builder.input('b', {dataType: 'float32', dimensions: [4]});
  await report('shapes that do not fit', () => builder.add(a, b));
  await report('no operand', () => builder.relu(7));
  await report('no context type of the draft', () => navigator.ml.createContext({deviceType: 'abacus'}));

  const graph = await builder.build({c: builder.relu(a)});
  const inputs = {a: new Float32Array(6)};
  await report('an output that is too small', () => context.compute(graph, inputs, {c: new Float32Array(5)}));
  await report('an output that fits', () => context.compute(graph, inputs, {c: new Float32Array(6)}));
  await report('an array whose memory is gone', () => context.compute(graph, inputs, {c: new Float32Array(6)}));
}

main();
