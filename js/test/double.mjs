// A module of a page: it doubles numbers.
export async function double(values, given = undefined) {
  const context = given ?? await navigator.ml.createContext(), descriptor = {dataType: 'float32', shape: [values.length]};
  const builder = new MLGraphBuilder(context), x = builder.input('x', descriptor);
  const graph = await builder.build({y: builder.add(x, x)});
  const [input, output] = await Promise.all([{writable: true}, {readable: true}].map(usage => context.createTensor({...descriptor, ...usage})));
  context.writeTensor(input, new Float32Array(values));
  context.dispatch(graph, {x: input}, {y: output});
  return new Float32Array(await context.readTensor(output));
}
