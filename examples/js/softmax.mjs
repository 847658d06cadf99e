// A module of page.html.

/** Return the softmax of a list of numbers. */
export async function softmax(numbers) {
  const context = await navigator.ml.createContext();
  const builder = new MLGraphBuilder(context);
  const descriptor = {dataType: 'float32', shape: [1, numbers.length]};
  const input = builder.input('input', descriptor);
  const graph = await builder.build({output: builder.softmax(input, 1)});
  const given = await context.createTensor({...descriptor, writable: true});
  const found = await context.createTensor({...descriptor, readable: true});
  context.writeTensor(given, new Float32Array(numbers));
  context.dispatch(graph, {input: given}, {output: found});
  return [...new Float32Array(await context.readTensor(found))];
}
